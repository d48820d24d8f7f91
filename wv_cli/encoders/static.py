"""A static embedding's folder (model2vec, or sentence-transformers' StaticEmbedding) as an encoder: the mean of its
tokens' rows, each times its weight where there are weights. The token for unknown words is left out, as model2vec does.
It has one layer, 0."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from wv_cli.encoders.base import States, pad_batch
from wv_cli.encoders.config import EncoderConfig
from wv_cli.encoders.folder import Folder, Settings
from wv_cli.encoders.tokenizer import Tokenizer
from wv_cli.errors import UsageError
from wv_cli.formats.beside import MODEL
from wv_cli.formats.safetensors import Tensors
from wv_cli.formats.static import TOKENIZER, matrix_of


class Static:
    """An encoders.base.Encoder."""

    layers, pooling, parallel, in_order = 0, "mean", True, False

    def __init__(self, path: Path, config: EncoderConfig, poolings: Sequence[str]) -> None:
        """Raises BadFile, WvError, UsageError."""
        if config.stateful or config.runtime == "onnx":
            option = "--stateful" if config.stateful else "--runtime onnx"
            message = f"{option}: {path} is a static embedding, which has neither states nor a network"
            raise UsageError(message)
        folder = Folder.open(path)
        settings = Settings(folder.root / "config.json", required=False)
        self.name, self.normalize = str(path), folder.normalize or settings.yes("normalize")
        matrix, weights = matrix_of(Tensors.open(folder.root / MODEL))
        self._matrix = matrix if weights is None else matrix * weights[:, None]
        self.dim = matrix.shape[1]
        most = config.max_length or settings.number("max_length", 0, 1 << 30, 0)
        place = folder.root / TOKENIZER
        self._tokenizer = Tokenizer(place, max_length=most or None, rows=len(matrix), special=False)
        self._unknown = _unknown(place)

    def tokens(self, texts: Sequence[str]) -> tuple[list[NDArray[Any]], int]:
        found, cut = self._tokenizer.ids(texts)
        unknown = self._tokenizer.id(self._unknown) if self._unknown is not None else None
        return [ids if unknown is None else ids[ids != unknown] for ids in found], cut

    def names(self, text: str, tokens: NDArray[Any]) -> list[str]:
        return self._tokenizer.names(tokens.tolist())

    def states(self, tokens: Sequence[NDArray[Any]], layers: Sequence[int]) -> States:
        ids, mask = pad_batch(tokens, 0)
        return [self._matrix[ids] for _ in layers], mask


def _unknown(path: Path) -> str | None:
    """The token that stands for unknown words, of a tokenizer.json that has been read already."""
    model = json.loads(path.read_bytes())["model"]
    place = model.get("unk_id")
    token = model["vocab"][place][0] if type(place) is int else model.get("unk_token")
    return token if isinstance(token, str) else None
