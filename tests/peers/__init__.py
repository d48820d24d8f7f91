"""What other programs make of the same data: the tables of the guide `other-programs`, which are their own record.

    pip install PACKAGE==VERSION ...          the columns' programs, as `python -m tests.peers` lists them
    pytest tests/peers                        asks every program that is installed, and compares with the guide
    python -m tests.peers --write             puts the answers into the guide

A table has a question a row and a program a column. A program that is not installed in the column's version is not
asked; `wv` always is."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from wv_cli.guides import FOLDER

GUIDE = FOLDER / "other-programs.md"
_BLOCK = re.compile(r"(<!-- answers: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class Program:
    """A column: `answer` returns what the program answers to a question of the table, in a few words. `needs` is what
    is to be installed, nothing for `wv` itself."""

    name: str
    needs: str
    is_installed: Callable[[], bool]
    answer: Callable[[str], str]


def wv(answer: Callable[[str], str], name: str = "wv") -> Program:
    return Program(name, "", lambda: True, answer)


def package(requirement: str, answer: Callable[[str], str], name: str | None = None) -> Program:
    """`requirement` is PACKAGE==VERSION."""
    project, version = requirement.split("==")

    def is_installed() -> bool:
        try:
            return metadata.version(project) == version
        except metadata.PackageNotFoundError:
            return False

    return Program(f"{name or project} {version}", requirement, is_installed, answer)


def executable(name: str, variable: str, answer: Callable[[str], str]) -> Program:
    """A program whose path an environment variable has."""
    return Program(name, f"{variable}=PATH", lambda: variable in os.environ, answer)


@dataclass(frozen=True)
class Answers:
    """A table of the guide. `corner` is the head of its first column, whose cells are the `questions`."""

    corner: str
    questions: Sequence[str]
    programs: Sequence[Program]


def read_answers(name: str, text: str | None = None) -> dict[str, dict[str, str]]:
    """The answers that the guide shows in a table, by program and question."""
    found = {block: rows for _, block, rows, _ in _BLOCK.findall(text or GUIDE.read_text(encoding="utf-8"))}
    head, _, *rows = ([_unescape(cell) for cell in _cells(line)] for line in found[name].splitlines())
    return {program: {row[0]: row[column] for row in rows} for column, program in enumerate(head[1:], 1)}


def write_answers(tables: dict[str, Answers], guide: Path = GUIDE) -> None:
    """Asks every program that is installed; of the others the guide keeps its answers."""
    text = guide.read_text(encoding="utf-8")

    def block(found: re.Match[str]) -> str:
        table = tables[found[2]]
        shown = read_answers(found[2], text) if found[3] else {}
        columns = [
            [program.answer(question) for question in table.questions]
            if program.is_installed()
            else [shown.get(program.name, {}).get(question, "?") for question in table.questions]
            for program in table.programs
        ]
        rows = [[table.corner, *(program.name for program in table.programs)]]
        rows += [list(row) for row in zip(table.questions, *columns, strict=True)]
        lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
        lines.insert(1, "| --- " * len(rows[0]) + "|")
        return found[1] + "\n".join(lines) + "\n" + found[4]

    guide.write_text(_BLOCK.sub(block, text), encoding="utf-8")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _unescape(cell: str) -> str:
    return cell.replace(r"\|", "|")
