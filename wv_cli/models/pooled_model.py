"""A pooled text classifier as it answers: rows and output weights of tokens and of n-grams. Formulas:
csrc/kernels/pooled.c. Not here: training (pooled.py), files (pooled_files.py), labels for lines (pooled_classifier.py).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli import _pooled
from wv_cli.models.pooled_reader import Reading, ReadLines


@dataclass(frozen=True)
class Head:
    """`rows` (rows, padded dim), and `output` (dim, padded labels), the output weights by column."""

    rows: NDArray[np.float32]
    output: NDArray[np.float32]
    labels: int

    @property
    def dim(self) -> int:
        return len(self.output)

    def arrays(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Views of rows and output weights, (rows, dim) and (labels, dim), without padding."""
        return self.rows[:, : self.dim], self.output[:, : self.labels].T


@dataclass(frozen=True, eq=False)
class PooledModel:
    """Scores of each question are divided by its temperature; () is 1 for all. `from_bytes`: the file of the model has
    its rows in bytes."""

    reading: Reading
    tokens: Head
    ngrams: Head
    temperatures: tuple[float, ...] = ()
    from_bytes: bool = False

    def engine(self) -> _pooled.Model:
        return _pooled.Model(
            tokens=self.tokens.rows,
            token_output=self.tokens.output,
            ngrams=self.ngrams.rows,
            ngram_output=self.ngrams.output,
            dim=self.tokens.dim,
            rank=self.ngrams.dim,
            questions=self.reading.question_starts,
        )

    def log_probabilities(self, scores: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Of the engine's scores (lines, outputs) those of each question, (lines, its outputs)."""
        starts = self.reading.question_starts.tolist()
        temperatures = self.temperatures or (1.0,) * (len(starts) - 1)
        ranges = zip(starts[:-1], starts[1:], temperatures, strict=True)
        return [log_probabilities(scores[:, begin:end], temperature) for begin, end, temperature in ranges]


def texts_of(lines: ReadLines) -> _pooled.Texts:
    """What the kernel reads."""
    tokens = (lines.starts, lines.ids, lines.token_values)
    return _pooled.Texts(tokens, (lines.feature_starts, lines.features, lines.values))


def log_probabilities(scores: NDArray[np.float32], temperature: float) -> NDArray[np.float32]:
    """The logarithms of the softmax of scores (lines, outputs)."""
    scaled = scores / np.float32(temperature)
    scaled -= scaled.max(axis=1, keepdims=True, initial=-np.inf)
    scaled -= np.log(np.exp(scaled).sum(axis=1, keepdims=True))
    return scaled
