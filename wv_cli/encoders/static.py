"""A static embedding's folder (model2vec, or sentence-transformers' StaticEmbedding) as an encoder: the mean of its
tokens' rows, each times its weight where there are weights. It has one layer, 0.

A folder with model2vec's config.json is read as model2vec 0.10 reads it. Unknown tokens are left out, and padding does
not exist. A text is cut to max_length times the median length of the vocabulary's tokens, in characters, then to
max_length tokens; unknown ones count here. max_length is that of config.json, 512 where it says nothing, no limit where
it says null. A Normalize in modules.json is followed, too.

Any other folder is read as sentence-transformers 6.2 reads it: the row of the unknown token counts, the truncation of
tokenizer.json is the only limit, and config_sentence_transformers.json may name a prompt and a number of dimensions.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders.base import States, kept_dim, pad_batch
from wv_cli.encoders.config import EncoderConfig
from wv_cli.encoders.tokenizer import Tokenizer
from wv_cli.errors import UsageError
from wv_cli.io.folders import NO_USAGE, Usage, static_root
from wv_cli.vectors.formats.static import StaticModel
from wv_cli.vectors.formats.tokenizer_file import TOKENIZER


class Static:
    """An encoders.base.Encoder."""

    layers, pooling, parallel, in_order = 0, "mean", True, False

    def __init__(self, path: Path, config: EncoderConfig, poolings: Sequence[str]) -> None:
        """Raises BadFile, WvError, UsageError."""
        if config.stateful or config.runtime == "onnx":
            option = "--stateful" if config.stateful else "--runtime onnx"
            message = f"{option}: {path} is a static embedding, which has neither states nor a network"
            raise UsageError(message)
        model = StaticModel.open(path)
        usage = Usage.from_folder(path) if model.counts_unknown else NO_USAGE  # model2vec does not read it
        self.name, self.normalize = str(path), model.normalize
        self._table = model.table
        self.dim, self.scales_whole = kept_dim(config, self._table.matrix.shape[1], self.name, usage)
        self._tokenizer = Tokenizer(
            (static_root(path) or path) / TOKENIZER,
            max_length=config.max_length or model.max_length,
            rows=len(self._table),
            special=False,
            prompt=usage.prompt,
            cut_characters=not model.counts_unknown,
            counts_unknown=model.counts_unknown,
            made=model.tokenizer,
        )

    def tokens(self, texts: Sequence[str], *, prompt: str | None = None) -> tuple[list[NDArray[Any]], int]:
        found, cut = self._tokenizer.ids(texts, prompt=prompt)
        return list(found), cut

    def names(self, text: str, tokens: NDArray[Any]) -> list[str]:
        return self._tokenizer.names(tokens.tolist())

    def states(self, tokens: Sequence[NDArray[Any]], layers: Sequence[int]) -> States:
        ids, mask = pad_batch(tokens, 0)
        return [self._table.rows(ids) for _ in layers], mask

    def means(self, tokens: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """See encoders.base.WithMeans."""
        return self._table.means(tokens)
