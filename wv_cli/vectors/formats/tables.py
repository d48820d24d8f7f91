"""Tables of columns and vectors for other programs, only written: Parquet and SQLite.

Parquet has the vectors as lists of one fixed size, a type of Arrow: `Array` in polars; DuckDB casts them to FLOAT[n].
In SQLite a vector is a blob of little-endian numbers, as the extension sqlite-vec takes them: float32 as they are, int8
by vec_int8, bits by vec_bit.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.io.extra import require
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.base import Format, WriteOptions
from wv_cli.words import decode

Columns = Mapping[str, Sequence[str] | Sequence[int] | Sequence[str | None]]


def write_parquet(stream: BinaryIO, columns: Columns, matrix: NDArray[np.generic] | None) -> None:
    """The columns, and `vector` with the rows of `matrix` (n, width) if there is one. Raises WvError without
    pyarrow."""
    pyarrow, parquet = (require(name, "writing Parquet", "pyarrow") for name in ("pyarrow", "pyarrow.parquet"))
    vectors = {}
    if matrix is not None:
        flat = pyarrow.array(np.ascontiguousarray(matrix).reshape(-1))
        vectors["vector"] = pyarrow.FixedSizeListArray.from_arrays(flat, matrix.shape[1])
    # A column without a value has no type of its own, and readers of several files want one.
    made = {name: pyarrow.array(values) for name, values in columns.items()}
    typed = {name: each.cast("string") if each.null_count == len(each) else each for name, each in made.items()}
    table = pyarrow.table({**typed, **vectors})
    parquet.write_table(table, stream, use_dictionary=list(columns), write_statistics=list(columns))


def write_sqlite(stream: BinaryIO, name: str, columns: Columns, matrix: NDArray[np.generic] | None) -> None:
    """The table `name` with `id` from 1, the columns, the first of which has an index, and `vector` if there is a
    `matrix`."""
    kinds = {
        key: "INTEGER" if len(values) and isinstance(values[0], int) else "TEXT" for key, values in columns.items()
    }
    first, values = next(iter(columns)), [*columns.values()]
    rows: Iterable[tuple[object, ...]] = zip(*values, strict=True)
    if matrix is not None:
        kinds["vector"] = "BLOB NOT NULL"
        numbers = np.ascontiguousarray(matrix, matrix.dtype.newbyteorder("<"))
        rows = zip(*values, (row.tobytes() for row in numbers), strict=True)
    with closing(sqlite3.connect(":memory:")) as database, database:
        typed = ", ".join(f"{key} {kind}" for key, kind in kinds.items())
        database.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, {typed})")
        places = ", ".join("?" * len(kinds))
        database.executemany(f"INSERT INTO {name} ({', '.join(kinds)}) VALUES ({places})", rows)
        database.execute(f"CREATE INDEX {name}_{first} ON {name} ({first})")
        database.commit()
        stream.write(database.serialize())


def _word_column(embeddings: Embeddings) -> Columns:
    return {"word": [decode(embeddings.words.bytes_at(row)) for row in range(len(embeddings))]}


def _write_parquet(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    write_parquet(stream, _word_column(embeddings), embeddings.matrix)


def _write_sqlite(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    write_sqlite(stream, "vectors", _word_column(embeddings), embeddings.matrix)


_LOSES = "words that are not UTF-8, empty, or hold a space, tab, newline or NUL (--escape keeps those)"
PARQUET = Format(
    name="parquet",
    summary="Parquet with the columns `word` and `vector`, a list of fixed size",
    text=False,
    loses=_LOSES,
    sniff=lambda head: False,
    read=None,
    check=None,
    write=_write_parquet,
    utf8=True,
    package="pyarrow",
)
SQLITE = Format(
    name="sqlite",
    summary="SQLite with the table `vectors`: `id`, `word`, and `vector` as a blob of float32, as sqlite-vec takes it",
    text=False,
    loses=_LOSES,
    sniff=lambda head: False,
    read=None,
    check=None,
    write=_write_sqlite,
    utf8=True,
)
