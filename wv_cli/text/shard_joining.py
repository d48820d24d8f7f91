"""Phrases found and joined in a text that an executor's tasks read in shards, to the bytes of one pass.

Of the text only its words, their counts and what is found are in this process. Each pass reads the text twice: pairs of
words are counted in every shard in which what was found before is joined, then what joining the pass's own changes.
Once more is read what is written in the end. See wv_cli.text.shard_counting for what is held of the counts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder, _text
from wv_cli._glove import RECORD, sort
from wv_cli.io.executor import Executor, Held
from wv_cli.io.runs import Records
from wv_cli.io.spill import Spool
from wv_cli.text.config import PhrasesConfig, VocabConfig
from wv_cli.text.corpus import tally
from wv_cli.text.id_stream import read_ids
from wv_cli.text.inputs import Texts
from wv_cli.text.joining import Counts, JoinedIds, Pairs
from wv_cli.text.shard_counting import Divided, records_of, words_of
from wv_cli.text.source import Source
from wv_cli.text.vocab import Tally
from wv_cli.words import WordList

Pass = tuple[Counts, Counts, WordList]  # as JoinedIds.join takes them


class JoinedShards:
    """Satisfies wv_cli.text.joining.Joinable. `words` and `counts` are those of the joined text, `lines` and
    `tokens_read` those of the text as it was. Files of what does not fit in memory are beside `beside`."""

    def __init__(self, executor: Executor, divided: Divided, config: PhrasesConfig, beside: str | None) -> None:
        """Counts the words. Raises EmptyVocabulary, WvError."""
        self._executor, self._divided, self._beside = executor, divided, beside
        self._reading = _Reading(config.lowercase, config.memory // 2, executor.scratch)
        whole = words_of(executor, divided, partial(tally, config=VocabConfig(lowercase=config.lowercase)))
        self.words, self.counts = whole.words, whole.counts
        self.lines, self.tokens_read = whole.lines, whole.tokens_read
        self._whole = executor.broadcast(whole)
        self._ids = _text.WordMap()
        self._ids.add(whole.words.blob, whole.words.starts)
        self._passes: list[Pass] = []

    @property
    def tokens(self) -> int:
        """Words in the joined text, a phrase being one."""
        return int(self.counts.sum())

    def pairs(
        self,
        bounds: NDArray[np.float32],
        least: int,
        memory: int,
        *,
        across_lines: bool = False,
        connectors: Sequence[str] = (),
    ) -> Iterator[Pairs]:
        assert not across_lines and not connectors, "shards know neither each other's lines nor their chains"
        held = self._whole, self._held_passes(), self._executor.broadcast(bounds)
        count, parts = self._reading.pairs, self._divided.parts
        for records in records_of(
            self._executor, "count pairs", count, parts, *held, memory=memory, beside=self._beside
        ):
            first, second, counts = pairs_of(records)
            often = counts >= least
            yield first[often], second[often], counts[often]

    def last_words(self, second: Counts) -> Counts:
        return second

    def middles(self, second: Counts) -> WordList:
        return WordList.from_words([b""] * len(second))

    def join(self, first: Counts, second: Counts, phrases: WordList) -> int:
        if not len(phrases):
            return 0
        self._ids.add(phrases.blob, phrases.starts)
        self.words = WordList(*self._ids.words())
        self._passes.append((first, second, phrases))
        changed = self._executor.reduce(
            "count joined",
            self._reading.changes,
            self._divided.parts,
            _both,
            _unheard,
            self._whole,
            self._held_passes(),
        )
        assert changed is not None, "there are shards, since there are words"
        self.counts = np.append(self.counts, np.zeros(len(self.words) - len(self.counts), np.int64))
        self.counts[changed.ids] += changed.counts
        return changed.joined

    def chunks(self) -> Iterator[bytes]:
        """The joined text: one space between words, every line in its place, empty ones included."""
        return self._executor.map("join", self._reading.text, self._divided.parts, self._whole, self._held_passes())

    def _held_passes(self) -> Held:
        return self._executor.broadcast(tuple(self._passes))


class _Changed(NamedTuple):
    """How many pairs were joined, and what that adds to the counts of words."""

    joined: int
    ids: Counts
    counts: Counts


class _Reading(NamedTuple):
    """How a task reads a shard: into ids of the `whole` text, with `passes` joined. Ids, and counts of
    pairs, take `memory` bytes each."""

    lowercase: bool
    memory: int
    scratch: Callable[[], str | None]

    @contextmanager
    def _ids(self, part: Texts, whole: Tally, passes: tuple[Pass, ...]) -> Iterator[JoinedIds]:
        with Spool(self.scratch()) as spool:
            encoder = _encoder.Encoder(every_line=True)
            read_ids(Source(part, lowercase=self.lowercase), encoder, self.memory, spool)
            text = JoinedIds(encoder, spool)
            text.renumber(whole)
            for each in passes:
                text.join(*each)
            yield text

    def pairs(
        self, part: Texts, row: int, whole: Tally, passes: tuple[Pass, ...], bounds: NDArray[np.float32]
    ) -> Iterator[Records]:
        with self._ids(part, whole, passes) as text:
            blocks = list(text.pairs(bounds, 1, self.memory))
        first, second, counts = (np.concatenate(each) for each in zip(*blocks, strict=True))
        later = first >= row
        yield records_of_pairs(first[later], second[later], counts[later])

    def changes(self, part: Texts, whole: Tally, passes: tuple[Pass, ...]) -> _Changed:
        """Of the last pass."""
        *before, last = passes
        with self._ids(part, whole, tuple(before)) as text:
            counts = text.counts.copy()
            joined = text.join(*last)
            change = text.counts
        change[: len(counts)] -= counts
        ids = np.flatnonzero(change)
        return _Changed(joined, ids, change[ids])

    def text(self, part: Texts, whole: Tally, passes: tuple[Pass, ...]) -> bytes:
        with self._ids(part, whole, passes) as text:
            return b"".join(text.chunks())


def pairs_of(records: Records) -> Pairs:
    """(first words, second words, counts) of records, which count words from 1."""
    first, second = (records[name].astype(np.int64) - 1 for name in ("row", "column"))
    return first, second, records["value"].copy().view(np.int64)


def records_of_pairs(first: Counts, second: Counts, counts: Counts) -> Records:
    """Sorted records of pairs."""
    records = np.empty(len(counts), RECORD)
    records["row"], records["column"], records["value"] = first + 1, second + 1, counts.view(np.float64)
    sort(records)
    return records


def _both(one: _Changed, other: _Changed) -> _Changed:
    ids, places = np.unique(np.concatenate([one.ids, other.ids]), return_inverse=True)
    counts = np.zeros(len(ids), np.int64)
    np.add.at(counts, places, np.concatenate([one.counts, other.counts]))
    return _Changed(one.joined + other.joined, ids, counts)


def _unheard(place: int) -> None:
    """Reading is told of once."""
