"""Translation: is a word's translation among its nearest neighbors in the vectors of another language?

VECTORS are in the space of the target's (`wv align`). For each word of the dictionary all words of the target are
ranked, by cosine (nn) or by CSLS (vectors/neighbors/csls.py), whose r are taken over all words of both. P@k is the
share of words one of whose translations is among the first k. A word is answered when it and at least one of its
translations have vectors; under `--oov zero` the others count as wrong. Several files are scored on the words that all
can be asked for, and compared with the first by McNemar's test on P@1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, UsageError
from wv_cli.evaluation.base import Column, Report, Row, Vectors, number, p_value, protocol
from wv_cli.evaluation.config import TranslationConfig
from wv_cli.evaluation.data import composed_note, items_used, restrict_words
from wv_cli.evaluation.dictionary import Dictionary, read_dictionary
from wv_cli.evaluation.statistics import mcnemar, wilson_interval
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.lookup import Lookup
from wv_cli.vectors.neighbors.csls import Csls, mean_cosines
from wv_cli.vectors.neighbors.exact import Neighbors
from wv_cli.vectors.neighbors.topk import take_rows

AT = (1, 5, 10)


class Target:
    """The words that can be answers, and their vectors."""

    def __init__(self, path: str, found: Embeddings, config: TranslationConfig) -> None:
        self.path = path
        embeddings = restrict_words(_vectors(found, path), config.restrict_vocab)
        lookup = Lookup(embeddings, config.case)
        self._lookup, self._answer = lookup, np.full(len(embeddings) + 1, -1, np.int64)
        self._answer[lookup.pool] = np.arange(len(lookup.pool))
        self.matrix = np.ascontiguousarray(embeddings.matrix[lookup.pool], np.float32)
        self.index = Neighbors(self.matrix, threads=config.threads)

    def answers(self, words: Sequence[str]) -> set[int]:
        """The rows of `matrix` of those that have one."""
        return {int(self._answer[self._lookup.row(word, compose=False)]) for word in words} - {-1}


@dataclass(frozen=True)
class Found:
    """One file on one dictionary: per word the place of the first translation, from 0, by method; AT[-1] when it is
    not among the first so many. `covered` (words,): which could be asked."""

    place: dict[str, NDArray[np.int64]]
    covered: NDArray[np.bool_]


class Asker:
    """The vectors of one file, asked for translations."""

    def __init__(self, name: str, embeddings: Embeddings, target: Target, config: TranslationConfig) -> None:
        if embeddings.dim != target.index.dim:
            problem = f"expected vectors of {target.index.dim} numbers as in {target.path}, found {embeddings.dim}"
            raise BadFile(name, problem)
        self._embeddings, self._target = embeddings, target
        self._lookup = Lookup(embeddings, config.case, subwords=config.subwords)
        self._methods = ("nn", "csls") if config.method == "both" else (config.method,)
        self._csls: Csls | None = None
        if "csls" in self._methods:
            sources = Neighbors(embeddings.matrix[self._lookup.pool], threads=config.threads)
            self._csls = Csls(target.index, mean_cosines(target.matrix, sources, config.csls_neighbors))

    @property
    def composed_words(self) -> int:
        return len(self._lookup.oov)

    def ask(self, dictionary: Dictionary) -> Found:
        entries = dictionary.entries()
        rows = np.array([self._lookup.row(word) for word in entries], np.int64)
        right = [self._target.answers(words) for words in entries.values()]
        covered = (rows >= 0) & np.array([bool(each) for each in right])
        asked = np.flatnonzero(covered)
        queries = take_rows(self._embeddings.matrix, rows[asked], self._lookup.oov.vectors()).astype(np.float32)
        place = {}
        for method in self._methods:
            if method == "csls":
                assert self._csls is not None
                hits = self._csls.top_k(queries, AT[-1])
            else:
                hits = self._target.index.top_k(queries, AT[-1])[0]
            place[method] = np.full(len(rows), AT[-1])
            for word, found in zip(asked.tolist(), hits.tolist(), strict=True):
                places = (i for i, row in enumerate(found) if row in right[word])
                place[method][word] = next(places, AT[-1])
        return Found(place, covered)


def run(vectors: Sequence[Vectors], data: Sequence[str], config: TranslationConfig) -> Report:
    """Scores every vector file on every dictionary; see evaluation.Task.run."""
    if config.target is None:
        message = "--target FILE is missing, the vectors of the other language"
        raise UsageError(message)
    sets = [read_dictionary(path, strict=config.strict) for path in data]
    target = Target(config.target, vectors[0].load_beside(config.target), config)
    report = _new_report(config, len(vectors) > 1)
    answered: list[list[Found]] = []
    for source in vectors:
        embeddings = restrict_words(_vectors(source.load(), source.name), config.restrict_vocab)
        asker = Asker(source.name, embeddings, target, config)
        answered.append([asker.ask(dictionary) for dictionary in sets])
        report.notes += composed_note(source.name, asker.composed_words)
        del embeddings, asker
    for index, dictionary in enumerate(sets):
        report.notes += dictionary.malformed.notes()
        _score([source.name for source in vectors], dictionary, [each[index] for each in answered], config, report)
    return report


def _vectors(found: Embeddings, name: str) -> Embeddings:
    if isinstance(found, CodeVectors):
        raise BadFile(name, "expected vectors, found codes")
    return found


def _score(
    names: list[str], dictionary: Dictionary, answered: list[Found], config: TranslationConfig, report: Report
) -> None:
    total = len(answered[0].covered)
    used = items_used([each.covered for each in answered], config.oov)
    n = int(used.sum())
    for index, (name, each) in enumerate(zip(names, answered, strict=True)):
        for method, place in each.place.items():
            right = [int((place[used] < k).sum()) for k in AT]
            shares = [100 * count / n if n else np.nan for count in right]
            low, high = wilson_interval(right[0], n)
            row: Row = {
                "data": dictionary.path,
                "vectors": name,
                "method": method,
                "p1": shares[0],
                "low": 100 * low,
                "high": 100 * high,
                **{f"p{k}": share for k, share in zip(AT[1:], shares[1:], strict=True)},
                "correct": right[0],
                "answered": n,
                "total": total,
                "covered": int(each.covered.sum()),
                "malformed": dictionary.malformed.count,
            }
            if len(names) > 1:
                first = answered[0].place[method] < 1
                won, lost = (int((one & ~other)[used].sum()) for one, other in ((place < 1, first), (first, place < 1)))
                row["difference"] = 100 * (won - lost) / n if index and n else None
                row["p"] = mcnemar(lost, won).p if index and n else None
            report.rows.append(row)
            report.scores.append((f"{name} on {dictionary.path} by {method}", shares[0]))
        if not n:
            report.unscored.append(f"{name} on {dictionary.path}: no word and translation are both known")


def _new_report(config: TranslationConfig, several: bool) -> Report:
    columns = [
        Column("data", "data", label=True),
        Column("vectors", "vectors", label=True),
        Column("method", "method", label=True),
        Column("p1", "P@1 %", number(2)),
        Column("low", "95 % from", number(1)),
        Column("high", "to", number(1)),
        *(Column(f"p{k}", f"P@{k} %", number(2)) for k in AT[1:]),
        Column("correct", "correct", "{:,}".format),
        Column("answered", "answered", "{:,}".format),
        Column("total", "of", "{:,}".format),
        Column("covered", "covered" if several else "", "{:,}".format),
        Column("malformed", ""),
    ]
    if several:
        columns += [Column("difference", "difference", number(2, signed=True)), Column("p", "p", p_value)]
    lines = [
        f"answers: words of {config.target}",
        *protocol(config),
        "a word is right at k when one of its translations is among the first k",
        "words without a vector, or without a translation that has one, "
        + ("count as wrong" if config.oov == "zero" else "are left out"),
    ]
    if config.method != "nn":
        lines.append(f"csls: 2 cos less the mean cosines with the {config.csls_neighbors} nearest of the other side")
    if several and config.oov == "skip":
        lines.append("scored on the words that all files can answer")
    if several:
        lines.append("difference and p: of P@1 against the first file, by McNemar's exact test, two-sided")
    return Report("translation", "p1", config, columns, protocol=lines)
