"""Makes the tables of the guides and of README.md from the program's own tables, so that they cannot disagree.

    python tests/readme.py          rewrites the blocks between <!-- table: NAME --> and <!-- end --> in all

tests/test_readme.py checks that they are current.
"""

import re
from collections.abc import Iterable, Iterator
from math import isnan
from pathlib import Path

import click

from tests.compat.differs import DIFFERS
from wv_cli.cli import COMMANDS, COMPAT, PROGRAMS, Command
from wv_cli.cli.manual import EXIT_STATUS
from wv_cli.cli.options import FieldOption
from wv_cli.cli.program import wv
from wv_cli.commands.models import MODELS
from wv_cli.config import Options, conditions
from wv_cli.config.wording import flag_of
from wv_cli.evaluation import TASKS
from wv_cli.filtering.heuristics import HEURISTICS, RECIPES, Bound
from wv_cli.gensim.refusals import ARGUMENTS, METHODS
from wv_cli.hashing import HASHERS
from wv_cli.models.layers import LAYERS, NEURAL_LAYERS, OutputLayer
from wv_cli.registry import Registry
from wv_cli.vectors.formats import FORMATS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "wv_cli" / "guides").glob("*.md"))]
BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(columns: list[str], rows: Iterable[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def tables() -> dict[str, str]:
    return {
        "commands": markdown(["command", "what it does"], _commands(COMMANDS)),
        "compat": markdown(["command", "what it does"], _commands(COMPAT)),
        "programs": markdown(
            ["program", "the same as"], [[f"`{name}`", f"`wv {' '.join(words)}`"] for name, words in PROGRAMS.items()]
        ),
        "exits": markdown(["code", "what it means"], [list(row) for row in EXIT_STATUS]),
        "json": markdown(["command", "what `--json` does"], [list(row) for row in _json_options()]),
        "models": markdown(
            ["`--model`", "what it learns from", "source"],
            [[f"`{name}`", row.summary, row.source] for name, row in MODELS.items()],
        ),
        "losses": markdown(["`--loss`", "what it computes", "in fastText's files"], _losses(LAYERS)),
        "neural": markdown(["`--loss`", "what it computes"], [row[:2] for row in _losses(NEURAL_LAYERS)]),
        "options": markdown(["option", "models", "only with", "default", "what it means"], _options()),
        "hashers": markdown(
            ["`--method`", "codes", "what a bit says", "source"],
            [
                [f"`wv {name}`" if row.learns_from == "text" else f"`{name}`", row.kind, row.summary, row.source]
                for name, row in HASHERS.items()
            ],
        ),
        "formats": markdown(
            ["format", "endings", "reads", "writes", "what it holds"],
            [
                [
                    f"`{name}`",
                    " ".join(f"`{suffix}`" for suffix in row.suffixes),
                    "yes" if row.read else "no",
                    "yes" if row.write else "no",
                    row.summary,
                ]
                for name, row in FORMATS.items()
            ],
        ),
        "loses": markdown(
            ["format", "what it cannot keep"], [[f"`{name}`", row.loses] for name, row in FORMATS.items()]
        ),
        "heuristics": markdown(
            ["statistic", "what it is"], [[f"`{name}`", row.help] for name, row in HEURISTICS.items()]
        ),
        "recipes": markdown(
            ["recipe", "keeps records with"], [[f"`{name}`", ranges(bounds)] for name, bounds in RECIPES.items()]
        ),
        "differs": markdown(["run", "what is different"], differences()),
        "gensim_arguments": markdown(
            ["argument", "only value", "why no other"],
            [[f"`{name}`", f"`{getattr(value, '__name__', value)}`", why] for name, (value, why) in ARGUMENTS.items()],
        ),
        "gensim_methods": markdown(
            ["method", "use instead, or why"], [[f"`{name}`", why] for name, why in METHODS.items()]
        ),
        "tasks": markdown(
            ["task", "what it measures", "score", "data"],
            [[f"`wv eval {name}`", row.summary, row.measure, row.data] for name, row in TASKS.items()],
        ),
    }


def _commands(rows: Registry[Command]) -> list[list[str]]:
    return [[f"`wv {name}`", row.summary] for name, row in rows.items()]


def _json_options() -> Iterator[tuple[str, str]]:
    """Every command that has --json, with the help of that option."""

    def walk(path: str, command: click.Command) -> Iterator[tuple[str, str]]:
        for each in command.params:
            if isinstance(each, click.Option) and "--json" in each.opts:
                yield f"`{path}`", each.help or ""
        if isinstance(command, click.Group):
            for name, part in command.commands.items():
                yield from walk(f"{path} {name}", part)

    yield "`wv --version`", "JSON, with compiler and flags."
    for name in COMMANDS:
        command = wv.get_command(click.Context(wv), name)
        assert command is not None
        yield from walk(f"wv {name}", command)


def _losses(layers: dict[str, OutputLayer]) -> list[list[str]]:
    return [[f"`{name}`", row.summary, row.fasttext or "vectors only"] for name, row in layers.items()]


def _options() -> Iterator[list[str]]:
    """The options of `wv train` that are fields of a model's config, with the models for which they have an effect."""
    train = wv.get_command(click.Context(wv), "train")
    assert train is not None
    for option in train.params:
        if not isinstance(option, FieldOption) or option.name == "model":
            continue
        found: dict[str, list[str]] = {}  # the models of each condition
        for model, row in MODELS.items():
            field = row.config.options().get(option.name or "")
            condition = None if field is None else _of_model(field.only, model, row.config)
            if condition is not None:
                found.setdefault(condition, []).append(f"`{model}`")
        if found:
            models = [model for models in found.values() for model in models]
            only = [f"{when} ({', '.join(those)})" if len(found) > 1 else when for when, those in found.items() if when]
            shown = "all" if len(models) == len(MODELS) else ", ".join(models)
            default = option.field.default_text
            default = f"`{default}`" if default.startswith("__") else default  # else Markdown has it bold
            yield [f"`{option.field.flag}`", shown, "; ".join(only), default, option.help or ""]


def _of_model(condition: str, model: str, of: type[Options]) -> str | None:
    """A condition on options (`only` of wv_cli.config.option) in words, for one model: "" always, None never."""
    alternatives = []
    for alternative in condition.split(" or ") if condition else []:
        atoms = alternative.split(" and ")
        of_model = [atom for atom in atoms if re.match(r"model\W", atom)]
        if all(conditions.holds(atom, {"model": model}) for atom in of_model):
            alternatives.append(" and ".join(_in_words(atom, of) for atom in atoms if atom not in of_model))
    if condition and not alternatives:
        return None
    return "" if "" in alternatives else ", or ".join(alternatives)


def _in_words(atom: str, of: type[Options]) -> str:
    match = re.fullmatch(r"(not )?(\w+)(?:(!=|[=>])(.+))?", atom)
    assert match is not None
    negated, name, relation, rest = match.groups()
    flag = flag_of(name)
    if relation == ">":
        return f"`{flag}` above {rest}"
    if relation:
        values = [value for value in rest.split("|") if value in of.options()[name].choices]
        return f"`{flag}` {'other than ' if relation == '!=' else ''}{' or '.join(values)}"
    return f"no `{flag}`" if negated else f"`{flag}`"


def ranges(bounds: Iterable[Bound]) -> str:
    """The bounds of a recipe as `--heuristic` takes them, NAME=LOW..HIGH. L: each language has its own."""
    ends: dict[str, dict[str, str]] = {}
    for each in bounds:
        ends.setdefault(each.heuristic, {})[each.comparison] = "L" if isnan(each.bound) else f"{each.bound:g}"
    return ", ".join(f"`{name}={found.get('>=', '')}..{found.get('<=', '')}`" for name, found in ends.items())


def differences() -> list[list[str]]:
    """The recorded runs in which ours does something else, those of one reason in one row."""
    reasons = dict.fromkeys(DIFFERS.values())
    return [[", ".join(f"`{name}`" for name in DIFFERS if DIFFERS[name] == reason), reason] for reason in reasons]


def rendered(text: str) -> str:
    """A document with every block made anew. Raises KeyError for a block nobody makes."""
    made = tables()
    return BLOCK.sub(lambda match: match[1] + made[match[2]] + match[3], text)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(rendered(document.read_text(encoding="utf-8")), encoding="utf-8")
