"""Semantic textual similarity: do cosines of sentence vectors order sentence pairs as people do? (STS benchmark, STS
2012-16, SICK.)

Sentence vectors are made of word vectors (wv_cli/transforms/sentences.py) and, if asked for, transformed
(wv_cli/transforms/whiten.py). What is fitted on sentences - SIF's common component, a transform given by name - is
fitted on all sentences of all data files of the call, without their scores.

Decisions: cosines in float64, equal if 12 decimals are; a sentence no word of which has a vector is the zero vector,
before and after any transform, its cosine with everything is 0, and it is counted. The plain mean is always shown,
first, and gains are against it, with intervals from a paired bootstrap over pairs. Several files of one folder are
summed up in the three ways of the literature, which differ by points: `all` (one correlation over all pairs), `mean`
and `wmean` (of the files' correlations, plain and weighted by pairs).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.evaluation.base import Column, Report, Row, Vectors, number, p_value, protocol
from wv_cli.evaluation.config import StsConfig
from wv_cli.evaluation.data import composed_note, restricted
from wv_cli.evaluation.statistics import (
    NO_INTERVAL,
    Interval,
    pearson,
    percentile_interval,
    spearman,
    spearman_interval,
    spearman_resamples,
    steiger,
)
from wv_cli.evaluation.sts_data import SentencePairs, read_sentence_pairs, sts_files
from wv_cli.text.stop_words import read_stop_words
from wv_cli.text.vocab import Vocab, read_vocab
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.sentences import sentence_vectors
from wv_cli.transforms.whiten import Transform, fit
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.lookup import Lookup

METHODS: tuple[str, ...] = get_args(WhitenConfig.__annotations__["method"])
NONE = "-"


@dataclass(frozen=True)
class System:
    """One way to make sentence vectors of one vector file, and its cosines: values[i] and zero[i] (sentences without a
    vector, of each pair) belong to data set i."""

    vectors: str
    pooling: str
    after: str
    stop_words: str
    values: list[NDArray[np.float64]]
    zero: list[NDArray[np.int64]]


def run(vectors: Sequence[Vectors], data: Sequence[str], config: StsConfig) -> Report:
    """Scores every vector file on every data file; see evaluation.Task.run."""
    _require_known(config.after)
    sets = [read_sentence_pairs(path, strict=config.strict) for path in sts_files(data)]
    vocab = read_vocab(config.counts) if config.counts is not None else None
    stop_list = read_stop_words(config.stop_list)
    saved = {name: Transform.load(name) for name in config.after if name not in METHODS}
    systems: list[System] = []
    notes: list[str] = []
    for source in vectors:
        embeddings = restricted(source.load(), config.restrict_vocab)
        for name, transform in saved.items():
            transform.require_dim(embeddings.dim, f"{source.name} under {name}")
        made, about = _systems(source.name, embeddings, sets, config, vocab, stop_list, saved)
        systems, notes = [*systems, *made], [*notes, *about]
        del embeddings
    report = _new_report(config, len(vectors) > 1, sum(2 * len(pairs.texts) for pairs in sets))
    report.notes += notes
    per_file = len(systems) // len(vectors)
    scored = [_Scores(pairs.path, [i], sets, systems, config) for i, pairs in enumerate(sets)]
    for index, pairs in enumerate(sets):
        report.notes += pairs.malformed.notes()
        report.rows += scored[index].rows(per_file, pairs.malformed.count)
        for system, rho in zip(systems, scored[index].rho, strict=True):
            what = " ".join(part for part in (system.pooling, system.after) if part not in ("mean", NONE))
            name = f"{system.vectors}{f' ({what})' if what else ''} on {pairs.path}"
            report.scores.append((name, rho))
            if np.isnan(rho):
                report.unscored.append(f"{name}: no correlation: all cosines or all scores are equal")
    folders = [str(Path(pairs.path).parent) for pairs in sets]
    for folder in dict.fromkeys(folders):
        members = [i for i, other in enumerate(folders) if other == folder]
        if len(members) > 1:
            malformed = sum(sets[i].malformed.count for i in members)
            whole = _Scores(f"{folder}: all", members, sets, systems, config)
            report.rows += whole.rows(per_file, malformed)
            for how in ("mean", "wmean"):
                average = _Scores.averaged(f"{folder}: {how}", [scored[i] for i in members], whole, how == "wmean")
                report.rows += average.rows(per_file, malformed)
    return report


def _systems(
    name: str,
    embeddings: Embeddings,
    sets: list[SentencePairs],
    config: StsConfig,
    vocab: Vocab | None,
    stop_list: frozenset[str],
    saved: dict[str, Transform],
) -> tuple[list[System], list[str]]:
    """The systems of one vector file, and what the report should say about it."""
    lookup = Lookup(embeddings, config.case, subwords=config.subwords)
    # Each data set's first sentences, then its second ones.
    texts = [pair[side] for pairs in sets for side in (0, 1) for pair in pairs.texts]
    systems = []
    for stop in ("keep", "drop") if config.stop_words == "both" else (config.stop_words,):
        for pooling in dict.fromkeys(("mean", *config.pooling)):
            base, empty = sentence_vectors(
                texts,
                embeddings,
                lookup,
                pooling,
                vocab=vocab,
                stop_words=stop_list if stop == "drop" else frozenset(),
                a=config.sif_a,
            )
            for after in (NONE, *dict.fromkeys(config.after)):
                made = _transformed(base, empty, after, saved)
                values, zero = _cosines(made, sets)
                systems.append(System(name, pooling, after, stop, values, zero))
    return systems, composed_note(name, len(lookup.oov))


def _transformed(
    base: NDArray[np.float64], empty: NDArray[np.bool_], after: str, saved: dict[str, Transform]
) -> NDArray[np.float64]:
    if after == NONE:
        return base
    transform = saved.get(after)
    if transform is None:
        moments = Moments.none(base.shape[1]).with_rows(base[~empty])
        config = WhitenConfig(method=after)  # type: ignore[arg-type]
        transform = fit(moments, config, f"the {moments.rows} sentences with words")
    made = (base - transform.mean) @ transform.matrix
    made[empty] = 0
    return made


def _cosines(
    vectors: NDArray[np.float64], sets: list[SentencePairs]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.int64]]]:
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit = vectors / np.where(norms == 0, 1, norms)[:, None]
    values, zero, first = [], [], 0
    for pairs in sets:
        n = len(pairs.texts)
        x, y = slice(first, first + n), slice(first + n, first + 2 * n)
        # Sentences of the same words in another order differ in the last bits; they are ties.
        values.append(np.round(np.clip(np.einsum("ij,ij->i", unit[x], unit[y]), -1, 1), 12))
        zero.append((norms[x] == 0).astype(np.int64) + (norms[y] == 0))
        first += 2 * n
    return values, zero


class _Scores:
    """The correlations of every system with the scores of some data sets, as one. `drawn` is (resamples, systems)."""

    def __init__(
        self, name: str, members: list[int], sets: list[SentencePairs], systems: list[System], config: StsConfig
    ) -> None:
        gold = np.concatenate([sets[i].gold for i in members])
        values = np.array([np.concatenate([system.values[i] for i in members]) for system in systems])
        zero = np.array([np.concatenate([system.zero[i] for i in members]) for system in systems])
        used: NDArray[np.bool_] = np.ones(len(gold), np.bool_)
        if config.oov == "skip":
            used &= ~zero.any(axis=0)
        gold, self.values = gold[used], values[:, used]
        self.name, self.systems = name, systems
        self.used, self.total = int(used.sum()), len(used)
        self.zero = zero.sum(axis=1)
        self.rho = np.array([100 * spearman(row, gold) for row in self.values])
        self.r = np.array([100 * pearson(row, gold) for row in self.values])
        self.interval: list[Interval] = []
        for rho in self.rho:
            low, high = spearman_interval(rho / 100, self.used)
            self.interval.append((100 * low, 100 * high))
        resamples = config.resamples if len(systems) > 1 else 0
        self.drawn = 100 * spearman_resamples(gold, self.values, resamples, config.seed + members[0])

    @classmethod
    def averaged(cls, name: str, parts: "list[_Scores]", whole: "_Scores", weighted: bool) -> "_Scores":
        """Means of the correlations of `parts`, the members of `whole`; resampled within each part."""
        result = cls.__new__(cls)
        result.name, result.systems = name, whole.systems
        result.values, result.used, result.total, result.zero = np.empty((0, 0)), whole.used, whole.total, whole.zero
        weights = [part.used if weighted else 1 for part in parts]
        if not any(weights):
            weights = [1] * len(parts)
        result.rho = np.average([part.rho for part in parts], axis=0, weights=weights)
        result.r = np.average([part.r for part in parts], axis=0, weights=weights)
        result.drawn = np.average([part.drawn for part in parts], axis=0, weights=weights)
        result.interval = [NO_INTERVAL] * len(whole.systems)
        return result

    def rows(self, per_file: int, malformed: int) -> list[Row]:
        """`per_file` systems belong to each vector file, in the same order; the first of them is its baseline."""
        rows = []
        for index, system in enumerate(self.systems):
            base, first = index - index % per_file, index % per_file
            row: Row = {
                "data": self.name,
                "vectors": system.vectors,
                "stop_words": system.stop_words,
                "pooling": system.pooling,
                "after": system.after,
                "spearman": float(self.rho[index]),
                "low": self.interval[index][0],
                "high": self.interval[index][1],
                "pearson": float(self.r[index]),
                "used": self.used,
                "total": self.total,
                "zero_vectors": int(self.zero[index]),
                "malformed": malformed,
            }
            if per_file > 1:
                low, high = percentile_interval(self.drawn[:, index] - self.drawn[:, base])
                gains = float(self.rho[index] - self.rho[base]), low, high
                row |= dict(zip(("gain", "gain_low", "gain_high"), gains if index > base else (None,) * 3, strict=True))
            if len(self.systems) > per_file:
                other = self.rho[first]
                row["difference"] = float(self.rho[index] - other) if base else None
                row["p"] = self._p(first, index) if base and len(self.values) else None
            rows.append(row)
        return rows

    def _p(self, first: int, second: int) -> float:
        between = spearman(self.values[first], self.values[second])
        return steiger(self.rho[first] / 100, self.rho[second] / 100, between, self.used, ranks=True).p


def _new_report(config: StsConfig, several: bool, sentences: int) -> Report:
    columns = [
        Column("data", "data", label=True),
        Column("vectors", "vectors", label=True),
        Column("stop_words", "stop words", label=True),
        Column("pooling", "pooling", label=True),
        Column("after", "after", label=True),
        Column("spearman", "spearman", number(2)),
        Column("low", "95 % from", number(1)),
        Column("high", "to", number(1)),
        Column("pearson", "pearson", number(2)),
    ]
    variants = len({"mean", *config.pooling}) * (1 + len(config.after)) * (2 if config.stop_words == "both" else 1)
    if variants > 1:
        columns += [
            Column("gain", "gain", number(2, signed=True)),
            Column("gain_low", "95 % from", number(2, signed=True)),
            Column("gain_high", "to", number(2, signed=True)),
        ]
    if several:
        columns += [Column("difference", "difference", number(2, signed=True)), Column("p", "p", p_value)]
    columns += [
        Column("used", "pairs", "{:,}".format),
        Column("total", "of", "{:,}".format),
        Column("zero_vectors", "zero", "{:,}".format),
        Column("malformed", ""),
    ]
    lines = [
        *protocol(config),
        "blanks part words, punctuation is tried with and without",
        "pairs with a sentence of unknown words " + ("have similarity 0" if config.oov == "zero" else "are left out"),
    ]
    if variants > 1:
        lines.append(f"gain: over the first line of each file, by {config.resamples:,} paired bootstrap samples")
    if "sif" in config.pooling or any(name in METHODS for name in config.after):
        lines.append(f"fitted on the {sentences:,} sentences of these data, without their scores")
    if several:
        lines.append("difference and p: against the first file, by Steiger's Z, two-sided")
    return Report("sts", "spearman", config, columns, protocol=lines)


def _require_known(after: Sequence[str]) -> None:
    """Raises UsageError for a misspelt method, which would be taken for a file."""
    for name in after:
        if name not in METHODS and not Path(name).exists():
            message = f"--after {name}: neither a method ({', '.join(METHODS)}) nor a file that is there"
            raise UsageError(message)
