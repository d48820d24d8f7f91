"""Spherical k-means: rows of similar direction in one class. Who uses it says how it starts and what becomes of a class
without rows: word_classes here, hashing/biohash.py for its units.

The k-means of product quantization is another one, of Euclidean distances, and is in C (csrc/kernels/product.c).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wv_cli import _hashing, _search
from wv_cli.errors import UsageError
from wv_cli.io.memory import allocate_aligned
from wv_cli.io.threads import run_all
from wv_cli.vectors.embeddings import Embeddings

_ROUNDS = 10
_BLOCK_ROWS = 4096
_SUMMED_ROWS = 1 << 16

Owner = NDArray[np.int64]  # (rows,): the class of each row


def spherical_kmeans(
    owner: Owner, rounds: int, centers_of: Callable[[Owner], NDArray[np.floating]], assign: Callable[..., Owner]
) -> Owner:
    """At most `rounds` of: centers_of(owner) moves the centers to their rows, assign(centers) gives every row to the
    center of highest inner product. Stops early when no row changes its class, after which nothing would."""
    for _ in range(rounds):
        before, owner = owner, assign(centers_of(owner))
        if np.array_equal(before, owner):
            break
    return owner


def sums_of_classes(
    x: NDArray[np.float32], owner: Owner, classes: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """((classes, dim) sums of each class's rows, in float64, (classes,) how many they are); zero for empty classes."""
    order, counts = np.argsort(owner, kind="stable"), np.bincount(owner, minlength=classes)
    sums, filled = np.zeros((classes, x.shape[1])), np.flatnonzero(counts)
    starts, first = np.append(0, np.cumsum(counts[filled])), 0
    while first < len(filled):  # whole classes at a time: their rows are copied side by side
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + _SUMMED_ROWS, side="right")) - 1)
        rows = x[order[starts[first] : starts[last]]]
        begins = starts[first:last] - starts[first]
        sums[filled[first:last]] = np.add.reduceat(rows, begins, axis=0, dtype=np.float64)
        first = last
    return sums, counts


def nearest(x: NDArray[np.float32], centers: NDArray[np.float32], threads: int = 1, isa: str | None = None) -> Owner:
    """The center of highest inner product with each row, in float32, the lowest of equal ones."""
    lanes = _search.lanes(isa)
    panels = allocate_aligned((-(-len(centers) // lanes), x.shape[1], lanes))
    _search.pack(centers, panels, isa)
    kernel = _hashing.LinearHash(panels, len(centers), 1, np.zeros(len(centers), np.float32), isa)
    owner = np.empty((len(x), 1), np.int32)

    def work(start: int) -> None:
        scratch = allocate_aligned((kernel.scratch_bytes,), np.uint8)
        rows = slice(start, start + _BLOCK_ROWS)
        kernel.active(x[rows], owner[rows], scratch)

    run_all(work, range(0, len(x), _BLOCK_ROWS), threads)
    return owner[:, 0].astype(np.int64)


def require_classes(classes: int, words: int) -> None:
    """Raises UsageError for more classes than words, or none."""
    if not 1 <= classes <= words:
        message = f"--classes must be between 1 and the number of words, {words}, not {classes}"
        raise UsageError(message)


def word_classes(embeddings: Embeddings, classes: int) -> Owner:
    """Class of every word, 0 .. classes - 1, as word2vec's -classes: word i starts in class i mod k, ten rounds, a
    centroid is the normalized mean of its words (its count starts at one), inner products in float64. Given the same
    vectors the classes are the original's, but for rounding.

    Raises UsageError unless 1 <= classes <= words."""
    words, vectors = len(embeddings), embeddings.matrix
    require_classes(classes, words)

    def centroids_of(owner: Owner) -> NDArray[np.float64]:
        sums, counts = sums_of_classes(vectors, owner, classes)
        centroids = sums / (counts + 1)[:, None]
        lengths = np.linalg.norm(centroids, axis=1, keepdims=True)
        return centroids / np.where(lengths == 0, 1, lengths)

    def assign(centroids: NDArray[np.float64]) -> Owner:
        owner = np.empty(words, np.int64)
        for first in range(0, words, _BLOCK_ROWS):
            rows = slice(first, first + _BLOCK_ROWS)
            owner[rows] = np.argmax(vectors[rows] @ centroids.T, axis=1)
        return owner

    return spherical_kmeans(np.arange(words) % classes, _ROUNDS, centroids_of, assign)
