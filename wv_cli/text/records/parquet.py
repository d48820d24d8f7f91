"""Parquet, through pyarrow. A block is a batch of rows; what is written again keeps schema, codecs and row groups."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from wv_cli.errors import BadFile, UsageError
from wv_cli.io.extra import foreign, require
from wv_cli.io.remote import is_remote
from wv_cli.io.remote_reading import RemoteFile
from wv_cli.text.raw_files import is_file, open_raw, size_of_file
from wv_cli.text.records.arrow import column_at, find_column, is_text, take_rows, text_values
from wv_cli.text.records.parquet_writing import Rows, form_of, spark_times, with_spark_columns
from wv_cli.text.records.reading import BadRecords, Column, Rules, no_field

_ROWS = 4096  # of a batch: some megabytes of text


@dataclass(frozen=True, eq=False)
class ParquetBlock:
    """A batch of rows that have a text: `numbers` are theirs among the `read` rows of the file."""

    each: list[bytes]
    size: int
    rows: Rows
    path: Sequence[str]  # the names that lead to the field
    numbers: list[int]
    read: int

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
                raise UsageError(f"--field {'.'.join(self.path)}: texts inside a Parquet struct cannot be shortened")
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
        return pyarrow.array([row.tolist() for row in column.values], _list_of(pyarrow.float32()))
    kind = {"text": pyarrow.string(), "number": pyarrow.float64(), "count": pyarrow.int64()}[column.kind]
    return pyarrow.array(list(map(_plain, column.values)), _list_of(kind) if column.many else kind)


def _list_of(kind: Any) -> Any:
    """With the name that the format has for elements."""
    pyarrow = require("pyarrow", "Parquet")
    return pyarrow.list_(pyarrow.field("element", kind))


def _plain(value: Any) -> Any:
    """As pyarrow takes it."""
    if isinstance(value, list):
        return list(map(_plain, value))
    return float(str(value)) if isinstance(value, np.floating) else value


class ParquetReader:
    """Parquet; see records.reading.Reader. It reads the file at `path` itself, from wherever it wants."""

    def __init__(self, name: str, path: str, chunks: Iterator[bytes], rules: Rules) -> None:
        self._name, self._path, self._rules = name, path, rules

    def __iter__(self) -> Iterator[ParquetBlock]:
        parquet = require("pyarrow.parquet", "reading Parquet", "pyarrow")
        if not is_file(self._path):
            raise BadFile(self._name, "expected a file, since Parquet is read from its end; write it to a file first")
        with ExitStack() as stack:
            source = stack.enter_context(open_raw(self._path)) if is_remote(self._path) else None
            place = self._path if source is None else io.BufferedReader(source)
            with foreign(self._name, "expected a Parquet file"):
                unit = "us" if spark_times(parquet.read_metadata(place)) else None
                file = stack.enter_context(closing(parquet.ParquetFile(place, coerce_int96_timestamp_unit=unit)))
            yield from self._blocks(file)
            if isinstance(source, RemoteFile):
                source.require_unchanged()

    def _blocks(self, file: Any) -> Iterator[ParquetBlock]:
        rules, metadata, arrow = self._rules, file.metadata, require("pyarrow", "Parquet")
        path = self._column(file.schema_arrow)
        if taken := [name for name in rules.added if name in file.schema_arrow.names]:
            raise BadFile(self._name, f"there is already a column {taken[0]}; choose another name")
        bad = BadRecords(self._name, rules)
        row, form = 0, form_of(self._name, file)
        for group in range(metadata.num_row_groups):
            size = (size_of_file(self._path) or 0) / max(1, metadata.num_rows)
            with foreign(self._name, f"expected the rows of row group {group}"):
                for batch in file.iter_batches(_ROWS, [group], None if rules.whole else [".".join(path)]):
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
                    yield ParquetBlock(good, int(size * len(texts)), rows, path, numbers, len(texts))
        bad.finish()
        if not metadata.num_rows:
            yield ParquetBlock([], 0, Rows(file.schema_arrow.empty_table(), 0, form), path, [], 0)

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
