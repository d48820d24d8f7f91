"""The table of guides, which `wv help` lists and shows: texts beside this file, NAME.md, in Markdown.

A guide is a file and a row. Its first line is its title; tables and code blocks are the only Markdown that needs more
than a plain reader. Blocks between `<!-- table: NAME -->` and `<!-- end -->` are made by tests/readme.py.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wv_cli.registry import Registry

FOLDER = Path(__file__).resolve().parent
Kind = Literal["tutorial", "how-to", "reference", "explanation"]
# In the order in which they are listed, each with its heading.
KINDS: dict[Kind, str] = {
    "tutorial": "Tutorials",
    "how-to": "How to",
    "reference": "Reference",
    "explanation": "Explanation",
}


@dataclass(frozen=True)
class Guide:
    """One text. `summary` is the line that lists show."""

    kind: Kind
    summary: str


_TABLE: list[tuple[str, Kind, str]] = [
    ("one-liners", "reference", "One command line per job, to copy."),
    ("commands", "reference", "Every command, task of wv eval and method of wv hash."),
    ("formats", "reference", "File formats, and their bytes."),
    ("models", "reference", "Models and output layers, and the options of each."),
    ("exit-codes", "reference", "What the exit code of a command means."),
    ("json", "reference", "What --json prints."),
    ("guarantees", "reference", "What is guaranteed, sentence by sentence, each with its tests."),
    ("environment", "reference", "Environment variables."),
    ("papers", "reference", "The papers of the methods."),
    ("differences", "explanation", "What wv does otherwise than word2vec, fastText and GloVe."),
    ("changes", "explanation", "What changed from version to version."),
]
GUIDES: Registry[Guide] = Registry("guide", [(name, Guide(kind, summary)) for name, kind, summary in _TABLE])


def guide_text(name: str) -> str:
    """The guide called `name`, as Markdown."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
