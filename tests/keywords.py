"""Writes jobs/keywords.py and commands/shared/functions.pyi from the options of jobs: `python -m tests.keywords`."""

import json
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal

import click

from wv_cli.commands import COMMANDS
from wv_cli.commands.shared.calling import FUNCTIONS, arguments_of, function_of
from wv_cli.commands.shared.help import FileName, words
from wv_cli.commands.shared.program import wv as group
from wv_cli.config import Options, name_arguments, read_hint, words_for_numbers
from wv_cli.filtering.scorers import SCORERS
from wv_cli.jobs.glove import GloveJob
from wv_cli.jobs.job import all_configs, option_hints
from wv_cli.jobs.models import MODELS

PACKAGE = Path(__file__).resolve().parent.parent / "wv_cli"
MODULE = PACKAGE / "jobs" / "keywords.py"
STUB = PACKAGE / "commands" / "shared" / "functions.pyi"
HELP = PACKAGE / "commands" / "shared" / "function_help.py"
HEAD = '''"""The keyword arguments of wv_cli.train and wv_cli.train_glove, for type checkers and editors.

Made from the options of the jobs by `python -m tests.keywords`; None is an option that is not given.
"""

from collections.abc import Iterable
from os import PathLike
from typing import Literal, TypedDict

Path = str | PathLike[str]
'''
GIVEN = ("inputs", "outputs", "preset", "model")  # are parameters of their own


def type_of(hints: list[Any], *, of_config: bool) -> str:
    """The annotation of an option of several jobs. A text that no config has is the path of a file."""
    kind, _, many, _ = read_hint(hints[0])
    choices = list(dict.fromkeys(choice for hint in hints for choice in read_hint(hint)[1]))
    found = f"Literal[{', '.join(map(repr, choices))}]".replace("'", '"') if choices else kind.__name__
    if kind is str and not choices and not of_config:
        found = "Path"
    return f"{'Iterable[' + found + ']' if many else found} | None"


def typed_dict(name: str, what: str, jobs: list[Any], configs: list[type[Options]]) -> str:
    hints: dict[str, list[Any]] = {}
    for job in jobs:
        for option, hint in option_hints(job).items():
            hints.setdefault(option, []).append(hint)
    of_config = {option for config in configs for option in config.options()}
    lines = [
        f"    {option}: {type_of(each, of_config=option in of_config)}"
        for option, each in hints.items()
        if option not in GIVEN
    ]
    return f'\n\nclass {name}(TypedDict, total=False):\n    """The options of {what}."""\n\n' + "\n".join(lines) + "\n"


def module_text() -> str:
    jobs = [row.job_type() for row in MODELS.values()]
    configs = [config for job in jobs for config in all_configs(job)]
    return (
        HEAD
        + typed_dict("TrainOptions", "`wv train`", jobs, configs)
        + typed_dict("GloveOptions", "`wv glove`", [GloveJob], all_configs(GloveJob))
    )


STUB_HEAD = """from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal

# Made from the options of the jobs by `python -m tests.keywords`; None is an option that is not given.

Path = str | PathLike[str]
"""


def annotation(hint: Any, option: click.Parameter | None, *, is_path: bool) -> str:
    """Of an argument that is this option of the command, if it is one. Several values may be one."""
    kind, _, many, _ = read_hint(hint)
    if kind is str and not many and option is not None and isinstance(option.type, click.Choice):
        hint = Literal[tuple(option.type.choices)]
    found = type_of([hint], of_config=not is_path).removesuffix(" | None")
    if words := words_for_numbers(hint):
        found += f" | Literal[{', '.join(map(repr, words))}]".replace("'", '"')
    return f"{'Path' if is_path else 'str'} | {found}" if many and kind is str else found


def function_text(name: str) -> str:
    """The signature of a function of wv_cli."""
    hints, command = arguments_of(name), command_of(name)
    options = {"output" if each.name == "outputs" else each.name: each for each in command.params}
    words, keywords = [], False
    for each in signature(function_of(name)).parameters.values():
        if each.kind is Parameter.KEYWORD_ONLY and not keywords:
            words.append("*")
            keywords = True
        if each.name == "log":
            words.append("log: Callable[..., object] | None = None")
            continue
        option = options.get(each.name)
        # A rule begins with the name of a file, and is more.
        is_rule = name == "filter" and each.name in SCORERS
        is_path = each.name in PATHS or (option is not None and isinstance(option.type, FileName) and not is_rule)
        found = annotation(hints[each.name], option, is_path=is_path)
        if each.name == "output" and read_hint(hints["output"])[2]:
            found = "Path | Iterable[Path]"
        word = f"{each.name}: {found}{'' if each.default is Parameter.empty else ' | None = None'}"
        words.append(word if len(word) <= LONGEST else word.replace(" | None", "\n    | None"))
    summary = COMMANDS.find(name.replace("_", "-")).summary
    listed = "".join(f"    {word},\n" for word in words)
    return f'def {name}(\n{listed}) -> dict[str, Any]:\n    """{summary}"""\n'


LONGEST = 115  # of what stands in a line of its own, as ruff formats
PATHS = {"dictionary", "train"}  # fields of a config, whose options are called TEXT


def command_of(name: str) -> click.Command:
    found = group.get_command(click.Context(group), name.replace("_", "-"))
    assert found is not None
    return found


def stub_text() -> str:
    """As ruff formats it, which tests do without."""
    return STUB_HEAD + "\n" + "\n".join(map(function_text, FUNCTIONS))


HELP_HEAD = '"""What the options of functions.py mean. Made of the commands by `python -m tests.keywords`."""\n\n'


def help_text() -> str:
    found: dict[str, dict[str, str]] = {}
    for name in FUNCTIONS:
        command = command_of(name)
        context = click.Context(command)
        meanings = {
            "output" if each.name == "outputs" else str(each.name): words(each, context)[1]
            for each in command.params
            if isinstance(each, click.Option) and each.help
        }
        more = (each for each in command.params if isinstance(each, click.Argument))
        meanings |= {str(each.name): f"{each.metavar} of the command." for each in more}
        known = {*arguments_of(name)} - {*FUNCTIONS[name].arguments}
        found[name] = {each: name_arguments(text) for each, text in meanings.items() if each in known}
    rows = (
        f'    "{name}": {{\n'
        + "".join(f'        "{each}": {_quoted(text)},\n' for each, text in texts.items())
        + "    },\n"
        for name, texts in found.items()
    )
    return HELP_HEAD + "HELP: dict[str, dict[str, str]] = {\n" + "".join(rows) + "}\n"


def _quoted(text: str) -> str:
    return repr(text) if '"' in text and "'" not in text else json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    MODULE.write_text(module_text())
    STUB.write_text(stub_text())
    HELP.write_text(help_text())
