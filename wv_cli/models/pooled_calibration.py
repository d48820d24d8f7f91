"""Calibration of a pooled classifier: the temperature (Guo et al. 2017, arXiv 1706.04599) that scores are divided by,
so that labels of probability .8 are right in 80 % of lines like the held-out ones. Each question has its own: a rating
of five steps is surer of itself than a yes or no is, or less."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.models.pooled_model import PooledModel, log_probabilities, texts_of
from wv_cli.models.pooled_reader import LineReader, Reading, ReadLines

_LOW, _HIGH, _STEPS = 0.05, 20.0, 40
_GOLDEN = (np.sqrt(5) - 1) / 2


def read_held_out(reading: Reading, text: bytes, path: str) -> ReadLines:
    """The lines of `text`, which `path` names, to calibrate on. Raises BadFile where no line has a label, of each
    question, and a word that the model knows."""
    lines = LineReader(reading, path).read(text)
    lines = lines.take(np.flatnonzero(lines.has_input & (np.diff(lines.label_starts) > 0)))
    for first, last in pairwise(reading.question_starts.tolist()):
        if not ((first <= lines.labels) & (lines.labels < last)).any():
            of = f" such as {reading.labels[first]}" if reading.questions else ""
            message = f"expected labeled lines to calibrate on, found none whose label{of} and words the model knows"
            raise BadFile(path, message)
    return lines


def fit_temperatures(model: PooledModel, lines: ReadLines) -> tuple[float, ...]:
    """The temperature of each question, with the least mean loss over the lines of read_held_out()."""
    scores = model.engine().scores(texts_of(lines))
    line = np.repeat(np.arange(len(lines)), np.diff(lines.label_starts))
    found = []
    for first, last in pairwise(model.reading.question_starts.tolist()):
        own = (first <= lines.labels) & (lines.labels < last)
        found.append(_fit_temperature(scores[:, first:last], line[own], lines.labels[own] - first))
    return tuple(found)


def _fit_temperature(scores: NDArray[np.float32], line: NDArray[np.int64], label: NDArray[np.int32]) -> float:
    """That of a softmax of scores (lines, outputs), where `line` i has `label` i, and perhaps others."""
    counts = np.bincount(line, minlength=len(scores))[line]

    def loss(log_temperature: float) -> float:
        found = log_probabilities(scores, float(np.exp(log_temperature)))[line, label] / counts
        return -float(found.sum(dtype=np.float64))

    return float(np.exp(_lowest(loss, float(np.log(_LOW)), float(np.log(_HIGH)))))


def _lowest(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one minimum has it, by golden sections."""
    for _ in range(_STEPS):
        width = _GOLDEN * (high - low)
        if function(high - width) < function(low + width):
            high = low + width
        else:
            low = high - width
    return (low + high) / 2
