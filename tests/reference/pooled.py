"""The pooled text classifier in float64: loss, gradients and steps. See csrc/kernels/pooled.c for the formulas.

Without dropout, whose draws are the kernel's own."""

from collections.abc import Sequence
from dataclasses import dataclass

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


def log_softmax(z: Array) -> Array:
    z = z - z.max()
    out: Array = z - np.log(np.exp(z).sum())
    return out


def target(text: Text, outputs: int, smoothing: float) -> Array:
    y = np.full(outputs, smoothing / outputs)
    for label in text.labels:
        y[label] += (1 - smoothing) / len(text.labels)
    return y


def head_loss(head: Head, inputs: Inputs, y: Array) -> float:
    return float(-y @ log_softmax(head.output @ sum_of(head, inputs)))


def head_gradient(head: Head, inputs: Inputs, y: Array) -> tuple[Array, Array, Array]:
    """(m, the gradient of head_loss() by m, by the output weights)."""
    m = sum_of(head, inputs)
    d = np.exp(log_softmax(head.output @ m)) - y
    return m, head.output.T @ d, np.outer(d, m)


class Trainer:
    """Learns from one text after the other. The weights change."""

    def __init__(self, weights: Weights, smoothing: float = 0.0) -> None:
        self.weights, self.smoothing = weights, smoothing
        self.token_sum = np.zeros(len(weights.tokens.rows))

    def learn(self, text: Text, lr: float, row_lr: float) -> float:
        """The mean loss of both heads, before they moved; 0 for a text without labels, which moves nothing."""
        if not text.labels:
            return 0.0
        losses = []
        for head, inputs in zip(self.weights.heads(), text.inputs(), strict=True):
            y = target(text, len(head.output), self.smoothing)
            losses.append(head_loss(head, inputs, y))
            m, by_sum, by_output = head_gradient(head, inputs, y)
            step = min(lr, 2 / (m @ m)) if m.any() else lr
            head.output -= step * by_output
            for id, value in inputs.items():
                if head is self.weights.tokens:
                    self.token_sum[id] += value**2 * np.mean(by_sum**2)
                    head.rows[id] -= row_lr * value * by_sum / (np.sqrt(self.token_sum[id]) + 1e-8)
                else:
                    head.rows[id] -= step * value * by_sum
        return float(np.mean(losses))
