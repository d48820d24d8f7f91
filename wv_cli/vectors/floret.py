"""floret's table of hashed n-grams: a vector for any word, and no list of words.

A word in its marks (`<word>`) and each of its n-grams has the rows of `hashes` hashes, modulo the number of rows. The
vector of the word is the mean of all these rows (floret, dictionary.cc, Dictionary::computeSubwords; spaCy reads the
same tables). Not here: the file (wv_cli.vectors.formats.floret).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.vectors.murmur import murmur3_x64_128
from wv_cli.words import encode

_CHARACTER = re.compile(rb"[^\x80-\xbf][\x80-\xbf]*|^[\x80-\xbf]+")
_LONGEST = 1 << 16  # bytes of a word that is composed
MOST_HASHES = 4


@dataclass(frozen=True, eq=False)
class FloretTable:
    """`matrix` (rows, dim) float32. N-grams have `minn` to `maxn` characters; `hashes` (1 to 4) rows of each count.
    `begin` and `end` are the marks of a word."""

    matrix: NDArray[np.float32]
    minn: int
    maxn: int
    hashes: int
    seed: int
    begin: bytes = b"<"
    end: bytes = b">"

    def oov_vector(self, word: str | bytes, /) -> NDArray[np.float32] | None:
        """(dim,); None for the empty word and where the vector is zero. Raises WvError for a word of more than 65,536
        bytes."""
        text = encode(word) if isinstance(word, str) else word
        if not text:
            return None
        if len(text) > _LONGEST:
            message = f"expected a word of at most {_LONGEST:,} bytes for its n-grams, found one of {len(text):,}"
            raise WvError(message)
        rows = [row for part in self._parts(text) for row in self._rows(part)]
        vector: NDArray[np.float32] = self.matrix[rows].mean(axis=0, dtype=np.float64).astype(np.float32)
        return vector if vector.any() else None

    def _parts(self, word: bytes) -> Iterator[bytes]:
        """The marked word and its n-grams; a single character at an end of it, which is a mark, is none."""
        marked = self.begin + word + self.end
        yield marked
        bounds = [found.start() for found in _CHARACTER.finditer(marked)] + [len(marked)]
        last = len(bounds) - 1
        for first in range(last):
            for size in range(max(1, self.minn), min(self.maxn, last - first) + 1):
                if size > 1 or 0 < first < last - 1:
                    yield marked[bounds[first] : bounds[first + size]]

    def _rows(self, part: bytes) -> list[int]:
        first, second = murmur3_x64_128(part, self.seed)
        low = 0xFFFFFFFF
        values = (first & low, first >> 32, second & low, second >> 32)
        return [value % len(self.matrix) for value in values[: self.hashes]]
