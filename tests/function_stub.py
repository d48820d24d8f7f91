"""Writes functions.pyi, with the options of Filter, and eval_functions.pyi from the options of commands:
`python -m tests.function_stub`."""

import re
from inspect import Parameter, signature
from pathlib import Path

from wv_cli.cli.batch_filter import FILTER_OPTIONS
from wv_cli.cli.calling import FUNCTIONS, arguments_of, function_of
from wv_cli.cli.quantities import QUANTITIES
from wv_cli.cli.spoken import WITH_SENTENCES
from wv_cli.config import Option

CLI = Path(__file__).resolve().parent.parent / "wv_cli" / "cli"
# The stubs, and what begins the names of their functions.
STUBS = {CLI / "functions.pyi": "", CLI / "eval_functions.pyi": "eval."}
HEAD = """from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal

# Made from the options of commands by `python -m tests.function_stub`; None is an option that is not given.

Path = str | PathLike[str]
"""
TALK = {
    "sentences": "Iterable[str | Iterable[str]] | None = None",
    "log": "Callable[..., object] | None = None",
    "on_progress": "Callable[..., object] | None = None",
    "progress": "bool = False",
}
LONGEST = 115  # of what stands in a line of its own, as ruff formats


def annotation(name: str, option: Option, *, speaks: bool) -> str:
    """The type of an argument. Several values may be one."""
    words = ", ".join(f'"{word}"' for word in option.choices or option.words)
    found = "Path" if option.is_path else f"Literal[{words}]" if option.choices else option.kind.__name__
    if option.metavar in QUANTITIES:
        found += " | str"
    if option.words:
        found += f" | Literal[{words}]"
    if option.many:
        several = "Path | Iterable[str]" if speaks and name == "inputs" else found
        found = f"{found} | Iterable[{several}]"
    return found


def function_text(name: str) -> str:
    """The signature of a function of wv_cli."""
    arguments, parameters = arguments_of(name), signature(function_of(name)).parameters
    words, keywords = [], False
    for each in parameters.values():
        if each.kind is Parameter.KEYWORD_ONLY and not keywords:
            words.append("*")
            keywords = True
        if each.name not in arguments:
            words.append(f"{each.name}: {TALK[each.name]}")
            continue
        found = annotation(each.name, arguments[each.name], speaks=name in WITH_SENTENCES)
        words.append(fitted(f"{each.name}: {found}{'' if each.default is Parameter.empty else ' | None = None'}"))
    listed = "".join(f"    {word},\n" for word in words)
    called, summary = name.rpartition(".")[2], FUNCTIONS[name].summary
    return f'def {called}(\n{listed}) -> dict[str, Any]:\n    """{summary}"""\n'


def fitted(word: str) -> str:
    """An argument as ruff formats it."""
    return word if len(word) <= LONGEST else re.sub(r" \| (?=None|Iterable)", "\n    | ", word)


def filter_options_text() -> str:
    """The arguments of wv_cli.Filter but the first."""
    options = {name: option for name, option in FILTER_OPTIONS.items() if name != "rules"}
    words = [f"{name}: {annotation(name, option, speaks=False)} | None" for name, option in options.items()]
    return "class FilterOptions(TypedDict, total=False):\n" + "".join(f"    {fitted(word)}\n" for word in words)


def stub_text(beginning: str) -> str:
    """As ruff formats it, which tests do without."""
    names = [name for name in FUNCTIONS if name.rpartition(".")[0] == beginning.rstrip(".")]
    functions = [*map(function_text, names)]
    if beginning:
        return HEAD + "\n" + "\n".join(functions)
    head = HEAD.replace("Literal\n", "Literal, TypedDict\n")
    return head + "\n" + "\n".join([*functions, filter_options_text()])


if __name__ == "__main__":
    for path, beginning in STUBS.items():
        path.write_text(stub_text(beginning))
