"""Retrieval: how many of a word's true neighbors do codes (or other vectors) find again?

The truth for a query are the `neighbors` words of highest exact cosine in the data file's vectors, the query left out
(ties to the lowest row). The file under test ranks all other words by its own similarity, codes by Hamming distance or
overlap, vectors and what product codes stand for by cosine. Over a query's whole ranking

    average precision = sum over true neighbors of (precision at its position) / neighbors
    recall at N       = true neighbors among the first N / neighbors

Words at equal distance have no order: both figures are expectations over a random order of ties, in closed form, so a
code that says little gets no luck from the order of the file. Scores are means over the queries, drawn by the seed;
several files are compared with the first by a paired normal test.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, UsageError
from wv_cli.evaluation.base import Column, Report, Row, Vectors, number, p_value
from wv_cli.evaluation.config import RetrievalConfig
from wv_cli.evaluation.data import restrict_words
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.neighbors.codes import CodeNeighbors
from wv_cli.vectors.neighbors.cosines import Cosines
from wv_cli.vectors.neighbors.topk import Index
from wv_cli.words import WordList

_BLOCK_QUERIES = 64
_TIMED_HITS = 10


@dataclass(frozen=True)
class Truth:
    """`queries` (q) are rows of `words`, `near` (q, neighbors) the rows that are to be found."""

    path: str
    words: WordList
    queries: NDArray[np.int64]
    near: NDArray[np.int64]


def read_truth(path: str, embeddings: Embeddings, config: RetrievalConfig) -> Truth:
    """Raises UsageError when there are too few vectors for so many neighbors."""
    embeddings = restrict_words(embeddings, config.restrict_vocab)
    n = len(embeddings)
    if isinstance(embeddings, CodeVectors):
        raise BadFile(path, "expected the vectors that hold the true neighbors, found codes; give these as VECTORS")
    if n <= config.neighbors:
        message = f"{path}: expected more than {config.neighbors} vectors (--neighbors), found {n:,}; lower --neighbors"
        raise UsageError(message)
    count = min(config.queries or n, n)
    queries = np.sort(np.random.default_rng(config.seed).permutation(n)[:count])
    near = embeddings.search(threads=config.threads).nearest(queries[:, None].tolist(), config.neighbors)[0]
    whole = (near >= 0).all(axis=1)  # a vector with NaN is nobody's neighbor and has none
    return Truth(path, embeddings.words, queries[whole], near[whole].astype(np.int64))


def expected_scores(level: NDArray[np.int64], relevant: NDArray[np.bool_], at: int) -> tuple[float, float]:
    """(average precision, recall at `at`) expected over random orders within levels. level (n): 0 for the best words,
    up; relevant (n): the true neighbors, at least one."""
    sizes = np.bincount(level)
    hits = np.bincount(level[relevant], minlength=len(sizes))
    before = np.cumsum(sizes) - sizes
    found_before = np.cumsum(hits) - hits
    total = int(hits.sum())
    inside = np.clip(at - before, 0, sizes)
    recall = float((hits * inside / np.maximum(sizes, 1)).sum()) / total
    precision = 0.0
    for group in np.flatnonzero(hits).tolist():
        size, found = int(sizes[group]), int(hits[group])
        position = np.arange(1, size + 1)
        # A relevant word at position i of the group has (i - 1)(found - 1) / (size - 1) others of the group before it.
        others = (position - 1) * ((found - 1) / (size - 1)) if size > 1 else np.zeros(1)
        precision += found / size * float(((found_before[group] + 1 + others) / (before[group] + position)).sum())
    return precision / total, recall


@dataclass(frozen=True)
class Found:
    """One file on one truth, per query; NaN where the query or none of its neighbors is known."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    per_second: float
    bits: int


