"""Records that are rows of Arrow's tables: of Parquet and of Arrow's own files."""

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from wv_cli.errors import BadFile, UsageError
from wv_cli.io.extra import foreign, require
from wv_cli.io.remote import is_remote
from wv_cli.io.remote_reading import RemoteFile
from wv_cli.text.raw_files import is_file, open_raw
from wv_cli.text.records.arrow import column_at, find_column, is_text, take_rows, text_values
from wv_cli.text.records.parquet_writing import Rows, with_spark_columns
from wv_cli.text.records.reading import BadRecords, Column, RefusedRecords, Rules, no_field

Batch = tuple[int, Any, float]  # the number of its group, which are written together, its rows, bytes of a row


@dataclass(frozen=True, eq=False)
class TableBlock:
    """A batch of rows that have a text: `numbers` are theirs among the `read` rows of the file, which has the columns
    `names`; `rows` may have some of them only."""

    each: list[bytes]
    size: int
    rows: Rows
    path: Sequence[str]  # the names that lead to the field
    numbers: list[int]
    read: int
    names: Sequence[str]

    @property
    def count(self) -> int:
        return len(self.each)

    @property
    def texts(self) -> bytes:
        return b"".join(text + b"\n" for text in self.each)

    def lines(self) -> tuple[list[int], int]:
        return self.numbers, self.read

    def to_write(
        self,
        added: Mapping[str, Column],
        kept: Sequence[bool] | None = None,
        changed: Mapping[int, bytes] | None = None,
    ) -> Rows:
        self.rows.form.require_types()
        pyarrow = require("pyarrow", "Parquet")
        table = self.rows.table
        if changed:
            if len(self.path) > 1:
                raise UsageError(f"--field {'.'.join(self.path)}: texts inside a struct cannot be shortened")
            place, texts = table.schema.get_field_index(self.path[0]), list(self.each)
            for number, text in changed.items():
                texts[number] = text
            kind = table.schema.field(place)
            binary = pyarrow.types.is_dictionary(kind.type) or "binary" not in str(kind.type)
            values = pyarrow.array([text.decode() if binary else text for text in texts], kind.type)
            table = table.set_column(place, kind, values)
        for name, column in added.items():
            table = table.append_column(name, _array(column))
        if added:
            table = table.replace_schema_metadata(with_spark_columns(table.schema, list(added)))
        return self.rows._replace(table=table if kept is None else take_rows(table, kept))


def _array(column: Column) -> Any:
    """Numbers are the shortest decimals that are the same float32, as in JSON, so that a reader who compares them finds
    what wv found; vectors stay float32."""
    pyarrow = require("pyarrow", "Parquet")
    if getattr(column.values, "ndim", 1) == 2:
        size = np.shape(column.values)[1] if column.fixed_size else -1
        return pyarrow.array([row.tolist() for row in column.values], _list_of(pyarrow.float32(), size))
    kind = {"text": pyarrow.string(), "number": pyarrow.float64(), "count": pyarrow.int64()}[column.kind]
    return pyarrow.array(list(map(_plain, column.values)), _list_of(kind) if column.many else kind)


def _list_of(kind: Any, size: int = -1) -> Any:
    """With the name that the format has for elements; `size` -1: of any length."""
    pyarrow = require("pyarrow", "Parquet")
    return pyarrow.list_(pyarrow.field("element", kind), size)


def _plain(value: Any) -> Any:
    """As pyarrow takes it."""
    if isinstance(value, list):
        return list(map(_plain, value))
    return float(str(value)) if isinstance(value, np.floating) else value


@contextmanager
def open_table(path: str, name: str, kind: str) -> Iterator[Any]:
    """A file of Arrow's, of whatever bytes its name is, or a stream of one on another machine, which must be the same
    at the end. Raises BadFile."""
    if not is_file(path):
        raise BadFile(name, f"expected a file, since {kind} is read from its end; write it to a file first")
    if not is_remote(path):
        arrow = require("pyarrow", f"reading {kind}")
        with foreign(name, f"expected a {kind} file"):
            file = arrow.OSFile(os.fsencode(path))  # a name as a string must be UTF-8, and may be taken for a URL
        with file:
            yield file
        return
    with open_raw(path) as source:
        yield io.BufferedReader(source)
        if isinstance(source, RemoteFile):
            source.require_unchanged()


class TableReader:
    """What readers of tables share; see records.reading.Reader. They read the file at `path` themselves, from wherever
    they want."""

    def __init__(self, name: str, path: str, chunks: Iterator[bytes], rules: Rules) -> None:
        self._name, self._path, self._rules = name, path, rules

    def _blocks(self, schema: Any, form: Any, batches: Iterable[Batch], before: int = 0) -> Iterator[TableBlock]:
        """The rows of `batches` that have a text, behind `before` other ones of the file. Raises BadFile."""
        rules, arrow = self._rules, require("pyarrow", "Arrow")
        path = self._column(schema)
        if taken := [name for name in rules.added if name in schema.names]:
            raise RefusedRecords(self._name, f"there is already a column {taken[0]}; choose another name")
        bad, row = BadRecords(self._name, rules), before
        bad.good += before > 0
        for group, batch, size in batches:
            with foreign(self._name, f"expected the texts of rows from {row + 1:,} on"):
                values = text_values(column_at(batch, path))
            texts = [self._text(each, bad, row + i) for i, each in enumerate(values)]
            row += len(texts)
            good = [text for text in texts if text is not None]
            bad.good += len(good)
            table = arrow.Table.from_batches([batch])
            numbers = [i for i, text in enumerate(texts) if text is not None]
            if len(good) < len(texts):
                table = take_rows(table, [text is not None for text in texts])
            rows = Rows(table, group, form)
            yield TableBlock(good, int(size * len(texts)), rows, path, numbers, len(texts), schema.names)
        bad.finish()
        if row == before:
            yield TableBlock([], 0, Rows(schema.empty_table(), 0, form), path, [], 0, schema.names)

    def _column_names(self, schema: Any) -> str:
        """The field as a reader of some columns names it."""
        return ".".join(self._column(schema))

    def _column(self, schema: Any) -> list[str]:
        """The names that lead to the field. Raises BadFile when there is none of strings."""
        path, kind = find_column(schema, self._rules.field, self._name) or (None, None)
        if path is None:
            raise no_field(self._name, self._rules, schema.names)
        if not is_text(kind):
            raise BadFile(self._name, f"expected strings in the field {self._rules.field}, found {kind}")
        return path

    def _text(self, text: bytes | None, bad: BadRecords, row: int) -> bytes | None:
        """The text of a row, None when it has none."""
        problem = ""
        if text is None:
            problem = f"the field {self._rules.field} is null"
        else:
            try:
                text.decode()
            except UnicodeDecodeError:
                problem = "expected UTF-8, found another byte"
        if problem or text is None:
            bad.add(f"row {row + 1:,}: {problem}", None)
            return None
        return text.replace(b"\n", b" ") if self._rules.one_line else text
