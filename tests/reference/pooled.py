"""The pooled text classifier in float64: loss, gradients and steps. See csrc/kernels/pooled.c for the formulas.

Without dropout, whose draws are the kernel's own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
WINDOW = 64


@dataclass
class Weights:
    """table (tokens, dim), L (features, rank), A (hidden, 3 dim), a, G (outputs, hidden), c, H (outputs, rank),
    e; also their gradients, or
    what an optimizer keeps of them."""

    table: Array
    L: Array
    A: Array
    a: Array
    G: Array
    c: Array
    H: Array
    e: Array

    def arrays(self) -> list[Array]:
        return [self.table, self.L, self.A, self.a, self.G, self.c, self.H, self.e]

    def dense(self) -> list[Array]:
        return self.arrays()[2:]

    def zeros(self) -> "Weights":
        return Weights(*(np.zeros_like(each) for each in self.arrays()))


@dataclass(frozen=True)
class Text:
    tokens: Sequence[int]
    features: dict[int, float]
    labels: Sequence[int]


def tfidf(features: Sequence[int], idf: Array) -> dict[int, float]:
    """The values of features in any order."""
    found = {id: (1 + np.log(features.count(id))) * idf[id] for id in sorted(set(features))}
    norm = np.sqrt(sum(value**2 for value in found.values())) or 1.0
    return {id: float(value / norm) for id, value in found.items()}


def windows(tokens: Sequence[int]) -> list[Sequence[int]]:
    return [tokens[begin : begin + WINDOW] for begin in range(0, len(tokens), WINDOW)]


@dataclass(frozen=True)
class Layers:
    """p, A p + a, m, z1 and z2 of a text."""

    p: Array
    before: Array
    m: Array
    scores: tuple[Array, Array]


def layers(weights: Weights, text: Text) -> Layers:
    p, m = np.zeros(3 * weights.table.shape[1]), np.zeros(weights.L.shape[1])
    for window in windows(text.tokens):
        rows, count = weights.table[list(window)], len(window)
        p += count / len(text.tokens) * np.concatenate([np.sqrt(count) * rows.mean(0), rows.max(0), rows.min(0)])
    for feature, value in text.features.items():
        m += value * weights.L[feature]
    before = weights.A @ p + weights.a
    return Layers(p, before, m, (weights.G @ before.clip(0) + weights.c, weights.H @ m + weights.e))


def answer(weights: Weights, text: Text) -> Array:
    """What the answer is the softmax of."""
    one, two = layers(weights, text).scores
    return (one + two) / 2


def log_softmax(z: Array) -> Array:
    z = z - z.max()
    out: Array = z - np.log(np.exp(z).sum())
    return out


def target(text: Text, outputs: int, smoothing: float) -> Array:
    y = np.full(outputs, smoothing / outputs)
    for label in text.labels:
        y[label] += (1 - smoothing) / len(text.labels)
    return y


def loss(weights: Weights, batch: Sequence[Text], smoothing: float = 0.0) -> float:
    """The mean over the batch, to which texts without labels add nothing."""
    each = [
        -target(text, len(z), smoothing) @ log_softmax(z) / 2
        for text in batch
        for z in layers(weights, text).scores
        if text.labels
    ]
    return float(np.sum(each) / len(batch))


Occurrences = list[tuple[int, Array]]  # (row, gradient) for each occurrence, in the order in which the rows move


def gradients(weights: Weights, batch: Sequence[Text], smoothing: float = 0.0) -> tuple[Weights, Occurrences]:
    """(of the loss by all weights, of the tokens' occurrences)."""
    total, occurrences = weights.zeros(), []
    for text in batch:
        found = layers(weights, text)
        h = found.before.clip(0)
        one, two = (
            (np.exp(log_softmax(z)) - target(text, len(z), smoothing)) / (2 * len(batch)) * bool(text.labels)
            for z in found.scores
        )
        da, dm = weights.G.T @ one * (h > 0), weights.H.T @ two
        total.G += np.outer(one, h)
        total.c += one
        total.H += np.outer(two, found.m)
        total.e += two
        total.A += np.outer(da, found.p)
        total.a += da
        by_mean, by_most, by_least = np.split(weights.A.T @ da, 3)
        for window in windows(text.tokens):
            rows, weight = weights.table[list(window)], len(window) / len(text.tokens)
            parts = np.tile(weight / np.sqrt(len(window)) * by_mean, (len(window), 1))
            every = np.arange(rows.shape[1])
            parts[rows.argmax(0), every] += weight * by_most
            parts[rows.argmin(0), every] += weight * by_least
            occurrences += list(zip(window, parts, strict=True))
        for feature, value in text.features.items():
            total.L[feature] += value * dm
    for row, part in occurrences:
        total.table[row] += part
    return total, occurrences


class Trainer:
    """Steps from some weights, which change: Adam of A, a, G and c, AdaGrad with one sum a row of the tokens, plain
    gradient descent, a text after the other, of L, H and e."""

    def __init__(self, weights: Weights, smoothing: float = 0.0) -> None:
        self.weights, self.smoothing, self.steps = weights, smoothing, 0
        self.mean, self.square = weights.zeros(), weights.zeros()
        self.table_sum = np.zeros(len(weights.table))

    def step(self, batch: Sequence[Text], lr: float, row_lr: float, ngram_lr: float) -> float:
        """The sum of the losses of the texts, each before it moved anything."""
        weights, losses = self.weights, 0.0
        gradient, occurrences = gradients(weights, batch, self.smoothing)
        before = [self._loss(text, 0) for text in batch]
        for row, part in occurrences:
            g = 2 * part
            self.table_sum[row] += np.mean(g * g)
            weights.table[row] -= row_lr * g / (np.sqrt(self.table_sum[row]) + 1e-8)
        for text in batch:
            losses += self._loss(text, 1)
            own, _ = gradients(weights, [text], self.smoothing)
            for w, g in ((weights.L, own.L), (weights.H, own.H), (weights.e, own.e)):
                w -= ngram_lr * 2 * g
        self.steps += 1
        pooled = (each.dense()[:4] for each in (weights, gradient, self.mean, self.square))
        for w, g, m, v in zip(*pooled, strict=True):
            m += 0.1 * (2 * g - m)
            v += 0.001 * ((2 * g) ** 2 - v)
            unbiased = m / (1 - 0.9**self.steps), v / (1 - 0.999**self.steps)
            w -= lr * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
        return sum(before) + losses

    def _loss(self, text: Text, part: int) -> float:
        """Half the loss of a part: 0 pooled, 1 n-grams."""
        if not text.labels:
            return 0.0
        z = layers(self.weights, text).scores[part]
        return float(-target(text, len(z), self.smoothing) @ log_softmax(z) / 2)
