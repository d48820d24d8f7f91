"""The chunks of an index and their vectors for other programs."""

from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.io.compression import inner_name
from wv_cli.io.extra import require
from wv_cli.vectors.formats.tables import Columns, write_parquet, write_sqlite
from wv_cli.vectors.stored_index import SearchIndex

Writer = Callable[[BinaryIO, Columns, NDArray[Any]], None]


def _write_array(stream: BinaryIO, columns: Columns, matrix: NDArray[Any]) -> None:
    np.save(stream, matrix, allow_pickle=False)


def _write_table(stream: BinaryIO, columns: Columns, matrix: NDArray[Any]) -> None:
    write_sqlite(stream, "chunks", columns, matrix)


_WRITERS: dict[str, Writer] = {
    ".parquet": write_parquet,
    ".sqlite": _write_table,
    ".db": _write_table,
    ".npy": _write_array,
}


def export_writer(path: str) -> Writer:
    """What writes a file of this ending. Raises UsageError for another, WvError where a package is missing."""
    ending = next((ending for ending in _WRITERS if inner_name(path).endswith(ending)), None)
    if ending is None:
        raise UsageError(f"{path}: the ending names no format; choose one of {', '.join(_WRITERS)}")
    if ending == ".parquet":
        require("pyarrow", "writing Parquet")
    return _WRITERS[ending]


def chunk_columns(index: SearchIndex) -> Columns:
    """The file, line, text and record of each chunk; the record is JSON, None of other text."""
    chunks = range(index.chunks)
    return {
        "file": [_text(index.name(index.file_of(chunk))) for chunk in chunks],
        "line": index.arrays["lines"].tolist(),
        "text": [_text(index.text(chunk)) for chunk in chunks],
        "record": [_text(index.record(chunk)) or None for chunk in chunks],
    }


def chunk_vectors(index: SearchIndex, dtype: str) -> NDArray[Any]:
    """(chunks, dim) of unit length as float32, as the index has them as int8, or (chunks, dim / 8) signs as bytes."""
    rows, norms = index.vectors, index.arrays["norms"]
    if dtype == "int8":
        return rows
    if dtype == "bit":
        return np.packbits(rows > 0, axis=1, bitorder="little")
    return rows / np.where(norms == 0, np.float32(1), norms)[:, None]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
