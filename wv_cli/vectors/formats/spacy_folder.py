"""Writes the folder of a vocabulary with vectors, as spaCy 3.8 reads it (Vocab.from_disk).

    vectors       a NumPy array, rows x dim
    key2row       MessagePack: the key of each word and its row
    strings.json  the words
    vectors.cfg   the mode: default, or floret with the settings of its table, which lists no words

A key is a hash of the word, or spaCy's own number for one of its symbols, such as `mark`: spaCy itself gives the keys.
Other files of a vocabulary stay as they are.
"""

import json
import os
from pathlib import Path
from typing import Any

from wv_cli.errors import WvError
from wv_cli.io.extra import require
from wv_cli.io.output import commit_together, open_output
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.floret import FloretTable
from wv_cli.vectors.formats import npy
from wv_cli.vectors.formats.base import WriteOptions
from wv_cli.vectors.formats.beside import VOCABULARY
from wv_cli.vectors.formats.escape import require_utf8
from wv_cli.vectors.formats.static_folder import open_folder
from wv_cli.words import decode, is_utf8


def require_spacy() -> tuple[Any, Any]:
    """(spaCy's module of strings, its serializer). Raises WvError where they are not installed."""
    return require("spacy", "--to spacy").strings, require("srsly", "--to spacy", "spacy")


def save_vocabulary(path: str | os.PathLike[str], vectors: Embeddings) -> None:
    """Writes the files, all or none, making the folder if need be. Vectors that only compose words are those of a table
    of floret. Raises WvError, also for a word that is not UTF-8."""
    strings, serializer = require_spacy()
    require_utf8(vectors.words, "spaCy", path)
    words = [decode(vectors.words.bytes_at(row)) for row in range(len(vectors))]
    settings: dict[str, object] = {"mode": "default"}
    if isinstance(vectors.subwords, FloretTable):
        settings, matrix = _floret_settings(path, vectors.subwords), vectors.subwords.matrix
        vectors = Embeddings(npy.number_words(0, len(matrix)), matrix)
    with open_folder(Path(path)), commit_together():
        texts = (
            serializer.msgpack_dumps({strings.get_string_id(word): row for row, word in enumerate(words)}),
            json.dumps(words, ensure_ascii=False).encode(),
            json.dumps(settings).encode(),
        )
        main, *others = VOCABULARY
        for name, text in zip(others, texts, strict=True):
            with open_output(Path(path) / name) as stream:
                stream.write(text)
        with open_output(Path(path) / main) as stream:
            npy.write(stream, vectors, WriteOptions())


def _floret_settings(path: str | os.PathLike[str], table: FloretTable) -> dict[str, object]:
    """Raises WvError for marks of words that are not UTF-8."""
    if not (is_utf8(table.begin) and is_utf8(table.end)):
        raise WvError(f"{path}: the marks {table.begin!r} and {table.end!r} are not UTF-8, which spaCy cannot keep")
    return {
        "mode": "floret",
        "minn": table.minn,
        "maxn": table.maxn,
        "hash_count": table.hashes,
        "hash_seed": table.seed,
        "bow": decode(table.begin),
        "eow": decode(table.end),
    }