def find(embeddings: Embeddings, truth: Truth, config: RetrievalConfig) -> Found:
    """Ranks the words that the truth knows too; words without a code count as not found."""
    row_of = embeddings.words.find_all(truth.words)
    known = row_of >= 0
    queries = np.flatnonzero(known[truth.queries])
    asked = row_of[truth.queries[queries]]
    precision, recall = (np.full(len(truth.queries), np.nan) for _ in range(2))
    index = embeddings.search(threads=config.threads)
    levels = _levels(index)
    for start in range(0, len(asked), _BLOCK_QUERIES):
        part = queries[start : start + _BLOCK_QUERIES]
        for query, level in zip(part.tolist(), levels(asked[start : start + _BLOCK_QUERIES]), strict=True):
            others = known.copy()
            others[truth.queries[query]] = False
            relevant = np.zeros(len(known), np.bool_)
            relevant[truth.near[query]] = True
            relevant &= others
            if not relevant.any():
                precision[query] = recall[query] = 0
                continue
            share = relevant.sum() / truth.near.shape[1]
            mine = np.unique(level[row_of[others]], return_inverse=True)[1]
            precision[query], recall[query] = (
                share * score for score in expected_scores(mine, relevant[others], config.at)
            )
    per_second = math.nan
    if len(asked):
        begin = time.perf_counter()
        index.nearest(asked[:, None].tolist(), _TIMED_HITS)
        per_second = len(asked) / max(time.perf_counter() - begin, 1e-9)
    bits = embeddings.codes.bits_per_word if isinstance(embeddings, CodeVectors) else 32 * embeddings.dim
    return Found(precision, recall, per_second, bits)


def _levels(index: Index) -> Callable[[NDArray[np.int64]], NDArray[Any]]:
    """Of some rows (rows, all): how far all rows are from each of these, lower is nearer."""
    if isinstance(index, CodeNeighbors):
        return lambda rows: index.distances(index.data[rows])
    assert isinstance(index, Cosines)
    unit = index.unit_rows(np.arange(len(index)))
    return lambda rows: -(unit[rows] @ unit.T)


def run(vectors: Sequence[Vectors], data: Sequence[str], config: RetrievalConfig) -> Report:
    """Scores every file on every file of true vectors; see evaluation.Task.run."""
    truths = [read_truth(path, vectors[0].load_beside(path), config) for path in data]
    found: list[list[Found]] = []
    for source in vectors:
        embeddings = restrict_words(source.load(), config.restrict_vocab)
        found.append([find(embeddings, truth, config) for truth in truths])
        del embeddings
    report = _new_report(config, len(vectors) > 1)
    for index, truth in enumerate(truths):
        _score([source.name for source in vectors], truth, [each[index] for each in found], report)
    return report


def _score(names: list[str], truth: Truth, found: list[Found], report: Report) -> None:
    used = np.logical_and.reduce([~np.isnan(each.precision) for each in found])
    n = int(used.sum())
    for index, (name, each) in enumerate(zip(names, found, strict=True)):
        values = 100 * each.precision[used]
        mean = float(values.mean()) if n else math.nan
        error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        row: Row = {
            "data": truth.path,
            "vectors": name,
            "map": mean,
            "low": mean - 1.96 * error,
            "high": mean + 1.96 * error,
            "recall": 100 * float(each.recall[used].mean()) if n else math.nan,
            "queries": n,
            "total": len(truth.queries),
            "bits": each.bits,
            "per_second": each.per_second,
        }
        if len(names) > 1:
            apart = values - 100 * found[0].precision[used]
            spread = float(apart.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
            row["difference"] = float(apart.mean()) if index and n else None
            row["p"] = math.erfc(abs(float(apart.mean())) / spread / math.sqrt(2)) if index and spread else None
        report.rows.append(row)
        report.scores.append((f"{name} on {truth.path}", mean))
        if not n:
            report.unscored.append(f"{name} on {truth.path}: no query word is known to all files")


def _new_report(config: RetrievalConfig, several: bool) -> Report:
    columns = [
        Column("data", "data", label=True),
        Column("vectors", "vectors", label=True),
        Column("map", "mAP %", number(2)),
        Column("low", "95 % from", number(1)),
        Column("high", "to", number(1)),
        Column("recall", f"recall@{config.at} %", number(2)),
        Column("queries", "queries", "{:,}".format),
        Column("total", "of", "{:,}".format),
        Column("bits", "bits/word", "{:,}".format),
        Column("per_second", "queries/s", "{:,.0f}".format),
    ]
    if several:
        columns += [Column("difference", "difference", number(2, signed=True)), Column("p", "p", p_value)]
    pool = f"the first {config.restrict_vocab:,} words" if config.restrict_vocab else "all words"
    asked = f"{config.queries:,} queries drawn with seed {config.seed}" if config.queries else "every word a query"
    lines = [
        f"true neighbors: the {config.neighbors} of highest cosine in the data's vectors, the query left out",
        f"{pool} ranked, {asked}",
        "mAP: average precision over the whole ranking, divided by the number of true neighbors",
        "ties: expectation over random order",
        f"queries/s: nearest {_TIMED_HITS} of all queries in one batch",
    ]
    if several:
        lines.append("difference and p: against the first file, paired, normal, two-sided")
    return Report("retrieval", "map", config, columns, protocol=lines)
