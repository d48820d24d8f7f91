"""Writes the folder of a static embedding, so that as many programs as can be read it.

    model.safetensors, tokenizer.json   the table and how text becomes tokens (wv_cli/formats/static.py)
    config.json                         for model2vec
    modules.json                        for sentence-transformers from 3.4 on, which know these names of modules

Words are written as they are, one token each. Text is cut at blanks (or where letters and punctuation meet), and made
lower case if no word has a capital. A zero row stands for all unknown words: model2vec leaves those out,
sentence-transformers takes the row into the mean, and since sentence vectors are made of unit length both come to the
same.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._floattext import first_not_finite
from wv_cli.errors import WvError, reason
from wv_cli.formats import safetensors
from wv_cli.formats.base import Split
from wv_cli.formats.beside import MODEL
from wv_cli.formats.static import TOKENIZER
from wv_cli.system.output import commit_together, open_output
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import decode

_UNKNOWN = "[UNK]"
_SPLITS = {"blanks": "WhitespaceSplit", "punctuation": "Whitespace"}


@dataclass(frozen=True)
class Written:
    """What save_folder did: tokens in all, words left out because an earlier row has them, words with blanks, which no
    text can hold after it was cut, whether text is made lower case."""

    tokens: int
    repeated: int
    unreachable: int
    lowercase: bool


def save_folder(
    path: str | os.PathLike[str],
    embeddings: Embeddings,
    *,
    lowercase: bool | None = None,
    split: Split = "blanks",
    weights: NDArray[np.floating] | None = None,
) -> Written:
    """Writes the four files, all or none, making the folder if need be. `lowercase` None: if no word has a capital;
    `weights` (rows,) of the words. Raises WvError, also for a word that is not UTF-8 and for nan or infinity."""
    words = [embeddings.words.bytes_at(row) for row in range(len(embeddings))]
    for row, word in enumerate(words):
        try:
            word.decode()
        except UnicodeDecodeError:
            message = f"{path}: row {row + 1}: the word {word!r} is not UTF-8, which a tokenizer.json cannot keep"
            raise WvError(message) from None
    if (bad := first_not_finite(np.ascontiguousarray(embeddings.matrix))) is not None:
        message = f"{path}: row {bad[0] + 1}: expected finite numbers, found {embeddings.matrix[bad]}"
        raise WvError(message)
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(decode(word), row)
    lower = all(word == word.lower() for word in first) if lowercase is None else lowercase
    unknown = _UNKNOWN
    while unknown in first:
        unknown = f"[{unknown}]"
    rows = np.fromiter(first.values(), np.int64, len(first))
    matrix = np.concatenate([np.zeros((1, embeddings.dim), np.float32), embeddings.matrix[rows]])
    arrays = {"embeddings": matrix}
    if weights is not None:
        arrays["weights"] = np.concatenate([[1], weights[rows]]).astype(np.float32)
    vocabulary = {unknown: 0, **{word: id for id, word in enumerate(first, 1)}}
    texts = {
        TOKENIZER: _tokenizer(vocabulary, unknown, lower, split),
        "config.json": {
            "model_type": "model2vec",
            "architectures": ["StaticModel"],
            "normalize": True,
            "hidden_dim": embeddings.dim,
            "max_length": None,
            "embedding_dtype": "float32",
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"},
            {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
    }
    folder = Path(path)
    with _made(folder), commit_together():
        for name, facts in texts.items():
            with open_output(folder / name) as stream:
                stream.write(json.dumps(facts, ensure_ascii=False, indent=1).encode() + b"\n")
        with open_output(folder / MODEL) as stream:
            safetensors.write(stream, arrays, {})
    unreachable = sum(1 for word in first if len(word.split()) != 1)
    return Written(len(first), len(words) - len(first), unreachable, lower)


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder is there in this block; one that was made for it goes when the block fails. Raises WvError."""
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        message = f"{folder}: cannot make the folder: {reason(error)}"
        raise WvError(message) from error
    try:
        yield
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # not empty: another process writes there
                folder.rmdir()
        raise


def _tokenizer(vocabulary: dict[str, int], unknown: str, lowercase: bool, split: Split) -> dict[str, Any]:
    """The settings of one that knows whole words only."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"} if lowercase else None,
        "pre_tokenizer": {"type": _SPLITS[split]},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": unknown},
    }
