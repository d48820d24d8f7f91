"""Options that several commands share, so that a flag means the same everywhere."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from wv_cli.cli.quantities import QUANTITIES
from wv_cli.config import Option, Options
from wv_cli.config.conditions import reject_ineffective
from wv_cli.errors import UsageError

AnyConfig = TypeVar("AnyConfig", bound=Options)

if TYPE_CHECKING:
    IntType = click.ParamType[int]
    FloatType = click.ParamType[float]
    TextType = click.ParamType[str]
    AnyType = click.ParamType[Any]
else:
    IntType = FloatType = TextType = AnyType = click.ParamType  # older click's is not generic


class Quantity(AnyType):
    """A size or a time, written with a unit."""

    def __init__(self, metavar: str) -> None:
        self.name, self._parse = metavar.lower(), QUANTITIES[metavar]

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if isinstance(value, int | float):
            return value
        try:
            return self._parse(str(value))
        except ValueError as error:
            self.fail(str(error), parameter, context)


class OpenChoice(click.Choice[str]):
    """One of a few words, or what matches `also`; help and completions show the words."""

    def __init__(self, choices: Sequence[str], also: str) -> None:
        super().__init__(choices)
        self.also = also

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        if re.fullmatch(self.also, str(value)):
            return str(value)
        return super().convert(value, parameter, context)


class NumberOrWord(AnyType):
    """A whole number, or one of a few words."""

    name = "number"

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        return value if value in self.words else click.INT.convert(value, parameter, context)

    def shell_complete(self, context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


class CommonOption(click.Option):
    """An option that is in the short help of a command that has a long one."""


class FieldOption(click.Option):
    """The option of a field."""

    def __init__(self, words: Sequence[str], *, field: Option, **attributes: Any) -> None:
        super().__init__(words, **attributes)
        self.field = field


def complete_bare(command: click.Command, arguments: Sequence[str]) -> Iterator[str]:
    """The command line with the values of options that stand without one: in front of another option, of a file, or at
    the end."""
    bare = {
        flag: each.field.bare
        for each in command.params
        if isinstance(each, FieldOption) and each.field.bare
        for flag in each.opts
    }
    options = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    for word, following in zip(options, [*options[1:], "--"], strict=False):
        yield f"{word}={bare[word]}" if word in bare and _is_no_value(following) else word
    yield from arguments[len(options) :]


def _is_no_value(word: str) -> bool:
    from wv_cli.text.reading_config import is_recipe

    return word.startswith("-") or (Path(word).exists() and not is_recipe(word))


class WordsOption(FieldOption):
    """One that takes several words without being repeated (word_options.py); `multiple` is set."""


def is_common(option: click.Option) -> bool:
    """Whether the option is in the short help of its command."""
    return option.field.common if isinstance(option, FieldOption) else isinstance(option, CommonOption)


_METAVARS = {int: "N", float: "X", str: "TEXT"}


def make_argument(field: Option) -> click.Argument:
    """The argument of a positional field."""
    nargs, kind = -1 if field.many else 1, click.Choice(field.choices) if field.choices else None
    return click.Argument(
        [field.name], type=kind, metavar=field.metavar or None, required=field.is_required, nargs=nargs
    )


def make_option(field: Option) -> FieldOption:
    """The option of a field."""
    flag = field.flag
    if field.kind is bool and field.off is not None and not field.name.startswith("no_"):
        flag = f"{flag}/--{field.off or f'no-{flag[2:]}'}"
    short = f"-{field.short}" if field.short else flag[1:] if len(field.name) == 1 else ""
    made = WordsOption if field.metavar == "WORD..." else FieldOption
    return made(
        [*filter(None, [short]), flag, field.name],
        field=field,
        type=_type_of(field),
        metavar=field.metavar or (None if field.choices else _METAVARS.get(field.kind)),
        required=field.is_required,
        help=field.help,
        multiple=field.many,
        is_flag=True if field.kind is bool else None,
        **({} if field.is_required else {"default": field.default}),  # a default of None is a value for click
    )


def _type_of(field: Option) -> Any:
    if field.choices:
        return OpenChoice(field.choices, field.also) if field.also else click.Choice(field.choices)
    if field.words:
        return NumberOrWord(field.words)
    return Quantity(field.metavar) if field.metavar in QUANTITIES else field.kind


def make_quiet_option() -> click.Option:
    return CommonOption(["-q", "--quiet"], is_flag=True, help="Print nothing but errors on standard error.")


def make_json_option(help: str) -> click.Option:
    return CommonOption(["--json", "as_json"], is_flag=True, help=help)


def range_of(parameter: click.Parameter) -> str:
    """Of its numbers, in words; "" when every one will do, or every one that can be written with a unit."""
    if isinstance(parameter, FieldOption):
        return "" if parameter.field.metavar in QUANTITIES else parameter.field.bounds
    if not isinstance(parameter.type, click.IntRange | click.FloatRange):
        return ""
    low, high = parameter.type.min, parameter.type.max
    return f"between {low} and {high}" if high is not None else f"at least {low}" if low else f"{low} or more"


def take(config: type[AnyConfig], options: dict[str, Any]) -> AnyConfig:
    """Moves the options that are fields of `config` out of `options` into one."""
    return config(**{name: options.pop(name) for name in config.options()})


def given_options() -> tuple[str, ...]:
    """The names of the options that stand on the command line, whatever their values."""
    context = click.get_current_context()
    return tuple(name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE)


def refuse_options(**conditions: str) -> None:
    """Raises UsageError for an option on the command line whose condition (config.conditions.holds), on the values of
    the others, is not true."""
    reject_ineffective(conditions.items(), given_options(), click.get_current_context().params)


def conflict(first: str, second: str, why: str) -> UsageError:
    return UsageError(f"{first} and {second} cannot be used together: {why}")
