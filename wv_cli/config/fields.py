"""One option: what the field of a class of Options says of it, as `option` describes it and its annotation types it."""

import dataclasses
import math
import numbers
import re
import types
import typing
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from wv_cli.config.wording import either, flag_of, show_default, show_number
from wv_cli.errors import EMPTY_NAME, UsageError, show_value

Value = TypeVar("Value")
# Of the file that an option names: an input, which no output may replace; a result; what is written besides, on the
# way. "own": methods of the class tell what becomes of it. "": the value names no file.
Role = typing.Literal["", "read", "result", "write", "own"]


def option(
    default: Value = dataclasses.MISSING,  # type: ignore[assignment]
    help: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    low_is: str = "",
    high_is: str = "",
    what: str = "",
    unit: str = "",
    flag: str = "",
    short: str = "",
    off: str | None = "",
    only: str = "",
    group: str = "",
    role: Role = "",
    metavar: str = "",
    choices: Iterable[str] = (),
    shown: str = "",
    also: str = "",
    bare: str = "",
    common: bool = False,
    identity: bool = True,
) -> Value:
    """A field of Options. Without `help` it is no option of the command line by itself; without `default` it must be
    given.

    A number lies from `low` to `high`, or beyond `above` and `below` themselves. Messages say what the least and the
    largest value mean (`low_is="off"`: "0 (off) or more"), what the number is (`what="a share of --lr"`) and counts
    (`unit`), and call it `flag` where that is not the field's name; `short` is its letter. `off` is the flag that turns
    a bool off, None: there is none. `only` is the condition (see `holds`) on other options without which this one means
    nothing, and is refused. Help shows it under the heading `group`, where that is not its class's, and `shown` as its
    default where the value says little. `choices` are those of a table, `also` is an expression of what may stand
    beside them. `bare` is the value of an option that stands without one. A `role` is that of a file or folder which
    the value names. `metavar` says what the value is: FILE where there is a role, SIZE is a number of bytes, TIME one
    of seconds, "WORD..." takes several words at once. A `common` option is in the short help of a command that has a
    long one.
    `identity=False`: may differ when a checkpoint is continued.
    """
    given = {name: value for name, value in locals().items() if name != "default"}
    given |= {"choices": tuple(choices), "metavar": metavar or ("FILE" if role else ""), "positional": False}
    return dataclasses.field(default=default, metadata=given)


def argument(metavar: str, default: Value = dataclasses.MISSING, *, role: Role = "") -> Value:  # type: ignore[assignment]
    """A field that is an argument of the command line without a flag, called `metavar` in its usage."""
    given = {**_UNDESCRIBED, "metavar": metavar, "role": role, "positional": True}
    return dataclasses.field(default=default, metadata=given)


_UNDESCRIBED = typing.cast("dataclasses.Field[str]", option("")).metadata


