"""Options that several commands share, so that a flag means the same everywhere."""

import dataclasses
import typing
from collections.abc import Callable
from typing import Any, TypeVar

import click

from wv_cli.errors import UsageError

Config = TypeVar("Config")

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Size(click.ParamType):
    """A number of bytes: 500000, 300M, 2G (decimal units, an optional B)."""

    name = "size"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        text = str(value).lower().removesuffix("b")
        unit = text[-1:] if text[-1:] in "kmgt" else ""
        try:
            size = int(float(text.removesuffix(unit)) * _UNITS[unit])
        except (ValueError, OverflowError):
            size = -1
        if size <= 0:
            self.fail(f"{value!r} is not a size; write 500000, 300M or 2G", parameter, context)
        return size


class Duration(click.ParamType):
    """A time in seconds: 90, 30s, 15m, 2h."""

    name = "time"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        text = str(value).lower()
        unit = {"s": 1, "m": 60, "h": 3600, "d": 86400}.get(text[-1:])
        try:
            seconds = float(text[:-1]) * unit if unit else float(text)
        except ValueError:
            seconds = -1
        if not 0 < seconds < float("inf"):
            self.fail(f"{value!r} is not a time; write 90, 30s, 15m or 2h", parameter, context)
        return seconds


def _decimals(context: click.Context, parameter: click.Parameter, value: str) -> int | str:
    return value if value == "exact" else int(value)


precision_option = click.option(
    "--precision",
    type=click.Choice([*"123456789", "exact"]),
    default="6",
    show_default=True,
    metavar="1-9|exact",
    callback=_decimals,
    help="In text: decimals of each number, or the shortest text that keeps every bit.",
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print nothing but results and errors.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Results as one JSON object on stdout, progress as one per event on stderr."
)


def saved_run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a training run that can stop and go on; their names are fields of the sessions."""
    for option in [
        click.option("--meta/--no-meta", "write_meta", default=True, help="Write NAME.meta.json beside each output."),
        click.option(
            "--max-time", "max_seconds", type=Duration(), metavar="TIME", help="Save the run and stop after this time."
        ),
        click.option("--resume", is_flag=True, help="Go on from the checkpoint if there is one."),
        click.option(
            "--checkpoint-every", type=Duration(), metavar="TIME", help="Save the run this often (90, 15m, 2h)."
        ),
        click.option("--checkpoint", metavar="FILE", help="Where to save the run.  [default: first OUTPUT.checkpoint]"),
    ]:
        function = option(function)
    return function


def field_options(config: type, helps: dict[str, str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options for the plain fields (int, float, bool, str, a tuple of them) of a frozen config dataclass, with its
    defaults, so that help and config cannot drift apart. `helps` names the fields and their help texts, in the order
    shown; a bool field `shrink_window` becomes --shrink-window/--no-shrink-window, or --on/--OFF where its metadata has
    "off"; a tuple's option may be repeated."""
    fields = {field.name: field for field in dataclasses.fields(config)}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for name, text in reversed(helps.items()):
            default = fields[name].default
            function = _option(name, [config], text, default=default, show_default=True)(function)
        return function

    return decorate


def shared_options(
    variants: dict[str, tuple[type, dict[str, Any]]], helps: dict[str, str]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Like field_options for a command whose config depends on other options. `variants` names configs and what they
    put in the place of their defaults. An option not given is None (see `fitting`); help shows the default of the first
    variant, and of others where they differ."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for name, text in reversed(helps.items()):
            defaults = {}
            for variant, (config, changed) in variants.items():
                fields = {field.name: field.default for field in dataclasses.fields(config)}
                if name in fields:
                    defaults[variant] = changed.get(name, fields[name])
            first = next(iter(defaults.values()))
            others = [f"{variant}: {_shown(value)}" for variant, value in defaults.items() if value != first]
            shown = "; ".join([_shown(first), *others])
            configs = list(dict.fromkeys(variants[variant][0] for variant in defaults))
            function = _option(name, configs, f"{text}  [default: {shown}]", default=None, show_default=False)(function)
        return function

    return decorate


def _shown(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _option(
    name: str, configs: list[type], text: str, default: object, show_default: bool
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option for a field that all `configs` have; the choices of several are joined."""
    flag = "--" + name.replace("_", "-")
    kinds = [typing.get_type_hints(config)[name] for config in configs]
    many = typing.get_origin(kinds[0]) is tuple
    if many:
        kinds = [typing.get_args(each)[0] for each in kinds]
    kind: Any = str if kinds[0] == (str | None) else kinds[0]
    if typing.get_origin(kind) is typing.Literal:
        kind = click.Choice(list(dict.fromkeys(choice for each in kinds for choice in typing.get_args(each))))
    if kind is bool:
        metadata = next(field.metadata for field in dataclasses.fields(configs[0]) if field.name == name)
        off = metadata.get("off", f"no-{flag[2:]}")
        flag, kind = f"{flag}/--{off}", None
    return click.option(flag, name, type=kind, default=default, show_default=show_default, help=text, multiple=many)


def take(config: type[Config], options: dict[str, Any]) -> Config:
    """Moves the options that are fields of `config` out of `options` into one."""
    return config(**{field.name: options.pop(field.name) for field in dataclasses.fields(config)})  # type: ignore[arg-type]


def fitting(options: dict[str, Any], meaning: str, *targets: type) -> list[dict[str, Any]]:
    """The options that were given (not None), for each of `targets` those that are its fields. Raises UsageError
    for one that is nobody's; `meaning` names what the user chose instead: "--model supervised"."""
    chosen = {name: value for name, value in options.items() if value is not None}
    fields = [{field.name for field in dataclasses.fields(target)} for target in targets]
    choices = {name: kind for target in targets for name, kind in typing.get_type_hints(target).items()}
    for name, value in chosen.items():
        flags = {option.name: option.opts[-1] for option in click.get_current_context().command.params}
        if not any(name in each for each in fields):
            message = f"{flags[name]} has no meaning for {meaning}"
            raise UsageError(message)
        known = typing.get_args(choices[name]) if typing.get_origin(choices[name]) is typing.Literal else (value,)
        if value not in known:
            message = f"{flags[name]} {value} has no meaning for {meaning}; choose from {', '.join(known)}"
            raise UsageError(message)
    return [{name: value for name, value in chosen.items() if name in each} for each in fields]


def conflict(first: str, second: str, why: str) -> UsageError:
    return UsageError(f"{first} and {second} cannot be used together: {why}")
