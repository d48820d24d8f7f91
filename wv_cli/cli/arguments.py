"""Arguments of Python calls as the options of a job: checked, and turned into the types that its fields have."""

import difflib
import os
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from wv_cli.cli.quantities import QUANTITIES
from wv_cli.cli.synonyms import SYNONYMS, plain
from wv_cli.config import Option
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError
from wv_cli.io.arguments import list_texts, real_number, require_type, truth, whole_number

Path = str | os.PathLike[str]
_USAGE_WORD = re.compile(r"[A-Z]{2,}\d?")


def argument_names(options: Mapping[str, Option]) -> dict[str, str]:
    """The arguments of a call by what messages call them: flags without dashes, letters, words of the usage line."""
    found: dict[str, str] = {}
    for name, option in options.items():
        flag = option.flag.lstrip("-")
        if option.positional:
            found |= dict.fromkeys(_USAGE_WORD.findall(option.metavar), name)
        elif option.kind is bool and option.off is not None:
            found[option.off.lstrip("-") or f"no-{flag}"] = f"{name}=False"
        if not option.positional:
            found |= dict.fromkeys(filter(None, (flag, flag_of(option.name).lstrip("-"), option.short)), name)
    return found


def read_arguments(given: Mapping[str, Any], options: Mapping[str, Option], function: str) -> dict[str, Any]:
    """The options that are given, None being one that is not. Raises UsageError for one that there is not, TypeError
    for a value of another type."""
    for name in given:
        if name not in options:
            raise UsageError(f"no such option {name}; {_explain_unknown(name, options, function)}")
    return {name: typed_value(value, options[name]) for name, value in given.items() if value is not None}


def _explain_unknown(name: str, options: Mapping[str, Option], function: str) -> str:
    near = [*_meant(name, options), *difflib.get_close_matches(name, options, n=1)]
    return f"did you mean {near[0]}?" if near else f"help(wv_cli.{function}) shows the options"


def _meant(name: str, known: Container[str]) -> list[str]:
    """The options of `known`, with their values, that other programs call `name`."""
    ways = [way.split(maxsplit=1) for way in SYNONYMS.get(plain(name), ()) if way.startswith("--")]
    named = [(flag.removeprefix("--").replace("-", "_"), value) for flag, *value in ways]
    return [
        option + "".join("=" + " or ".join(map(repr, each.split(" or "))) for each in value)
        for option, value in named
        if option in known
    ]


def typed_value(value: Any, option: Option) -> Any:
    """The value of an option; several in any iterable become a tuple. Raises TypeError for one of another type."""
    name = "output" if option.name == "outputs" else option.name
    value = plain_value(value)
    if isinstance(value, str) and value in option.words:
        return value
    if value is True and option.bare:
        return option.bare
    if option.choices and not option.many:
        require_type(value, str, name, "a name as str")
    if option.metavar in QUANTITIES:
        return _quantity(value, option, name)
    if not option.many:
        return _typed_value(
            value, option.kind, name, "a path as str or os.PathLike" if option.is_path else "text as str"
        )
    if option.kind is str:
        return paths_of(value, name, _noun(option))
    several = value if isinstance(value, Iterable) else (value,)
    return tuple(_typed_value(each, option.kind, name) for each in several)


def _quantity(value: Any, option: Option, name: str) -> Any:
    """A size or a time, as text with a unit or as a number."""
    if not isinstance(value, str):
        value = _typed_value(value, option.kind, name)
    try:
        return QUANTITIES[option.metavar](str(value))
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def _typed_value(value: Any, kind: type, name: str, expected: str = "text as str") -> Any:
    if kind is int:
        return whole_number(value, name)
    if kind is float:
        return real_number(value, name)
    if kind is bool:
        return truth(value, name)
    require_type(value, kind, name, expected)
    return value


def _noun(option: Option) -> str:
    """What a message calls one of several texts."""
    if option.is_path:
        return "path"
    if ".." in option.metavar.replace("...", ""):
        return f'rule such as "{option.metavar.partition(" | ")[0].replace("LOW..HIGH", "20..1000")}"'
    return "word" if "WORD" in option.metavar or option.name == "words" else "text"


def plain_value(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def paths_of(given: Path | Iterable[Path], name: str, each: str = "path") -> tuple[str, ...]:
    """The paths of one file or of several, or texts. Raises TypeError that names the argument for what is none, and
    calls one of them `each`."""
    plain = plain_value(given)
    several = plain if plain is None or isinstance(plain, str | int | bytes) else map(plain_value, plain)
    return tuple(list_texts(several, name, each))
