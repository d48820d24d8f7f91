"""Word in context (Pilehvar & Camacho-Collados 2019): pairs of sentences with a word, and whether it means the same.

NAME.data.txt     word TAB N or V TAB i-j TAB sentence TAB sentence; the word is word i of the first sentence and word j
                  of the second, counted from 0 between blanks
NAME.gold.txt     T or F for each line, beside it
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.evaluation.data import Malformed, data_lines

_DATA, _GOLD = ".data.", ".gold."


@dataclass(frozen=True)
class InContext:
    """One data file. `words` are two sentences' words for each item, `targets` (items, 2) the place of the word asked
    in each, `gold` (items,) whether it means the same in both."""

    path: str
    words: list[tuple[list[str], list[str]]]
    targets: NDArray[np.int64]
    gold: NDArray[np.bool_]
    malformed: Malformed

    @property
    def sentences(self) -> list[list[str]]:
        """The first and the second of each item, in turn."""
        return [sentence for pair in self.words for sentence in pair]


def wic_files(paths: Sequence[str]) -> list[str]:
    """What to read of `paths`: not the answers beside data."""
    return [path for path in paths if _GOLD not in Path(path).name]


def read_wic(path: str, *, strict: bool = False) -> InContext:
    """Raises BadFile when no line is an item, when data and answers do not fit together, or under `strict` for a line
    that is no item; WvError when one of them cannot be read."""
    name = Path(path).name
    if _DATA not in name:
        problem = f"expected NAME{_DATA}txt, whose answers are beside it in NAME{_GOLD}txt, found another name"
        raise BadFile(path, problem)
    answers = str(Path(path).with_name(_GOLD.join(name.rsplit(_DATA, 1))))
    lines, gold = (_without_end(data_lines(each)) for each in (path, answers))
    if len(lines) != len(gold):
        problem = f"expected T or F for each of the {len(lines):,} lines of {path}, found {len(gold):,} lines"
        raise BadFile(answers, problem, line=min(len(lines), len(gold)) + 1)
    malformed = Malformed(path, strict, "`word TAB N or V TAB i-j TAB sentence TAB sentence`")
    words, targets, same = [], [], []
    for number, (line, answer) in enumerate(zip(lines, gold, strict=True), 1):
        if answer not in ("T", "F"):
            raise BadFile(answers, f"expected T or F, found {answer[:60]!r}", line=number)
        item = _item(line)
        if item is None:
            malformed.add(number, line)
        else:
            words.append(item[0])
            targets.append(item[1])
            same.append(answer == "T")
    if not words:
        raise BadFile(path, "expected words in two sentences, found none", line=1)
    return InContext(path, words, np.array(targets, np.int64), np.array(same, np.bool_), malformed)


def _item(line: str) -> tuple[tuple[list[str], list[str]], tuple[int, int]] | None:
    """(words of both sentences, places of the target); None: the line is none."""
    fields = line.split("\t")
    if len(fields) != 5:
        return None
    first, _, second = fields[2].partition("-")
    words = fields[3].split(), fields[4].split()
    if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
        return None
    if len(first) > 9 or len(second) > 9 or int(first) >= len(words[0]) or int(second) >= len(words[1]):
        return None
    return words, (int(first), int(second))


def _without_end(lines: list[str]) -> list[str]:
    lines = [line.rstrip("\r") for line in lines]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines
