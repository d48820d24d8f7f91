"""Word similarity: Spearman's correlation of cosines with people's judgements (WS353, SimLex-999, MEN, RG-65, ...).

Decisions: cosines in float64; a zero vector has cosine 0 with everything and is counted; identical words and repeated
pairs stay, as in the literature. Several vector files are scored on the pairs that all of them cover, and compared with
the first by Steiger's test.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.evaluation.base import Column, Each, Report, Row, Vectors, number, p_value, protocol
from wv_cli.evaluation.config import EvalConfig
from wv_cli.evaluation.data import Malformed, composed_note, data_lines, items_used, restrict_words
from wv_cli.evaluation.statistics import spearman_interval, steiger
from wv_cli.vectors.correlation import pearson, spearman
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.lookup import Lookup
from wv_cli.words import LINE_SEPARATORS

_SEPARATORS = ("\t", ";", ",", None)  # None: runs of blanks
_TAGS = ("-n", "-v", "-j")  # of the words in MEN's lemma form


@dataclass(frozen=True)
class Pairs:
    """One data file: words[i] were judged gold[i] alike."""

    path: str
    words: list[tuple[str, str]]
    gold: NDArray[np.float64]
    malformed: Malformed
    tagged: bool = False  # every word had a tag, which is left out

    def notes(self) -> list[str]:
        tags = f"{self.path}: every word has a tag ({', '.join(_TAGS)}), which is left out, as in MEN's lemma form"
        return [*([tags] if self.tagged else []), *self.malformed.notes()]


def read_pairs(path: str, *, strict: bool = False) -> Pairs:
    """Reads `word word score`, separated by tabs, semicolons, commas or blanks; the score is the first number after the
    words (column 4 of SimLex-999's own file). A header before the first pair and `#` comments are let pass. Where
    every word has a tag (sun-n), as in MEN's lemma form, the tags are left out.

    Raises BadFile when no line is a pair, or under `strict` for any other line that is none.
    """
    lines = [(number, line.strip(LINE_SEPARATORS.replace("\t", ""))) for number, line in enumerate(data_lines(path), 1)]
    lines = [(number, line) for number, line in lines if line.strip()]
    separator, column, start = _layout(path, lines)
    malformed = Malformed(path, strict, "`word word score`")
    words, gold = [], []
    for index, (line_number, line) in enumerate(lines):
        fields = _fields(line, separator)
        score = _finite(fields[column]) if len(fields) > column else None
        if score is not None and fields[0] and fields[1]:
            words.append((fields[0], fields[1]))
            gold.append(score)
        elif not line.startswith("#") and not (index < start and len(fields) > 2):
            malformed.add(line_number, line)
    tagged = all(word.endswith(_TAGS) and len(word) > 2 for pair in words for word in pair)
    if tagged:
        words = [(first[:-2], second[:-2]) for first, second in words]
    return Pairs(path, words, np.array(gold), malformed, tagged)


def _layout(path: str, lines: list[tuple[int, str]]) -> tuple[str | None, int, int]:
    """(separator, column of the score, index of the first pair); above it only a header of one line can stand. The
    column is that in which most lines have their first number: the header of WordSim-353 has numbers behind it."""
    for separator in _SEPARATORS:
        columns = {
            index: column
            for index, (_, line) in enumerate(lines[:100])
            if not line.startswith("#") and (column := _score_column(_fields(line, separator))) is not None
        }
        if columns:
            counts = Counter(columns.values())
            column = min(counts, key=lambda each: (-counts[each], each))
            first = next(index for index in columns if columns[index] == column)
            comments = sum(line.startswith("#") for _, line in lines[:first])
            return separator, column, first if first - comments <= 1 else 0
    found = f"found {lines[0][1][:60]!r}" if lines else "found an empty file"
    raise BadFile(path, f"expected lines of `word word score`, {found}", line=lines[0][0] if lines else None)


def _score_column(fields: Sequence[str]) -> int | None:
    """That of the first number after two words."""
    return next((column for column in range(2, len(fields)) if _finite(fields[column]) is not None), None)


def _fields(line: str, separator: str | None) -> list[str]:
    return [field.strip() for field in line.split(separator)]


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Cosines:
    """One vector file on one data file. `values` is 0 where a word has no vector or a zero vector."""

    values: NDArray[np.float64]
    covered: NDArray[np.bool_]
    zero: int


def cosines(embeddings: Embeddings, lookup: Lookup, pairs: Pairs) -> Cosines:
    rows = lookup.rows(pairs.words, 2)
    covered: NDArray[np.bool_] = np.all(rows >= 0, axis=1)
    values = np.zeros(len(rows))
    composed, n = lookup.oov.vectors(), len(embeddings)

    def vectors(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        listed = rows < n
        result = np.empty((len(rows), embeddings.dim))
        result[listed], result[~listed] = embeddings.matrix[rows[listed]], composed[rows[~listed] - n]
        return result

    x, y = (vectors(rows[covered, side]) for side in (0, 1))
    dots, x2, y2 = (np.einsum("ij,ij->i", first, second) for first, second in ((x, y), (x, x), (y, y)))
    # sqrt(x2 y2), not sqrt(x2) sqrt(y2): identical words get exactly 1, equal overlaps of binary codes equal cosines.
    norms = np.sqrt(x2 * y2)
    zero = norms == 0
    with np.errstate(invalid="ignore"):
        values[covered] = np.clip(np.divide(dots, norms, out=np.zeros_like(dots), where=~zero), -1, 1)
    return Cosines(values, covered, int(zero.sum()))


def run(
    vectors: Sequence[Vectors], data: Sequence[str], config: EvalConfig, each: Each[tuple[list[Cosines], int]] = map
) -> Report:
    """Scores every vector file on every data file; see evaluation.Task.run."""
    sets = [read_pairs(path, strict=config.strict) for path in data]
    scored: list[list[Cosines]] = []
    notes: list[str] = []
    for source, (found, composed) in zip(vectors, each(partial(_of_file, sets, config), vectors), strict=True):
        scored.append(found)
        notes += composed_note(source.name, composed)
    report = _new_report(config, len(vectors) > 1)
    report.notes += notes
    for index, pairs in enumerate(sets):
        report.notes += pairs.notes()
        _score([source.name for source in vectors], pairs, [each[index] for each in scored], config, report)
    return report


def _of_file(sets: list[Pairs], config: EvalConfig, source: Vectors) -> tuple[list[Cosines], int]:
    """What one vector file says of every data file, and how many words it composed."""
    embeddings = restrict_words(source.load(), config.restrict_vocab)
    lookup = Lookup(embeddings, config.case, subwords=config.subwords)
    return [cosines(embeddings, lookup, pairs) for pairs in sets], len(lookup.oov)


def _score(names: list[str], pairs: Pairs, scored: list[Cosines], config: EvalConfig, report: Report) -> None:
    used = items_used([each.covered for each in scored], config.oov)
    n, gold = int(used.sum()), pairs.gold[used]
    first = 0.0
    for index, (name, each) in enumerate(zip(names, scored, strict=True)):
        values = each.values[used]
        rho = spearman(values, gold)
        low, high = spearman_interval(rho, n)
        if reason := _reason(values, gold):
            report.unscored.append(f"{name} on {pairs.path}: no correlation: {reason}")
        row: Row = {
            "data": pairs.path,
            "vectors": name,
            "spearman": rho,
            "low": low,
            "high": high,
            "pearson": pearson(values, gold),
            "used": n,
            "total": len(used),
            "covered": int(each.covered.sum()),
            "zero_vectors": each.zero,
            "malformed": pairs.malformed.count,
        }
        if len(names) > 1:
            first = rho if index == 0 else first
            test = steiger(first, rho, spearman(scored[0].values[used], values), n, ranks=True) if index else None
            row["difference"] = rho - first if index else None
            row["p"] = test.p if test else None
        report.rows.append(row)
        report.scores.append((f"{name} on {pairs.path}", rho))


def _reason(values: NDArray[np.float64], gold: NDArray[np.float64]) -> str:
    if len(values) < 2:
        return f"both words of a pair are known for {len(values)} pairs"
    if not np.isfinite(values).all():
        return f"{(~np.isfinite(values)).sum()} pairs have vectors with NaN or infinity; `wv check` shows where"
    if np.ptp(values) == 0:
        return f"all {len(values)} cosines are equal"
    return "all gold scores are equal" if np.ptp(gold) == 0 else ""


def _new_report(config: EvalConfig, several: bool) -> Report:
    columns = [
        Column("data", "data", label=True),
        Column("vectors", "vectors", label=True),
        Column("spearman", "spearman", number(4)),
        Column("low", "95 % from", number(3)),
        Column("high", "to", number(3)),
        Column("pearson", "pearson", number(4)),
        Column("used", "pairs", "{:,}".format),
        Column("total", "of", "{:,}".format),
        Column("covered", "covered" if several else "", "{:,}".format),
        Column("zero_vectors", "zero", "{:,}".format),
        Column("malformed", ""),
    ]
    if several:
        columns += [Column("difference", "difference", number(4, signed=True)), Column("p", "p", p_value)]
    lines = [
        *protocol(config),
        "pairs with an unknown word " + ("have similarity 0" if config.oov == "zero" else "are left out"),
    ]
    if several and config.oov == "skip":
        lines.append("scored on the pairs that all files cover")
    if several:
        lines.append("difference and p: against the first file, by Steiger's Z, two-sided")
    return Report("similarity", "spearman", config, columns, protocol=lines)
