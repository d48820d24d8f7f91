"""Columns of text in Arrow's tables and arrays, by pyarrow: of Parquet, and of programs that hand over a batch."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.io.extra import require

_PLAIN = (str, bytes, bool, int, float, Decimal, date, time, tuple, Mapping)
_TEXT = re.compile(r"(?:large_)?(?:string|binary)(?:_view)?|fixed_size_binary\[\d+\]")


def find_column(schema: Any, field: str, name: str) -> tuple[list[str], Any] | None:
    """(the names that lead to a field, its type), of an object's field a.b too; None when there is none. Raises BadFile
    for two columns of one name, which messages place in `name`."""
    for path in ([field], field.split(".")):
        kind: Any = None
        for depth, part in enumerate(path):
            inside = schema if depth == 0 else kind
            names = inside.names if depth == 0 else [inside.field(i).name for i in range(inside.num_fields)]
            if part not in names:
                break
            if names.count(part) > 1:
                raise BadFile(name, f"expected one column {part}, found {names.count(part)}; rename one")
            kind = inside.field(part).type
        else:
            return path, kind
    return None


def is_text(kind: Any) -> bool:
    """Whether values of this type are strings or bytes."""
    of = kind.value_type if require("pyarrow", "Arrow").types.is_dictionary(kind) else kind
    return _TEXT.fullmatch(str(of)) is not None


def column_at(table: Any, path: Sequence[str]) -> Any:
    """The column to which names lead. Of an object that is null the fields are, too."""
    column = table.column(path[0])
    if len(path) > 1:
        column = require("pyarrow.compute", "Arrow", "pyarrow").struct_field(column, path[1:])
    return column


def text_values(column: Any) -> list[bytes | None]:
    """The texts of a column as bytes: some writers put others than UTF-8 into columns of strings. Raises what pyarrow
    raises for a damaged column, whose texts would be anywhere."""
    arrow = require("pyarrow", "Arrow")
    if arrow.types.is_dictionary(column.type):
        kind = _without_views(column.type.value_type)
        column = column.cast(arrow.dictionary(column.type.index_type, kind)).cast(kind)
    binary = {"string": arrow.binary(), "large_string": arrow.large_binary(), "string_view": arrow.binary_view()}
    column = column.cast(binary.get(str(column.type), column.type))
    column.validate(full=True)
    found: list[bytes | None] = column.to_pylist()
    return found


def plain_values(column: Any) -> list[Any]:
    """The values of a column. A float32 is the shortest decimal that is the same float32, as it stands in JSON, and a
    float16 likewise. Those that Python cannot have, such as nanoseconds, become text, and so do those that no JSON has,
    such as UUIDs."""
    pyarrow, kind = require("pyarrow", "Arrow"), column.type
    single = pyarrow.float32()
    if (double := _change_leaves(kind, lambda leaf: pyarrow.float64() if leaf == single else leaf)) != kind:
        text = _change_leaves(kind, lambda leaf: pyarrow.string() if leaf == single else leaf)
        column = column.cast(text).cast(double)
    for other in (None, "string", "binary"):
        try:
            values = (column if other is None else column.cast(other)).to_pylist()
            if "halffloat" in str(kind):
                values = [_shorten_halves(value, kind) for value in values]
            return [_plain(value) for value in values]
        except (ValueError, OverflowError, NotImplementedError):
            continue
    return [None] * len(column)


def _shorten_halves(value: Any, kind: Any) -> Any:
    """A value of this type, in which each float16 is the shortest decimal that is the same one: Arrow writes all digits
    of these."""
    types = require("pyarrow", "Arrow").types
    if value is None:
        return None
    if types.is_float16(kind):
        return float(str(np.float16(value)))
    if types.is_struct(kind):
        return {field.name: _shorten_halves(value[field.name], field.type) for field in kind.fields}
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return [_shorten_halves(each, kind.value_type) for each in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, _PLAIN) else str(value)


def take_rows(table: Any, kept: Sequence[bool] | NDArray[np.bool_]) -> Any:
    """The rows that are kept. pyarrow 26 cannot take rows of views, nor write a part of a column of them."""
    pyarrow = require("pyarrow", "Arrow")
    mask, schema = pyarrow.array(kept, pyarrow.bool_()), table.schema
    try:
        return table.filter(mask)
    except pyarrow.ArrowNotImplementedError:
        fields = [field.with_type(_without_views(field.type)) for field in schema]
        return table.cast(pyarrow.schema(fields)).filter(mask).cast(schema)


def _without_views(kind: Any) -> Any:
    """The same type with strings and bytes that lie behind each other."""
    pyarrow = require("pyarrow", "Arrow")
    plain = {"string_view": pyarrow.string(), "binary_view": pyarrow.binary()}
    return _change_leaves(kind, lambda leaf: plain.get(str(leaf), leaf))


def _change_leaves(kind: Any, change: Callable[[Any], Any]) -> Any:
    """The same type with what `change` makes of each type that has no others inside."""
    pyarrow = require("pyarrow", "Arrow")
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([field.with_type(_change_leaves(field.type, change)) for field in kind.fields])
    if pyarrow.types.is_dictionary(kind):
        return pyarrow.dictionary(kind.index_type, _change_leaves(kind.value_type, change), kind.ordered)
    if pyarrow.types.is_fixed_size_list(kind):
        return pyarrow.list_(kind.value_field.with_type(_change_leaves(kind.value_type, change)), kind.list_size)
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        make = pyarrow.list_ if pyarrow.types.is_list(kind) else pyarrow.large_list
        return make(kind.value_field.with_type(_change_leaves(kind.value_type, change)))
    if pyarrow.types.is_map(kind):
        key, item = _change_leaves(kind.key_type, change), _change_leaves(kind.item_type, change)
        return pyarrow.map_(key, item, kind.keys_sorted)
    return change(kind)
