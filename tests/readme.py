"""Makes the README's tables from the program's own tables, so that they cannot disagree.

    python tests/readme.py          rewrites the blocks between <!-- table: NAME --> and <!-- end --> in README.md

tests/test_readme.py checks that they are current.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from wv_cli.commands import COMMANDS
from wv_cli.evaluation import TASKS
from wv_cli.formats import FORMATS
from wv_cli.hashing import HASHERS
from wv_cli.jobs import MODELS

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(columns: list[str], rows: Iterable[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def tables() -> dict[str, str]:
    return {
        "commands": markdown(
            ["command", "what it does"], [[f"`wv {name}`", row.summary] for name, row in COMMANDS.items()]
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
            ["format", "endings", "reads", "writes", "what it holds", "what it cannot keep"],
            [
                [
                    f"`{name}`",
                    " ".join(f"`{suffix}`" for suffix in row.suffixes),
                    "yes" if row.read else "no",
                    "yes" if row.write else "no",
                    row.summary,
                    row.loses,
                ]
                for name, row in FORMATS.items()
            ],
        ),
        "tasks": markdown(
            ["task", "what it measures", "score", "data"],
            [[f"`wv eval {name}`", row.summary, row.measure, row.data] for name, row in TASKS.items()],
        ),
    }


def rendered(text: str) -> str:
    """The README with every block made anew. Raises KeyError for a block nobody makes."""
    made = tables()
    return BLOCK.sub(lambda match: match[1] + made[match[2]] + match[3], text)


if __name__ == "__main__":
    README.write_text(rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
