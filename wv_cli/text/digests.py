"""Texts known again by 8 bytes: a set of digests.

Of n different texts about n^2 / 2^65 are taken for another, none of ten million. The digests stand in a few sorted
arrays, each at least twice as long as the next. A text costs 8 bytes, and as much again while two arrays become one.
"""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Digests = NDArray[np.uint64]


def digests(texts: Iterable[bytes]) -> Digests:
    """(n,) 8 bytes of the BLAKE2b digest of each text."""
    return read_digests(b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts))


def read_digests(octets: bytes) -> Digests:
    """(n,) the digests in 8 bytes each, little-endian."""
    return np.frombuffer(octets, "<u8").astype(np.uint64)


class DigestSet:
    """Digests that were seen."""

    def __init__(self) -> None:
        self._levels: list[Digests] = []

    @property
    def memory(self) -> int:
        """Bytes that the digests take."""
        return sum(level.nbytes for level in self._levels)

    def first_seen(self, digests: Digests) -> NDArray[np.bool_]:
        """(n,) whether each digest is seen for the first time; they are seen from now on."""
        values, first = np.unique(digests, return_index=True)
        unseen = np.ones(len(values), np.bool_)
        for level in self._levels:
            places = np.minimum(np.searchsorted(level, values), len(level) - 1)
            unseen &= level[places] != values
        new = np.zeros(len(digests), np.bool_)
        new[first[unseen]] = True
        if unseen.any():
            self._levels.append(values[unseen])
        while len(self._levels) > 1 and len(self._levels[-2]) < 2 * len(self._levels[-1]):
            last = self._levels.pop()
            merged = np.concatenate([self._levels.pop(), last])
            merged.sort(kind="stable")
            self._levels.append(merged)
        return new