class Option(NamedTuple):
    """A field as `option` describes it, with what its annotation says: the type of one value (int, float, bool or str),
    its choices if it is one of a few words, whether there are many (a tuple) and whether None is one. `words` may stand
    for a number."""

    name: str
    default: Any
    kind: type
    choices: tuple[str, ...]
    many: bool
    optional: bool
    words: tuple[str, ...]
    help: str
    low: float | None
    high: float | None
    above: float | None
    below: float | None
    low_is: str
    high_is: str
    what: str
    unit: str
    flag: str
    short: str
    off: str | None
    only: str
    group: str
    role: Role
    metavar: str
    shown: str
    also: str
    bare: str
    common: bool
    identity: bool
    positional: bool

    @property
    def is_required(self) -> bool:
        return self.default is dataclasses.MISSING

    @property
    def is_path(self) -> bool:
        """Whether the value is the name of a file or a folder; a rule may begin with one."""
        return bool(self.role)

    @property
    def default_text(self) -> str:
        """The default as help shows it."""
        without = self.is_required or (self.kind is bool and self.off is None)
        return self.shown or ("" if without else show_default(self.default))

    @property
    def bounds(self) -> str:
        """In words, "" when every value will do."""
        low = f"{_show_value(self.low)}{f' ({self.low_is})' if self.low_is else ''}" if self.low is not None else ""
        high = (
            f"{_show_value(self.high)}{f' ({self.high_is})' if self.high_is else ''}" if self.high is not None else ""
        )
        unit = f" {self.unit}" if self.unit else ""
        if low and high:
            return f"between {low} and {high}{unit}"
        if self.low == 0 and self.below is None:
            return f"{low} or more{unit}"
        parts = [
            f"{words} {limit}"
            for words, limit in [
                ("above", _show_value(self.above)),
                ("at least", low),
                ("at most", high),
                ("below", _show_value(self.below)),
            ]
            if limit
        ]
        return " and ".join(parts) + unit if parts else ""

    @property
    def full_help(self) -> str:
        """The help with the default and the bounds."""
        notes = [f"default: {self.default_text}"] if self.default_text else []
        notes += [self.bounds] if self.bounds and self.metavar not in ("SIZE", "TIME") else []
        return self.help + (f"  [{'; '.join(notes)}]" if notes else "")

    def within(self, value: float) -> bool:
        """Whether a number is in the bounds; nan never is where there are any."""
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def check(self, value: Any) -> None:
        """Raises UsageError for a value that is not of the type, out of bounds or none of the choices."""
        if (value is None and self.optional) or value in self.words:
            return
        for each in value if self.many else (value,):
            if self.choices:
                known = isinstance(each, str) and self._is_choice(each)
                require(known, f"{self.flag} must be one of {', '.join(self.choices)}, not {show_value(each)}")
            elif self.kind in (int, float) and not self.many:
                self._check_number(each)
            elif self.kind is bool:
                require(isinstance(each, bool), f"{self.flag} must be true or false, not {show_value(each)}")
            elif self.kind is str:
                require(isinstance(each, str), f"{self.flag} must be text, not {show_value(each)}")
                called = self.metavar.strip("[].") if self.positional else self.flag
                require(each != "" or not self.is_path, f"{called}: {EMPTY_NAME}")

    def _is_choice(self, value: str) -> bool:
        return value in self.choices or bool(self.also and re.fullmatch(self.also, value))

    def _check_number(self, value: Any) -> None:
        wanted, called = (numbers.Integral, "a whole number") if self.kind is int else (numbers.Real, "a number")
        is_one = isinstance(value, wanted) and not isinstance(value, bool)
        require(is_one, f"{self.flag} must be {called}, not {show_value(value)}")
        must_be = f"is {self.what}" if self.what else "must be"
        bounds = f"{self.bounds} or {either(self.words)}" if self.words else self.bounds
        require(self.within(value), f"{self.flag} {must_be} {bounds}, not {show_number(value)}")
        require(math.isfinite(value), f"{self.flag} must be a finite number, not {value}")


def describe_fields(cls: type, *, group: str = "Options") -> dict[str, Option]:
    """The fields of a dataclass that `option` describes, or whose annotation has a few words to choose from."""
    hints, found = typing.get_type_hints(cls), {}
    for field in dataclasses.fields(cls):
        kind, choices, many, optional = read_hint(hints[field.name])
        if "flag" not in field.metadata and not choices:
            continue
        given = field.metadata if "flag" in field.metadata else _UNDESCRIBED
        found[field.name] = Option(
            name=field.name,
            default=field.default,
            kind=kind,
            many=many,
            optional=optional,
            words=words_for_numbers(hints[field.name]),
            **{
                **given,
                "choices": choices or given["choices"],
                "group": given["group"] or group,
                "flag": f"--{given['flag'] or flag_of(field.name).lstrip('-')}",
            },
        )
    return found


def require(condition: bool, message: str) -> None:
    """Raises UsageError with `message` unless `condition` holds."""
    if not condition:
        raise UsageError(message)


def words_for_numbers(hint: Any) -> tuple[str, ...]:
    """The words that may stand for a number: of `int | Literal["exact"]`."""
    literals = (each for each in typing.get_args(hint) if typing.get_origin(each) is typing.Literal)
    return tuple(word for each in literals if int in typing.get_args(hint) for word in typing.get_args(each))


def read_hint(hint: Any) -> tuple[type, tuple[str, ...], bool, bool]:
    """(type of a value, its choices, whether there are many, whether None is one) of an annotation."""
    many = typing.get_origin(hint) is tuple
    if many:
        hint = typing.get_args(hint)[0]
    optional = typing.get_origin(hint) in (types.UnionType, typing.Union)  # the latter of Literal[...] | None
    if optional:
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) is typing.Literal:
        return str, typing.get_args(hint), many, optional
    return hint, (), many, optional


def _show_value(limit: float | None) -> str:
    """2^63 - 1 and 2^31 - 1 are better known than their digits."""
    if limit is None:
        return ""
    if isinstance(limit, int) and limit >= 2**31 - 1 and (limit + 1).bit_count() == 1:
        return f"2^{limit.bit_length()} - 1"
    return str(limit)
