"""Pairs of words joined in a text that has been read: its ids, its words and their counts, kept in step.

Which pairs are joined is for others to say: wv_cli.text.phrase_finding finds them, wv_cli.text.saved_phrases has kept
them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder, _phrases
from wv_cli.io.spill import Spool
from wv_cli.io.threads import in_order, run_all
from wv_cli.text.id_stream import IdStream
from wv_cli.text.vocab import Tally
from wv_cli.words import WordList, encode

Counts = NDArray[np.int64]
_RENDERED = 1 << 16  # ids that a thread makes text of at once
_LEAST_TABLE = 1 << 26  # bytes for pairs: several smaller tables would take more walks than threads save


class JoinedIds:
    """The ids that read_ids has put into `encoder` or `spool`, from which they are taken. `words` and `counts` are by
    provisional id; a word of which nothing is left has the count 0. `threads` count pairs and make text."""

    def __init__(self, encoder: _encoder.Encoder, spool: Spool, threads: int = 1) -> None:
        self._encoder, self._threads = encoder, threads
        self.stream = IdStream(encoder, spool)
        blob, starts, self.counts = encoder.vocabulary()
        self.words = WordList(blob, starts)
        self.lines, self.tokens_read = encoder.lines, encoder.tokens
        self._chains = self._new_chains(np.empty(0, np.int64))

    def renumber(self, whole: Tally) -> None:
        """Gives the words of this part the ids that they have in the `whole` text, whose counts are then known here."""
        self._encoder = _encoder.Encoder()
        self._encoder.add_words(whole.words.blob, whole.words.starts)
        self.stream.renumber(np.asarray(self._encoder.add_words(self.words.blob, self.words.starts)))
        self.words, self.counts = whole.words, whole.counts
        self.lines, self.tokens_read = whole.lines, whole.tokens_read
        self._chains = self._new_chains(np.empty(0, np.int64))

    def pairs(
        self,
        bounds: NDArray[np.float32],
        least: int,
        memory: int,
        *,
        across_lines: bool = False,
        connectors: Sequence[str] = (),
    ) -> "Iterator[Pairs]":
        """(first words, second words, counts) of the pairs of neighbors that PairCounts counts within `bounds` (words,
        2) and that are seen `least` times. Counts take `memory` bytes, in as many walks as that needs. `connectors`
        are in no pair but may stand between its words; `last_words` and `middles` take such second words apart."""
        self._chains = self._new_chains(self.words.find_all(WordList.from_words(connectors)))
        # Chains get their ids as they are met: one thread counts over connectors.
        most = max(memory // _LEAST_TABLE, 1).bit_length() - 1
        bits = 0 if connectors else min((self._threads - 1).bit_length(), most)
        tables = [
            _phrases.PairCounts(bounds, memory >> bits, self._chains, part=part, bits=bits) for part in range(1 << bits)
        ]

        def walk(table: _phrases.PairCounts) -> None:
            for block in self.stream.blocks():
                table.add(block[block >= 0] if across_lines else block)

        while tables:
            run_all(walk, tables, self._threads)
            self._steps = self._chains.steps()
            for table in tables:
                yield from table.selected(least)
            tables = [table for table in tables if table.next_part()]

    def last_words(self, second: Counts) -> Counts:
        """The ids of the last words of what `pairs` has given as second words."""
        last = second.copy()
        chains = second >= self._before
        last[chains] = self._steps[second[chains] - self._before, 1]
        return last

    def middles(self, second: Counts) -> WordList:
        """The connectors before the last words, blanks between them."""
        found = []
        for chain in second.tolist():
            ids, left = [], chain
            while left >= self._before:
                left, last = self._steps[left - self._before].tolist()
                ids.append(last)
            found.append(b" ".join(self.words.bytes_at(each) for each in [left, *ids[::-1]][:-1]))
        return WordList.from_words(found)

    def join(self, first: Counts, second: Counts, phrases: WordList) -> int:
        """Makes the phrase of the same place of each pair (first, second) of ids, in one walk from the left: the right
        word of a joined pair does not begin another. Returns how many were joined."""
        if not len(phrases):
            return 0
        ids = self._ids(phrases)
        joiner = _phrases.Joiner(first, second, ids, self.counts, self._chains)
        self.stream.join(joiner)
        return joiner.joined

    def join_words(self, first: WordList, second: WordList, phrases: WordList, middle: WordList | None = None) -> int:
        """The same for pairs of words, whether they occur or not, with the words of `middle` between."""
        before, after = (self._ids(words).astype(np.int64) for words in (first, second))
        between = [] if middle is None else [words.split(b" ") if words else [] for words in map(encode, middle)]
        connectors = list(dict.fromkeys(word for words in between for word in words))
        places = dict(zip(connectors, self._ids(WordList.from_words(connectors)).tolist(), strict=True))
        self._chains = self._new_chains(np.array(list(places.values()), np.int64))
        for i, words in enumerate(between):
            after[i] = self._chains.chain([*(places[word] for word in words), int(after[i])])
        return self.join(before, after, phrases)

    def _new_chains(self, connectors: Counts) -> _phrases.Chains:
        """Ids for chains of the words of now. `connectors` are ids; a negative one is of a word that does not occur."""
        self._before = len(self.words)
        connectors = connectors[connectors >= 0]
        if not len(connectors):
            return _phrases.Chains(self._before)
        marks = np.zeros(self._before, np.uint8)
        marks[connectors] = 1
        return _phrases.Chains(self._before, marks)

    def by_first_sight(self) -> Counts:
        """The ids that occur in the joined text, in the order in which they do: what reading that text would have made
        of them."""
        seen = np.zeros(len(self.words), np.bool_)
        order = [np.zeros(0, np.int64)]
        for block in self.stream.blocks():
            ids = block[block >= 0]
            fresh, places = np.unique(ids[~seen[ids]], return_index=True)
            seen[fresh] = True
            order.append(fresh[np.argsort(places)].astype(np.int64))
        return np.concatenate(order)

    def chunks(self) -> Iterator[bytes | bytearray]:
        """The joined text: one space between words, every line that was kept in its place."""
        renderer, begins = _phrases.Renderer(self.words.blob, self.words.starts), True

        def render(place: int) -> bytearray:
            at_start = bool(block[place - 1] < 0) if place else begins
            return renderer.text(block[place : place + _RENDERED], at_start)

        for block in self.stream.blocks():
            yield from in_order(render, range(0, len(block), _RENDERED), self._threads)
            begins = bool(block[-1] < 0)

    def _ids(self, words: WordList) -> NDArray[np.int32]:
        """The ids of words, new ones for those that did not occur."""
        ids = np.asarray(self._encoder.add_words(words.blob, words.starts))
        blob, starts, _ = self._encoder.vocabulary()
        self.words = WordList(blob, starts)
        self.counts = np.append(self.counts, np.zeros(len(self.words) - len(self.counts), np.int64))
        return ids


Pairs = tuple[Counts, Counts, Counts]


class Joinable(Protocol):
    """A text in which phrases are found and joined, wherever it is: JoinedIds says what its methods do."""

    words: WordList
    counts: Counts

    def pairs(
        self,
        bounds: NDArray[np.float32],
        least: int,
        memory: int,
        *,
        across_lines: bool = False,
        connectors: Sequence[str] = (),
    ) -> Iterator[Pairs]: ...
    def last_words(self, second: Counts) -> Counts: ...
    def middles(self, second: Counts) -> WordList: ...
    def join(self, first: Counts, second: Counts, phrases: WordList) -> int: ...


class Phrases(Protocol):
    """Knows which pairs of words of a text are to be joined."""

    def join_in(self, text: JoinedIds) -> None:
        """Joins them."""
        ...

    @property
    def digest(self) -> str:
        """Tells them from others, as hexadecimal digits; perhaps not before they are joined."""
        ...


@dataclass(frozen=True, eq=False)
class ReadWords:
    """The words of a text that has been read, in order of first sight, their counts and their provisional ids. `stream`
    has the ids of the text when phrases were joined in it; None: the encoder or the spool still has them."""

    words: WordList
    counts: Counts
    ids: Counts
    provisional: int
    stream: IdStream | None

    def lookup(self, final: NDArray[np.int32]) -> NDArray[np.int32]:
        """The final id of each of the `provisional` ids, given those of the words; -1 for what is left out."""
        table = np.full(self.provisional, -1, np.int32)
        table[self.ids] = final
        return table


def read_words(encoder: _encoder.Encoder, spool: Spool, phrases: Phrases | None = None, also: int = -1) -> ReadWords:
    """The words that read_ids has read, with `phrases` joined: what reading the joined text would have given. The word
    with the provisional id `also` is one of them though it may not occur; it stands where it is first seen, or last."""
    if phrases is None:
        blob, starts, counts = encoder.vocabulary()
        return ReadWords(WordList(blob, starts), counts, np.arange(len(counts)), len(counts), None)
    joined = JoinedIds(encoder, spool)
    phrases.join_in(joined)
    ids = joined.by_first_sight()
    if also >= 0 and also not in ids:
        ids = np.append(ids, also)
    return ReadWords(joined.words.take(ids), joined.counts[ids], ids, len(joined.words), joined.stream)
