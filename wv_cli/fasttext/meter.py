"""Precision and recall of a classifier at every threshold, as fastText's Meter has them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.models.classifier import Classifier
from wv_cli.text.source import Source

_ALL = -1
_MISSED = -1.0  # the score of a label that is not among the answers
Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


class _Meter:
    """The answers to the lines of a file. `labels`, `scores` and `gold` have an entry for each answer and for each
    label of a line that is not among its answers."""

    def __init__(self, get_label_id: Callable[[str], int], classifier: Classifier, path: str, k: int) -> None:
        self._label_id = get_label_id
        count = len(classifier.labels)
        self._counts = np.zeros(count, np.int64)
        parts: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = [(np.empty(0, int), np.empty(0), np.empty(0))]
        for answered in classifier.answers(Source([path], bare_end=True), k, bare_end=True):
            known = np.diff(answered.true_starts)
            used = (known > 0) & answered.reads
            true_line = np.repeat(np.arange(len(known)), known)
            keep = used[true_line]
            true = true_line[keep] * count + answered.true_labels[keep]
            ranks = np.arange(answered.labels.shape[1])
            line, rank = np.nonzero((ranks < answered.found[:, None]) & used[:, None])
            guess = line * count + answered.labels[line, rank]
            probabilities = np.exp(answered.scores[line, rank].astype(np.float64)).astype(np.float32)
            missed = true[~np.isin(true, guess)]
            parts.append((guess % count, np.minimum(probabilities, 1).astype(np.float64), 1.0 * np.isin(guess, true)))
            parts.append((missed % count, np.full(len(missed), _MISSED), np.ones(len(missed))))
            self._counts += np.bincount(true % count, minlength=count)
        self.labels, self.scores, self.gold = (np.concatenate(each) for each in zip(*parts, strict=True))

    def score_vs_true(self, label: str) -> Curve:
        """(scores, whether each is right) of a label, the lowest first; -1 where it is not among the answers."""
        return self._pairs(self._label_id(label))

    def precision_recall_curve(self, label: str | None = None) -> Curve:
        """(precision, recall) at every score, the highest first, until the recall is full; then 1 and 0."""
        chosen = self._label_id(label) if label else _ALL
        scores, gold = (each[::-1] for each in self._pairs(chosen))
        scores, gold = scores[scores >= 0], gold[scores >= 0]
        if not len(scores):
            return np.empty(0), np.empty(0)
        last = np.append(scores[1:] != scores[:-1], True)  # of equal scores
        right, total = np.cumsum(gold)[last], np.flatnonzero(last) + 1.0
        golds = int(self._counts.sum() if chosen == _ALL else self._counts[chosen])
        end = int(np.searchsorted(right, golds)) + 1
        right, total = right[:end], total[:end]
        recall = right / golds if golds else np.full(len(right), np.nan)
        return np.append(right / total, 1.0), np.append(recall, 0.0)

    def precision_at_recall(self, recall: float, label: str | None = None) -> float:
        """The highest precision where the recall is at least `recall`, 0 if it never is."""
        precisions, recalls = self.precision_recall_curve(label)
        return float(precisions[recalls >= recall].max(initial=0.0))

    def recall_at_precision(self, precision: float, label: str | None = None) -> float:
        """The highest recall where the precision is at least `precision`, 0 if it never is."""
        precisions, recalls = self.precision_recall_curve(label)
        return float(recalls[precisions >= precision].max(initial=0.0))

    def _pairs(self, label: int) -> Curve:
        """Those of the label, or of _ALL, by score and then by gold, ascending."""
        chosen = slice(None) if label == _ALL else self.labels == label
        scores, gold = self.scores[chosen], self.gold[chosen]
        order = np.lexsort((gold, scores))
        return scores[order], gold[order]
