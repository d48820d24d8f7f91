"""Word classes: k-means over word vectors, as word2vec's -classes.

Spherical k-means with word2vec.c's choices: word i starts in class i mod k, ten rounds, a centroid is the normalised
mean of its words (its count starts at one), a word goes to the centroid with the largest dot product. Given the same
vectors the classes are the original's, but for rounding.
"""

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.vectors.embeddings import Embeddings

_ROUNDS = 10
_ROWS_AT_ONCE = 4096


def word_classes(embeddings: Embeddings, classes: int) -> NDArray[np.int64]:
    """Class of every word, 0 .. classes - 1. Raises UsageError unless 1 <= classes <= words."""
    words, vectors = len(embeddings), embeddings.matrix
    if not 1 <= classes <= words:
        message = f"--classes must be between 1 and the number of words, {words}, not {classes}"
        raise UsageError(message)
    assigned = np.arange(words) % classes
    for _ in range(_ROUNDS):
        centroids = np.zeros((classes, embeddings.dim), np.float64)
        np.add.at(centroids, assigned, vectors)
        centroids /= (np.bincount(assigned, minlength=classes) + 1)[:, None]
        lengths = np.linalg.norm(centroids, axis=1, keepdims=True)
        centroids /= np.where(lengths == 0, 1, lengths)
        for first in range(0, words, _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            assigned[rows] = np.argmax(vectors[rows] @ centroids.T, axis=1)
    return assigned
