"""Moments of the rows of a file, and its rows transformed, block by block."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wv_cli.text.vocab import Vocab
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import Transform
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.streams import RowSource
from wv_cli.words import WordList


def moments_of(source: RowSource, vocab: Vocab | None = None, top: int | None = None) -> tuple[Moments, int]:
    """The moments of the distinct rows, and how many of them `vocab` does not list. Only the first `top` count (None:
    all). With `vocab` each row has the weight of its word's count, 0 for an unlisted word."""
    moments, unknown = Moments.none(source.dim), 0
    for block in source.distinct(top):
        weights = None
        if vocab is not None:
            weights = _counts(block.words, vocab)
            unknown += int(np.count_nonzero(weights == 0))
        moments = moments.with_rows(block.matrix, weights)
    return moments, unknown


def _counts(words: WordList, vocab: Vocab) -> NDArray[np.float64]:
    ids = vocab.words.find_all(words)
    return np.where(ids >= 0, vocab.counts[np.maximum(ids, 0)], 0).astype(np.float64)


class TransformedRows:
    """The distinct rows of a file, transformed. `count` is how many there are; `zero`, when they were read, how many of
    them became zero, which have no direction."""

    def __init__(self, source: RowSource, transform: Transform) -> None:
        source.look_for_repeated()  # a header says how many rows there are
        self.count, self.zero = source.rows - source.repeated_rows, 0
        self._source, self._transform = source, transform

    def __iter__(self) -> Iterator[Embeddings]:
        for block in self._source.distinct():
            result = self._transform.apply(block.matrix)
            self.zero += int(np.count_nonzero(~result.any(axis=1)))
            yield Embeddings(block.words, result)
