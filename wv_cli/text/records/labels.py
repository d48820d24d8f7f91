"""Labels of texts from fields of records: each record becomes a line such as `__label__3 the text`.

A label is one word, so in a value a byte that separates words is written as % and two digits, such as
`__label__social%20science`, and as it was by value_of(). A % before such digits is %25; others stay.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Any

from wv_cli._text import SEPARATORS
from wv_cli.errors import BadFile, UsageError, show_value
from wv_cli.io.json_text import to_unicode
from wv_cli.text.records.field_values import read_fields
from wv_cli.text.records.kinds import RECORDS
from wv_cli.text.records.reading import Block, shown_fields
from wv_cli.text.records.scanned import ScannedBlock
from wv_cli.text.records.tables import TableBlock
from wv_cli.words import encode

_HIDDEN = b"".join(sorted({bytes([each]) for each in SEPARATORS} | {b"%", b"="}))
_CODES = "|".join(f"{byte:02x}" for byte in _HIDDEN)
_ENCODED = re.compile(f"%({_CODES})")
_TO_ENCODE = re.compile(f"[{re.escape(SEPARATORS.decode())}]|%(?={_CODES})")
_EXACT = 1 << 53  # whole numbers below are the same as floats


@dataclass(frozen=True)
class LabelFields:
    """The labels of records are the values of the fields `names`, behind `prefix`. With `named` a label has the name of
    its field, too: `__label__quality=3`."""

    names: Sequence[str]
    prefix: str = "__label__"
    named: bool = False

    def label(self, name: str, value: str) -> str:
        """The word of a label."""
        return (
            f"{self.prefix}{head_name(name)}={encode_value(value)}"
            if self.named
            else f"{self.prefix}{encode_value(value)}"
        )

    def require_records(self, kinds: Sequence[str | None], inputs: Sequence[str]) -> None:
        """Raises UsageError where no input is of records. `named` labels may stand in lines, too."""
        if not self.named and not any(kinds):
            endings = ", ".join(f".{kind}" for kind in RECORDS)
            raise UsageError(
                f"{', '.join(inputs)}: --label-field reads records, and no input is called {endings}; give records, "
                "name the field of the texts with --field, or leave --label-field out"
            )


def head_name(name: str) -> str:
    """The name of a field in front of the = of a label."""
    return encode_value(name).replace("=", "%3d")


def encode_value(value: str) -> str:
    """A value as a part of a word."""
    return _TO_ENCODE.sub(lambda found: f"%{ord(found[0]):02x}", to_unicode(value))


def value_of(part: str) -> str:
    """The value that encode_value() has made a part of a word."""
    return _ENCODED.sub(lambda found: chr(int(found[1], 16)), part)


class LabeledLines:
    """Makes lines of the records of a text whose labels `fields` have."""

    def __init__(self, fields: LabelFields, field: str) -> None:
        """`field` has the texts."""
        self._fields, self._field = fields, field
        self._found: set[str] = set()  # the fields that some record had a value of
        self._seen: Sequence[str] = ()
        prefix = re.escape(encode(fields.prefix))
        separators = re.escape(SEPARATORS)
        self._label = re.compile(rb"(?<![^%b])%b[^%b]*" % (separators, prefix, separators))

    def read(self, blocks: Iterable[Block], name: str) -> Iterator[list[tuple[bytes, bytes]]]:
        """(labels, each with a blank behind it, text) of each record, for all the blocks of the file `name`. Words of
        a text that look like labels are left out. Raises UsageError, BadFile."""
        before = 0
        for block in blocks:
            yield self._texts(block, name, before)
            before += block.lines()[1]

    def _texts(self, block: Block, place: str, before: int) -> list[tuple[bytes, bytes]]:
        """Those of one block, behind so many lines or rows of the file."""
        fields, labels = self._fields, [""] * block.count
        values = read_fields(block, fields.names, self._field, place, step="--label-field names it")
        for name in fields.names:
            for number, value in enumerate(values[name]):
                try:
                    parts = list(_parts(name, value))
                except TypeError as error:
                    raise _refuse(place, block, before + block.lines()[0][number] + 1, str(error)) from None
                if parts:
                    labels[number] += "".join(f"{fields.label(name, each)} " for each in parts)
                    self._found.add(name)
        self._seen = self._seen or (_names(block) if block.count else ())
        prefix = encode(fields.prefix)
        return [
            (encode(label), self._label.sub(b"", text) if prefix in text else text)
            for label, text in zip(labels, block.each, strict=True)
        ]

    def require_values(self, name: str) -> None:
        """Raises BadFile where there were records of the input `name`, and none with a value of one of the fields."""
        lacking = [field for field in self._fields.names if field not in self._found]
        if lacking and self._seen:
            expected = f"expected values in the field {lacking[0]} (--label-field), found none in any record"
            raise BadFile(name, f"{expected}; the first one has the fields {shown_fields(self._seen)}")


def label_text(value: Any) -> str | None:
    """The label that the value of a field is, as text: 1 and 1.0 are one label. None for null, an empty text, and what
    is no finite number. Raises TypeError for a value that is no label, such as a list."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        number = float(value)
        is_whole = number.is_integer() and abs(number) < _EXACT
        return str(int(number) if is_whole else number) if math.isfinite(number) else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") or None
    if isinstance(value, date | time):  # as JSON has them
        return value.isoformat()
    if value is None or isinstance(value, int | str):
        return str(value) if value not in (None, "") else None
    raise TypeError(type(value).__name__)


def _parts(name: str, value: Any) -> Iterator[str]:
    """The labels that the value of a field is, as text. Raises TypeError, which says why, for a value that is none."""
    if isinstance(value, list | tuple) and not any(isinstance(each, list | tuple) for each in value):
        for each in value:
            yield from _parts(name, each)
        return
    try:
        text = label_text(value)
    except TypeError:
        expected = "a text, a number, true, false, null or a list of these"
        way = f"name a field inside it as {name}.NAME, or another field"
        problem = f"the field {name}: expected {expected}, found {show_value(value, 60)}; {way}"
        raise TypeError(problem) from None
    if text is not None:
        yield text


def _refuse(name: str, block: Block, number: int, problem: str) -> BadFile:
    """The error for the record in this line, or this row of a table."""
    if isinstance(block, TableBlock):
        return BadFile(name, f"row {number:,}: {problem}")
    return BadFile(name, problem, line=number)


def _names(block: Block) -> list[str]:
    """The fields of the first record."""
    if isinstance(block, TableBlock):
        return list(block.names)
    assert isinstance(block, ScannedBlock)
    if block.fields is not None:
        return list(block.fields.names)
    begin, end = block.good[0, :2].tolist()
    return list(json.loads(block.raw[begin:end], parse_int=str))
