"""From counts to a model: discounts, pruning, probabilities and back-offs of every order, from the shortest on.

N-grams are worked on in blocks of whole contexts, which need nothing of each other but the discounts; so threads share
them, and what does not fit in memory is touched once.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wv_cli._lm import gather
from wv_cli.errors import WvError
from wv_cli.io.threads import in_order, run_all
from wv_cli.lm.asking import SENTENCE, UNKNOWN
from wv_cli.lm.config import LmConfig
from wv_cli.lm.counts import NgramCounts
from wv_cli.lm.entropy import NOTHING, Mask, cut_trie, logarithms, prune, take_nodes
from wv_cli.lm.model import NgramModel
from wv_cli.lm.smoothing import (
    SMOOTHINGS,
    Discounts,
    Floats,
    Level,
    Smoothing,
    Weights,
    adjusted_counts,
    count_occurrences,
    level_of,
    slip,
)
from wv_cli.lm.vocabulary import SPECIAL
from wv_cli.words import WordList


@dataclass(frozen=True)
class Estimate:
    """`discounts` has one entry an order: D1, D2 ... as the method has them."""

    model: NgramModel
    discounts: list[Discounts]


def estimate(counts: NgramCounts, config: LmConfig, vocabulary: WordList | None = None) -> Estimate:
    """The model that config.smoothing makes. With a `vocabulary` n-grams with other words are dropped, like those that
    config.thresholds name: what they would have got goes to the shorter ones. Raises WvError where a method cannot
    estimate its discounts."""
    config.validate()
    config.check_order()
    trie = counts.trie
    keep = choose_kept(counts, config, vocabulary)
    run = _Run(counts, config, keep)
    for length in range(1, trie.order + 1):
        run.weigh(length)
    if all(mask is None for mask in keep):
        model, counted = NgramModel(trie, run.prob, run.backoff), counts.count[: trie.levels[-2]]
    else:
        masks = [np.ones(size, bool) if mask is None else mask for size, mask in zip(trie.sizes, keep, strict=True)]
        small, nodes = cut_trie(trie, masks)
        inner = nodes[: small.levels[-2]]
        model = NgramModel(small, take_nodes(run.prob, nodes, trie.shelf), take_nodes(run.backoff, inner, trie.shelf))
        counted = take_nodes(counts.count, inner, trie.shelf)
    if config.prune_entropy:
        events = counts.tokens + counts.sentences
        model = prune(model, counted / events, config.prune_entropy)
    threads = config.threads
    return Estimate(replace(model, threads=threads), run.discounts)


class _Run:
    """`prob` and `backoff` as in NgramModel, filled length after length by weigh()."""

    def __init__(self, counts: NgramCounts, config: LmConfig, keep: list[Mask | None]) -> None:
        trie = counts.trie
        self._counts, self._config, self._keep = counts, config, keep
        self._smoothing = SMOOTHINGS.find(config.smoothing)
        self._threads = config.threads
        words = keep[0]
        self._types = trie.sizes[0] - 1 if words is None else int(np.count_nonzero(words)) - 1
        self._powers = np.empty(0)  # p of the n-grams of the last length, float64
        self.prob = trie.shelf.new(len(trie.word), np.float32)
        self.backoff = trie.shelf.new(int(trie.levels[-2]), np.float32)
        self.discounts: list[Discounts] = []

    def weigh(self, length: int) -> None:
        trie, smoothing = self._counts.trie, self._smoothing
        adjusted, blocks = adjusted_counts(self._counts, length, self._threads), list(trie.blocks(length))
        found = self._discounts(length, adjusted, blocks)
        self.discounts.append(found)
        powers = self._shorter(length)

        def work(nodes: slice) -> None:
            level = level_of(self._counts, adjusted, length, nodes, self._types)
            weights = smoothing.weigh(level, found, self._config)
            place = self._place(length, nodes)
            prob = self._block(level, weights, nodes, powers[place])
            powers[place] = prob
            self.prob[nodes] = logarithms(prob)
            trie.shelf.let_go()

        run_all(work, blocks, self._threads)
        self._powers = powers

    def _shorter(self, length: int) -> Floats:
        """What the last length says of each n-gram's end, (n-grams,); nothing yet of words."""
        trie, before = self._counts.trie, self._powers
        powers: Floats = trie.shelf.new(trie.sizes[length - 1], np.float64)
        if length == 1:
            return powers
        own, shorter = trie.level(length), trie.level(length - 1)
        for low, high in trie.shelf.spans(shorter.start, shorter.stop, before.itemsize):

            def fill(nodes: slice, low: int = low, high: int = high) -> None:
                part = before[low - shorter.start : high - shorter.start]
                gather(part, trie.suffix[nodes], low, high, powers[nodes.start - own.start : nodes.stop - own.start])
                trie.shelf.let_go()

            run_all(fill, trie.pieces(length), self._threads)
        return powers

    def _place(self, length: int, nodes: slice) -> slice:
        """A block of nodes among those of its length."""
        begin = int(self._counts.trie.levels[length - 1])
        return slice(nodes.start - begin, nodes.stop - begin)

    def _discounts(self, length: int, adjusted: NDArray[np.integer], blocks: list[slice]) -> Discounts:
        smoothing, config = self._smoothing, self._config
        if smoothing.discounts is None:
            return ()
        found = np.zeros(smoothing.most(config), np.int64)

        def count(nodes: slice) -> NDArray[np.int64]:
            level = level_of(self._counts, adjusted, length, nodes, self._types)
            self._counts.trie.shelf.let_go()
            return count_occurrences(level, smoothing, config)

        for each in in_order(count, blocks, self._threads):
            found += each
        if config.lmplz_last:
            found += slip(self._counts, adjusted, length, len(found))
        return smoothing.discounts(found.tolist(), length, config)

    def _block(self, level: Level, weights: Weights, nodes: slice, below: Floats) -> Floats:
        """p of the n-grams of a block, of whose ends `below` is p; the back-offs of their contexts are put in their
        place."""
        trie, length = self._counts.trie, level.length
        mask = self._keep[length - 1]
        keep = np.ones(len(level.count), bool) if mask is None else mask[self._place(length, nodes)]
        if length == 1:
            return _words(level, weights, self._smoothing, keep, self._config)
        make = _interpolate if self._smoothing.interpolated else _backing_off
        prob, backoff = make(level, weights, keep, below)
        contexts, _ = trie.contexts(length, nodes)
        self.backoff[contexts] = logarithms(backoff)
        return prob


