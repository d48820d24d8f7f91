"""A job is a list of parts: no line of ancestors, few fields, and each option in exactly one part."""

import importlib
import inspect
import pkgutil
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import click
import pytest

import wv_cli.cli.custom
import wv_cli.commands
from tests.walk import require_rows
from wv_cli.cli import COMMANDS, SUBCOMMANDS
from wv_cli.cli.program import wv as group
from wv_cli.commands.eval import EvalJob
from wv_cli.commands.glove_files import GloveFilesJob
from wv_cli.commands.job import Job, TrainingJob
from wv_cli.commands.models import MODELS
from wv_cli.commands.questions import QuestionsJob
from wv_cli.commands.search import SearchJob
from wv_cli.commands.train import TrainJob
from wv_cli.config import Options, has_options, hints_of
from wv_cli.filtering.scorers import SCORERS
from wv_cli.registry import load

MOST_CLASSES = 4  # of this project in the line of a class: Options, Part, a part, itself
MOST_FIELDS = 12
# How options are looked up by name, frozen objects changed and models asked what they are.
FORBIDDEN = (r"object\.__setattr__", r"super\(\w+, replace\(", r"\bhasattr\(", r"\bcast\(\"?Any\b")

# The jobs of commands. How a command talks is no option of its job.
JOBS: dict[str, type[Job]] = {
    **{name: load(row.module) for name, row in COMMANDS.items() if ":" in row.module and name != "train"},
    **{f"{name} {each}": load(job) for name, rows in SUBCOMMANDS.items() for each, (job, _) in rows.items()},
    "search": SearchJob,
}
TALK = {"quiet", "as_json", "help_all"}
TRAINING = {row.job: row.job_type() for row in MODELS.values()}
# A preset chooses what stands in the place of defaults; all rules of wv filter are one field.
CHOOSING = {"preset", "rules", *SCORERS}


# Texts without a role, though what help calls them could be a file, and why.
NO_ROLE = {
    **dict.fromkeys(("best", "field", "fuse", "mix", "nested", "prune", "split"), "a name or numbers"),
    **dict.fromkeys(("delimiter", "label_prefix", "phrase_delimiter", "sentence", "texts", "title"), "a text itself"),
    **dict.fromkeys(("blocked_hosts", "classifier", "contamination", "language", "perplexity"), "see Rules.reads"),
    "after": "a method or a file; wv eval sts writes nothing",
    "class_weights": "see SupervisedJob.reads",
    "connectors": "see PhrasesJob.reads",
}
FILE_WORDS = re.compile(r"\b(FILE|PATH|INPUT|IN|OUT|OUTPUT|MODEL|VECTORS2?|VOCAB|INDEX|DIR|FOLDER|TEXT)\b|^[AB]?$")


def modules() -> list[str]:
    prefix = f"{wv_cli.commands.__name__}."
    return sorted(each.name.removeprefix(prefix) for each in pkgutil.walk_packages(wv_cli.commands.__path__, prefix))


def classes() -> dict[str, type]:
    found = {}
    for name in modules():
        module = importlib.import_module(f"wv_cli.commands.{name}")
        own = {each.__name__: each for each in vars(module).values() if inspect.isclass(each)}
        found |= {f"{name}.{key}": each for key, each in own.items() if each.__module__ == module.__name__}
    return found


def is_small(kind: type) -> bool:
    """Whether it has few ancestors and fields; errors have a tree of their own."""
    line = [each for each in kind.__mro__ if each.__module__.startswith("wv_cli")]
    size = len(fields(kind)) if is_dataclass(kind) else 0
    return issubclass(kind, BaseException) or (len(line) <= MOST_CLASSES and size <= MOST_FIELDS)


def has_forbidden(module: str) -> bool:
    path = Path(str(importlib.import_module(f"wv_cli.commands.{module}").__file__))
    source = path.read_text(encoding="utf-8")
    return any(re.search(each, source) for each in FORBIDDEN)


def test_no_class_has_many_ancestors_or_fields() -> None:
    flags = "fasttext_jobs.TrainingFlags"  # fastText's own list, which is one
    assert [name for name, kind in classes().items() if not is_small(kind)] == [flags]


def test_nothing_goes_behind_the_fields() -> None:
    assert [name for name in modules() if has_forbidden(name)] == []


def test_every_job_is_that_of_a_command() -> None:
    bases = {Job, TrainingJob, TrainJob, EvalJob, QuestionsJob}
    kinds = {kind for kind in classes().values() if issubclass(kind, Job)} - bases
    known = {*JOBS.values(), *TRAINING.values(), GloveFilesJob}  # the last is that of `wv glove-tools glove`
    require_rows("COMMANDS or SUBCOMMANDS of wv_cli/cli/__init__.py", known, kinds)


def options_of(name: str) -> list[str]:
    first, *rest = name.split()
    command = group.get_command(click.Context(group), first)
    for word in rest:
        command = command.commands[word]
    return [each.name for each in command.params if each.name not in TALK]


def option_names(kind: type) -> list[str]:
    """As often as parts have them."""
    found = list(kind.options())
    for hint in (hints_of(kind)[each.name] for each in fields(kind)):
        found += option_names(hint) if has_options(hint) else []
    return found


def kinds_of_options(kind: type[Options]) -> list[type[Options]]:
    return [kind, *(found for each in kind.__subclasses__() for found in kinds_of_options(each))]


def test_every_option_of_a_file_says_its_role() -> None:
    """So that no output replaces an input. Options of commands that are no jobs are seen, too."""
    for each in pkgutil.walk_packages(wv_cli.cli.custom.__path__, f"{wv_cli.cli.custom.__name__}."):
        importlib.import_module(each.name)
    assert classes()
    texts = [
        (f"{kind.__name__}.{name}", option)
        for kind in kinds_of_options(Options)
        if kind.__module__.startswith("wv_cli.")
        for name, option in kind.options().items()
        if option.kind is str and not option.choices and (option.positional or option.help)
    ]
    without = {name for name, option in texts if not option.role and FILE_WORDS.search(option.metavar)}
    assert {name.rpartition(".")[2] for name in without} == {*NO_ROLE}
    assert {name for name, option in texts if option.role == "own"} == {
        "CorpusPart.keys",  # parts read and write it
        "LinksOptions.folder",  # of links
        "Resume.checkpoint",  # has a name of its own, and is of a training only: Job.checkpoint_path
    }


@pytest.mark.parametrize("name", JOBS)
def test_every_option_belongs_to_one_part(name: str) -> None:
    own, options = option_names(JOBS[name]), set(options_of(name)) - CHOOSING
    assert {option: own.count(option) for option in options} == dict.fromkeys(options, 1)


def test_every_option_of_training_belongs_to_one_part() -> None:
    names = {row: option_names(kind) for row, kind in TRAINING.items()}
    assert {row: [name for name in own if own.count(name) > 1] for row, own in names.items()} == {
        row: [] for row in TRAINING
    }
    every = {name for own in names.values() for name in own}
    assert {*options_of("train")} - CHOOSING <= every
