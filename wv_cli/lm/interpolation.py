"""One model of n-grams written from several: the static linear interpolation of SRILM (Stolcke 2002, `ngram -mix-lm`).

The model lists every n-gram that one of the parts lists, with

    p(w | h) = sum over the parts of weight x p(w | h)

where a part that lacks the n-gram backs off, and one that lacks the word gives it nothing. Back-offs are then set
so that probabilities sum to 1 after each context. So n-grams that are listed have the probability of the mixture;
others have about that, since a part is left out of contexts that only the others list.

The weights that fit a text are found from the scores of the models for the same events: log10 p, (models, events).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.lm.asking import UNKNOWN
from wv_cli.lm.entropy import logarithms, normalize
from wv_cli.lm.levels import Levels
from wv_cli.lm.model import NgramModel
from wv_cli.lm.preparation import Preparation
from wv_cli.lm.scoring import Scorer
from wv_cli.text.inputs import Texts
from wv_cli.text.source import Source
from wv_cli.words import WordList

Floats = NDArray[np.float64]
_CLOSE = 1e-10
_MOST_STEPS = 10_000


def fitted_weights(scores: NDArray[np.floating]) -> Floats:
    """The weights (models,) under which the events are most probable, by expectation maximization from equal ones. Its
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


Ids = NDArray[np.int32]
_BLOCK = 1 << 18  # n-grams scored at a time


def interpolate(models: Sequence[NgramModel], weights: Sequence[float]) -> NgramModel:
    """The interpolation of models with `weights`, which sum to 1."""
    parts = [_Part(model) for model in models]
    words = WordList.from_words(dict.fromkeys(word for model in models for word in model.words))
    for part in parts:
        part.take_words(words)
    levels: Levels | None = None
    for length in range(1, max(model.order for model in models) + 1):
        rows = _union([part.rows(length) for part in parts if part.order >= length], length)
        shares = [weight * part.probabilities(rows) for weight, part in zip(weights, parts, strict=True)]
        prob = logarithms(np.minimum(np.sum(shares, axis=0), 1))  # weights sum to 1 but for rounding
        nothing = np.zeros(len(rows), np.float32)
        if levels is None:
            levels = Levels(prob, nothing)
        else:
            levels.add(rows, prob, nothing)
    assert levels is not None, "every model has words"
    mixed = levels.model(words, "the mixture")
    normalize(mixed)
    return mixed


class _Part:
    """One of the models, asked by the ids of all words."""

    def __init__(self, model: NgramModel) -> None:
        self._model, self.order = model, model.order
        self._asked: Any = model.scorer
        self._whole = self._own = np.empty(0, np.int32)

    def take_words(self, words: WordList) -> None:
        """From here on ids are those of `words`, SPECIAL in front, which hold those of the model."""
        self._whole = words.find_all(self._model.words).astype(np.int32)
        own = self._model.words.find_all(words)
        self._listed = own >= 0
        self._own = np.where(self._listed, own, UNKNOWN).astype(np.int32)

    def rows(self, length: int) -> Ids:
        """The n-grams of so many words that are listed (n, length)."""
        return self._whole[self._model.trie.rows(length)]

    def probabilities(self, rows: Ids) -> Floats:
        """p of the last word of each n-gram after the others; 0 of a word that is not listed."""
        found = np.empty(len(rows), np.float64)
        for begin in range(0, len(rows), _BLOCK):
            block = rows[begin : begin + _BLOCK]
            stream = np.full((len(block), block.shape[1] + 1), -1, np.int32)  # a line end behind each
            stream[:, :-1] = self._own[block]
            scores = self._asked.score(stream.ravel(), self._asked.begin(False), False)[0]
            last = np.asarray(scores).reshape(stream.shape)[:, -2].astype(np.float64)
            found[begin : begin + _BLOCK] = np.where(self._listed[block[:, -1]], 10.0**last, 0.0)
        return found


def _union(rows: Sequence[Ids], length: int) -> Ids:
    """The different ones of all; single words are there once, by their ids."""
    every = np.ascontiguousarray(np.concatenate(rows))
    if length == 1:
        return np.arange(int(every.max()) + 1, dtype=np.int32)[:, None]
    _, first = np.unique(every.view(np.dtype((np.void, 4 * length))).ravel(), return_index=True)
    return every[first]


def fit_weights(models: Sequence[NgramModel], text: Texts, prepared: Preparation) -> list[float]:
    """Of the events of a text whose words all models list. Raises WvError for a text without such words."""
    scores, known = [], np.ones(1, np.bool_)
    for model in models:
        parts = list(Scorer(model).read(prepared.blocks(Source(text))))
        text = text.quiet()
        scores.append(np.concatenate([part.scores for part in parts]))
        known = known & ~np.concatenate([part.oov for part in parts])
    if not known.any() or not len(scores[0]):
        message = f"{', '.join(text.inputs)}: no text: expected lines of words that all models list, found none"
        raise WvError(message)
    return [float(weight) for weight in fitted_weights(np.array(scores)[:, known])]
