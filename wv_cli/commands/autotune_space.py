"""The space of a search for a classifier's options, and steps in it.

A step is Gaussian and gets smaller as time goes by, as in fastText's autotune.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wv_cli.words import WordList

DSUBS = (2, 4, 8, 16)
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Number:
    """A numeric dimension of the search space. An option that moves between `low` and `high`, by octaves or, `linear`,
    by units: a standard deviation of `first` in the first quarter of the time, which falls to `last` in the half
    after it. It is a whole number or has `digits` significant ones, or as many `decimals`."""

    name: str
    low: float
    high: float
    first: float
    last: float
    linear: bool = False
    digits: int = 0
    decimals: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def take_step(self, values: Values, random: np.random.Generator, fraction: float) -> dict[str, Any]:
        """The option after a step from its value in `values`, when `fraction` of the time is used."""
        sigma = self.first - (self.first - self.last) / 0.5 * min(0.5, max(fraction - 0.25, 0.0))
        draw, value = random.normal(0, sigma), values[self.name]
        moved = value + draw if self.linear else value * 2.0 ** min(max(draw, -60), 60)
        moved = min(max(moved, self.low), self.high)
        if self.digits:
            return {self.name: float(f"{moved:.{self.digits}g}")}
        return {self.name: round(float(moved), self.decimals) if self.decimals else round(moved)}


@dataclass(frozen=True)
class Choice:
    """A categorical dimension of the search space. Options that are chosen together: `rows` are their values,
    neighbors alike, and a step is one of Number's."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    first: float
    last: float

    def take_step(self, values: Values, random: np.random.Generator, fraction: float) -> dict[str, Any]:
        """See Number.take_step; values that are no row count as the first."""
        now = tuple(values[name] for name in self.names)
        at = self.rows.index(now) if now in self.rows else 0
        step = Number("row", 0, len(self.rows) - 1, self.first, self.last, linear=True)
        return dict(zip(self.names, self.rows[step.take_step({"row": at}, random, fraction)["row"]], strict=True))


Space = tuple[Number | Choice, ...]


def count_ngrams(words: WordList, tokens: int, maxn: int, word_ngrams: int) -> int:
    """At most how many different n-grams a text of so many `tokens` has: those of 2 to `maxn` characters of each of the
    different `words`, and those of 2 to `word_ngrams` words at each token."""
    lengths = np.diff(words.starts) + 2  # with < and >; bytes, of which characters have one or more
    return int(lengths.sum()) * max(0, maxn - 1) + tokens * (word_ngrams - 1)


def propose_options(
    space: Space, values: Values, given: Collection[str], random: np.random.Generator, fraction: float
) -> dict[str, Any]:
    """The options of `space` after a step of each, but for those `given`."""
    drawn = [(move, move.take_step(values, random, fraction)) for move in space]
    kept = [new for move, new in drawn if not set(move.names) & set(given)]
    return {name: value for new in kept for name, value in new.items()}


# Ranges and steps are fastText's, which knows no dropout. There are never more buckets than n-grams in the text, where
# fastText may choose 10,000,000 for 300 lines. The random numbers are drawn in this order.
FEWEST_BUCKETS = 10_000
SPACE: Space = (
    Choice(("minn", "maxn"), ((0, 0), (2, 5), (3, 6)), 4.0, 1.4),
    Number("epochs", 1, 100, 2.8, 2.5),
    Number("lr", 0.01, 5, 1.9, 1.0, digits=6),
    Number("dim", 1, 1000, 1.4, 0.3),
    Number("word_ngrams", 1, 5, 4.3, 2.4, linear=True),
    Number("buckets", FEWEST_BUCKETS, 10_000_000, 2.0, 1.5),
    Choice(("dsub",), tuple((dsub,) for dsub in DSUBS), 2.0, 1.0),
    Number("dropout", 0, 0.9, 0.4, 0.2, linear=True, decimals=2),
)
