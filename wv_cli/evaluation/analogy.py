"""Analogies: is the best answer to `a is to b as c is to ?` the expected word? (Google's questions-words.txt, ...)

Decisions: the three asked words are excluded as answers, by row; ties go to the lowest row; the vocabulary limit holds
for questions and answers alike, as in word2vec's compute-accuracy. A section whose name begins with `gram` is syntactic
and every other one semantic; their totals are shown for files that have both kinds (in Google's file the first five
sections are semantic). Several vector files are scored on the questions that all of them can answer, and compared with
the first by McNemar's test.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.evaluation.base import Column, Each, Report, Row, Vectors, number, p_value, protocol
from wv_cli.evaluation.config import AnalogyConfig
from wv_cli.evaluation.data import Malformed, composed_note, data_lines, items_used, restrict_words
from wv_cli.evaluation.statistics import mcnemar, wilson_interval
from wv_cli.vectors.lookup import Lookup
from wv_cli.vectors.neighbors.exact import Neighbors
from wv_cli.words import split_words

TOTAL = "total"


@dataclass(frozen=True)
class Questions:
    """One data file: words[i] = (a, b, c, expected) stands in section names[section[i]]. With `answers`, any word of
    answers[answer_of[i]] is right."""

    path: str
    words: list[tuple[str, ...]]
    names: list[str]
    section: NDArray[np.int64]
    malformed: Malformed
    answers: list[tuple[str, ...]] = field(default_factory=list)
    answer_of: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def groups(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """(name, mask over the questions): every section, `semantic` and `syntactic` if there are both, the total."""
        for index, name in enumerate(self.names):
            yield name, self.section == index
        grammatical = np.array([name.startswith("gram") for name in self.names])
        if grammatical.any() and not grammatical.all():
            yield "semantic", ~grammatical[self.section]
            yield "syntactic", grammatical[self.section]
        yield TOTAL, np.ones(len(self.words), np.bool_)


def read_questions(path: str, *, strict: bool = False) -> Questions:
    """Reads `a b c d` lines under `: section` headings; questions above the first heading are in a section named like
    the file. Also reads the files of BATS (Gladkova, Drozd & Matsuoka 2016): lines `a b/b/...`, each of which is asked
    with every other as the example. Raises BadFile when no line is a question, or under `strict` for a line that is
    none."""
    malformed = Malformed(path, strict, "four words `a b c d` or `: section`")
    bad: list[tuple[int, str, list[str]]] = []
    words: list[tuple[str, ...]] = []
    names: list[str] = []
    section: list[int] = []
    first = ""
    for line_number, line in enumerate(data_lines(path), 1):
        # Tabs, if there are three, for words with blanks; else blanks of ASCII only: a word may hold another kind.
        fields = line.strip("\r").split("\t") if line.count("\t") == 3 else split_words(line)
        fields = [field for field in fields if field]
        if not fields:
            continue
        first = first or line
        if fields[0] == ":" or (fields[0].startswith(":") and len(fields) != 4):
            names.append(" ".join(fields).removeprefix(":").strip() or f"line {line_number}")
        elif len(fields) != 4:
            bad.append((line_number, line, fields))
        else:
            if not names:
                names.append(Path(path).stem if path != "-" else "questions")
            words.append(tuple(fields))
            section.append(len(names) - 1)
    pairs = [fields for _, _, fields in bad if len(fields) == 2]
    if words or len(pairs) < 2:
        pairs = []
    for line_number, line, fields in bad:
        if not pairs or len(fields) != 2:
            malformed.add(line_number, line)
    if pairs:
        return _every_pair(path, pairs, malformed)
    if not words:
        found = f"found {first[:60]!r}" if first else "found an empty file"
        raise BadFile(path, f"expected lines of four words `a b c d`, {found}", line=1 if first else None)
    return Questions(path, words, names, np.array(section, np.int64), malformed)


def _every_pair(path: str, pairs: list[list[str]], malformed: Malformed) -> Questions:
    """Each pair with every other as the example, of which the first answer is taken."""
    answers = [tuple(filter(None, listed.split("/"))) or (listed,) for _, listed in pairs]
    order = [(i, j) for i in range(len(pairs)) for j in range(len(pairs)) if i != j]
    words: list[tuple[str, ...]] = [(pairs[i][0], answers[i][0], pairs[j][0], answers[j][0]) for i, j in order]
    name = Path(path).stem if path != "-" else "questions"
    answer_of = np.array([j for _, j in order], np.int64)
    return Questions(path, words, [name], np.zeros(len(words), np.int64), malformed, answers, answer_of)


@dataclass(frozen=True)
class Answers:
    """One vector file on one data file."""

    correct: NDArray[np.bool_]
    covered: NDArray[np.bool_]


def answer(
    neighbors: Neighbors,
    rows: NDArray[np.int64],
    method: str,
    beyond: NDArray[np.float32],
    right: Sequence[frozenset[int]] = (),
) -> Answers:
    """rows: (questions, 4) of the rows of `neighbors`, -1 for unknown words; a, b and c may be numbers
    of vectors `beyond`. right: for each question the rows that are right, where there are several."""
    covered: NDArray[np.bool_] = np.all(rows >= 0, axis=1)
    a, b, c, expected = rows[covered].T
    correct = np.zeros(len(rows), np.bool_)
    hits = neighbors.analogies(a, b, c, 1, method=method, beyond=beyond)[0][:, 0]
    if right:
        asked = np.flatnonzero(covered).tolist()
        correct[asked] = [hit in right[i] for i, hit in zip(asked, hits.tolist(), strict=True)]
    else:
        correct[covered] = hits == expected
    return Answers(correct, covered)


def run(
    vectors: Sequence[Vectors], data: Sequence[str], config: AnalogyConfig, each: Each[tuple[list[Answers], int]] = map
) -> Report:
    """Scores every vector file on every data file; see evaluation.Task.run."""
    sets = [read_questions(path, strict=config.strict) for path in data]
    answered: list[list[Answers]] = []
    notes: list[str] = []
    for source, (found, composed) in zip(vectors, each(partial(_of_file, sets, config), vectors), strict=True):
        answered.append(found)
        notes += composed_note(source.name, composed)
    report = _new_report(config, len(vectors) > 1)
    report.notes += notes
    for index, questions in enumerate(sets):
        report.notes += questions.malformed.notes()
        _score([source.name for source in vectors], questions, [each[index] for each in answered], config, report)
    return report


def _of_file(sets: list[Questions], config: AnalogyConfig, source: Vectors) -> tuple[list[Answers], int]:
    """What one vector file says to every data file, and how many words it composed."""
    embeddings = restrict_words(source.load(), config.restrict_vocab)
    lookup = Lookup(embeddings, config.case, subwords=config.subwords)
    # Three words may be composed of subwords, the answer must be one that can be found.
    asked = [lookup.rows(questions.words, 4, composed=3) for questions in sets]
    right = [_right_rows(questions, lookup, rows) for questions, rows in zip(sets, asked, strict=True)]
    matrix, pool, oov = embeddings.matrix, lookup.pool, lookup.oov.vectors()
    if len(pool) < len(embeddings):
        # Rows that no word leads to are no answers either.
        number = np.full(len(embeddings) + len(oov) + 1, -1, np.int64)
        number[pool] = np.arange(len(pool))
        number[len(embeddings) : -1] = len(pool) + np.arange(len(oov))
        asked = [number[rows] for rows in asked]
        right = [[frozenset(number[list(rows)].tolist()) for rows in each] for each in right]
        matrix = matrix[pool]
    del embeddings, lookup
    neighbors = Neighbors(matrix, threads=config.threads)
    del matrix
    found = [answer(neighbors, rows, config.method, oov, one) for rows, one in zip(asked, right, strict=True)]
    return found, len(oov)


def _right_rows(questions: Questions, lookup: Lookup, rows: NDArray[np.int64]) -> list[frozenset[int]]:
    """For each question the rows of the answers that are right, where there are several; its own expected answer in
    `rows` becomes one of them that is known."""
    known = [[lookup.row(word, compose=False) for word in words] for words in questions.answers]
    listed = [[row for row in found if row >= 0] for found in known]
    for i, place in enumerate(questions.answer_of.tolist()):
        rows[i, 3] = listed[place][0] if listed[place] else -1
    sets = [frozenset(found) for found in listed]
    return [sets[place] for place in questions.answer_of.tolist()]


def _score(
    names: list[str], questions: Questions, answered: list[Answers], config: AnalogyConfig, report: Report
) -> None:
    used = items_used([each.covered for each in answered], config.oov)
    for section, mask in questions.groups():
        in_use, total = mask & used, int(mask.sum())
        n = int(in_use.sum())
        for index, (name, each) in enumerate(zip(names, answered, strict=True)):
            correct = int(each.correct[in_use].sum())
            accuracy = 100 * correct / n if n else np.nan
            low, high = wilson_interval(correct, n)
            row: Row = {
                "data": questions.path,
                "section": section,
                "vectors": name,
                "accuracy": accuracy,
                "low": 100 * low,
                "high": 100 * high,
                "correct": correct,
                "answered": n,
                "total": total,
                "accuracy_of_all": 100 * correct / total if total else np.nan,
                "covered": int(each.covered[mask].sum()),
                "malformed": questions.malformed.count,
            }
            if len(names) > 1:
                won, lost = (
                    int((one.correct & ~other.correct)[in_use].sum())
                    for one, other in ((each, answered[0]), (answered[0], each))
                )
                row["difference"] = 100 * (won - lost) / n if index and n else None
                row["p"] = mcnemar(lost, won).p if index and n else None
            report.rows.append(row)
            if section == TOTAL:
                report.scores.append((f"{name} on {questions.path}", accuracy))
                if not n:
                    report.unscored.append(f"{name} on {questions.path}: all four words are known for no question")


def _new_report(config: AnalogyConfig, several: bool) -> Report:
    columns = [
        Column("data", "data", label=True),
        Column("section", "section", label=True),
        Column("vectors", "vectors", label=True),
        Column("accuracy", "accuracy %", number(2)),
        Column("low", "95 % from", number(1)),
        Column("high", "to", number(1)),
        Column("correct", "correct", "{:,}".format),
        Column("answered", "answered", "{:,}".format),
        Column("total", "of", "{:,}".format),
        Column("accuracy_of_all", "% of all", number(2)),
        Column("covered", "covered" if several else "", "{:,}".format),
        Column("malformed", ""),
    ]
    if several:
        columns += [Column("difference", "difference", number(2, signed=True)), Column("p", "p", p_value)]
    lines = [
        {"3cosadd": "3CosAdd", "3cosmul": "3CosMul"}[config.method],
        *protocol(config),
        "questions with an unknown word " + ("count as wrong" if config.oov == "zero" else "are left out"),
    ]
    if several and config.oov == "skip":
        lines.append("scored on the questions that all files can answer")
    if several:
        lines.append("difference and p: against the first file, by McNemar's exact test, two-sided")
    return Report("analogy", "accuracy", config, columns, protocol=lines)
