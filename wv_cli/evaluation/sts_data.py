"""Sentence pairs with scores, in the layouts they are given away in. Not here: what is done with them.

STS benchmark      CSV `sentence,sentence,score`; its original TSV, score in column 5, sentences in 6 and 7
SICK, GLUE, ...    TSV or CSV with a header that names the columns (sentence_A sentence_B relatedness_score, ...)
MTEB               JSON lines whose fields have these names
SemEval 2012-16    STS.input.NAME.txt, `sentence TAB sentence` lines, and beside it STS.gs.NAME.txt, a score a
                   line, empty for a pair nobody scored
"""

import csv
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.evaluation.data import Malformed, data_lines
from wv_cli.text.records.opening import refuse_json_over_lines

_FIRST = ("sentence_a", "sentence1", "sent_1", "sentence_1")
_SECOND = ("sentence_b", "sentence2", "sent_2", "sentence_2")
_SCORE = ("relatedness_score", "score", "similarity", "similarity_score", "label")
SCORE_NAMES = frozenset(_SCORE)  # of a column, in small letters
_MOST_LINES = 20  # of a row of CSV
_OPEN = "unexpected end of data"  # csv's word for a quote that is not closed
_EXPECTED = "two sentences and a score"


@dataclass(frozen=True)
class SentencePairs:
    """One data file, whose first line is `head`: people judged texts[i] gold[i] alike."""

    path: str
    texts: list[tuple[str, str]]
    gold: NDArray[np.float64]
    malformed: Malformed
    head: str = ""


def sts_files(paths: Sequence[str]) -> list[str]:
    """What to read of `paths`: of a folder with STS.input files only these (the rest are scores and read-me files)."""
    folders = {Path(path).parent for path in paths if Path(path).name.startswith("STS.input")}
    return [path for path in paths if Path(path).parent not in folders or Path(path).name.startswith("STS.input")]


def read_sentence_pairs(path: str, *, strict: bool = False) -> SentencePairs:
    """Reads one file. Raises BadFile when it holds no pair, when input and scores do not fit together, or under
    `strict` for a line that is no pair."""
    lines = [line.rstrip("\r") for line in data_lines(path)]
    if Path(path).name.startswith("STS.input"):
        return _read_semeval(path, lines, strict)
    malformed = Malformed(path, strict, f"`{_EXPECTED}`")
    head = next(filter(str.strip, lines), "")
    if head.lstrip().startswith("{"):
        refuse_json_over_lines(path, f"{head}\n".encode("utf-8", "surrogateescape"))
        names = _field_names(path, head)
        fields_of, columns, start, head = partial(_record_fields, names), (0, 1, 2), 0, ",".join(names)
        separator = ""
    else:
        separator, columns, start = _layout(path, lines)
        fields_of = partial(_fields, separator)
    texts, gold = [], []
    numbered = list(enumerate(lines[start:], start + 1))
    for number, line in _whole_rows(numbered) if separator == "," else numbered:
        if not line.strip():
            continue
        fields = fields_of(line)
        score = _score(fields[columns[2]]) if len(fields) > max(columns) else None
        if score is None:
            malformed.add(number, line)
        else:
            texts.append((fields[columns[0]], fields[columns[1]]))
            gold.append(score)
    if not texts:
        raise BadFile(path, f"expected lines of {_EXPECTED}, found none", line=start + 1)
    return SentencePairs(path, texts, np.array(gold), malformed, head)


def _field_names(path: str, line: str) -> list[str]:
    """Of the sentences and the score in JSON lines that begin so. Raises BadFile."""
    found = _record(line)
    names = [next((name for name in found if name.lower() in choices), "") for choices in (_FIRST, _SECOND, _SCORE)]
    if not all(names):
        problem = (
            f"expected fields such as {_FIRST[1]}, {_SECOND[1]} and {_SCORE[1]}, found {', '.join(found) or 'none'}"
        )
        raise BadFile(path, problem, line=1)
    return names


