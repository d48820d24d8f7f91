"""From counts to a model: discounts, pruning, probabilities and back-offs of every order, from the shortest on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.lm.config import LmConfig
from wv_cli.lm.counts import SENTENCE, SPECIAL, UNKNOWN, NgramCounts
from wv_cli.lm.entropy import NOTHING, Mask, cut, logarithms, pruned
from wv_cli.lm.model import NgramModel
from wv_cli.lm.smoothing import SMOOTHINGS, Floats, Level, Smoothing, Weights, level_of
from wv_cli.words import WordList


@dataclass(frozen=True)
class Estimate:
    """`discounts` has one entry an order: D1, D2 ... as the method has them. `counted` is how many n-grams of each
    length there were before pruning."""

    model: NgramModel
    discounts: list[tuple[float, ...]]
    counted: list[int]


def estimate(counts: NgramCounts, config: LmConfig, vocabulary: WordList | None = None) -> Estimate:
    """The model that config.smoothing makes. With a `vocabulary` n-grams with other words are dropped, like those that
    config.thresholds name: what they would have got goes to the shorter ones. Raises WvError where a method cannot
    estimate its discounts."""
    config.validate()
    trie, smoothing = counts.trie, SMOOTHINGS.find(config.smoothing)
    keep = kept(counts, config, vocabulary)
    types = int(np.count_nonzero(keep[0])) - 1
    probs: list[NDArray[np.float32]] = []
    backoffs = [np.empty(0, np.float32)]
    discounts = []
    for length in range(1, trie.order + 1):
        level = level_of(counts, length, types, find_last=config.lmplz_last)
        weights = smoothing.weigh(level, config)
        discounts.append(weights.discounts)
        if length == 1:
            prob = _words(level, weights, smoothing, keep[0], config)
        else:
            below = prob[trie.suffix[trie.level(length)] - trie.levels[length - 2]]
            make = _interpolated if smoothing.interpolated else _backing_off
            prob, backoff = make(level, weights, keep[length - 1], below)
            backoffs.append(logarithms(backoff))
        probs.append(logarithms(prob))
    small, nodes = cut(trie, keep)
    inner = nodes[: small.levels[-2]]
    model = NgramModel(small, np.concatenate(probs)[nodes], np.concatenate(backoffs)[inner])
    if config.prune_entropy:
        events = counts.tokens + counts.sentences
        model = pruned(model, counts.count[inner] / events, config.prune_entropy)
    return Estimate(model, discounts, trie.sizes)


def kept(counts: NgramCounts, config: LmConfig, vocabulary: WordList | None) -> list[Mask]:
    """Which n-grams of each length stay in the model. One is never kept without those it begins and ends with."""
    trie = counts.trie
    masks: list[Mask] = []
    foreign = np.zeros(len(trie.words), bool)
    if vocabulary is not None:
        foreign = vocabulary.find_all(trie.words) < 0
        foreign[: len(SPECIAL)] = False
        if foreign[len(SPECIAL) :].all():
            message = "none of the words of --limit-vocab is in the text; do they belong together?"
            raise WvError(message)
    for length, threshold in enumerate(config.thresholds, 1):
        nodes = trie.level(length)
        mask = (counts.count[nodes] > threshold) & ~foreign[trie.word[nodes]]
        if length == 1:
            mask[: len(SPECIAL)] = True
        else:
            mask &= np.repeat(masks[-1], np.diff(trie.children(length - 1)))
        masks.append(mask)
    return masks


def _words(level: Level, weights: Weights, smoothing: Smoothing, keep: Mask, config: LmConfig) -> Floats:
    """p of each word alone; <s>, which is never predicted, gets 1, as lmplz writes it."""
    prob: Floats = np.where(keep, weights.mass, 0.0) / weights.total[0]
    left = max(1 - float(prob.sum()), 0.0)
    if not smoothing.interpolated or not config.interpolate_unigrams:
        prob[UNKNOWN] = left
    else:
        prob += left / max(level.types, config.vocab_pad)
    prob[SENTENCE] = 1
    return prob


def _interpolated(level: Level, weights: Weights, keep: Mask, below: Floats) -> tuple[Floats, Floats]:
    """p of the n-grams, and the weight of the shorter ones after each context."""
    mass = np.where(keep, weights.mass, 0.0)
    seen = weights.total > 0
    total = np.where(seen, weights.total, 1.0)
    gamma = np.where(seen, np.maximum(total - level.sums(mass), 0) / total, 1.0)
    sizes = _sizes(level)
    return mass / np.repeat(total, sizes) + np.repeat(gamma, sizes) * below, gamma


def _backing_off(level: Level, weights: Weights, keep: Mask, below: Floats) -> tuple[Floats, Floats]:
    """The same where shorter n-grams speak for unseen words only."""
    sizes = _sizes(level)
    total = np.where(weights.total > 0, weights.total, 1.0)
    prob = np.where(keep, weights.mass, 0.0) / np.repeat(total, sizes)
    taken, lower = level.sums(prob), 1 - level.sums(np.where(keep, below, 0.0))
    left = np.maximum(1 - taken, 0)
    full = (lower < NOTHING) & (taken > 0)  # no other word is left: the seen ones share all
    prob /= np.repeat(np.where(full, taken, 1.0), sizes)
    return prob, np.where(full, 0.0, left / np.where(full, 1.0, lower))


def _sizes(level: Level) -> NDArray[np.int64]:
    return np.diff(np.append(level.starts, len(level.count)))
