"""Blocks of JSON lines, CSV and TSV, and the reader of JSON lines.

Records are found by wv_cli._records and never parsed into objects: what is written again has every byte of the input
but for what is added.
"""

import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli import _floattext, _records
from wv_cli.io.json_text import to_json, to_unicode
from wv_cli.text.lines import whole_lines
from wv_cli.text.records.reading import NO_UTF8, BadRecords, Column, RefusedRecords, Rules, no_field
from wv_cli.text.records.text_spans import TextSpans

csv.field_size_limit(sys.maxsize)  # of headers, and of the fields beside the text: Python has 131,072
BOM = b"\xef\xbb\xbf"
PROBLEMS = {
    _records.NO_OBJECT: "expected a JSON object",
    _records.SYNTAX: "expected JSON, found something else",
    _records.UTF8: NO_UTF8,
    _records.TOO_DEEP: f"values are more than {_records.DEPTH:,} deep in each other",
    _records.NO_TEXT: "the field {field} is no string",
    _records.NO_FIELD: "there is no field {field}",
    _records.TAKEN: "",
    _records.COLUMNS: "expected as many fields as the header has",
    _records.OPEN_QUOTE: "a quote that is never closed; the rest of the file is in it",
    _records.AFTER_QUOTE: (
        'expected the end of the field behind its closing quote; a quote inside is written twice, not as \\" '
        """(Spark: .option("escape", '"'))"""
    ),
}


class _Record(NamedTuple):
    """As in csrc/core/records.h."""

    begin: int
    end: int
    insert: int
    text: int
    text_end: int
    status: int
    at: int
    value: int
    value_end: int


class Written(NamedTuple):
    """What ByteSink.write takes: a header, or b"", and records."""

    header: bytes
    records: bytes


@dataclass(frozen=True, eq=False)
class ScannedBlock:
    """Records in `raw`, from the byte `start` on, as a scanner found them. `header` is what stands before the records
    of CSV and TSV, whose `fields` say how these are written."""

    texts: bytes
    count: int
    raw: bytes
    rows: NDArray[np.int64]
    start: int = 0
    header: bytes = b""
    fields: "Fields | None" = None

    @property
    def size(self) -> int:
        return len(self.header) + len(self.raw)

    @property
    def each(self) -> TextSpans:
        begins, ends = self.good[:, 3:5].T
        return TextSpans(self.texts, np.ascontiguousarray(begins), ends - 1)

    @property
    def good(self) -> NDArray[np.int64]:
        """The rows of the records that have a text."""
        found: NDArray[np.int64] = self.rows[self.rows[:, 5] == _records.GOOD]
        return found

    def lines(self) -> tuple[list[int], int]:
        ends = np.flatnonzero(np.frombuffer(self.raw, np.uint8) == ord("\n"))
        header = self.header.count(b"\n")
        numbers = np.searchsorted(ends, self.good[:, 0]) + header
        return numbers.tolist(), len(ends) + header

    def to_write(
        self,
        added: Mapping[str, Column],
        kept: Sequence[bool] | None = None,
        changed: Mapping[int, bytes] | None = None,
    ) -> Written:
        """Blank lines stay unless some records go."""
        status = self.rows[:, 5]
        goes = status != _records.GOOD
        if kept is None:
            goes &= status != _records.BLANK
        else:
            goes[status == _records.GOOD] = ~np.asarray(kept, np.bool_)
        edits = [(begin, end, b"") for begin, end in self.rows[goes, :2].tolist()]
        if added or changed:
            edits += self._changes(added, goes, changed or {})
            edits.sort(key=itemgetter(0, 1))  # what is added to a record stands behind its text
        raw, cursor = memoryview(self.raw), 0
        pieces: list[bytes | memoryview] = []
        for begin, end, instead in edits:
            if cursor < begin:  # records that stay together are one piece
                pieces.append(raw[cursor:begin])
            pieces.append(instead)
            cursor = end
        records = b"".join([*pieces, raw[cursor:]]) if edits else self.raw
        return Written(self._header(list(added)), records)

    def _changes(
        self, added: Mapping[str, Column], goes: NDArray[np.bool_], changed: Mapping[int, bytes]
    ) -> Iterator[tuple[int, int, bytes]]:
        """What becomes of the bytes from one place to another in records that stay."""
        good = self.rows[:, 5] == _records.GOOD
        numbers = np.flatnonzero(~goes[good]).tolist()
        some = {name: column._replace(values=_select(column.values, numbers)) for name, column in added.items()}
        values = list(map("".join, zip(*(self._fragments(*each) for each in some.items()), strict=True)))
        for place, (number, row) in enumerate(zip(numbers, self.rows[good & ~goes].tolist(), strict=True)):
            record = _Record(*row)
            if number in changed:
                yield record.value, record.value_end, self._value(record, changed[number])
            if values:
                yield record.insert, record.insert, values[place].encode()

    def _header(self, names: list[str]) -> bytes:
        if self.fields is None or not self.fields.named or not self.header or not names:
            return self.header
        end = len(self.header.rstrip(b"\r\n"))
        return self.header[:end] + "".join(map(self.fields.append, names)).encode() + self.header[end:]

    def _value(self, record: _Record, text: bytes) -> bytes:
        """The text in the place of the field's value, in quotes and escaped as that was."""
        before = self.raw[record.value : record.value_end]
        if self.fields is None:
            return json.dumps(text.decode(), ensure_ascii=before.isascii()).encode()
        return self.fields.write(text.decode(), quoted=before.startswith(b'"')).encode()

    def _fragments(self, name: str, column: Column) -> list[str]:
        """What is inserted into each record for one field."""
        if self.fields is not None:
            return [self.fields.append(_plain(value)) for value in column.values]
        key = f",{to_json(name, escape=False)}:"
        if isinstance(column.values, np.ndarray) and column.values.ndim == 2 and np.isfinite(column.values).all():
            return [f"{key}[{row}]" for row in _rows_of_numbers(column.values)]
        return [key + _json(value) for value in column.values]


