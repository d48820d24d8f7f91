"""A pooled text classifier as it answers: rows of tokens with the layers behind them, and linear weights. Formulas:
csrc/kernels/pooled.c. Not here: training (pooled.py), files (pooled_files.py), labels for lines (pooled_classifier.py).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli import _pooled
from wv_cli.io import memory
from wv_cli.models.pooled_reader import Reading, ReadLines


@dataclass(frozen=True)
class Sizes:
    """Of tokens' rows, features' rows, the hidden layer and the output."""

    dim: int
    rank: int
    hidden: int
    outputs: int

    @property
    def weights(self) -> int:
        """Numbers of the dense weights, as the kernel has them in one array."""
        return _pooled.weights(**vars(self))

    def layers(self, dense: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Views of the dense weights without padding: `pooled` (hidden, 3, dim) and `bias` (hidden,) are the hidden
        layer, `output` (outputs, hidden) and `output_bias` (outputs,) its output; `linear` (outputs, rank) and
        `linear_bias` (outputs,) the output of features."""
        sizes = (self.dim, self.hidden, self.rank, self.outputs)
        stride, width, rank, count = (memory.pad_width(each) for each in sizes)
        ends = np.cumsum([self.hidden * 3 * stride, width, self.outputs * width, count, self.outputs * rank])
        pooled, bias, output, output_bias, linear, linear_bias = np.split(dense, ends)
        return {
            "pooled": pooled.reshape(self.hidden, 3, stride)[:, :, : self.dim],
            "bias": bias[: self.hidden],
            "output": output.reshape(self.outputs, width)[:, : self.hidden],
            "output_bias": output_bias[: self.outputs],
            "linear": linear.reshape(self.outputs, rank)[:, : self.rank],
            "linear_bias": linear_bias[: self.outputs],
        }


@dataclass(frozen=True, eq=False)
class PooledModel:
    """`table` (tokens, padded dim), `features` (features, padded rank) and `dense` are as the kernel has them. Scores
    are divided by the `temperature`."""

    reading: Reading
    sizes: Sizes
    table: NDArray[np.float32]
    features: NDArray[np.float32]
    dense: NDArray[np.float32]
    temperature: float = 1.0

    def engine(self) -> _pooled.Model:
        return _pooled.Model(table=self.table, features=self.features, dense=self.dense, **vars(self.sizes))


def texts_of(lines: ReadLines) -> _pooled.Texts:
    """What the kernel reads."""
    return _pooled.Texts(lines.starts, lines.ids, lines.feature_starts, lines.features, lines.values)


def log_probabilities(scores: NDArray[np.float32], temperature: float) -> NDArray[np.float32]:
    """The logarithms of the softmax of scores (lines, outputs)."""
    scaled = scores / np.float32(temperature)
    scaled -= scaled.max(axis=1, keepdims=True, initial=-np.inf)
    scaled -= np.log(np.exp(scaled).sum(axis=1, keepdims=True))
    return scaled
