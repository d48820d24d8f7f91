"""Parquet, through pyarrow. A block is a batch of rows; what is written again keeps schema, codecs and row groups."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from wv_cli.errors import BadFile, UsageError
from wv_cli.system.extra import foreign, require
from wv_cli.text.records.reading import BadRecords, Column, Rules, no_field

_ROWS = 4096  # of a batch: some megabytes of text
_UNPACKED = {"UNCOMPRESSED": "NONE"}  # as a writer calls it


class Rows(NamedTuple):
    """What ParquetSink.write takes: a pyarrow table, the number of its row group, and the codec of each column."""

    table: Any
    group: int
    codecs: dict[str, str]


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

    def written(
        self,
        added: Mapping[str, Column],
        kept: Sequence[bool] | None = None,
        changed: Mapping[int, bytes] | None = None,
    ) -> Rows:
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
            kind = pyarrow.string() if column.kind == "text" else pyarrow.float32()
            values = [_plain(value) for value in column.values]
            table = table.append_column(name, pyarrow.array(values, pyarrow.list_(kind) if column.many else kind))
        if kept is not None:
            table = table.filter(pyarrow.array(kept, pyarrow.bool_()))
        return self.rows._replace(table=table)


def _plain(value: Any) -> Any:
    """As pyarrow takes it."""
    return value.tolist() if hasattr(value, "tolist") else value


class ParquetReader:
    """Parquet; see records.reading.Reader. It reads the file at `path` itself, from wherever it wants."""

    def __init__(self, name: str, path: str, chunks: Iterator[bytes], rules: Rules) -> None:
        self._name, self._path, self._rules = name, path, rules

    def __iter__(self) -> Iterator[ParquetBlock]:
        parquet = require("pyarrow.parquet", "reading Parquet", "pyarrow")
        if not Path(self._path).is_file():
            raise BadFile(self._name, "expected a file, since Parquet is read from its end; write it to a file first")
        with foreign(self._name, "expected a Parquet file"):
            file = parquet.ParquetFile(self._path)
        with closing(file):
            yield from self._blocks(file)

    def _blocks(self, file: Any) -> Iterator[ParquetBlock]:
        rules, metadata, arrow = self._rules, file.metadata, require("pyarrow", "Parquet")
        path = self._column(file.schema_arrow)
        if taken := [name for name in rules.added if name in file.schema_arrow.names]:
            raise BadFile(self._name, f"there is already a column {taken[0]}; choose another name")
        bad = BadRecords(self._name, rules)
        row = 0
        for group in range(metadata.num_row_groups):
            codecs = _codecs(metadata.row_group(group))
            size = Path(self._path).stat().st_size / max(1, metadata.num_rows)
            with foreign(self._name, f"expected the rows of row group {group}"):
                for batch in file.iter_batches(_ROWS, [group], None if rules.whole else [".".join(path)]):
                    texts = [self._text(each, bad, row + i) for i, each in enumerate(_values(batch, path))]
                    row += len(texts)
                    good = [text for text in texts if text is not None]
                    bad.good += len(good)
                    table = arrow.Table.from_batches([batch])
                    if len(good) < len(texts):
                        table = table.filter(arrow.array([text is not None for text in texts]))
                    numbers = [i for i, text in enumerate(texts) if text is not None]
                    rows = Rows(table, group, codecs)
                    yield ParquetBlock(good, int(size * len(texts)), rows, path, numbers, len(texts))
        bad.finish()
        if not metadata.num_rows:
            yield ParquetBlock([], 0, Rows(file.schema_arrow.empty_table(), 0, {}), path, [], 0)

    def _column(self, schema: Any) -> list[str]:
        """The names that lead to the field. Raises BadFile when there is none of strings."""
        field = self._rules.field
        for path in ([field], field.split(".")):
            kind: Any = None
            for depth, part in enumerate(path):
                inside = schema if depth == 0 else kind
                names = inside.names if depth == 0 else [inside.field(i).name for i in range(inside.num_fields)]
                if part not in names:
                    break
                kind = inside.field(part).type
            else:
                self._require_strings(kind)
                return path
        raise no_field(self._name, self._rules, schema.names)

    def _require_strings(self, kind: Any) -> None:
        types = require("pyarrow", "Parquet").types
        of = kind.value_type if types.is_dictionary(kind) else kind
        if not re.fullmatch(r"(?:large_)?(?:string|binary)(?:_view)?|fixed_size_binary\[\d+\]", str(of)):
            raise BadFile(self._name, f"expected strings in the field {self._rules.field}, found {kind}")

    def _text(self, value: str | bytes | None, bad: BadRecords, row: int) -> bytes | None:
        """The text of a row, None when it has none."""
        problem = ""
        if value is None:
            problem = f"the field {self._rules.field} is null"
        elif isinstance(value, bytes):
            try:
                value.decode()
            except UnicodeDecodeError:
                problem = "expected UTF-8, found another byte"
        if problem or value is None:
            bad.add(f"row {row + 1:,}: {problem}", None)
            return None
        text = value.encode() if isinstance(value, str) else value
        return text.replace(b"\n", b" ") if self._rules.one_line else text


def _codecs(group: Any) -> dict[str, str]:
    columns = [group.column(i) for i in range(group.num_columns)]
    return {column.path_in_schema: column.compression for column in columns}


def _values(batch: Any, path: Sequence[str]) -> list[Any]:
    column = batch.column(path[0])
    if len(path) > 1:  # of an object that is null the fields are, too
        column = require("pyarrow.compute", "Parquet", "pyarrow").struct_field(column, path[1:])
    return list(column.to_pylist())


class ParquetSink:
    """Writes rows to `file`; those of a row group together."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held: list[Rows] = []
        self._writer: Any = None

    def write(self, rows: Rows) -> None:
        if self._held and self._held[0].group != rows.group:
            self._flush()
        self._held.append(rows)

    def _flush(self) -> None:
        if not self._held:
            return
        arrow = require("pyarrow", "Parquet")
        table = arrow.concat_tables([rows.table for rows in self._held])
        if self._writer is None:
            known = self._held[0].codecs
            usual = next(iter(known.values()), "SNAPPY")
            codecs = dict.fromkeys(table.schema.names, usual) | known
            self._writer = require("pyarrow.parquet", "Parquet").ParquetWriter(
                self._file,
                table.schema,
                compression={name: _UNPACKED.get(codec, codec) for name, codec in codecs.items()},
            )
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._held = []

    def close(self) -> None:
        self._flush()
        if self._writer is not None:
            self._writer.close()
