"""The values of single fields of records, beside the text, which is not decoded for them."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from wv_cli.errors import UsageError
from wv_cli.text.records.arrow import column_at, find_column, plain_values
from wv_cli.text.records.reading import Block, shown_fields
from wv_cli.text.records.scanned import Fields, ScannedBlock
from wv_cli.text.records.tables import TableBlock

Values = dict[str, list[Any]]  # of a field its value in every record, None where there is none


def read_fields(block: Block, names: Sequence[str], field: str, place: str, step: str = "a rule asks for it") -> Values:
    """The fields `names` of records of the file `place` that were read by their `field`. Raises UsageError for a name
    that is no column, whose message ends with the `step`."""
    if not names:
        return {}
    if isinstance(block, TableBlock):
        return read_columns(block.rows.table, names, place, step, block.names)
    assert isinstance(block, ScannedBlock)
    with_text = any(field == name or field.startswith(f"{name}.") for name in names)
    if block.fields is None:
        objects = [_parse(each) for each in _records(block, b"null", whole=with_text)]
        return {name: [_at(each, name) for each in objects] for name in names}
    places = {name: _column_number(block.fields.names, name, place, step) for name in names}
    rows = [_split(each, block.fields) for each in _records(block, b"", whole=with_text)]
    return {name: [row[place] for row in rows] for name, place in places.items()}


def read_columns(
    table: Any, names: Sequence[str], place: str, step: str = "a rule asks for it", found_names: Sequence[str] = ()
) -> Values:
    """The same of a table of Arrow. `found_names` are the columns of its file, where it has some of them only."""
    found = {}
    for name in names:
        path = find_column(table.schema, name, place)
        if path is None:
            raise _no_column(place, name, found_names or table.column_names, step)
        found[name] = plain_values(column_at(table, path[0]))
    return found


def _records(block: ScannedBlock, instead: bytes, *, whole: bool) -> Iterator[bytes]:
    """The bytes of each record; unless they are wanted `whole`, something short stands for its text."""
    for begin, end, value, value_end in block.good[:, [0, 1, 7, 8]].tolist():
        yield block.raw[begin:end] if whole else block.raw[begin:value] + instead + block.raw[value_end:end]


def _parse(record: bytes) -> Any:
    try:
        return json.loads(record)
    except RecursionError:  # the scanner reads values deeper in each other than Python does
        return {}
    except ValueError:  # whole numbers of thousands of digits
        return json.loads(record, parse_int=float)


def _at(record: Any, name: str) -> Any:
    """The field of this name, or the one to which its parts lead."""
    if name in record:
        return record[name]
    for part in name.split("."):
        if not isinstance(record, Mapping):
            return None
        record = record.get(part)
    return record


def _column_number(names: Sequence[str], name: str, place: str, step: str) -> int:
    """Of several columns of a name the last, as of that of the text."""
    if name not in names:
        raise _no_column(place, name, names, step)
    return len(names) - 1 - names[::-1].index(name)


def _split(record: bytes, form: Fields) -> list[str | None]:
    """The fields of a row; an empty one is null."""
    text = record.decode("utf-8-sig", "replace").rstrip("\r\n")
    if not form.quotes:
        return [field or None for field in text.split(form.delimiter)]
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=form.delimiter)
    return [field or None for field in chain.from_iterable(lines)]


def _no_column(place: str, name: str, found: Sequence[str], step: str) -> UsageError:
    return UsageError(f"{place}: expected the column {name}, found {shown_fields(found)}; {step}")
