"""How messages and help speak of options: the names of flags and of Python's arguments, values, and choices."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence

from wv_cli.errors import BadFile, WvError


def flag_of(name: str) -> str:
    """The option of a parameter: `--json` is as_json, since `json` is a module, `--to` to_format, `--continue`
    continue_, since that is a word of Python's; one letter has one dash."""
    plain = name.removeprefix("as_").removesuffix("_format").rstrip("_")
    return ("-" if len(name) == 1 else "--") + plain.replace("_", "-")


# A command line (kept as it is); an option, perhaps with the word for its value; a word of a usage line.
_SPOKEN = re.compile(
    r"`[^`]*`|\bwv [a-z][^;,()]*"
    r"|(?<![\w./'\"-])(?:--(?P<flag>[a-z][\w-]*)|-(?P<letter>[A-Za-z]))(?![\w-])(?: (?P<value>[A-Z]+)\b)?"
    r"|(?<![\w./'\"=:-])(?P<word>[A-Z]{2,}\d?)s?(?![\w/'\"=-]|[.:]\S)"
)


def name_arguments(message: str, names: Mapping[str, str]) -> str:
    """A message about options as one about the arguments of a call in Python, of which some have other `names`: of
    flags without their dashes, letters, and words of a usage line. Command lines in a message stay."""

    def rename(found: re.Match[str]) -> str:
        flag = found["flag"] or found["letter"]
        name = names.get(flag or found["word"] or "", found["flag"] and found["flag"].replace("-", "_"))
        return found[0] if not name else f"{name}={found['value']}" if found["value"] else name

    return _SPOKEN.sub(rename, message)


@contextlib.contextmanager
def arguments_in_errors(names: Mapping[str, str]) -> Iterator[None]:
    """Errors that leave the context speak of the arguments of a call in Python, as `name_arguments` names them."""
    try:
        yield
    except WvError as error:
        error.args = (name_arguments(str(error), names), *error.args[1:])
        if isinstance(error, BadFile):
            error.problem = name_arguments(error.problem, names)
        raise


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
