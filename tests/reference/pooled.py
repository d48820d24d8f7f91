"""The pooled text classifier in float64: loss, gradients and steps. See csrc/kernels/pooled.c for the formulas.

Dropout is given, since the draws are the kernel's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class Head:
    """rows (inputs, dim) and output (labels, dim); also their gradients."""

    rows: Array
    output: Array

    def arrays(self) -> list[Array]:
        return [self.rows, self.output]


@dataclass
class Weights:
    tokens: Head
    ngrams: Head

    def heads(self) -> list[Head]:
        return [self.tokens, self.ngrams]

    def arrays(self) -> list[Array]:
        return [*self.tokens.arrays(), *self.ngrams.arrays()]


Inputs = dict[int, float]  # the value of each


@dataclass(frozen=True)
class Text:
    tokens: Inputs
    ngrams: Inputs
    labels: Sequence[int]

    def inputs(self) -> list[Inputs]:
        return [self.tokens, self.ngrams]


def tfidf(features: Sequence[int], idf: Array | None = None) -> Inputs:
    """The values of features in any order."""
    found = {id: 1 + np.log(features.count(id)) for id in sorted(set(features))}
    found = {id: value * (1 if idf is None else idf[id]) for id, value in found.items()}
    norm = np.sqrt(sum(value**2 for value in found.values())) or 1.0
    return {id: float(value / norm) for id, value in found.items()}


def sum_of(head: Head, inputs: Inputs) -> Array:
    """m"""
    total = np.zeros(head.rows.shape[1])
    for id, value in inputs.items():
        total += value * head.rows[id]
    return total


def answer(weights: Weights, text: Text) -> Array:
    """What the answer is the softmax of."""
    tokens, ngrams = (h.output @ sum_of(h, i) for h, i in zip(weights.heads(), text.inputs(), strict=True))
    return (tokens + 2 * ngrams) / 3


Questions = Sequence[int]  # where the outputs of each begin, and the last end


def log_softmax(z: Array, questions: Questions) -> Array:
    """One for each question."""
    parts = [z[first:last] - z[first:last].max() for first, last in pairwise(questions)]
    return np.concatenate([part - np.log(np.exp(part).sum()) for part in parts])


def target(text: Text, questions: Questions, smoothing: float) -> Array:
    """Sums to 1 over the outputs of each question; zero where the text has no label for it."""
    y = np.zeros(questions[-1])
    for first, last in pairwise(questions):
        own = [label for label in text.labels if first <= label < last]
        y[first:last] = smoothing / (last - first) if own else 0
        for label in own:
            y[label] += (1 - smoothing) / len(own)
    return y


def head_loss(head: Head, inputs: Inputs, y: Array, questions: Questions) -> float:
    return float(-y @ log_softmax(head.output @ sum_of(head, inputs), questions))


def head_gradient(head: Head, inputs: Inputs, y: Array, questions: Questions) -> tuple[Array, Array, Array]:
    """(m, the gradient of head_loss() by m, by the output weights)."""
    m = sum_of(head, inputs)
    has_label = np.concatenate([np.full(last - first, y[first:last].any()) for first, last in pairwise(questions)])
    d = has_label * np.exp(log_softmax(head.output @ m, questions)) - y
    return m, head.output.T @ d, np.outer(d, m)


class Trainer:
    """Learns from one text after the other. The weights change."""

    def __init__(self, weights: Weights, smoothing: float = 0.0, questions: Questions | None = None) -> None:
        self.weights, self.smoothing = weights, smoothing
        self.questions = [0, len(weights.tokens.output)] if questions is None else questions
        self.token_sum = np.zeros(len(weights.tokens.rows))

    def learn(self, text: Text, lr: float, row_lr: float, keep: Sequence[Array | float] = (1.0, 1.0)) -> float:
        """The mean loss of both heads, before they moved; 0 for a text without labels, which moves nothing. Dropout
        multiplies m of each head by `keep`."""
        if not text.labels:
            return 0.0
        losses = []
        for whole, inputs, factor in zip(self.weights.heads(), text.inputs(), keep, strict=True):
            y, head = target(text, self.questions, self.smoothing), Head(whole.rows * factor, whole.output)
            losses.append(head_loss(head, inputs, y, self.questions))
            m, by_sum, by_output = head_gradient(head, inputs, y, self.questions)
            by_sum = by_sum * factor
            step = min(lr, 2 / (m @ m)) if m.any() else lr
            head.output -= step * by_output
            for id, value in inputs.items():
                if whole is self.weights.tokens:
                    self.token_sum[id] += value**2 * np.mean(by_sum**2)
                    whole.rows[id] -= row_lr * value * by_sum / (np.sqrt(self.token_sum[id]) + 1e-8)
                else:
                    whole.rows[id] -= step * value * by_sum
        return float(np.mean(losses))
