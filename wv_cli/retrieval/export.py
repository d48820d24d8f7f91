"""The chunks of an index and their vectors for other programs."""

from collections.abc import Callable
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from wv_cli.config import require
from wv_cli.errors import UsageError
from wv_cli.io import extra
from wv_cli.io.compression import inner_name
from wv_cli.io.output import open_output
from wv_cli.vectors.formats.tables import Columns, write_parquet, write_sqlite
from wv_cli.vectors.stored_index import SearchIndex

Writer = Callable[[BinaryIO, Columns, NDArray[Any] | None], None]
Dtype = Literal["float32", "int8", "bit"]
_DTYPES = ("float32", "int8", "bit")


def _write_array(stream: BinaryIO, columns: Columns, matrix: NDArray[Any] | None) -> None:
    assert matrix is not None
    np.save(stream, matrix, allow_pickle=False)


def _write_table(stream: BinaryIO, columns: Columns, matrix: NDArray[Any] | None) -> None:
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
        extra.require("pyarrow", "writing Parquet")
    return _WRITERS[ending]


def write_chunks(path: str, write: Writer, index: SearchIndex, dtype: Dtype | None, name: str) -> tuple[int, str]:
    """Writes the chunks and their vectors, of an index without vectors the chunks alone. Returns how many numbers a
    vector has (0: there is none) and their type. `name` is the index in messages. Raises UsageError for vectors that
    are asked for and are not there."""
    require(dtype in (None, *_DTYPES), f"--dtype must be one of {', '.join(_DTYPES)}, not {dtype}")
    require(bool(index.chunks), f"{name}: has no texts; add some")
    if not index.model:
        way = f"{name} has no vectors; make it with --model"
        require(dtype is None, f"--dtype is the type of vectors, and {way}")
        require(write is not _write_array, f"{path} would hold the vectors alone, and {way}, or choose .db")
    chosen: Dtype = dtype or "float32"
    with open_output(path) as stream:
        write(stream, chunk_columns(index), chunk_vectors(index, chosen) if index.model else None)
    return (index.vectors.shape[1], chosen) if index.model else (0, "")


def chunk_columns(index: SearchIndex) -> Columns:
    """The file, line, text and record of each chunk; the record is JSON, None of other text."""
    chunks = range(index.chunks)
    return {
        "file": [_text(index.name(index.file_of(chunk))) for chunk in chunks],
        "line": index.arrays["lines"].tolist(),
        "text": [_text(index.text(chunk)) for chunk in chunks],
        "record": [_text(index.record(chunk)) or None for chunk in chunks],
    }


def chunk_vectors(index: SearchIndex, dtype: Dtype) -> NDArray[Any]:
    """(chunks, dim) of unit length as float32, as the index has them as int8, or (chunks, dim / 8) signs as bytes."""
    rows, norms = index.vectors, index.arrays["norms"]
    if dtype == "int8":
        return rows
    if dtype == "bit":
        return np.packbits(rows > 0, axis=1, bitorder="little")
    return rows / np.where(norms == 0, np.float32(1), norms)[:, None]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
