"""BM25: an inverted index of tokens, and the documents of highest score for a query.

    score(query, D) = sum over every token of the query: idf(t) tf(t, D)       B = 1 - b + b |D| / mean |D|

    variant      idf                            tf
    lucene       ln(1 + (N - n + .5)/(n + .5))  f / (f + k1 B)
    robertson    ln((N - n + .5)/(n + .5))      f / (f + k1 B); an idf below 0 counts 0
    atire        ln(N / n)                      f (k1 + 1) / (f + k1 B)
    bm25l        ln((N + 1)/(n + .5))           (k1 + 1)(c + delta) / (k1 + c + delta) with c = f / B
    bm25+        ln((N + 1)/n)                  delta + f (k1 + 1) / (f + k1 B)

N documents, n of them with the token; f is its count in D, |D| the tokens of D. (Kamphuis et al. 2020.) With bm25l and
bm25+ documents without a token have a score too, the same for all: the index keeps it apart from the differences.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wv_cli.vectors.neighbors.topk import best_rows
from wv_cli.vectors.stored_index import K1, B

Floats = NDArray[np.float64]
Variant = Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]


@dataclass(frozen=True)
class Bm25Options:
    variant: Variant = "lucene"
    k1: float = K1
    b: float = B
    delta: float = 0.5


@dataclass(frozen=True, eq=False)
class Bm25:
    """An index in memory, of any variant; that of a file is wv_cli.vectors.stored_index. Of n documents, token t stands
    in documents[starts[t]:starts[t + 1]], ascending, which it gives weights[starts[t]:starts[t + 1]] beyond base[t],
    the score of a document without it."""

    tokens: dict[str, int]
    starts: NDArray[np.int64]
    documents: NDArray[np.int32]
    weights: Floats
    base: Floats
    n: int

    @classmethod
    def build(cls, counts: "Counts", options: Bm25Options | None = None) -> "Bm25":
        options = options or Bm25Options()
        n = len(counts.lengths)
        holding = np.diff(counts.starts)
        idf = inverse_frequency(options.variant, n, holding.astype(np.float64))
        penalty = length_penalty(options, counts.lengths, counts.lengths.mean() if n else 0.0)
        tf, absent = term_frequency(options, counts.found, penalty[counts.documents])
        weights = (tf - absent) * np.repeat(idf, holding)
        return cls(counts.tokens, counts.starts, counts.documents, weights, idf * absent, n)

    def scores(self, query: Iterable[str]) -> Floats:
        """(n,): the score of every document; 0 for a query without a known token."""
        sums, base, _ = self._sums(query)
        return sums + base

    def top(self, query: Iterable[str], k: int) -> tuple[NDArray[np.int32], Floats]:
        """(rows, scores) of the k best documents, best first, ties to the lowest row. Documents that share no token
        of weight with the query are no answers."""
        sums, base, known = self._sums(query)
        rows = best_rows(sums, np.flatnonzero(sums > 0), k) if known else np.zeros(0, np.int64)
        return rows.astype(np.int32), sums[rows] + base

    def _sums(self, query: Iterable[str]) -> tuple[Floats, float, bool]:
        """(the scores beyond `base`, `base`, whether a token is known)."""
        counts = Counter(self.tokens[token] for token in query if token in self.tokens)
        sums, base = np.zeros(self.n), 0.0
        for t in sorted(counts, key=lambda t: self.starts[t + 1] - self.starts[t]):  # as core/bm25.c
            place = slice(self.starts[t], self.starts[t + 1])
            sums[self.documents[place]] += self.weights[place] * counts[t]  # a document stands once in a token's list
            base += float(self.base[t]) * counts[t]
        return sums, base, bool(counts)


@dataclass(frozen=True, eq=False)
class Counts:
    """Token t stands found[i] times in documents[i], i from starts[t]; `lengths` are the documents' tokens."""

    tokens: dict[str, int]
    starts: NDArray[np.int64]
    documents: NDArray[np.int32]
    found: NDArray[np.int64]
    lengths: Floats

    @classmethod
    def count(cls, texts: Iterable[Sequence[str]]) -> "Counts":
        """Of the documents' tokens, which are read once."""
        tokens: dict[str, int] = {}
        rows = [np.array([tokens.setdefault(token, len(tokens)) for token in text], np.int64) for text in texts]
        lengths = np.array([len(row) for row in rows], np.int64)
        n = max(1, len(rows))
        keys = np.concatenate([np.zeros(0, np.int64), *rows]) * n + np.repeat(np.arange(len(rows)), lengths)
        keys, found = np.unique(keys, return_counts=True)
        starts = np.searchsorted(keys, np.arange(len(tokens) + 1) * n)
        return cls(tokens, starts, (keys % n).astype(np.int32), found, lengths.astype(np.float64))


def length_penalty(options: Bm25Options, lengths: NDArray[Any], mean: float) -> Floats:
    """B of documents with these numbers of tokens, `mean` on average."""
    penalty: Floats = 1 - options.b + options.b / (mean or 1.0) * lengths
    return penalty


def term_frequency(options: Bm25Options, found: NDArray[Any], penalty: Floats) -> tuple[Floats, float]:
    """(tf of a token that stands `found` times in documents of this length penalty, tf where it does not stand)."""
    f, k1, delta = found.astype(np.float64), options.k1, options.delta
    if options.variant == "bm25l":
        c = f / penalty + delta
        return (k1 + 1) * c / (k1 + c), (k1 + 1) * delta / (k1 + delta) if delta else 0.0
    if options.variant == "bm25+":
        return delta + f * (k1 + 1) / (f + k1 * penalty), delta
    return f / (f + k1 * penalty) * (k1 + 1 if options.variant == "atire" else 1.0), 0.0


def inverse_frequency(variant: str, n: int, holding: Floats) -> Floats:
    """`holding` (tokens,): the documents that hold each token, 1 at least."""
    if variant in ("lucene", "robertson"):
        odds = (n - holding + 0.5) / (holding + 0.5)
        return np.log1p(odds) if variant == "lucene" else np.log(np.maximum(odds, 1.0))
    if variant == "atire":
        return np.log(n / holding)
    return np.log((n + 1) / (holding + (0.5 if variant == "bm25l" else 0.0)))
