"""Writes wv_cli/jobs/keywords.py from the options of the jobs: `python -m tests.keywords`."""

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from wv_cli.config import Config, read_hint
from wv_cli.jobs.glove import GloveJob
from wv_cli.jobs.job import option_hints
from wv_cli.jobs.models import MODELS

MODULE = Path(__file__).resolve().parent.parent / "wv_cli" / "jobs" / "keywords.py"
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


def typed_dict(name: str, what: str, jobs: list[Any], configs: list[type[Config]]) -> str:
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


def all_configs(kind: Any) -> list[type[Config]]:
    """The configs among the fields of a job, of its parts too."""
    found = []
    for each in fields(kind):
        hint = get_type_hints(kind)[each.name]
        for inner in (hint, *get_args(hint)):
            if isinstance(inner, type) and is_dataclass(inner):
                found += [inner] * issubclass(inner, Config) + all_configs(inner)
    return found


def module_text() -> str:
    jobs = [row.job_type() for row in MODELS.values()]
    configs = [config for job in jobs for config in all_configs(job)]
    return (
        HEAD
        + typed_dict("TrainOptions", "`wv train`", jobs, configs)
        + typed_dict("GloveOptions", "`wv glove`", [GloveJob], all_configs(GloveJob))
    )


if __name__ == "__main__":
    MODULE.write_text(module_text())
