"""Linear interpolation of models: p(w | h) = sum over the models of weight x p(w | h), and the weights that fit a text.

Models are given by what they say of the same events: log10 p, (models, events).
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_CLOSE = 1e-10
_MOST_STEPS = 10_000


def fitted_weights(scores: NDArray[np.floating]) -> Floats:
    """The weights (models,) under which the events are most probable, by expectation maximisation from equal ones. Its
    goal has no other hills; near the top it is slow."""
    share = _relative(scores)
    weights = np.full(len(share), 1 / len(share))
    for _ in range(_MOST_STEPS):
        before = weights
        weights = em_step(share, weights)
        if np.abs(weights - before).max() < _CLOSE:
            break
    return weights


def em_step(probabilities: Floats, weights: Floats) -> Floats:
    """The mean over the events of each model's part in their probability; that of no event may be 0 in all models."""
    parts = weights[:, None] * probabilities
    new: Floats = (parts / parts.sum(axis=0)).mean(axis=1)
    return np.asarray(new / new.sum())


def mix_scores(scores: NDArray[np.floating], weights: Floats) -> Floats:
    """log10 p of the events (events,) under the mixture."""
    top = scores.max(axis=0, initial=-np.inf).astype(np.float64)
    return np.asarray(np.log10(weights @ _relative(scores)) + top)


def _relative(scores: NDArray[np.floating]) -> Floats:
    """Probabilities divided by the largest of their event, so that none is lost among small numbers."""
    wide = scores.astype(np.float64)
    return np.asarray(10.0 ** (wide - wide.max(axis=0, initial=-np.inf)))
