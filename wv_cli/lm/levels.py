"""A model of n-grams put together from a list of the n-grams of each length, in any order, as files list them."""

import numpy as np
from numpy.typing import NDArray

from wv_cli import _arpa
from wv_cli.errors import BadFile
from wv_cli.lm.model import NgramModel
from wv_cli.lm.trie import Trie, link
from wv_cli.words import WordList

Ids = NDArray[np.int32]
Floats = NDArray[np.float32]


class Levels:
    """`prob` and `backoff` (words,) are those of the single words, by their ids."""

    def __init__(self, prob: Floats, backoff: Floats) -> None:
        self._tables: list[Ids] = [np.arange(len(prob), dtype=np.int32)[:, None]]
        self._firsts: list[NDArray[np.int64]] = []
        self._probs, self._backoffs = [prob], [backoff]

    def add(self, rows: Ids, prob: Floats, backoff: Floats) -> tuple[Ids, Ids, int]:
        """Adds the n-grams of the next length, `rows` (n, length). Returns their order by ids, for each in that order
        the n-gram of all its words but the last (negative: not listed), and the place in it of one that is listed
        twice (negative: none)."""
        order = _arpa.ascending(rows, len(self._probs[0]))
        ordered = rows[order]
        parents, twice = _arpa.parents(self._tables[-1], ordered)
        self._firsts.append(np.searchsorted(parents, np.arange(len(self._tables[-1]))))
        self._tables.append(ordered)
        self._probs.append(prob[order])
        self._backoffs.append(backoff[order])
        return order, parents, twice

    def model(self, words: WordList, name: str) -> NgramModel:
        """The model, whose longest n-grams were added last. Raises BadFile, about `name`, for too many n-grams."""
        bounds = np.cumsum([0, *map(len, self._tables)])
        if bounds[-1] >= 2**31:
            raise BadFile(name, f"{bounds[-1]:,} n-grams are more than 2^31, which wv cannot keep")
        word = np.concatenate([table[:, -1] for table in self._tables])
        shifted = [first + bounds[length] for length, first in enumerate(self._firsts, 1)]
        first = np.concatenate([*shifted, bounds[-1:]]).astype(np.int32)
        trie = Trie(words, bounds, word, first, link(bounds, word, first)[0])
        backoff = np.concatenate([np.empty(0, np.float32), *self._backoffs[:-1]])
        return NgramModel(trie, np.concatenate(self._probs), backoff)
