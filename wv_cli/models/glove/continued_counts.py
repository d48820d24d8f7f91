"""Counts of earlier texts, as a state has them, among the words of a vocabulary that has grown."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, sort
from wv_cli.models.glove.state import GloveState, blocks
from wv_cli.words import WordList

Records = NDArray[Any]


class EarlierCounts:
    """Of a state's counts the `fraction` (0 to 1) that still counts. `ids` (words of the state,) are its words' rows
    among those of today, from 0; `largest` is the largest count of a pair."""

    def __init__(self, state: GloveState, words: WordList, fraction: float) -> None:
        """`words` are today's, all of the state's among them."""
        self.ids = words.find_all(state.vocab.words)
        self.largest = state.largest * fraction
        self._state, self._fraction = state, fraction

    def units(self, scale: int, memory: int) -> Iterator[Records]:
        """The counts as sorted runs of records, a quarter of `memory` bytes each, whose values are the next whole
        numbers (int64) to the counts times `scale`. Pairs of which no unit is left are gone."""
        ids = (self.ids + 1).astype(np.int32)
        for run in blocks(self._state.records, max(memory // (4 * RECORD.itemsize), 1024)):
            units = np.rint(run["value"] * (self._fraction * scale)).astype(np.int64)
            run["row"], run["column"] = ids[run["row"] - 1], ids[run["column"] - 1]
            run["value"].view(np.int64)[:] = units
            kept = run[units > 0]
            sort(kept)
            yield kept

    def digest(self, corpus: str) -> str:
        """Tells these counts with those of the text `corpus`, a digest, from others."""
        parts = f"{corpus} {self._state.digest} {self._fraction!r}"
        return hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()
