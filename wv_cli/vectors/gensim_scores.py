"""gensim's evaluations of vectors, by its rules: evaluate_word_pairs and evaluate_word_analogies of its KeyedVectors.

Lines that are no item are left out, only listed words count, and upper and lower case are one unless it is asked
otherwise. `wv eval` scores the same files with intervals, tests and composed words (wv_cli.evaluation).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.vectors.comparisons import cosine
from wv_cli.vectors.keyed import Keyed

if TYPE_CHECKING:
    from wv_cli.vectors.neighbors.exact import Neighbors

_METHODS = {"most_similar": "3cosadd", "most_similar_cosmul": "3cosmul"}
_ANSWERS = 5  # looked at, for the first that is none of the words asked in another spelling


class Correlation(NamedTuple):
    """Pearson's r or Spearman's rho, and its two-sided p, by the names of SciPy's results."""

    statistic: float
    pvalue: float


class Searched(Keyed, Protocol):
    def exact(self, *, threads: int = 0) -> "Neighbors": ...


def evaluate_word_pairs(
    vectors: Keyed,
    pairs: str | PathLike[str],
    delimiter: str = "\t",
    restrict_vocab: int | None = 300000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
) -> tuple[Correlation, Correlation, float]:
    """((Pearson's r, p), (Spearman's rho, p), percent of pairs with an unknown word) of the cosines of word pairs with
    people's judgements; p is two-sided. The pairs of numbers are `.statistic` and `.pvalue`, as in gensim.

    pairs: a file of lines `word word score`. restrict_vocab: only the first so many words are known. dummy4unknown:
    pairs with an unknown word have cosine 0; else they are left out. Raises WvError for a file that cannot be read or
    has no pair that counts.
    """
    rows = _rows(vectors, restrict_vocab, case_insensitive)
    gold: list[float] = []
    found: list[float] = []
    unknown = 0
    for line in _lines(pairs):
        a, b, score = _pair(line, delimiter)
        if score is None:
            continue
        row_a, row_b = (rows.get(word.upper() if case_insensitive else word, -1) for word in (a, b))
        missing = row_a < 0 or row_b < 0
        unknown += missing
        if not missing or dummy4unknown:
            gold.append(score)
            both = (vectors.row(row).astype(np.float64) for row in (row_a, row_b))
            found.append(0.0 if missing else cosine(*both))
    if not gold:
        message = f"expected `word word score` on a line, with {delimiter!r} between and listed words, found none"
        raise BadFile(fspath(pairs), message)
    from wv_cli.vectors.correlation import pearson, spearman, two_sided_p

    r, rho = pearson(gold, found), spearman(gold, found)
    total = len(gold) if dummy4unknown else len(gold) + unknown
    p_r, p_rho = two_sided_p(r, len(gold)), two_sided_p(rho, len(gold))
    return Correlation(r, p_r), Correlation(rho, p_rho), 100 * unknown / total


@dataclass
class _Section:
    name: str
    questions: list[tuple[str, ...]] = field(default_factory=list)


def evaluate_word_analogies(
    vectors: Searched,
    analogies: str | PathLike[str],
    restrict_vocab: int | None = 300000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
    similarity_function: str = "most_similar",
) -> tuple[float, list[dict[str, Any]]]:
    """(share of right answers, sections) of the questions `a is to b as c is to ?`, answered by the highest cosine with
    b - a + c of the unit vectors, or by 3CosMul ("most_similar_cosmul"). Each section is a dict of its name, `section`,
    and the lists `correct` and `incorrect` of its questions; the last, `Total accuracy`, has all.

    analogies: a file of lines `a b c d` under headings `: name`. restrict_vocab: only the first so many words are known
    and can be answers. dummy4unknown: questions with an unknown word are wrong; else they are left out. Raises
    ValueError for another function, WvError for a file that cannot be read, and for a question above the first heading.
    """
    if similarity_function not in _METHODS:
        message = f"similarity_function: expected {' or '.join(_METHODS)}, found {similarity_function!r}"
        raise ValueError(message)
    rows = _rows(vectors, restrict_vocab, case_insensitive)
    sections = list(_sections(fspath(analogies), case_insensitive))
    asked = [question for section in sections for question in section.questions]
    known = [question for question in asked if all(word in rows for word in question)]
    method = _METHODS[similarity_function]
    answers = dict(zip(known, _answers(vectors, known, rows, restrict_vocab, method, case_insensitive), strict=True))
    report: list[dict[str, Any]] = []
    total: dict[str, Any] = {"section": "Total accuracy", "correct": [], "incorrect": []}
    for section in sections:
        judged: dict[str, Any] = {"section": section.name, "correct": [], "incorrect": []}
        for question in section.questions:
            if question in answers or dummy4unknown:
                right = answers.get(question) == question[3]
                judged["correct" if right else "incorrect"].append(question)
        for key in ("correct", "incorrect"):
            total[key] += judged[key]
        report.append(judged)
    good, bad = len(total["correct"]), len(total["incorrect"])
    return good / (good + bad) if good + bad else 0.0, [*report, total]


def _answers(
    vectors: Searched,
    questions: list[tuple[str, ...]],
    rows: dict[str, int],
    limit: int | None,
    method: str,
    fold: bool,
) -> list[str]:
    """The answer to each question whose words are all known; "" when none of the best can be one."""
    if not questions:
        return []
    numbers: NDArray[np.int64] = np.array([[rows[word] for word in question[:3]] for question in questions])
    a, b, c = numbers.T
    hits, _ = vectors.exact().analogies(a, b, c, _ANSWERS, method=method, rows=limit or None)
    result = []
    for question, best in zip(questions, hits.tolist(), strict=True):
        spelled = [vectors.words[row].upper() if fold else vectors.words[row] for row in best if row >= 0]
        result.append(next((word for word in spelled if word in rows and word not in question[:3]), ""))
    return result


def _rows(vectors: Keyed, limit: int | None, fold: bool) -> dict[str, int]:
    """The rows of the first `limit` words; with `fold` under their upper case, the first of equals."""
    rows: dict[str, int] = {}
    for row, word in enumerate(vectors.words[:limit]):
        rows.setdefault(word.upper() if fold else word, row)
    return rows


def _lines(path: str | PathLike[str]) -> Iterator[str]:
    from wv_cli.text.source import Source

    text = b"".join(Source([fspath(path)])).decode("utf-8", "surrogateescape")
    return iter(text.split("\n"))


def _pair(line: str, delimiter: str) -> tuple[str, str, float | None]:
    """(word, word, score); None for a line that is a comment or no pair."""
    fields = line.split(delimiter)
    try:
        return fields[0], fields[1], None if line.startswith("#") or len(fields) != 3 else float(fields[2])
    except (ValueError, IndexError):
        return "", "", None


def _sections(path: str, fold: bool) -> Iterator[_Section]:
    section = None
    for number, line in enumerate(_lines(path), 1):
        if line.startswith(": "):
            if section is not None:
                yield section
            section = _Section(line.lstrip(": ").strip())
        elif line and section is None:
            raise BadFile(path, "expected a heading `: name` above the first question", line=number)
        elif section is not None and len(words := (line.upper() if fold else line).split()) == 4:
            section.questions.append(tuple(words))
    if section is not None:
        yield section