def choose_kept(counts: NgramCounts, config: LmConfig, vocabulary: WordList | None) -> list[Mask | None]:
    """Which n-grams of each length stay in the model, None where all do. One is never kept without those it begins and
    ends with."""
    trie = counts.trie
    masks: list[Mask | None] = []
    foreign = np.zeros(len(trie.words), bool)
    if vocabulary is not None:
        foreign = vocabulary.find_all(trie.words) < 0
        foreign[: len(SPECIAL)] = False
        if foreign[len(SPECIAL) :].all():
            message = "none of the words of --limit-vocab is in the text; do they belong together?"
            raise WvError(message)
    for length, threshold in enumerate(config.thresholds, 1):
        if threshold == 0 and vocabulary is None:
            masks.append(None)
            continue
        mask = trie.shelf.new(trie.sizes[length - 1], np.bool_)
        begin, shorter = int(trie.levels[length - 1]), masks[-1] if masks else None
        for nodes in trie.blocks(length):
            block = (counts.count[nodes] > threshold) & ~foreign[trie.word[nodes]]
            if length == 1:
                block[: len(SPECIAL)] = True
            elif shorter is not None:
                contexts, starts = trie.contexts(length, nodes)
                above = int(trie.levels[length - 2])
                sizes = np.diff(np.append(starts, len(block)))
                block &= np.repeat(shorter[contexts.start - above : contexts.stop - above], sizes)
            mask[nodes.start - begin : nodes.stop - begin] = block
            trie.shelf.let_go()
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


def _interpolate(level: Level, weights: Weights, keep: Mask, below: Floats) -> tuple[Floats, Floats]:
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
