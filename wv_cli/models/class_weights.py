"""Weights of classes: how much an update for a label counts."""

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.marks import split_lines
from wv_cli.models.config import BALANCED
from wv_cli.text.labeled import MOST_WEIGHT, number_of_weight
from wv_cli.text.source import Source
from wv_cli.words import WordList


def class_weights(chosen: str, labels: WordList, counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """(labels,) float32. `balanced`: n / (labels * count), as in scikit-learn, where n is the sum of the counts. Else
    those of a file; labels that it does not name weigh 1. Raises BadFile, also for a label that is not listed."""
    if chosen == BALANCED:
        balanced = counts.sum() / (len(labels) * np.maximum(counts, 1))
        return np.asarray(balanced, np.float32)
    weights = np.ones(len(labels), np.float32)
    for label, (line, weight) in read_class_weights(chosen).items():
        row = labels.find(label)
        if row < 0:
            problem = f"expected a label of the text, such as {labels[0]!r}, found {show_bytes(label)}"
            raise BadFile(chosen, problem, line=line)
        weights[row] = weight
    return weights


def read_class_weights(path: str) -> dict[bytes, tuple[int, float]]:
    """(line, weight) of each label in a file of lines `label weight`. Raises BadFile, WvError."""
    found: dict[bytes, tuple[int, float]] = {}
    for number, line in enumerate(split_lines(b"".join(Source([path]))), 1):
        fields = line.split()
        if not fields:
            continue
        weight = number_of_weight(fields[1]) if len(fields) == 2 else -1
        if weight < 0:
            problem = f"expected `label weight` with a weight from 0 to {MOST_WEIGHT:,}, found {show_bytes(line)}"
            raise BadFile(path, problem, line=number)
        if fields[0] in found:
            raise BadFile(path, f"the label {show_bytes(fields[0])} has two weights; leave one out", line=number)
        found[fields[0]] = number, weight
    if not found:
        raise BadFile(path, "expected lines `label weight`, found none")
    return found