def _record_fields(names: Sequence[str], line: str) -> list[str]:
    """Nothing for a line that is no record of sentences."""
    found = [_record(line).get(name) for name in names]
    return [str(each) for each in found] if all(isinstance(each, str) for each in found[:2]) else []


def _record(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _layout(path: str, lines: list[str]) -> tuple[str, tuple[int, int, int], int]:
    """(separator, columns of the sentences and the score, index of the first pair)."""
    head = next((line for line in lines if line.strip()), "")
    if not head:
        raise BadFile(path, f"the file is empty; expected lines of {_EXPECTED}")
    separator = "\t" if head.count("\t") >= 2 else ","
    names = [name.strip().lower() for name in _fields(separator, head)]
    named = [next((names.index(n) for n in choices if n in names), -1) for choices in (_FIRST, _SECOND, _SCORE)]
    if min(named) >= 0:
        return separator, (named[0], named[1], named[2]), lines.index(head) + 1
    # Without names: the first lines' numbers tell. A header that names nothing we know may stand above.
    for index, line in _whole_rows([*enumerate(lines[:20])]) if separator == "," else enumerate(lines[:20]):
        fields = _fields(separator, line)
        if separator == "\t" and len(fields) >= 7 and _score(fields[4]) is not None:
            return separator, (5, 6, 4), index
        if len(fields) >= 3 and _score(fields[2]) is not None:
            return separator, (0, 1, 2), index if index <= 1 else 0
        if len(fields) == 3 and _score(fields[0]) is not None:
            return separator, (1, 2, 0), index if index <= 1 else 0
    refuse_json_over_lines(path, head.encode("utf-8", "surrogateescape"))
    raise BadFile(path, f"expected lines of {_EXPECTED}, found {head[:60]!r}", line=lines.index(head) + 1)


def _whole_rows(numbered: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Rows of CSV by the number of their first line: a line end inside quotes becomes a blank. A line whose quote is
    not closed well in the next few stays alone."""
    at = 0
    while at < len(numbered):
        number, row = numbered[at]
        for used in range(1, min(_MOST_LINES, len(numbered) - at) + 1):
            whole = " ".join(line for _, line in numbered[at : at + used])
            problem = _problem(whole)
            if problem != _OPEN:
                break
        if problem:
            used, whole = 1, row
        yield number, whole
        at += used


def _problem(row: str) -> str:
    """What makes it no row of CSV, "" if nothing does."""
    try:
        list(csv.reader([row], strict=True))
    except csv.Error as error:
        return str(error)
    return ""


def _fields(separator: str, line: str) -> list[str]:
    if separator == "\t":  # no quotes in the TSV sets: a " is a character of the sentence
        return line.split("\t")
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a line end inside the line, a field too long: no pair of sentences
        return []


def _score(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _read_semeval(path: str, lines: list[str], strict: bool) -> SentencePairs:
    scores_path = str(Path(path).with_name(Path(path).name.replace("STS.input", "STS.gs", 1)))
    scores = [line.strip() for line in data_lines(scores_path)]
    for rows in (lines, scores):
        while rows and not rows[-1].strip():
            rows.pop()
    # A last pair without a score leaves an empty line, which looks like the end of the file.
    if len(scores) > len(lines):
        problem = f"expected a score for each of the {len(lines)} pairs of {path}, found {len(scores)} lines"
        raise BadFile(scores_path, problem, line=len(lines) + 1)
    malformed = Malformed(path, strict, "`sentence TAB sentence`")
    texts, gold = [], []
    for number, (line, text) in enumerate(zip(lines, scores, strict=False), 1):
        fields = line.split("\t")
        score = _score(text)
        if not text:
            continue
        if score is None:
            raise BadFile(scores_path, f"expected a score, found {text[:60]!r}", line=number)
        if len(fields) < 2:
            malformed.add(number, line)
        else:
            texts.append((fields[0], fields[1]))
            gold.append(score)
    if not texts:
        raise BadFile(path, "expected pairs of sentences with scores, found none")
    return SentencePairs(path, texts, np.array(gold), malformed)
