"""The table of smoothing methods: what each makes of the counts of one order.

A method says of every n-gram (h, w) its `mass`, and of every context h its `total`:
  interpolated   p(w | h) = mass / total + gamma(h) p(w | h'),   gamma(h) = 1 - (sum of the masses) / total
  otherwise      p(w | h) = mass / total where (h, w) was seen, else alpha(h) p(w | h'), alpha so that the sum is 1
h' is h without its oldest word. So whatever a mass is, the probabilities of all words add up to 1, also when n-grams
are pruned: their mass goes to the shorter ones.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.lm.config import LmConfig
from wv_cli.lm.counts import SENTENCE, SENTENCE_END, NgramCounts, Trie
from wv_cli.registry import Registry

Floats = NDArray[np.float64]
FALLBACK = (0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Level:
    """The n-grams of one length. `count` is how often each occurs, `adjusted` what modified Kneser-Ney counts instead;
    `starts` (contexts,) is the first n-gram of each context; `judged` those that tell the discounts: all but <unk> and
    <s>. `last` is the last of them when they are read backwards, None for the longest or when nobody asks. `types` is
    how many words there are with <unk> and </s>."""

    length: int
    count: NDArray[np.int64]
    adjusted: NDArray[np.int64]
    starts: NDArray[np.int64]
    judged: slice
    last: int | None
    types: int

    def sums(self, values: NDArray[np.generic]) -> Floats:
        """The sum of `values` over the n-grams of each context."""
        return sums(np.asarray(values, np.float64), self.starts)

    @property
    def followers(self) -> Floats:
        """How many different words follow each context."""
        return self.sums(self.count > 0)


@dataclass(frozen=True)
class Weights:
    """`mass` (n-grams,) and `total` (contexts,) as above, and what the method had to estimate for it."""

    mass: Floats
    total: Floats
    discounts: tuple[float, ...] = ()


@dataclass(frozen=True)
class Smoothing:
    summary: str
    weigh: Callable[[Level, LmConfig], Weights]
    interpolated: bool


def sums(values: Floats, starts: NDArray[np.integer]) -> Floats:
    """The sum of values[starts[i]:starts[i + 1]] for each i, the last up to the end; 0 where there are none."""
    added: Floats = np.add.reduceat(np.append(values, 0.0), starts)
    added[np.append(starts[1:], len(values)) == starts] = 0
    return added


def adjusted_counts(counts: NgramCounts, length: int) -> NDArray[np.int64]:
    """Of n-grams that begin in <s> and of the longest ones their counts, of others the number of different words in
    front of them."""
    trie = counts.trie
    own = counts.count[trie.level(length)]
    if length == trie.order:
        return own
    longer = trie.suffix[trie.level(length + 1)] - trie.levels[length - 1]
    adjusted = np.bincount(longer, minlength=len(own)).astype(np.int64)
    begin, end = SENTENCE, SENTENCE + 1
    for shorter in range(1, length):
        children = trie.children(shorter)
        begin, end = int(children[begin]), int(children[end])
    adjusted[begin:end] = own[begin:end]
    return adjusted


def level_of(counts: NgramCounts, length: int, types: int, *, find_last: bool) -> Level:
    """The n-grams of a length; `last` is found when asked for."""
    trie = counts.trie
    starts = trie.children(length - 1)[:-1].astype(np.int64) if length > 1 else np.zeros(1, np.int64)
    own, adjusted = counts.count[trie.level(length)], adjusted_counts(counts, length)
    if length == 1:
        own = own.copy()
        own[SENTENCE] = adjusted[SENTENCE] = 0
    last = _last_backwards(trie, length) if find_last and length < trie.order and len(own) else None
    return Level(length, own, adjusted, starts, slice(SENTENCE_END if length == 1 else 0, None), last, types)


def _last_backwards(trie: Trie, length: int) -> int:
    """Of the n-grams of a length the one that ends in the last word, of those the one with the last word before it, and
    so on; its place among them."""
    nodes = np.arange(trie.sizes[length - 1])
    above = nodes
    for column in range(length - 1, -1, -1):
        words = trie.word[trie.levels[column] + above]
        largest = words == words.max()
        nodes, above = nodes[largest], above[largest]
        if column:
            above = np.searchsorted(trie.children(column), above, side="right") - 1
    return int(nodes[0])


def occurring(counts: NDArray[np.int64], most: int) -> list[int]:
    """How many of the counts are 1, 2 .. most."""
    return [int(n) for n in np.bincount(counts[counts <= most], minlength=most + 1)[1:]]


def _discounted(counts: NDArray[np.int64], discounts: tuple[float, ...]) -> Floats:
    """Each count less the discount of its size, the last of them for larger ones."""
    table = np.array([0.0, *discounts])
    return np.asarray(np.maximum(counts - table[np.minimum(counts, len(discounts))], 0), np.float64)


def _refused(level: Level, config: LmConfig, why: str) -> tuple[float, ...]:
    """The discounts that --discount-fallback has for an order; raises WvError without it."""
    if config.discount_fallback:
        return FALLBACK
    message = (
        f"the n-grams of order {level.length} give no discounts: {why}; the text is too small or repeats itself: "
        "give more, lower --order, or choose --discount-fallback or --smoothing witten-bell"
    )
    raise WvError(message)


def modified_discounts(level: Level, config: LmConfig) -> tuple[float, ...]:
    """D1, D2 and D3+ of Chen & Goodman (1998). Raises WvError when the counts do not give them."""
    counts = level.adjusted
    if config.lmplz_last and level.last is not None:
        counts = counts.copy()
        counts[level.last] = level.count[level.last]
    n1, n2, n3, n4 = occurring(counts[level.judged], 4)
    return discounts_of(n1, n2, n3, n4) or _refused(level, config, _why(n1, n2, n3, n4))


def discounts_of(n1: int, n2: int, n3: int, n4: int) -> tuple[float, ...] | None:
    """Of how many n-grams occur 1 to 4 times; None where one would be negative or more than the count."""
    if min(n1, n2, n3) == 0:
        return None
    y = n1 / (n1 + 2 * n2)
    found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    return found if all(0 <= each <= j for j, each in enumerate(found, 1)) else None


def _why(n1: int, n2: int, n3: int, n4: int) -> str:
    return f"{n1:,}, {n2:,}, {n3:,} and {n4:,} of them occur 1, 2, 3 and 4 times"


def _kneser_ney(level: Level, config: LmConfig) -> Weights:
    discounts = modified_discounts(level, config)
    return Weights(_discounted(level.adjusted, discounts), level.sums(level.adjusted), discounts)


def _absolute(level: Level, config: LmConfig) -> Weights:
    n1, n2 = occurring(level.count[level.judged], 2)
    if n1 and n2:
        discounts: tuple[float, ...] = (n1 / (n1 + 2 * n2),)
    else:
        discounts = _refused(level, config, f"{n1:,} and {n2:,} of them occur once and twice")
    return Weights(_discounted(level.count, discounts), level.sums(level.count), discounts)


def _katz(level: Level, config: LmConfig) -> Weights:
    """Counts r up to K become d_r r: d_r = (r* / r - A) / (1 - A), r* = (r + 1) n_(r+1) / n_r, A = (K + 1) n_(K+1) /
    n_1."""
    most = config.katz_max
    n = np.array([0, *occurring(level.count[level.judged], most + 1)], np.float64)
    r = np.arange(1, most + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = (most + 1) * n[most + 1] / n[1]
        kept = ((r + 1) * n[r + 1] / n[r] / r - a) / (1 - a)
    if np.all((kept > 0) & (kept <= 1)):
        discounts = tuple(float(each) for each in r * (1 - kept))
    else:
        shown = ", ".join(f"{int(each):,}" for each in n[1:])
        discounts = _refused(level, config, f"{shown} of them occur 1 to {most + 1} times")
    mass = np.where(level.count <= most, _discounted(level.count, discounts), level.count)
    return Weights(mass, level.sums(level.count), discounts)


def _witten_bell(level: Level, config: LmConfig) -> Weights:
    return Weights(level.count.astype(np.float64), level.sums(level.count) + level.followers)


def _add_k(level: Level, config: LmConfig) -> Weights:
    mass = np.where(level.count > 0, level.count + config.add_k, 0.0)
    return Weights(mass, level.sums(level.count) + config.add_k * level.types)


def _mle(level: Level, config: LmConfig) -> Weights:
    return Weights(level.count.astype(np.float64), level.sums(level.count))


SMOOTHINGS: Registry[Smoothing] = Registry(
    "smoothing",
    [
        ("kneser-ney", Smoothing("modified Kneser-Ney, interpolated", _kneser_ney, True)),
        ("absolute", Smoothing("absolute discounting, interpolated", _absolute, True)),
        ("katz", Smoothing("Good-Turing discounts, backing off", _katz, False)),
        ("witten-bell", Smoothing("Witten-Bell, interpolated", _witten_bell, True)),
        ("add-k", Smoothing("additive, backing off", _add_k, False)),
        ("mle", Smoothing("relative frequencies", _mle, False)),
    ],
)
