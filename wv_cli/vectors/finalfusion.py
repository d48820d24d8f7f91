"""Subword units of finalfusion: how a word that is not listed gets a vector there.

The word stands between < and >, and its vector is the sum of the rows of all its n-grams of `minn` to `maxn`
characters, made of unit length. A row is found by a hash, finalfusion's or fastText's, or in a list of n-grams. Not
here: files (wv_cli.formats.finalfusion).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords
from wv_cli.vectors.fasttext import Matrix
from wv_cli.vectors.quantizer import CENTROIDS
from wv_cli.words import WordList, decode

Indexer = Callable[[str], int | None]  # the number of an n-gram behind the words' rows; None: it has none

_FNV_START, _FNV_PRIME, _ALL_BITS = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


def by_hash(exponent: int) -> Indexer:
    """finalfusion's: FNV-1a of the number of characters (8 bytes, little-endian) and of the characters (4 bytes each),
    its last `exponent` bits."""

    return partial(_hashed, exponent)


def by_fasttext_hash(buckets: int) -> Indexer:
    """fastText's hash of the bytes, modulo `buckets`."""
    return partial(_hashed_as_fasttext, buckets)


def _hashed(exponent: int, ngram: str) -> int:
    value = _FNV_START
    for byte in len(ngram).to_bytes(8, "little") + ngram.encode("utf-32-le", "surrogatepass"):
        value = ((value ^ byte) * _FNV_PRIME) & _ALL_BITS
    return value & ((1 << exponent) - 1)


def _hashed_as_fasttext(buckets: int, ngram: str) -> int:
    return _subwords.word_hash(ngram.encode("utf-8", "surrogateescape")) % buckets


def index_names(numbers: Mapping[str, int]) -> Indexer:
    return numbers.get


@dataclass(frozen=True, eq=False)
class FinalfusionSubwords:
    """A vectors.oov.Subwords. `rows` are the words' and behind them those of n-grams."""

    words: WordList
    minn: int
    maxn: int
    indexer: Indexer
    rows: Matrix

    def ngrams(self, word: str) -> Iterator[str]:
        """All of a word between < and >, one that stands twice as often."""
        text = f"<{word}>"
        for length in range(self.minn, min(self.maxn, len(text)) + 1):
            for first in range(len(text) - length + 1):
                yield text[first : first + length]

    def oov_vector(self, word: str | bytes) -> NDArray[np.float32] | None:
        if self.words.find(word) >= 0:
            return None
        numbers = map(self.indexer, self.ngrams(word if isinstance(word, str) else decode(word)))
        found = np.array([number for number in numbers if number is not None], np.int64)
        total = self.rows.take(found + len(self.words)).sum(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(total))
        return (total / length).astype(np.float32) if length else None


@dataclass(frozen=True, eq=False)
class QuantizedRows:
    """A vectors.fasttext.Matrix: row i is the centroids (blocks, centroids, size) that codes[i] (n, blocks) name, end
    to end, times the transposed `projection` (dim, dim), times norms[i]; either may be None."""

    codes: NDArray[np.uint8]
    centroids: NDArray[np.float32]
    projection: NDArray[np.float32] | None
    norms: NDArray[np.float32] | None

    def __post_init__(self) -> None:
        assert self.centroids.shape[1] <= CENTROIDS, "a code is a byte"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.codes), self.centroids.shape[0] * self.centroids.shape[2]

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        blocks = self.centroids[np.arange(self.centroids.shape[0]), self.codes[rows]]
        values = blocks.reshape(len(rows), self.shape[1])
        if self.projection is not None:
            values = values @ self.projection.T
        return values if self.norms is None else values * self.norms[rows][:, None]
