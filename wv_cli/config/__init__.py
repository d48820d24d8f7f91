"""Options: classes whose fields are the only place of an option's type, default, help and bounds.

The command line is made of the fields (help prints their defaults), and so are the functions of Python; `validate`
checks their bounds, checkpoints and the .meta.json sidecars record them.
"""

import dataclasses
import functools
import typing
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

from wv_cli.config.conditions import reject_ineffective
from wv_cli.config.fields import Option, Role, argument, describe_fields, option, require

__all__ = [
    "MOST_THREADS",
    "Option",
    "Options",
    "argument",
    "build_parts",
    "conditions_of",
    "dim_option",
    "epochs_option",
    "field_names",
    "frozen",
    "has_options",
    "hints_of",
    "lowercase_option",
    "lr_option",
    "option",
    "options_of",
    "parts_of",
    "require",
    "seed_option",
    "threads_option",
    "values_of",
]

Kind = TypeVar("Kind", bound="Options")


@typing.dataclass_transform(kw_only_default=True, frozen_default=True)
def frozen(cls: type[Kind]) -> type[Kind]:
    """A class of options is a frozen dataclass whose fields are given by name. The methods that `dataclass` would
    compile for every class, half a millisecond each, Options has once: a command makes up to sixty of them."""
    made: type[Kind] = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=True)(cls)
    return made


@frozen
class Options:
    """Base of everything that has options: those of an algorithm, a part of a command, a command. `threads` 0, all
    processors, becomes their number. Help shows the options under the heading `group`."""

    group: ClassVar[str] = "Options"
    IS_JOB: ClassVar[bool] = False  # whether the class is a Job, whose work is a method
    JSON_HELP: ClassVar[str] = ""  # the help of --json, which the command adds; "": it does not
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init__(self, **given: Any) -> None:
        """Raises TypeError for a name that is no field, and for a field without value and default."""
        values = {}
        for field in dataclasses.fields(self):
            if field.name in given:
                values[field.name] = given.pop(field.name)
            elif field.default is not dataclasses.MISSING:
                values[field.name] = field.default
            elif callable(make := field.default_factory):
                values[field.name] = make()
            else:
                raise TypeError(f"{type(self).__name__} needs {field.name}")
        if given:
            raise TypeError(f"{type(self).__name__} has no {next(iter(given))}")
        self.__dict__.update(values)
        self.__post_init__()

    def __post_init__(self) -> None:
        if getattr(self, "threads", None) == 0 and "threads" in self.__dict__:
            from wv_cli.io.host import processors

            object.__setattr__(self, "threads", processors())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        pairs = zip(dataclasses.fields(self), self._values(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{field.name}={value!r}' for field, value in pairs)})"

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

    def reads(self) -> list[str]:
        """The files that are read, which no output may replace."""
        return self._files("read", lambda part: part.reads())

    def results(self) -> list[str]:
        """The result files."""
        return self._files("result", lambda part: part.results())

    def also_writes(self, beside: str | None) -> list[str]:
        """The files written on the way; those without a name of their own go `beside` the first result."""
        return self._files("write", lambda part: part.also_writes(beside))

    def _files(self, role: Role, files_of: "Callable[[Options], list[str]]") -> list[str]:
        """The files of this role, in the order of the fields; `files_of` a part stand in its place."""
        found: list[str] = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Options):
                found += files_of(value)
            elif value and field.metadata.get("role") == role:
                found += (value,) if isinstance(value, str) else value
        return found

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


def field_names(kind: Any) -> set[str]:
    """The fields of a class and of its parts that are no parts: options, and what is internal."""
    found, hints = set[str](), hints_of(kind)
    for each in dataclasses.fields(kind):
        found |= field_names(hints[each.name]) if has_options(hints[each.name]) else {each.name}
    return found


def build_parts(kind: type[Any], options: Mapping[str, Any], made: Mapping[str, Any]) -> Any:
    """A dataclass of such fields: each option goes to the part that has it; `made` are whole fields."""
    values, hints = dict(made), hints_of(kind)
    for each in dataclasses.fields(kind):
        if each.name in values:
            continue
        if has_options(hints[each.name]):
            values[each.name] = build_parts(hints[each.name], options, {})
        elif each.name in options:
            values[each.name] = options[each.name]
    return kind(**values)


def conditions_of(kind: Any) -> list[tuple[str, str]]:
    """(name, condition) of the options that do not always have an effect: those of a class, then those of its parts."""
    found, hints = [*kind.conditions()], hints_of(kind)
    for each in dataclasses.fields(kind):
        if has_options(hints[each.name]):
            found += conditions_of(hints[each.name])
    return found


def parts_of(thing: object) -> Iterator[Options]:
    """The options that a dataclass has as fields, each before those that it has itself."""
    for each in dataclasses.fields(thing):  # type: ignore[arg-type]
        value = getattr(thing, each.name)
        if isinstance(value, Options):
            yield value
            yield from parts_of(value)


def values_of(thing: object) -> dict[str, Any]:
    """Every option by its name, those of the parts, too."""
    found: dict[str, Any] = {}
    for each in dataclasses.fields(thing):  # type: ignore[arg-type]
        value = getattr(thing, each.name)
        found |= values_of(value) if isinstance(value, Options) else {each.name: value}
    return found


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