class Fields(NamedTuple):
    """How the fields of CSV and TSV are written: the `delimiter`, and whether they may stand in quotes. `named`: the
    header has their `names`; without one they are numbers."""

    delimiter: str
    quotes: bool = True
    named: bool = True
    names: Sequence[str] = ()

    def write(self, text: str, *, quoted: bool = False) -> str:
        """Without quotes what would end a field becomes a blank."""
        text = to_unicode(text)
        if not self.quotes:
            return re.sub(r"[\t\r\n]", " ", text)
        special = any(mark in text for mark in (self.delimiter, '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if quoted or special else text

    def append(self, text: str) -> str:
        """A field behind another one."""
        return self.delimiter + self.write(text)


def _select(values: Sequence[Any] | NDArray[Any], numbers: list[int]) -> Sequence[Any] | NDArray[Any]:
    return values[numbers] if isinstance(values, np.ndarray) else [values[number] for number in numbers]


def _rows_of_numbers(matrix: NDArray[np.float32]) -> list[str]:
    """Each row with commas between its numbers, which are the shortest that are the same float32."""
    count, dim = matrix.shape
    out = bytearray(count * _floattext.row_capacity(dim))
    size = _floattext.format_rows(matrix, b"", np.zeros(count + 1, np.int64), 0, count, 0, False, out)
    return [row.strip().replace(" ", ",") for row in out[:size].decode().splitlines()]


def _json(value: Any) -> str:
    """JSON text; of a float32 the shortest that is the same float32."""
    if isinstance(value, np.floating):
        return str(value) if np.isfinite(value) else "null"
    if isinstance(value, list | np.ndarray):
        return f"[{','.join(map(_json, value))}]"
    return to_json(value, escape=False)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | np.ndarray):
        return " ".join(map(_plain, value))
    return "" if value is None else _json(value)


class Counting:
    """Places in a file of which blocks are read one after the other: the byte and the line at which a block begins."""

    def __init__(self, bad: BadRecords, rules: Rules, problems: Mapping[int, str] = PROBLEMS) -> None:
        self.bad, self._rules, self._problems = bad, rules, problems
        self.byte = 0
        self._line: int | None = 1

    def take(self, raw: bytes, rows: NDArray[np.int64], used: int) -> int:
        """How many of the records are good; tells of the others. `used` bytes of `raw` have been read."""
        status = rows[:, 5]
        good = int((status == _records.GOOD).sum())
        for number in np.flatnonzero(status > _records.BLANK).tolist():
            record = _Record(*rows[number].tolist())
            line = None if self._line is None else self._line + raw.count(b"\n", 0, record.begin)
            problem = self._problems[record.status].format(field=self._rules.field)
            if record.status == _records.TAKEN:
                names = ", ".join(self._rules.added)
                problem = f"there is already a field of those to be added ({names}); choose another name"
                raise RefusedRecords(self.bad.name, problem, line=line)
            self.bad.add(problem, line, self.byte + record.at)
        self.bad.good += good
        self.skip(raw[:used])
        return good

    def skip(self, raw: bytes) -> None:
        """These bytes are behind us."""
        self.byte += len(raw)
        if self._line is not None:
            self._line += _floattext.count_lines(raw, 0, len(raw))

    def go_to(self, place: int) -> None:
        """The next bytes are those at `place` of a file that has good records."""
        self.byte = place
        self._line = None if place else 1
        self.bad.good += 1

    def skip_bytes(self, chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
        """The chunks of a file behind its first `size` bytes, of which some records were good."""
        self.bad.good += size > 0
        for chunk in chunks:
            if size:
                self.skip(chunk[:size])
            if rest := chunk[size:]:
                yield rest
            size = max(0, size - len(chunk))


class JsonReader:
    """JSON lines; see records.reading.Reader."""

    def __init__(self, name: str, path: str, chunks: Iterator[bytes], rules: Rules) -> None:
        self._name, self._chunks, self._rules = name, chunks, rules

    def __iter__(self) -> Iterator[ScannedBlock]:
        rules = self._rules
        scanner = _records.JsonScanner(
            to_unicode(rules.field).encode(),
            [part.encode() for part in to_unicode(rules.field).split(".")],
            [to_unicode(added).encode() for added in rules.added],
            rules.newlines,
        )
        counting = Counting(BadRecords(self._name, rules), rules)
        first, chunks = not rules.place, self._chunks
        if rules.span is not None:
            counting.go_to(rules.place)
        else:
            chunks = counting.skip_bytes(chunks, rules.start)
        for raw in whole_lines(chunks):
            start = len(BOM) if first and raw.startswith(BOM) else 0
            texts, rows, used = scanner.scan(raw, start)
            if first and rules.span is None:
                self._require_field(raw, rows)
            first = False
            yield ScannedBlock(texts, counting.take(raw, rows, used), raw, rows, start)
        counting.bad.finish()

    def _require_field(self, raw: bytes, rows: NDArray[np.int64]) -> None:
        """Raises BadFile when no record of the first block has the field, though they are records."""
        status = rows[:, 5]
        without = np.flatnonzero(status == _records.NO_FIELD)
        if len(without) and not np.isin(status, (_records.GOOD, _records.NO_TEXT)).any():
            begin, end = rows[without[0], :2].tolist()
            try:
                names = list(json.loads(raw[begin:end], parse_int=str))
            except (ValueError, RecursionError):  # the scanner reads values deeper in each other than Python does
                names = ["fields that are too deep in each other to name"]
            raise no_field(self._name, self._rules, names)
