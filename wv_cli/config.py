"""Options: frozen dataclasses whose fields are the only place of an option's type, default, help and bounds.

The command line is made of the fields (help prints their defaults), and so are the functions of Python; `validate`
checks their bounds, checkpoints and the .meta.json sidecars record them.
"""

import contextlib
import dataclasses
import functools
import math
import numbers
import re
import types
import typing
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

from wv_cli.errors import EMPTY_NAME, BadFile, UsageError, WvError, show_value

Value = TypeVar("Value")


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
    beside them. `bare` is the value of an option that stands without one. `metavar` says what the value is: FILE and
    FOLDER are names of one, SIZE is a number of bytes, TIME one of seconds, "WORD..." takes several words at once. A
    `common` option is in the short help of a command that has a long one.
    `identity=False`: may differ when a checkpoint is continued.
    """
    given = {name: value for name, value in locals().items() if name != "default"}
    return dataclasses.field(default=default, metadata={**given, "choices": tuple(choices), "positional": False})


def argument(metavar: str, default: Value = dataclasses.MISSING) -> Value:  # type: ignore[assignment]
    """A field that is an argument of the command line without a flag, called `metavar` in its usage."""
    given = {**_UNDESCRIBED, "metavar": metavar, "positional": True}
    return dataclasses.field(default=default, metadata=given)


_UNDESCRIBED = typing.cast("dataclasses.Field[str]", option("")).metadata


# What a usage line calls the names of files and of folders.
FILE_NAMES = {
    "file": re.compile(r"\[?(FILE|INPUT|IN|OUT|MODEL|VECTORS2?|VOCAB|INDEX)\b|[AB]$"),
    "dir": re.compile("DIR|FOLDER"),
}


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
        named = any(pattern.match(self.metavar) for pattern in FILE_NAMES.values())
        return self.kind is str and not self.choices and named and "=" not in self.metavar

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


@dataclass(frozen=True)
class Options:
    """Base of everything that has options: those of an algorithm, a part of a command, a command. `threads` 0, all
    processors, becomes their number. Help shows the options under the heading `group`."""

    group: ClassVar[str] = "Options"
    IS_JOB: ClassVar[bool] = False  # whether the class is a Job, whose work is a method
    JSON_HELP: ClassVar[str] = ""  # the help of --json, which the command adds; "": it does not

    def __post_init__(self) -> None:
        if getattr(self, "threads", None) == 0 and "threads" in self.__dict__:
            from wv_cli.io.host import processors

            object.__setattr__(self, "threads", processors())

    @classmethod
    @functools.cache
    def options(cls) -> Mapping[str, Option]:
        """The options that are fields of the class itself, in their order."""
        return describe_fields(cls, group=cls.group)

    def validate(self) -> None:
        """Raises UsageError for the first field, in their order, whose value cannot be, then what check() raises."""
        for name, each in self.options().items():
            each.check(getattr(self, name))
        self.check()

    def check(self) -> None:
        """Raises UsageError for values that do not go together, or that bounds and choices cannot describe."""

    def reject_ineffective(self, given: Container[str]) -> None:
        """Raises UsageError for the first option of those `given`, whatever its value, that means nothing beside the
        others. Which options were given the values do not tell: the caller knows."""
        reject_ineffective(self.conditions(), given, vars(self))

    @classmethod
    def conditions(cls) -> list[tuple[str, str]]:
        """(name, `only`) of the fields that do not always mean something."""
        return [(name, each.only) for name, each in cls.options().items() if each.only]

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued."""
        options, values = self.options(), dataclasses.asdict(self)
        return {name: value for name, value in values.items() if options[name].identity}


def has_options(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Options)


def _options_of(kind: Any) -> Mapping[str, Option]:
    found: dict[str, Option] = {}
    hints, own = hints_of(kind), kind.options()
    for each in dataclasses.fields(kind):
        if has_options(hints[each.name]):
            found.update(options_of(hints[each.name]))
        elif each.name in own:
            found[each.name] = own[each.name]
    return found


hints_of: Callable[[Any], dict[str, Any]] = functools.cache(typing.get_type_hints)
# The options of a class and of its parts, in the order of the fields.
options_of: Callable[[Any], Mapping[str, Option]] = functools.cache(_options_of)

_ATOM = re.compile(r"(not )?(\w+)(?:(!=|[=>])(.+))?")


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether a condition is true of options: "maxn>0 or loss=ns|nce and not merge". A bare name asks whether there is
    a value, of many values `=` whether one is among the words, `!=` whether one is not. Raises KeyError for a name that
    `values` lacks."""
    return any(all(_holds(atom, values) for atom in _atoms(each)) for each in condition.split(" or "))


def can_hold(condition: str, choices: Mapping[str, Collection[object]]) -> bool:
    """Whether some values make a condition true: those in `choices` for the options named there, any for the others."""
    return any(all(_can_hold(atom, choices) for atom in _atoms(each)) for each in condition.split(" or "))


def reject_ineffective(conditions: Iterable[tuple[str, str]], given: Container[str], values: Mapping[str, Any]) -> None:
    """Raises UsageError for the first option that was `given` and whose condition does not hold."""
    for name, condition in conditions:
        if name in given and not holds(condition, values):
            raise UsageError(_explain_ineffective(name, condition, values))


def flag_of(name: str) -> str:
    """The option of a parameter: `--json` is as_json, since `json` is a module, `--to` to_format, `--continue`
    continue_, since that is a word of Python's; one letter has one dash."""
    plain = name.removeprefix("as_").removesuffix("_format").rstrip("_")
    return ("-" if len(name) == 1 else "--") + plain.replace("_", "-")


_NO_NAMES: Mapping[str, str] = types.MappingProxyType({})
# A command line (kept as it is); an option, perhaps with the word for its value; a word of a usage line.
_SPOKEN = re.compile(
    r"`[^`]*`|\bwv [a-z][^;,()]*"
    r"|(?<![\w./'\"-])(?:--(?P<flag>[a-z][\w-]*)|-(?P<letter>[A-Za-z]))(?![\w-])(?: (?P<value>[A-Z]+)\b)?"
    r"|(?<![\w./'\"=:-])(?P<word>[A-Z]{2,}\d?)s?(?![\w/'\"=-]|[.:]\S)"
)


def name_arguments(message: str, names: Mapping[str, str] = _NO_NAMES) -> str:
    """A message about options as one about the arguments of a call in Python, of which some have other `names`: of
    flags without their dashes, letters, and words of a usage line. Command lines in a message stay."""

    def rename(found: re.Match[str]) -> str:
        flag = found["flag"] or found["letter"]
        name = names.get(flag or found["word"] or "", found["flag"] and found["flag"].replace("-", "_"))
        return found[0] if not name else f"{name}={found['value']}" if found["value"] else name

    return _SPOKEN.sub(rename, message)


@contextlib.contextmanager
def arguments_in_errors(names: Mapping[str, str] = _NO_NAMES) -> Iterator[None]:
    """Errors that leave the context speak of the arguments of a call in Python, as `name_arguments` names them."""
    try:
        yield
    except WvError as error:
        error.args = (name_arguments(str(error), names), *error.args[1:])
        if isinstance(error, BadFile):
            error.problem = name_arguments(error.problem, names)
        raise


def _atoms(conjunction: str) -> list[str]:
    return conjunction.split(" and ")


def _parts(atom: str) -> tuple[str, str, str, str]:
    """("not " or "", name, "=" or "!=" or ">" or "", the rest)."""
    match = _ATOM.fullmatch(atom)
    assert match is not None, atom
    negated, name, relation, rest = match.groups(default="")
    return negated, name, relation, rest


def _holds(atom: str, values: Mapping[str, Any]) -> bool:
    negated, name, relation, rest = _parts(atom)
    value = values[name]
    if relation == ">":
        return bool(value > float(rest))
    if relation == "=":
        return any(each in rest.split("|") for each in (value if isinstance(value, tuple) else (value,)))
    if relation == "!=":
        return any(each not in rest.split("|") for each in (value if isinstance(value, tuple) else (value,)))
    return bool(value) is not bool(negated)


def _can_hold(atom: str, choices: Mapping[str, Collection[object]]) -> bool:
    name = _parts(atom)[1]
    return name not in choices or any(_holds(atom, {name: value}) for value in choices[name])


def _explain_ineffective(name: str, condition: str, values: Mapping[str, Any]) -> str:
    """What stands in the way, the first of it in every alternative, and what would have to be chosen instead."""
    found, wanted = [], []
    for alternative in condition.split(" or "):
        atom = next(atom for atom in _atoms(alternative) if not _holds(atom, values))
        negated, other, relation, rest = _parts(atom)
        value, flag = values[other], flag_of(other)
        if relation:
            shown = " ".join(map(show_number, value if isinstance(value, tuple) else (value,)))
            found.append(f"with {flag} {shown}" if value not in (None, ()) else "")
            words = {">": " above", "!=": " other than"}.get(relation, "")
            wanted.append(f"{flag}{words} {either(rest.split('|'))}")
        else:
            found.append(f"with {flag}" if negated else "")
            wanted += [] if negated else [flag]
    chosen = " and ".join(dict.fromkeys(filter(None, found)))
    needs = f"needs {' or '.join(dict.fromkeys(wanted))}" if wanted else ""
    if not chosen:
        return f"{flag_of(name)} {needs}"
    return f"{flag_of(name)} has no effect {chosen}; {f'it {needs}' if needs else 'leave it out'}"


def either(choices: Sequence[str]) -> str:
    """Words of which one is chosen: `a`, `a or b`, `a, b or c`."""
    *others, last = choices
    return f"{', '.join(others)} or {last}" if others else last


def show_default(value: object) -> str:
    """As help shows it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return "" if value is None else str(value)


def show_number(value: object) -> str:
    """A value as the user would write it: 2, not 2.0."""
    return str(value).removesuffix(".0")


def require(condition: bool, message: str) -> None:
    """Raises UsageError with `message` unless `condition` holds."""
    if not condition:
        raise UsageError(message)


def dim_option() -> int:
    return option(100, "Dimension of the vectors.", low=1, high=100_000, group="Model", common=True)


def epochs_option(default: int, help: str = "Passes over the text.", *, low: int = 1, only: str = "") -> int:
    low_is = "" if low else "nothing is learned"
    return option(default, help, low=low, high=100_000, low_is=low_is, only=only, common=True)


def lr_option(default: float, help: str, *, high: float | None, only: str = "") -> float:
    return option(default, help, above=0, high=high, only=only, common=True)


def seed_option(
    help: str = "Random seed; with one thread the same seed gives the same file.", *, only: str = ""
) -> int:
    return option(1, help, low=0, high=2**63 - 1, only=only, common=True)


MOST_THREADS = 1024


def lowercase_option() -> bool:
    return option(False, "Lower-case the text (Unicode).", common=True)


def threads_option(purpose: str = "Training threads", *, only: str = "", common: bool = True) -> int:
    return option(
        0,
        f"{purpose}; 0 uses all processors.",
        low=0,
        high=MOST_THREADS,
        low_is="all processors",
        only=only,
        group="Run",
        common=common,
        identity=False,
    )


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
