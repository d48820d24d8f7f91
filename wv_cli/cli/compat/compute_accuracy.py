"""`compute-accuracy` of word2vec: analogy questions by section, upper and lower case alike."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from wv_cli.cli.compat import CompatCommand, say
from wv_cli.cli.compat.flags import atoi
from wv_cli.cli.compat.neighbor_rows import load

_USAGE = (
    "Usage: ./compute-accuracy <FILE> <threshold>\nwhere FILE contains word projections, and threshold is used to "
    "reduce vocabulary of the model for fast approximate evaluation (0 = off, otherwise typical value is 30000)\n"
)
_SEMANTIC_SECTIONS = 5  # the first ones, by number, whatever they are called
Question = tuple[str, str, str, str]


@dataclass
class Section:
    """`name` is None for questions before the first section, which are counted and never reported."""

    name: str | None
    questions: list[Question] = field(default_factory=list)


def main(words: Sequence[str]) -> int:
    if not words:
        say(_USAGE)
        return 0
    import numpy as np

    from wv_cli.io.marks import without_mark
    from wv_cli.vectors.neighbors.exact import Neighbors
    from wv_cli.words import decode

    threshold = atoi(words[1]) if len(words) > 1 else 0
    vectors = load(words[0], threshold if threshold > 0 else None)
    search = Neighbors(vectors.matrix)
    rows: dict[str, int] = {}
    for row, word in enumerate(vectors.words):
        rows.setdefault(_upper(word), row)
    questions = b"".join(without_mark([sys.stdin.buffer.read()]))
    sections = list(_sections(decode(questions).split()))
    every = [question for section in sections for question in section.questions]
    found = [[rows.get(word, -1) for word in question] for question in every]
    known = [min(each) >= 0 for each in found]
    asked = np.array([each for each, is_known in zip(found, known, strict=True) if is_known], np.int64).reshape(-1, 4)
    hits, scores = search.analogies(asked[:, 0], asked[:, 1], asked[:, 2])
    right = iter(
        score > 0 and _upper(vectors.words[hit]) == _upper(vectors.words[wanted])
        for hit, score, wanted in zip(hits[:, 0].tolist(), scores[:, 0].tolist(), asked[:, 3].tolist(), strict=True)
    )
    results = iter([(is_known, is_known and next(right)) for is_known in known])
    _report(sections, results)
    return 0


def _report(sections: list[Section], results: Iterator[tuple[bool, bool]]) -> None:
    """`results` says of each question whether its words are known and whether the answer was right."""
    seen = {"all": 0, "semantic": 0, "syntactic": 0}
    hits = dict.fromkeys(seen, 0)
    for number, section in enumerate(sections):
        here = [next(results) for _ in section.questions]
        kind = "semantic" if number <= _SEMANTIC_SECTIONS else "syntactic"
        for name in ("all", kind):
            seen[name] += sum(is_known for is_known, _ in here)
            hits[name] += sum(is_right for _, is_right in here)
        if section.name is None:
            continue
        count, right = sum(is_known for is_known, _ in here), sum(is_right for _, is_right in here)
        say(f"{section.name}:\nACCURACY TOP1: {_share(right, count or 1)} %  ({right} / {count or 1})\n")
        shares = [f"{name} accuracy: {_share(hits[key], seen[key])} % " for name, key in _TOTALS]
        say("  ".join(shares) + "\n")
    total = sum(len(section.questions) for section in sections)
    say(f"Questions seen / total: {seen['all']} {total}   {_share(seen['all'], total)} % \n")


_TOTALS = [("Total", "all"), ("Semantic", "semantic"), ("Syntactic", "syntactic")]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "-nan"


def _sections(words: list[str]) -> Iterator[Section]:
    """A word `:` or EXIT ends a section; the word after it is the name of the next. What is missing at the end of the
    last question is as in the one before."""
    section, before = Section(None), ("", "", "", "")
    place = 0
    while place < len(words):
        if _upper(words[place]) in (":", "EXIT"):
            yield section
            if place + 1 == len(words):
                return
            section = Section(words[place + 1])
            place += 2
            continue
        new = words[place : place + 4]
        before = (*new, *before[len(new) :])  # type: ignore[assignment]
        section.questions.append(tuple(map(_upper, before)))  # type: ignore[arg-type]
        place += 4
    yield section


def _upper(word: str) -> str:
    """As C's toupper does without a language: ASCII alone."""
    return "".join(chr(ord(letter) - 32) if "a" <= letter <= "z" else letter for letter in word)


command = CompatCommand(
    "compute-accuracy",
    main,
    "compute-accuracy FILE [THRESHOLD]: answers analogy questions (standard input) with the first THRESHOLD words.",
)
