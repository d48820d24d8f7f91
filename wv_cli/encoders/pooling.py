"""One vector of the vectors of a sentence's tokens: which layers, and how their tokens are joined.

    mean        1/n sum h_t of the last layer, n tokens, those the encoder adds ([CLS], [SEP]) among them
    sqrt-len    the same over the square root of n
    cls         h of the first token
    max         the largest number of each dimension
    first-last  the mean of (layer 1 + the last layer) / 2: of transformer layers, as the authors of whitening do (Su et
                al. 2021, arXiv 2103.15316), not of the embeddings
    last-two    the mean of (the last but one + the last) / 2
    layer:K     the mean of layer K; 0 are the embeddings
    inner       the mean without the first and the last token: for training on, no option

Padding never takes part. With a mix of layers, gamma (w_0 h_0 + w_1 h_1 + ...) stands in the place of the last layer;
with a layer norm of the mix each layer first loses its mean and is divided by its deviation, over all dimensions of the
sentence's tokens together (ELMo's authors: of the batch's). A sentence without any token is the zero vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError

_EPSILON = 1e-13  # of a mix's layer norm, as allennlp has it


@dataclass(frozen=True)
class Pooling:
    """`layers` are averaged, or with `weights` summed, before `how`, one of mean, cls, max, sqrt-len and inner,
    joins the tokens. `gamma` and `norm` concern weights."""

    name: str
    layers: tuple[int, ...]
    how: str
    weights: tuple[float, ...] = ()
    gamma: float = 1.0
    norm: bool = False

    @classmethod
    def parse(cls, name: str, layers: int, encoder: str) -> "Pooling":
        """For an encoder of so many layers above its embeddings. Raises UsageError for a layer that it has not."""
        last = layers
        chosen = {"first-last": (min(1, last), last), "last-two": (max(0, last - 1), last)}.get(name, (last,))
        if name.startswith("layer:"):
            chosen = (int(name.removeprefix("layer:")),)
            if chosen[0] > last:
                message = f"--pooling {name}: {encoder} has the layers 0 (embeddings) to {last}"
                raise UsageError(message)
        return cls(name, tuple(dict.fromkeys(chosen)), name if name in ("cls", "max", "sqrt-len", "inner") else "mean")

    def with_mix(self, mix: str, gamma: float, norm: bool, layers: int, encoder: str) -> "Pooling":
        """The same of a mix of all layers: `mix` is `w0,w1,...`, or `softmax:w0,w1,...` for weights exp(w) over their
        sum. Raises UsageError for a mix of another encoder, and beside a pooling that chooses layers."""
        if self.layers != (layers,):
            message = f"--mix and --pooling {self.name} cannot be used together: both choose layers"
            raise UsageError(message)
        try:
            weights = np.array([float(each) for each in mix.removeprefix("softmax:").split(",")])
        except ValueError:
            weights = np.array([np.nan])
        if len(weights) != layers + 1 or not (np.abs(weights) < 1e6).all():
            message = f"--mix {mix}: expected {layers + 1} numbers with commas between, one for each layer of {encoder}"
            raise UsageError(message)
        if mix.startswith("softmax:"):
            weights = np.exp(weights - weights.max())
            weights /= weights.sum()
        return replace(self, layers=tuple(range(layers + 1)), weights=tuple(weights.tolist()), gamma=gamma, norm=norm)

    def is_mean_of(self, layer: int) -> bool:
        """Whether it is the mean of this layer as it is."""
        return self.how == "mean" and self.layers == (layer,) and not self.weights

    def combine(self, states: Sequence[NDArray[np.float32]], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        """(n, tokens, dim) of the chosen layers' `states`, each of that shape, and the mask of tokens (n, tokens)."""
        if not self.weights:
            return states[0] if len(states) == 1 else sum(states[1:], states[0]) / np.float32(len(states))
        total = np.zeros_like(states[0], np.float64)
        for weight, state in zip(self.weights, states, strict=True):
            total += self.gamma * weight * (_normalize_layer(state, mask) if self.norm else state)
        return total.astype(np.float32)

    def join(self, states: Sequence[NDArray[np.float32]], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(n, dim) of what combine() makes of the same."""
        state = self.combine(states, mask)
        if self.how == "inner":
            mask = mask & np.pad(mask[:, 1:], ((0, 0), (0, 1)))
            mask[:, :1] = False
        counts = mask.sum(axis=1)[:, None]
        if not state.shape[1]:
            return np.zeros((len(state), state.shape[2]))
        if self.how == "cls":
            return np.where(counts > 0, state[:, 0], 0).astype(np.float64)
        if self.how == "max":
            largest = np.where(mask[:, :, None], state, -np.inf).max(axis=1)
            return np.where(counts > 0, largest, 0).astype(np.float64)
        total = np.where(mask[:, :, None], state, 0).sum(axis=1, dtype=np.float64)
        most = np.maximum(counts, 1)
        result: NDArray[np.float64] = total / (np.sqrt(most) if self.how == "sqrt-len" else most)
        return result


def _normalize_layer(state: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Each sentence of the batch with mean 0 and variance 1 over its tokens and dimensions."""
    real, values = mask[:, :, None], state.astype(np.float64)
    count = np.maximum(mask.sum(axis=1), 1)[:, None, None] * state.shape[2]
    values = values - np.where(real, values, 0).sum(axis=(1, 2), keepdims=True) / count
    variance = np.where(real, values**2, 0).sum(axis=(1, 2), keepdims=True) / count
    result: NDArray[np.float64] = values / np.sqrt(variance + _EPSILON)
    return result
