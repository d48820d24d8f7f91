"""Makes the tables of the guides and of README.md from the program's own tables, so that they cannot disagree.

    python tests/readme.py          rewrites the blocks between <!-- table: NAME --> and <!-- end --> in all

tests/test_readme.py checks that they are current.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from tests.compat.differs import DIFFERS
from wv_cli.commands import COMMANDS, COMPAT
from wv_cli.evaluation import TASKS
from wv_cli.formats import FORMATS
from wv_cli.hashing import HASHERS
from wv_cli.jobs.models import MODELS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "wv_cli" / "guides").glob("*.md"))]
BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(columns: list[str], rows: Iterable[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def tables() -> dict[str, str]:
    return {
        "commands": markdown(
            ["command", "what it does"],
            [[f"`wv {name}`", row.summary] for rows in (COMMANDS, COMPAT) for name, row in rows.items()],
        ),
        "models": markdown(
            ["`--model`", "what it learns from", "source"],
            [[f"`{name}`", row.summary, row.source] for name, row in MODELS.items()],
        ),
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
        "differs": markdown(["run", "what is otherwise"], differences()),
        "tasks": markdown(
            ["task", "what it measures", "score", "data"],
            [[f"`wv eval {name}`", row.summary, row.measure, row.data] for name, row in TASKS.items()],
        ),
    }


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
