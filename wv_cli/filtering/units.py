"""The units of a document that are scored one by one. The score of the document is their mean, as DataTrove has it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli.filtering.flattening import UNITS, flatten
from wv_cli.models.label_numbers import expected_numbers
from wv_cli.models.text_classifier import ALL, Question, TextClassifier

_NUMBERS = 1 << 22  # probabilities held at once


class LabelAnswers(NamedTuple):
    """Predictions for documents: `labels` and `probabilities` are (documents, k), best first, of which `found` count.
    `seen` (documents, 2) is how many words they have, and how many of these the model knows."""

    labels: NDArray[np.int32]
    probabilities: NDArray[np.float32]
    found: NDArray[np.int32]
    seen: NDArray[np.int32]

    def take(self, rows: NDArray[np.int64]) -> "LabelAnswers":
        """Those for some of the documents, by their numbers."""
        return LabelAnswers(self.labels[rows], self.probabilities[rows], self.found[rows], self.seen[rows])

    def to(self, question: Question, k: int = ALL, threshold: float = 0.0) -> "LabelAnswers":
        """The k best answers to one of the model's questions, those of at least `threshold`."""
        if not question.name:
            return self
        labels, probabilities, found = question.select(self.labels, self.probabilities, self.found, k)
        counts = (np.arange(labels.shape[1]) < found[:, None]) & (probabilities >= threshold)
        return LabelAnswers(labels, probabilities, counts.sum(axis=1, dtype=np.int32), self.seen)

    def expected_numbers(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """(documents,) Of answers with every label, whose `numbers` these are; see expected_numbers()."""
        return expected_numbers(numbers, self.labels, self.probabilities, self.found)


def divide(texts: Sequence[bytes], unit: str) -> tuple[Sequence[bytes], NDArray[np.int64]]:
    """(units, (n + 1,) where those of each text begin). Blank units are left out; a text of these alone is one unit."""
    if unit == "document":
        return texts, np.arange(len(texts) + 1)
    divided = [[part for part in UNITS.find(unit)(text) if part.strip()] or [text] for text in texts]
    return [part for parts in divided for part in parts], np.cumsum([0, *map(len, divided)], dtype=np.int64)


def answer_units(
    model: TextClassifier, texts: Sequence[bytes], unit: str, flattening: str, k: int = 1, threshold: float = 0.0
) -> LabelAnswers:
    """The k best labels (ALL: every one) of documents, by their mean probability over the units."""
    if unit == "document":
        whole = model.answer(flatten(texts, flattening), k, threshold)
        return LabelAnswers(whole.labels, whole.probabilities, whole.found, whole.seen)
    k, step = len(model.labels) if k == ALL else min(k, len(model.labels)), max(1, _NUMBERS // len(model.labels))
    answers = [
        _means(model, texts[first : first + step], unit, flattening, k, threshold, step)
        for first in range(0, max(1, len(texts)), step)
    ]
    return LabelAnswers(*map(np.concatenate, zip(*answers, strict=True)))


def _means(
    model: TextClassifier, texts: Sequence[bytes], unit: str, flattening: str, k: int, threshold: float, step: int
) -> LabelAnswers:
    parts, starts = divide(texts, unit)
    document = np.repeat(np.arange(len(texts)), np.diff(starts))
    sums = np.zeros((len(texts), len(model.labels)))
    seen = np.zeros((len(texts), 2), np.int32)
    for first in range(0, len(parts), step):
        answered = model.answer(flatten(parts[first : first + step], flattening), ALL)
        owner = document[first : first + step]
        unit_of, place = np.nonzero(np.arange(answered.labels.shape[1]) < answered.found[:, None])
        np.add.at(sums, (owner[unit_of], answered.labels[unit_of, place]), answered.probabilities[unit_of, place])
        np.add.at(seen, owner, answered.seen)
    means = (sums / np.maximum(1, np.diff(starts))[:, None]).astype(np.float32)
    labels = np.argsort(-means, axis=1, kind="stable")[:, :k].astype(np.int32)
    best = np.take_along_axis(means, labels, axis=1)
    return LabelAnswers(labels, best, ((best > 0) & (best >= threshold)).sum(axis=1, dtype=np.int32), seen)
