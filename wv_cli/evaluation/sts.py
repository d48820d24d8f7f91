"""Semantic textual similarity: do cosines of sentence vectors order sentence pairs as people do? (STS benchmark, STS
2012-16, SICK.)

Sentence vectors are made of word vectors, by an encoder or elsewhere and, if asked for, transformed (sts_systems.py).
SIF's common component is fitted on all sentences of all data files of the call, without their scores. A transform given
by name is fitted on those of each data file by itself; if asked for, on all files together, on other data, or on both.

Decisions: cosines in float64, equal if 12 decimals are; a sentence no word of which has a vector is the zero vector,
before and after any transform, its cosine with everything is 0, and it is counted. The plain mean is always shown,
first (where nothing else is asked for, an encoder's own pooling); gains are against it, with intervals from a paired
bootstrap over pairs. Several files of one folder are summed up in the three ways of the literature, which differ by
points: `all` (one correlation over all pairs), `mean` and `wmean` (of the files' correlations, plain and weighted by
pairs).
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.evaluation.base import Column, Report, Row, Vectors, count, number, p_value, protocol
from wv_cli.evaluation.config import StsConfig
from wv_cli.evaluation.data import encoders_among, restrict_words
from wv_cli.evaluation.published import with_published
from wv_cli.evaluation.statistics import (
    NO_INTERVAL,
    Interval,
    percentile_interval,
    spearman_interval,
    spearman_resamples,
    steiger,
)
from wv_cli.evaluation.sts_data import SentencePairs, read_sentence_pairs, sts_files
from wv_cli.evaluation.sts_systems import GIVEN, METHODS, NONE, OWN, Material, System, of_encoder, of_rows, of_words
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.stop_words import read_stop_words
from wv_cli.text.vocab import read_vocab
from wv_cli.transforms.whiten import Transform
from wv_cli.vectors.correlation import pearson, spearman
from wv_cli.vectors.formats import load

_OF_WORDS = ("mean", "sif", "idf")


def run(vectors: Sequence[Vectors], data: Sequence[str], config: StsConfig) -> Report:
    """Scores every vector file, every file of sentence vectors and every encoder on every data file; see
    evaluation.Task.run."""
    encoders, vectors = encoders_among(vectors)
    if encoders:
        config = replace(config, encoder=(*encoders, *config.encoder))
        config.validate()
    _require_known(config.after)
    if vectors and any(name not in _OF_WORDS for name in config.pooling):
        message = f"--pooling {' '.join(config.pooling)} joins the tokens of an encoder; {vectors[0].name} has none"
        raise UsageError(message)
    sets = [read_sentence_pairs(path, strict=config.strict) for path in sts_files(data)]
    if config.fit == "together" and len(sets) < 2:
        message = "--fit together needs several data files; leave it out"
        raise UsageError(message)
    vocab = read_vocab(config.counts) if config.counts is not None else None
    stop_list = read_stop_words(config.stop_list)
    saved = {name: Transform.load(name) for name in config.after if name not in METHODS}
    fit_files = sts_files(expand_inputs(config.fit_data)) if config.fit_data else []
    fit_sets = [read_sentence_pairs(path, strict=config.strict) for path in fit_files]
    material = Material(sets, fit_sets, config, vocab, stop_list, saved)
    systems: list[System] = []
    notes: list[str] = []
    for source in vectors:
        embeddings = restrict_words(source.load(), config.restrict_vocab)
        made, about = of_words(source.name, embeddings, material)
        systems, notes = [*systems, *made], [*notes, *about]
        del embeddings
    for path in config.sentence_vectors:
        systems += of_rows(path, load(path, keep_repeated=True), material)
    for path in config.encoder:
        made, about = of_encoder(path, material)
        systems, notes = [*systems, *made], [*notes, *about]
    files = len(vectors) + len(config.sentence_vectors) + len(config.encoder)
    per_file = len(systems) // files
    report = _new_report(material, bool(vectors), files > 1, per_file > 1)
    report.notes += [*notes, *material.notes]
    scored = [_Scores(pairs.path, [i], sets, systems, config) for i, pairs in enumerate(sets)]
    for index, pairs in enumerate(sets):
        report.notes += pairs.malformed.notes()
        report.rows += scored[index].rows(per_file, pairs.malformed.count)
        for system, rho in zip(systems, scored[index].rho, strict=True):
            what = " ".join(part for part in (system.pooling, system.after) if part not in ("mean", GIVEN, OWN, NONE))
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
                average = _Scores.average(f"{folder}: {how}", [scored[i] for i in members], whole, how == "wmean")
                report.rows += average.rows(per_file, malformed)
    if config.published:
        with_published(report)
    return report


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
    def average(cls, name: str, parts: "list[_Scores]", whole: "_Scores", weighted: bool) -> "_Scores":
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


def _new_report(material: Material, words: bool, several: bool, gains: bool) -> Report:
    """There are word vectors; `several` sources are compared; there are several systems of each, which have `gains`."""
    config = material.config
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
    if gains:
        columns += [
            Column("gain", "gain", number(2, signed=True)),
            Column("gain_low", "95 % from", number(2, signed=True)),
            Column("gain_high", "to", number(2, signed=True)),
        ]
    if several:
        columns += [Column("difference", "difference", number(2, signed=True)), Column("p", "p", p_value)]
    columns += [
        Column("used", "pairs", count),
        Column("total", "of", count),
        Column("zero_vectors", "zero", count),
        Column("malformed", ""),
    ]
    if config.published:
        columns.append(Column("source", ""))
    lines = [*protocol(config), "blanks part words, punctuation is tried with and without"] if words else []
    if config.encoder:
        read = f"the first {config.max_length} tokens" if config.max_length else "as many tokens as its folder says"
        lines.append(f"an encoder reads {read} of a sentence; its vectors are as pooled, not normalized")
    if config.sentence_vectors:
        lines.append(f"{GIVEN}: sentence vectors made elsewhere")
    lines.append(
        "pairs with a sentence without a vector " + ("have similarity 0" if config.oov == "zero" else "are left out")
    )
    if gains:
        lines.append(f"gain: over the first line of each file, by {config.resamples:,} paired bootstrap samples")
    others = ", ".join(config.fit_data)
    alone = "each data file by itself" if len(material.sets) > 1 else "these data"
    where = {"test": alone, "together": "all data files together", "train": others, "all": f"{alone} and of {others}"}
    if any(name in METHODS for name in config.after):
        fitted = {"train": len(material.texts) - material.scored_texts}.get(config.fit, len(material.texts))
        lines.append(f"fitted on the {fitted:,} sentences of {where[config.fit]}, without their scores")
    if "sif" in config.pooling and config.fit == "train":
        lines.append("sif's common component: fitted on these and those of the data")
    elif "sif" in config.pooling and not any(name in METHODS for name in config.after):
        lines.append(f"fitted on the {len(material.texts):,} sentences of these data, without their scores")
    if config.published:
        lines.append("a name with a year in brackets: as published, STS 2012 to 2016 as means weighted by pairs")
    if several:
        lines.append("difference and p: against the first file, by Steiger's Z, two-sided")
    return Report("sts", "spearman", config, columns, protocol=lines)


def _require_known(after: Sequence[str]) -> None:
    """Raises UsageError for a misspelt method, which would be taken for a file."""
    for name in after:
        if name not in METHODS and not Path(name).exists():
            message = f"--after {name}: neither a method ({', '.join(METHODS)}) nor a file that is there"
            raise UsageError(message)
