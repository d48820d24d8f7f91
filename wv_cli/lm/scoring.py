"""What a model says of texts: the probability of each word, and what they come to.

A line is a sentence; its words and its end are the events. A word that the model does not list is <unk>, out of
vocabulary (OOV). Numbers stand in buffers, of which NumPy makes arrays where it is needed: importing it takes longer
than many a text.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from wv_cli import _encoder, _sentences
from wv_cli.io.mapped import map_pages
from wv_cli.lm.asking import UNKNOWN, LanguageModel
from wv_cli.lm.kenlm import KenlmModel
from wv_cli.lm.packed_model import PackedModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.words import WordList

Numbers: TypeAlias = "memoryview[Any]"
_SPECIAL = b"<unk> <s> </s>\n"  # in the order of their ids


@dataclass(frozen=True, eq=False)
class Scored:
    """Events of a text in their order: `ids` (n,) int32, -1 for the end of a sentence, UNKNOWN for words that are not
    in the model; `scores` float32, log10 p; `lengths` uint8, words of the n-gram that was found. `spelled` are the ids
    of all words, others than the model's too, for Scorer.words."""

    ids: Numbers
    spelled: Numbers
    scores: Numbers
    lengths: Numbers

    @property
    def oov(self) -> "NDArray[np.bool_]":
        import numpy as np

        return np.asarray(np.asarray(self.ids) == UNKNOWN)

    def sentences(self) -> Iterator[slice]:
        """The events of each sentence that ends here."""
        begin = 0
        for end in _sentences.ends(self.ids):
            yield slice(begin, end)
            begin = end

    def totals(self) -> tuple[list[float], list[int]]:
        """(log10 p, OOV words) of each sentence. The sums are those of math.fsum, digit for digit."""
        return _sentences.totals(self.ids, self.scores, UNKNOWN)


class Scorer:
    """Scores a text as it comes: whole sentences, as soon as they end. `ends`: they begin in <s> and end in </s>, which
    in the text are words as others, as to KenLM. A KenLM file is asked by the hashes of words."""

    def __init__(self, model: LanguageModel, *, ends: bool = True) -> None:
        self._model, self._ends = model, ends
        self._asked: Any = model.scorer  # its states are its own affair
        self._encoder = _encoder.Encoder(every_line=True)
        self._mapped: Any = None  # the file, as long as not all its pages are mapped
        self._places = 0  # of it that were read, about
        if isinstance(model, KenlmModel):
            self._encoder.feed(_SPECIAL)
            self._encoder.take_stream()
            self._mapped = model.contents
        elif isinstance(model, PackedModel):
            self._encoder.add_words(*model.spellings)
            self._mapped = model.bits
        else:
            self._encoder.add_words(model.words.blob, model.words.starts)
        self._ids = array("i", range(self._encoder.words))  # the model's, by the encoder's
        self._carry = b""

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

    def words(self) -> "WordList":
        """All words met and those of the model, by the ids of Scored.spelled."""
        from wv_cli.words import WordList

        blob, starts, _ = self._encoder.vocabulary()
        return WordList(blob, starts)

    def _score(self) -> Scored:
        stream = memoryview(self._encoder.take_stream())
        if self._carry:
            stream = memoryview(self._carry + stream.tobytes()).cast("i")
        end = _sentences.last_end(stream)
        spelled, self._carry = stream[:end], stream[end:].tobytes()
        if isinstance(self._model, KenlmModel) and self._encoder.words > len(self._ids):
            found = self._asked.find(*self._encoder.words_from(len(self._ids)))
            self._ids.frombytes(found.tobytes())
        ids = _sentences.exchange(spelled, self._ids, UNKNOWN)
        if isinstance(self._mapped, memoryview):
            self._places += len(ids) * self._model.order
            if map_pages(self._mapped, self._places):
                self._mapped = None
        scores, lengths, _ = self._asked.score(ids, self._asked.begin(self._ends), self._ends)
        return Scored(ids, spelled, scores, lengths)
