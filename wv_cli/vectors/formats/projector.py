"""The two files that TensorBoard's Embedding Projector loads (its Load button, or projector.tensorflow.org): numbers
separated by tabs, no header; and beside them NAME.metadata.tsv with one word a line, which needs no header either.

Only written: it is the last stop of vectors on their way to a picture.
"""

import re
from typing import BinaryIO

import numpy as np

from wv_cli import _floattext
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.base import Format, WriteOptions
from wv_cli.vectors.formats.text_rows import decimals
from wv_cli.words import WordList

_BLOCK_ROWS = 1024
# The number of a row that begins it, when it has no point, as "0" and "1e-07" of --precision exact: it would be read
# as a word, and two of them as the header of a word2vec file.
_WITHOUT_POINT = re.compile(rb"^(-?[0-9]+)(?=[\te\n])", re.MULTILINE)


def header(rows: int, dim: int) -> bytes:
    return b""


def write_rows(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    """The rows as GloVe's text would have them, under words of no bytes, their spaces turned to tabs."""
    digits = decimals(options.precision)
    for first in range(0, len(embeddings), _BLOCK_ROWS):
        matrix = embeddings.matrix[first : first + _BLOCK_ROWS]
        count = len(matrix)
        words = WordList(b"", np.zeros(count + 1, np.int64))
        out = np.empty(count * _floattext.row_capacity(embeddings.dim), np.uint8)
        size = _floattext.format_rows(matrix, words.blob, words.starts, 0, count, digits, False, out.data)
        text = out[:size].tobytes().replace(b" ", b"\t").replace(b"\n\t", b"\n")
        stream.write(_WITHOUT_POINT.sub(rb"\1.0", text.removeprefix(b"\t")))


FORMAT = Format(
    name="projector-tsv",
    summary="for TensorBoard's projector: numbers separated by tabs; the words beside them in NAME.metadata.tsv",
    text=True,
    loses=(
        "on standard output the words. All but six decimals of each number (--precision exact keeps every bit). Words "
        "that are empty or hold a space, tab, newline or NUL (--escape keeps them)"
    ),
    sniff=lambda head: False,
    read=None,
    check=None,
    write=write_rows,
    header=header,
    write_rows=write_rows,
)
