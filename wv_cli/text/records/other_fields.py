"""The fields of records beside the one that is read, as JSON.

Of JSON lines the bytes stay as they are. The fields of CSV and TSV are strings. Values of Parquet that JSON lacks
become strings, NaN and infinity null.
"""

import csv
import io
from collections.abc import Mapping
from typing import Any

from wv_cli.io.json_text import to_json
from wv_cli.text.records.arrow import plain_values
from wv_cli.text.records.reading import Block
from wv_cli.text.records.scanned import Fields, ScannedBlock
from wv_cli.text.records.tables import TableBlock


def other_fields(block: Block) -> list[bytes]:
    """The other fields of each record."""
    if isinstance(block, TableBlock):
        table = block.rows.table
        columns = zip(*map(plain_values, table.columns), strict=True)
        rows = (dict(zip(table.column_names, values, strict=True)) for values in columns)
        return [_object(_without(row, block.path)) for row in rows]
    assert isinstance(block, ScannedBlock)
    form, places = block.fields, block.good[:, [0, 1, 7, 8]].tolist()
    if form is None:
        return [_without_value(block.raw, *each) for each in places]
    found, names = [], form.names if form.named else ()
    for begin, end, value, _ in places:
        number = len(_split(block.raw[begin:value] + b"x", form)) - 1
        named = enumerate(zip(names, _split(block.raw[begin:end], form), strict=False))
        found.append(_object({name: field for i, (name, field) in named if i != number}))
    return found


def _split(record: bytes, form: Fields) -> list[str]:
    """The fields of the last record of some lines."""
    if not form.quotes:
        return record.decode("utf-8-sig", "replace").rstrip("\r\n").split("\n")[-1].split(form.delimiter)
    lines = io.StringIO(record.decode("utf-8-sig", "replace"), newline="")
    *_, last = csv.reader(lines, delimiter=form.delimiter)
    return last


def _without_value(raw: bytes, first: int, last: int, value: int, value_end: int) -> bytes:
    """The JSON object raw[first:last] without the member whose value is raw[value:value_end]."""
    record, begin, end = raw[first:last], value - first, value_end - first
    key_end = record.rindex(b'"', 0, begin)
    key = record.rindex(b'"', 0, key_end)
    while (key - len(record[:key].rstrip(b"\\"))) % 2:  # a quote in the name itself
        key = record.rindex(b'"', 0, key)
    before, behind = record[:key].rstrip(), record[end:].lstrip()
    if behind.startswith(b","):
        behind = behind[1:].lstrip()
    else:
        before = before.removesuffix(b",")
    return (before + behind).strip()


def _without(row: dict[str, Any], path: Any) -> dict[str, Any]:
    """A row without the field that this path leads to."""
    name, *inner = path
    if not inner:
        return {key: value for key, value in row.items() if key != name}
    return row | {name: _without(row[name], inner)}


def _object(fields: Mapping[str, Any]) -> bytes:
    return to_json(_plain(fields), escape=False).encode()


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if value is None or isinstance(value, str | int | float) else str(value)
