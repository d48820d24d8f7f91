"""Scores of ranked lists by trec_eval's rules: NDCG, recall, reciprocal rank and average precision of each query.

    DCG at k   sum over ranks r = 1 .. k of grade(r) / log2(r + 1); the gain is linear
    NDCG       DCG / the DCG of the best order of all relevant documents, found or not
    recall     relevant documents among the first k / all relevant documents
    MRR        1 / the rank of the first relevant document, 0 when it is beyond k
    MAP        sum over relevant ranks of (precision there) / all relevant documents

A document is relevant when its grade is at least 1. Documents of equal score stand in descending order of their ids, as
bytes. A query without a relevant document, or without an answer, scores 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranked:
    """The answers to one query, best first: rows of documents, and their scores as float32."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float32]

    @classmethod
    def top(cls, rows: NDArray[np.integer], scores: NDArray[np.floating], depth: int) -> "Ranked":
        """The first `depth` of answers in any order. Documents are numbered in the order that decides ties, and scores
        are compared as float32, as trec_eval does."""
        single = np.asarray(scores, np.float32)
        order = np.lexsort((rows, -single))[:depth]
        return cls(np.asarray(rows, np.int32)[order], single[order])


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgements of one query: `rows` of documents, ascending, with their `grades`; `ideal`: the grades of all
    relevant documents, highest first, also of those that the corpus lacks."""

    rows: NDArray[np.int32]
    grades: NDArray[np.int64]
    ideal: NDArray[np.int64]

    def grades_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The grades of these documents, 0 where unjudged or not relevant."""
        if not len(self.rows):
            return np.zeros(len(rows), np.int64)
        places = np.searchsorted(self.rows, rows).clip(0, len(self.rows) - 1)
        return np.where(self.rows[places] == rows, self.grades[places], 0).clip(0)


@dataclass(frozen=True)
class QueryScores:
    ndcg: float
    recall: float
    mrr: float
    map: float


def score_query(ranked: Ranked, judged: Judged, at: int, recall_at: int) -> QueryScores:
    """NDCG, MRR and MAP of the first `at` answers, recall of the first `recall_at`."""
    grades = judged.grades_of(ranked.rows[: max(at, recall_at)])
    relevant = len(judged.ideal)
    if not relevant or not grades.any():
        return QueryScores(0.0, 0.0, 0.0, 0.0)
    hits = np.flatnonzero(grades[:at]) + 1
    return QueryScores(
        _dcg(grades[:at]) / _dcg(judged.ideal[:at]),
        np.count_nonzero(grades[:recall_at]) / relevant,
        1 / float(hits[0]) if len(hits) else 0.0,
        float((np.arange(1, len(hits) + 1) / hits).sum()) / relevant,
    )


def _dcg(grades: NDArray[np.int64]) -> float:
    return float((grades / np.log2(np.arange(2, len(grades) + 2))).sum())


def score_all(
    ranked: Sequence[Ranked], judged: Sequence[Judged], at: int, recall_at: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """(NDCG, recall, MRR, MAP), one number for each query."""
    scores = [score_query(*each, at, recall_at) for each in zip(ranked, judged, strict=True)]
    table = np.array([(each.ndcg, each.recall, each.mrr, each.map) for each in scores]).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]
