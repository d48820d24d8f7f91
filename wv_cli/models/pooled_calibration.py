"""Calibration of a pooled classifier: the temperature (Guo et al. 2017, arXiv 1706.04599) that scores are divided by,
so that labels of probability .8 are right in 80 % of lines like the held-out ones."""

from collections.abc import Callable

import numpy as np

from wv_cli.errors import BadFile
from wv_cli.models.pooled_model import PooledModel, log_probabilities, texts_of
from wv_cli.models.pooled_reader import LineReader, Reading, ReadLines

_LOW, _HIGH, _STEPS = 0.05, 20.0, 40
_GOLDEN = (np.sqrt(5) - 1) / 2


def read_held_out(reading: Reading, text: bytes, path: str) -> ReadLines:
    """The lines of `text`, which `path` names, to calibrate on. Raises BadFile where no line has a label and a word
    that the model knows."""
    lines = LineReader(reading, path).read(text)
    lines = lines.take(np.flatnonzero(lines.has_input & (np.diff(lines.label_starts) > 0)))
    if not len(lines):
        raise BadFile(path, "expected labeled lines to calibrate on, found none whose label and words the model knows")
    return lines


def fit_temperature(model: PooledModel, lines: ReadLines) -> float:
    """The temperature of the least mean loss over the lines of read_held_out()."""
    scores = model.engine().scores(texts_of(lines))
    counts = np.diff(lines.label_starts)
    line = np.repeat(np.arange(len(lines)), counts)

    def loss(log_temperature: float) -> float:
        found = log_probabilities(scores, float(np.exp(log_temperature)))[line, lines.labels] / counts[line]
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
