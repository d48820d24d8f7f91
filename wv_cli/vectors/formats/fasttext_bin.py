"""fastText's models in the table of formats: read as the vectors of their words, subwords included.

Only models can be written (save_model), vectors alone cannot. fasttext_read has the layout.
"""

import numpy as np

from wv_cli._floattext import first_not_finite
from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.compression import inner_name
from wv_cli.io.input import Input
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel, Matrix
from wv_cli.vectors.formats.audit import RowAudit
from wv_cli.vectors.formats.base import Format, ReadOptions
from wv_cli.vectors.formats.fasttext_read import (
    ARGS,
    COUNTS,
    ENTRY_BYTES,
    MAGIC,
    ModelReader,
    header_problem,
    load_model,
    read_model,
)
from wv_cli.vectors.formats.fasttext_write import dense, save_model
from wv_cli.vectors.formats.report import Report

__all__ = ["FORMAT", "dense", "is_model", "load_model", "read_model", "save_model"]

_BLOCK_ROWS = 4096


def is_model(path: str, to: str | None, *, subwords: bool) -> bool:
    """Whether what is written to `path` in the format `to` (None: by its name) is a whole model: vectors with subwords
    go to .bin as one, since word2vec's format would lose the subwords."""
    if to is not None:
        return to == FORMAT.name
    return subwords and inner_name(path).endswith(".bin")


def sniff(head: bytes) -> bool:
    if head.startswith(MAGIC):
        return True
    # The oldest layout has no magic number: its arguments and word counts must be right.
    return len(head) >= ARGS.size + COUNTS.size and header_problem(memoryview(head), 0) is None


def read(source: Input, options: ReadOptions) -> Embeddings:
    return vectors_of(read_model(source), source.name, options.limit)


def vectors_of(model: FastTextModel, name: str, limit: int | None = None) -> Embeddings:
    """The vectors of the first `limit` words. Raises BadFile, which calls the file `name`, for NaN and infinity."""
    matrix = model.all_word_vectors(limit)
    bad = first_not_finite(matrix)
    if bad is not None:
        word = show_bytes(model.words.bytes_at(bad[0]))
        problem = f"expected finite numbers, found {matrix[bad]} as number {bad[1] + 1} of the word {word}"
        raise BadFile(name, problem)
    words = model.words if len(matrix) == len(model.words) else model.words[: len(matrix)]
    return Embeddings(words, matrix, model if model.has_subwords else None)


def check(source: Input, report: Report) -> None:
    reader = ModelReader(source.name, source.contents())
    model = reader.model()
    report.rows, report.dim, report.promised_rows = len(model.words), model.dim, len(model.words)
    audit = RowAudit(report, "byte")
    vectors, starts = model.all_word_vectors(), model.words.starts
    offsets = (reader.table_at + starts[:-1] + ENTRY_BYTES * np.arange(len(model.words))).tolist()
    audit.add(model.words.blob, np.diff(starts), vectors, offsets.__getitem__)
    for what, matrix in (("input", model.input), ("output", model.output)):
        _check_finite(matrix, what, model, report)


def _check_finite(matrix: Matrix, what: str, model: FastTextModel, report: Report) -> None:
    rows = matrix.shape[0]
    for first in range(0, rows, _BLOCK_ROWS):
        block = matrix.take(np.arange(first, min(first + _BLOCK_ROWS, rows)))
        for row in np.flatnonzero(~np.isfinite(block).all(axis=1)).tolist():
            values = block[row]
            at = int(np.flatnonzero(~np.isfinite(values))[0])
            owner = _owner(first + row, what, model)
            where = f"{what} matrix, row {first + row + 1} ({owner})"
            text = f"{where}: expected finite numbers, found {values[at]} as number {at + 1}"
            report.add("not finite", text)


def _owner(row: int, what: str, model: FastTextModel) -> str:
    names = model.labels if what == "output" and model.is_classifier else model.words
    return f"the word {show_bytes(names.bytes_at(row))}" if row < len(names) else f"bucket row {row - len(names)}"


FORMAT = Format(
    name="fasttext-bin",
    what="a fastText model",
    summary="fastText's models, dense (.bin) or quantized (.ftz), told by their content",
    text=False,
    loses="nothing; read as the vectors of its words, subwords included; written from models only",
    sniff=sniff,
    read=read,
    check=check,
)
