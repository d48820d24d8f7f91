"""The table of smoothing methods: what each makes of the counts of one order.

A method says of every n-gram (h, w) its `mass`, and of every context h its `total`:
  interpolated   p(w | h) = mass / total + gamma(h) p(w | h'),   gamma(h) = 1 - (sum of the masses) / total
  otherwise      p(w | h) = mass / total where (h, w) was seen, else alpha(h) p(w | h'), alpha so that the sum is 1
h' is h without its oldest word. So whatever a mass is, the probabilities of all words add up to 1, also when n-grams
are pruned: their mass goes to the shorter ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wv_cli._lm import count_ids
from wv_cli.errors import WvError
from wv_cli.io.threads import run_all
from wv_cli.lm.asking import SENTENCE, SENTENCE_END
from wv_cli.lm.config import LmConfig
from wv_cli.lm.counts import NgramCounts
from wv_cli.lm.trie import Trie
from wv_cli.registry import Registry

Floats = NDArray[np.float64]
Discounts = tuple[float, ...]
FALLBACK = (0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Level:
    """N-grams of one length, all of some contexts. `count` is how often each occurs, `adjusted` what modified
    Kneser-Ney counts instead; `starts` (contexts,) is the first n-gram of each context; `judged` those that tell the
    discounts: all but <unk> and <s>. `types` is how many words there are with <unk> and </s>."""

    length: int
    count: NDArray[np.int64]
    adjusted: NDArray[np.integer]
    starts: NDArray[np.int64]
    judged: slice
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
    """`mass` (n-grams,) and `total` (contexts,) as above."""

    mass: Floats
    total: Floats


@dataclass(frozen=True)
class Smoothing:
    """`discounts` makes D1, D2 .. for the n-grams of a length of how many of them occur 1 .. most times; `counted` says
    which counts are meant. None where there are none."""

    summary: str
    weigh: Callable[[Level, Discounts, LmConfig], Weights]
    interpolated: bool
    discounts: Callable[[list[int], int, LmConfig], Discounts] | None = None
    most: Callable[[LmConfig], int] = lambda _: 4
    counted: Literal["count", "adjusted"] = "count"


def sums(values: Floats, starts: NDArray[np.integer]) -> Floats:
    """The sum of values[starts[i]:starts[i + 1]] for each i, the last up to the end; 0 where there are none."""
    added: Floats = np.add.reduceat(np.append(values, 0.0), starts)
    added[np.append(starts[1:], len(values)) == starts] = 0
    return added


def adjusted_counts(counts: NgramCounts, length: int, threads: int = 1) -> NDArray[np.integer]:
    """Of n-grams that begin in <s> and of the longest ones their counts, of others the number of different words in
    front of them."""
    trie = counts.trie
    own = counts.count[trie.level(length)]
    if length == trie.order:
        return own
    level, adjusted = trie.level(length), trie.shelf.new(len(own), np.int64)

    def fill(span: tuple[int, int]) -> None:
        part = adjusted[span[0] - level.start : span[1] - level.start]
        part[:] = 0
        for nodes in trie.pieces(length + 1):
            count_ids(trie.suffix[nodes], *span, part)
            trie.shelf.let_go()

    run_all(fill, trie.shelf.spans(level.start, level.stop, adjusted.itemsize), threads)
    begin, end = SENTENCE, SENTENCE + 1
    for shorter in range(1, length):
        begin, end = (int(trie.first[trie.levels[shorter - 1] + edge] - trie.levels[shorter]) for edge in (begin, end))
    adjusted[begin:end] = own[begin:end]
    return adjusted


def level_of(counts: NgramCounts, adjusted: NDArray[np.integer], length: int, nodes: slice, types: int) -> Level:
    """A block of the n-grams of a length (Trie.blocks)."""
    trie = counts.trie
    own = counts.count[nodes]
    if length == 1:
        own, adjusted = own.copy(), adjusted.copy()
        own[SENTENCE] = adjusted[SENTENCE] = 0
        return Level(length, own, adjusted, np.zeros(1, np.int64), slice(SENTENCE_END, None), types)
    begin = int(trie.levels[length - 1])
    _, starts = trie.contexts(length, nodes)
    return Level(length, own, adjusted[nodes.start - begin : nodes.stop - begin], starts, slice(None), types)


def count_occurrences(level: Level, smoothing: Smoothing, config: LmConfig) -> NDArray[np.int64]:
    """How many n-grams occur 1 .. most times."""
    counts = (level.adjusted if smoothing.counted == "adjusted" else level.count)[level.judged]
    most = smoothing.most(config)
    return np.bincount(counts[counts <= most], minlength=most + 1)[1:]


def slip(counts: NgramCounts, adjusted: NDArray[np.integer], length: int, most: int) -> NDArray[np.int64]:
    """What lmplz's slip changes of count_occurrences(): the last n-gram of a length, backwards, counts by its
    occurrences."""
    change = np.zeros(most + 1, np.int64)
    if length < counts.trie.order and len(adjusted):
        last = _last_backwards(counts.trie, length)
        for count, more in ((adjusted[last], -1), (counts.count[counts.trie.levels[length - 1] + last], 1)):
            change[count if count <= most else 0] += more
    return change[1:]


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


def _apply_discounts(counts: NDArray[np.integer], discounts: Discounts) -> Floats:
    """Each count less the discount of its size, the last of them for larger ones."""
    table = np.array([0.0, *discounts])
    return np.asarray(np.maximum(counts - table[np.minimum(counts, len(discounts))], 0), np.float64)


def _fall_back(length: int, config: LmConfig, why: str) -> Discounts:
    """The discounts that --discount-fallback has for an order; raises WvError without it."""
    if config.discount_fallback:
        return FALLBACK
    message = (
        f"the n-grams of order {length} give no discounts: {why}; the text is too small or repeats itself: "
        "give more, lower --order, or choose --discount-fallback or --smoothing witten-bell"
    )
    raise WvError(message)


def _modified_discounts(n: list[int], length: int, config: LmConfig) -> Discounts:
    """D1, D2 and D3+ of Chen & Goodman (1998)."""
    n1, n2, n3, n4 = n
    return discounts_of(n1, n2, n3, n4) or _fall_back(length, config, _why(n1, n2, n3, n4))


def discounts_of(n1: int, n2: int, n3: int, n4: int) -> tuple[float, ...] | None:
    """Of how many n-grams occur 1 to 4 times; None where one would be negative or more than the count."""
    if min(n1, n2, n3) == 0:
        return None
    y = n1 / (n1 + 2 * n2)
    found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    return found if all(0 <= each <= j for j, each in enumerate(found, 1)) else None


def _why(n1: int, n2: int, n3: int, n4: int) -> str:
    return f"{n1:,}, {n2:,}, {n3:,} and {n4:,} of them occur 1, 2, 3 and 4 times"


def _kneser_ney(level: Level, discounts: Discounts, config: LmConfig) -> Weights:
    return Weights(_apply_discounts(level.adjusted, discounts), level.sums(level.adjusted))


def _one(n: list[int], length: int, config: LmConfig) -> Discounts:
    n1, n2 = n
    if n1 and n2:
        return (n1 / (n1 + 2 * n2),)
    return _fall_back(length, config, f"{n1:,} and {n2:,} of them occur once and twice")


def _absolute(level: Level, discounts: Discounts, config: LmConfig) -> Weights:
    return Weights(_apply_discounts(level.count, discounts), level.sums(level.count))


def _good_turing(found: list[int], length: int, config: LmConfig) -> Discounts:
    """Counts r up to K become d_r r: d_r = (r* / r - A) / (1 - A), r* = (r + 1) n_(r+1) / n_r, A = (K + 1) n_(K+1) /
    n_1."""
    most = config.katz_max
    n = np.array([0, *found], np.float64)
    r = np.arange(1, most + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = (most + 1) * n[most + 1] / n[1]
        kept = ((r + 1) * n[r + 1] / n[r] / r - a) / (1 - a)
    if np.all((kept > 0) & (kept <= 1)):
        return tuple(float(each) for each in r * (1 - kept))
    shown = ", ".join(f"{int(each):,}" for each in found)
    return _fall_back(length, config, f"{shown} of them occur 1 to {most + 1} times")


def _katz(level: Level, discounts: Discounts, config: LmConfig) -> Weights:
    mass = np.where(level.count <= config.katz_max, _apply_discounts(level.count, discounts), level.count)
    return Weights(mass, level.sums(level.count))


def _witten_bell(level: Level, discounts: Discounts, config: LmConfig) -> Weights:
    return Weights(level.count.astype(np.float64), level.sums(level.count) + level.followers)


def _add_k(level: Level, discounts: Discounts, config: LmConfig) -> Weights:
    mass = np.where(level.count > 0, level.count + config.add_k, 0.0)
    return Weights(mass, level.sums(level.count) + config.add_k * level.types)


def _mle(level: Level, discounts: Discounts, config: LmConfig) -> Weights:
    return Weights(level.count.astype(np.float64), level.sums(level.count))


SMOOTHINGS: Registry[Smoothing] = Registry(
    "smoothing",
    [
        (
            "kneser-ney",
            Smoothing("modified Kneser-Ney, interpolated", _kneser_ney, True, _modified_discounts, counted="adjusted"),
        ),
        ("absolute", Smoothing("absolute discounting, interpolated", _absolute, True, _one, lambda _: 2)),
        (
            "katz",
            Smoothing(
                "Good-Turing discounts, backing off", _katz, False, _good_turing, lambda config: config.katz_max + 1
            ),
        ),
        ("witten-bell", Smoothing("Witten-Bell, interpolated", _witten_bell, True)),
        ("add-k", Smoothing("additive, backing off", _add_k, False)),
        ("mle", Smoothing("relative frequencies", _mle, False)),
    ],
)
