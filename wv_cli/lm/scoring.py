"""What a model says of texts: the probability of each word, and what they come to.

A line is a sentence; its words and its end are the events. A word that the model does not list is <unk>, out of
vocabulary (OOV).
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.lm.asking import LanguageModel
from wv_cli.lm.kenlm import KenlmModel
from wv_cli.lm.vocabulary import SPECIAL, UNKNOWN, new_encoder
from wv_cli.words import WordList

Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Scored:
    """Events of a text in their order: `ids` (n,) int32, -1 for the end of a sentence, UNKNOWN for words that are not
    in the model; `scores` log10 p; `lengths` words of the n-gram that was found. `spelled` are the ids of all words,
    others than the model's too, for Scorer.words."""

    ids: NDArray[np.int32]
    spelled: NDArray[np.int32]
    scores: NDArray[np.float32]
    lengths: NDArray[np.uint8]

    @cached_property
    def oov(self) -> NDArray[np.bool_]:
        return np.asarray(self.ids == UNKNOWN)

    def sentences(self) -> Iterator[slice]:
        """The events of each sentence that ends here."""
        begin = 0
        for end in (np.flatnonzero(self.ids < 0) + 1).tolist():
            yield slice(begin, end)
            begin = end

    def totals(self) -> tuple[list[float], list[int]]:
        """(log10 p, OOV words) of each sentence. The sums are those of math.fsum, digit for digit."""
        ends = np.flatnonzero(self.ids < 0) + 1
        if not len(ends):
            return [], []
        starts = np.append(0, ends[:-1])
        wide = self.scores.astype(np.float64)
        sums, sizes = np.add.reduceat(wide, starts) + 0.0, np.abs(wide)
        # float64 adds float32 numbers without rounding while the sum stays below 2^29 times the smallest of them.
        smallest = np.minimum.reduceat(np.where(sizes > 0, sizes, np.inf), starts)
        for i in np.flatnonzero(np.add.reduceat(sizes, starts) > smallest * 2.0**28).tolist():
            sums[i] = math.fsum(wide[starts[i] : ends[i]].tolist())
        return sums.tolist(), np.add.reduceat(self.oov, starts, dtype=np.int64).tolist()


class Scorer:
    """Scores a text as it comes: whole sentences, as soon as they end. `ends`: they begin in <s> and end in </s>, which
    in the text are words as others, as to KenLM. A KenLM file is asked by the hashes of words."""

    def __init__(self, model: LanguageModel, *, ends: bool = True) -> None:
        self._model, self._ends = model, ends
        self._asked: Any = model.scorer  # its states are its own affair
        self._encoder = new_encoder(SPECIAL if isinstance(model, KenlmModel) else model.words)
        self._ids = np.arange(len(SPECIAL), dtype=np.int32)  # of a KenLM file, by the encoder's
        self._carry = np.empty(0, np.int32)

    def read(self, text: Iterable[bytes]) -> Iterator[Scored]:
        """A text in chunks, cut anywhere. Raises what reading it raises."""
        for chunk in text:
            yield self.score(chunk)
        self._encoder.finish()
        yield self._score()

    def score(self, chunk: bytes) -> Scored:
        """The same of the next chunk of a text: the sentences that end in it."""
        self._encoder.feed(chunk)
        return self._score()

    def words(self) -> WordList:
        """All words met and those of the model, by the ids of Scored.spelled."""
        blob, starts, _ = self._encoder.vocabulary()
        return WordList(blob, starts)

    def _score(self) -> Scored:
        stream = np.concatenate([self._carry, np.frombuffer(memoryview(self._encoder.take_stream()), np.int32)])
        ends = np.flatnonzero(stream < 0)
        whole = int(ends[-1]) + 1 if len(ends) else 0
        spelled, self._carry = stream[:whole], stream[whole:]
        ids = self._ids_of(spelled)
        scores, lengths, _ = self._asked.score(ids, self._asked.begin(self._ends), self._ends)
        return Scored(ids, spelled, scores, lengths)

    def _ids_of(self, spelled: Ids) -> Ids:
        """The model's ids for the encoder's."""
        if isinstance(self._model, KenlmModel):
            if spelled.max(initial=0) >= len(self._ids):
                self._ids = np.append(self._ids, self._model.find(self.words()[len(self._ids) :]))
            return np.where(spelled < 0, spelled, self._ids[spelled])
        return np.where(spelled < len(self._model.words), spelled, np.int32(UNKNOWN))
