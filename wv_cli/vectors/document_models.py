"""Models whose vectors are those of whole texts: what they are in memory, and the vectors they give to lines.

A text is a sequence of the model's words; others are left out, as they were when the model was trained. Not here:
training (wv_cli.models), files (wv_cli.formats.document_models).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords
from wv_cli.vectors.fasttext import tokens_of
from wv_cli.words import WordList, decode, encode

Ids = NDArray[np.int64]


class TextModel(Protocol):
    """`of_ids` gives texts, each the numbers of its words, their vectors (texts, dim) float32; zero for a text without
    a word. With `lowercase` the model's words were lowercased, and so are lines."""

    @property
    def words(self) -> WordList: ...
    @property
    def lowercase(self) -> bool: ...
    @property
    def dim(self) -> int: ...
    @property
    def word_vectors(self) -> NDArray[np.float32]:
        """(words, dim)."""
        ...

    def of_ids(self, texts: Sequence[Ids], /) -> NDArray[np.float32]: ...


def line_vectors(model: TextModel, lines: Sequence[str]) -> NDArray[np.float32]:
    """(lines, dim): the vectors of lines whose words are parted by white space."""
    return model.of_ids([ids_of(model, line) for line in lines])


def ids_of(model: TextModel, line: str) -> Ids:
    """The words of a line that the model has."""
    tokens = list(tokens_of(line))
    if model.lowercase:
        tokens = [encode(decode(token).lower()) for token in tokens]
    ids = model.words.find_all(WordList.of(tokens))
    return ids[ids >= 0]


@dataclass(frozen=True, eq=False)
class Sent2vecModel:
    """A text's vector is the mean of the rows of its words and of their n-grams of up to `word_ngrams` words.

    `rows` is (words + len(kept), dim) float32: the words', then those of the buckets `kept` (int32, ascending, below
    `buckets`). An n-gram whose bucket has no row is left out."""

    words: WordList
    lowercase: bool
    word_ngrams: int
    buckets: int
    kept: NDArray[np.int32]
    rows: NDArray[np.float32]

    @property
    def dim(self) -> int:
        return int(self.rows.shape[1])

    @property
    def word_vectors(self) -> NDArray[np.float32]:
        """(words, dim)."""
        return self.rows[: len(self.words)]

    @cached_property
    def _hashes(self) -> NDArray[np.uint32]:
        return _subwords.word_hashes(self.words.blob, self.words.starts)

    def of_ids(self, texts: Sequence[Ids]) -> NDArray[np.float32]:
        """See TextModel."""
        groups = [self._rows_of(ids) for ids in texts]
        starts = np.zeros(len(groups) + 1, np.int64)
        np.cumsum([len(rows) for rows in groups], out=starts[1:])
        out = np.empty((len(groups), self.dim), np.float32)
        numbers = np.concatenate(groups) if groups else np.empty(0, np.int64)
        _subwords.mean_rows(self.rows.view(np.uint8), starts, numbers, out)
        return out

    def _rows_of(self, ids: Ids) -> Ids:
        if self.word_ngrams <= 1 or not len(self.kept) or len(ids) < 2:
            return ids
        buckets = _subwords.line_ngrams(self._hashes[ids], self.word_ngrams, self.buckets)
        place = np.searchsorted(self.kept, buckets).clip(max=len(self.kept) - 1)
        found = place[self.kept[place] == buckets]
        return np.concatenate([ids, len(self.words) + found])
