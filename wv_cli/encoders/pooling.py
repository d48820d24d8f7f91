"""One vector of the vectors of a sentence's tokens: which layers, and how their tokens are joined.

    mean        1/n sum h_t of the last layer, n tokens, those the encoder adds ([CLS], [SEP]) among them
    sqrt-len    the same over the square root of n
    cls         h of the first token
    max         the largest number of each dimension
    first-last  the mean of (layer 1 + the last layer) / 2: of transformer layers, as the authors of whitening do (Su et
                al. 2021, arXiv 2103.15316), not of the embeddings
    last-two    the mean of (the last but one + the last) / 2
    layer:K     the mean of layer K; 0 are the embeddings

Padding never takes part. A sentence without any token is the zero vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError


@dataclass(frozen=True)
class Pooling:
    """`layers` are averaged before `how`, one of mean, cls, max and sqrt-len, joins the tokens."""

    name: str
    layers: tuple[int, ...]
    how: str

    @classmethod
    def of(cls, name: str, layers: int, encoder: str) -> "Pooling":
        """For an encoder of so many layers above its embeddings. Raises UsageError for a layer that it has not."""
        last = layers
        chosen = {"first-last": (min(1, last), last), "last-two": (max(0, last - 1), last)}.get(name, (last,))
        if name.startswith("layer:"):
            chosen = (int(name.removeprefix("layer:")),)
            if chosen[0] > last:
                message = f"--pooling {name}: {encoder} has the layers 0 (embeddings) to {last}"
                raise UsageError(message)
        return cls(name, tuple(dict.fromkeys(chosen)), name if name in ("cls", "max", "sqrt-len") else "mean")

    def join(self, states: Sequence[NDArray[np.float32]], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(n, dim) of the chosen layers' `states`, each (n, tokens, dim), and the mask of tokens, (n, tokens)."""
        state = states[0] if len(states) == 1 else sum(states[1:], states[0]) / np.float32(len(states))
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
