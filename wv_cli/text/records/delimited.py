"""Readers of CSV and TSV: what stands before the records, what delimits their fields, and their columns."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from wv_cli import _records
from wv_cli.errors import BadFile, show_value
from wv_cli.text.records.reading import BadRecords, RefusedRecords, Rules, no_field
from wv_cli.text.records.scanned import BOM, PROBLEMS, Counting, Fields, ScannedBlock

_LONGEST_HEADER = 1 << 20
_LETTERS = "a quote is a letter unless --tsv-quotes is given"
_FEW = 100  # records whose texts are looked at
_SAMPLE = 1 << 14  # bytes whose records show how well a delimiter fits
# A mark, blank lines, and Excel's line that names the delimiter.
_PREAMBLE = re.compile(rb"(?:\xef\xbb\xbf)?(?: *(?:\r\n?|\n))*(?i:(\"?)sep=([\t !#-/:-@\[-`{-~])\1(?:\r\n?|\n))?")


class _Layout(NamedTuple):
    """The header is held[begin:end], without one the first record; `names` are its fields."""

    delimiter: str
    begin: int
    end: int
    names: list[str]


class CsvReader:
    """CSV, as RFC 4180 has it; see records.reading.Reader. The delimiter is the one of Excel's line `sep=;`, else that
    of which the header has the field, else the one that fits best."""

    delimiters: tuple[str, ...] = (",", ";", "\t", "|")
    quotes = True
    problems = PROBLEMS

    def __init__(self, name: str, path: str, chunks: Iterator[bytes], rules: Rules) -> None:
        self._name, self._chunks, self._rules = name, chunks, rules

    def __iter__(self) -> Iterator[ScannedBlock]:
        held, layout = self._open()
        if not held:
            return
        column = self._column(layout)
        header = held[: layout.begin if self._rules.reading.no_header else layout.end]
        named = not self._rules.reading.no_header
        if not named and b"=" not in header:  # nothing but a mark and blank lines, which records may have
            header = b""
        block = held[len(header) :]
        counting = Counting(BadRecords(self._name, self._rules), self._rules, self.problems)
        counting.skip(header)
        start = len(BOM) if not header and block.startswith(BOM) else 0
        scanner = self._scanner(layout.delimiter, column, len(layout.names))
        names = layout.names if named else [str(number) for number in range(1, len(layout.names) + 1)]
        fields = Fields(layout.delimiter, self.quotes, named, names)
        if self._rules.start:
            self._chunks = counting.skip_bytes(chain([block], self._chunks), self._rules.start - len(header))
            header, block, start = b"", b"", 0
        enough = 0  # bytes before which a record that has no end yet is not looked at again
        while True:
            more = next(self._chunks, b"")
            final = not more
            if len(block) >= enough or final:
                texts, rows, used = scanner.scan(block, start, final)
                if used > start or final:
                    count = counting.take(block, rows, used)
                    yield ScannedBlock(texts, count, block[:used], rows, start, header, fields)
                    header, block, start = b"", block[used:], 0
                enough = 2 * len(block)
            if final:
                break
            block += more
        counting.bad.finish()

    def columns(self) -> list[str]:
        """The fields of the header or, without one, of the first record; nothing in an empty file. Raises BadFile."""
        held, layout = self._open()
        return layout.names if held else []

    def _scanner(self, delimiter: str, column: int, columns: int) -> _records.CsvScanner:
        return _records.CsvScanner(delimiter.encode(), column, columns, self._rules.newlines, self.quotes)

    def _open(self) -> tuple[bytes, _Layout]:
        """(the first bytes, with the whole header and some records, and their layout)."""
        held = b""
        while len(held) < _LONGEST_HEADER:
            enough = len(held) >= _SAMPLE or (len(self.delimiters) == 1 and held)
            if enough and all(layout.end for layout in self._layouts(held)):
                break
            if not (more := next(self._chunks, b"")):
                break
            held += more
        return held, self._choose(held, self._layouts(held, whole=True))

    def _layouts(self, held: bytes, *, whole: bool = False) -> list[_Layout]:
        """One for each delimiter that may be; its `end` is 0 where the header may go on behind `held`, unless that is
        `whole`. Raises BadFile for a header that is no text."""
        before = _PREAMBLE.match(held)
        assert before is not None
        begin, delimiters = before.end(), self.delimiters
        if before[2] and len(delimiters) > 1:
            delimiters = (before[2].decode(),)
        elif before[2]:
            begin = before.start(1)
        found = []
        for delimiter in delimiters:
            scanner = self._scanner(delimiter, 0, 1)
            ends = (scanner.scan(held[:size], min(begin, size))[1] for size in (_SAMPLE, len(held)))
            end = next((int(rows[0, 1]) for rows in ends if len(rows)), len(held) if whole else 0)
            found.append(_Layout(delimiter, begin, end, self._names(held[begin:end], delimiter) if whole else []))
        return found

    def _names(self, header: bytes, delimiter: str) -> list[str]:
        try:
            text = header.decode().rstrip("\r\n")
            if not self.quotes:
                return text.split(delimiter)
            return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
        except UnicodeDecodeError as error:
            raise BadFile(self._name, "expected UTF-8, found another byte", line=1) from error
        except csv.Error as error:
            raise BadFile(self._name, f"expected the names of columns, found: {error}", line=1) from error

    def _choose(self, held: bytes, layouts: list[_Layout]) -> _Layout:
        field = self._rules.field
        if not self._rules.reading.no_header and (named := [each for each in layouts if field in each.names]):
            return named[0]

        def fitness(layout: _Layout) -> tuple[float, int]:
            """(the fraction of the first records that have as many fields, how many these are)."""
            count = len(layout.names)
            if count < 2:
                return 0.0, count
            _, rows, _ = self._scanner(layout.delimiter, 0, count).scan(held[: max(layout.end, _SAMPLE)], layout.begin)
            status = rows[:, 5]
            return float((status != _records.COLUMNS).mean()) if len(status) else 1.0, count

        return max(layouts, key=fitness)

    def _column(self, layout: _Layout) -> int:
        """Of the field: of several of its name the last, or the number that it is. Raises BadFile."""
        names, rules = layout.names, self._rules
        named = not rules.reading.no_header
        if named and (taken := [name for name in rules.added if name in names]):
            raise RefusedRecords(self._name, f"there is already a column {taken[0]}; choose another name", line=1)
        if named and rules.field in names:
            return len(names) - 1 - names[::-1].index(rules.field)
        if rules.field.isdecimal() and 1 <= int(rules.field) <= len(names):
            column = int(rules.field) - 1
            if named and not names[column].strip().isidentifier():
                found = f"expected the name of column {rules.field} in the header, found {show_value(names[column])}"
                problem = f"{found}; give --no-header if line 1 is a record, or else --field with that name"
                raise BadFile(self._name, problem, line=1)
            return column
        marks = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|"}
        known = " or ".join(marks[each] for each in self.delimiters)
        way = f"; {known} part columns" if len(names) == 1 and not names[0].isidentifier() else ""
        if not self.quotes and any(name.startswith('"') for name in names):
            way = f"; {_LETTERS}"
        elif any(name.lstrip().startswith("{") for name in names[:1]):
            way = "; a file of JSON lines is called .jsonl"
        elif named and rules.step == Rules.step and not all(name.strip().isidentifier() for name in names):
            way += "; if line 1 is a record, give --no-header --field 1"
        raise no_field(self._name, rules, names if named else [f"1 to {len(names)}"], way)


class TsvReader(CsvReader):
    """TSV: CSV with tabs, in which a quote is a letter unless --tsv-quotes is given."""

    delimiters = ("\t",)

    def __init__(self, name: str, path: str, chunks: Iterator[bytes], rules: Rules) -> None:
        super().__init__(name, path, chunks, rules)
        self.quotes = rules.reading.tsv_quotes
        if not self.quotes:
            self.problems = PROBLEMS | {_records.COLUMNS: f"{PROBLEMS[_records.COLUMNS]}; {_LETTERS}"}

    def __iter__(self) -> Iterator[ScannedBlock]:
        """Tells where the texts of the first records stand in quotes."""
        first = not self._rules.start
        for block in super().__iter__():
            if first and not self.quotes:
                texts = block.each[:_FEW]
                quoted = sum(text.startswith(b'"') and text.endswith(b'"') for text in texts)
                if 2 * quoted > len(texts):
                    self._rules.log(f"{self._name}: most texts stand in quotes; {_LETTERS}")
            first = False
            yield block
