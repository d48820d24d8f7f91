"""NgramCounts: all n-grams of a text up to an order, with how often each occurs.

The text is read once: ids in order of first sight, a stream of them sorted window by window (csrc/core/ngrams.h). A
text that is too long for the memory is sorted in segments, whose records wait in a file without a name (io/runs.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli._lm import Builder, Windows, merge
from wv_cli.errors import BadFile, WvError
from wv_cli.io import memory as process
from wv_cli.io.events import OnProgress
from wv_cli.io.runs import SortedRuns
from wv_cli.io.shelf import Pieces, Shelf
from wv_cli.io.threads import in_order, run_all
from wv_cli.lm.asking import SENTENCE
from wv_cli.lm.config import CountConfig
from wv_cli.lm.trie import Trie, link
from wv_cli.lm.vocabulary import SPECIAL, new_encoder
from wv_cli.text.corpus import require_words
from wv_cli.text.input_files import Inputs
from wv_cli.text.source import Source
from wv_cli.words import WordList

Records = NDArray[np.int32]  # rows of order + 2 (csrc/core/ngrams.h)

DEFAULT_MEMORY = 2 * 10**9
_BLOCK = 1 << 16  # records at a time
_BYTES_A_WORD = 20  # of the stream while it grows, and of what sorting it takes
_LEAST_SEGMENT = 1 << 12
_LEAST_ROOM = 1 << 24  # less saves little beside what Python takes, and cuts the text into segments too short to sort
_HELD = 1 << 20  # n-grams of a length while they are counted, at most
_HELD_BYTES = 48  # of each of them, while they are taken away
_MOST_PARTS = 16  # of the n-grams, made by as many threads; each may have files of its own


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """`count` (nodes,) int64 is how often each n-gram of the trie occurs; <s> as often as there are sentences."""

    trie: Trie
    count: NDArray[np.int64]

    @property
    def tokens(self) -> int:
        """Words of the text, line ends not counted."""
        return int(self.count[len(SPECIAL) : self.trie.levels[1]].sum())

    @property
    def sentences(self) -> int:
        return int(self.count[SENTENCE])


def count(
    inputs: Inputs,
    config: CountConfig,
    *,
    memory: int | None = None,
    spool_beside: str | None = None,
    progress: OnProgress | None = None,
) -> NgramCounts:
    """The n-grams of texts, each line a sentence. The process takes about `memory` bytes, the words on top where these
    are many: a longer text is sorted in segments, and what does not fit waits in files without a name in the folder of
    `spool_beside`.

    Raises WvError when there is no text, BadFile when it holds one of the SPECIAL words and the config does not skip
    them, and what Source raises."""
    threads = config.threads
    source = Source(inputs, lowercase=config.lowercase, progress=progress)
    memory = memory or DEFAULT_MEMORY
    longest = _segment_bytes(memory)
    text = _Text(source, config, threads)
    with ngram_runs(spool_beside, config.order, buffers(memory) // 2) as runs:
        for chunk in source:
            text.encoder.feed(chunk)
            if text.encoder.ids_bytes > longest:
                runs.add(chain.from_iterable(text.parts()))
                longest = _segment_bytes(memory)  # the words have become more
        text.encoder.finish()
        require_words(text.encoder.tokens, source.inputs)
        parts = text.parts()
        if len(runs):
            runs.add(chain.from_iterable(parts))
            parts = [runs.merge()]
        words = text.words()
        return of_records(parts, words, config.order, new_shelf(spool_beside, memory), threads)


def buffers(memory: int) -> int:
    """What is left for buffers when the process shall take `memory` bytes."""
    return max(process.for_buffers(memory), _LEAST_ROOM)


def _segment_bytes(memory: int) -> int:
    """How long the ids may become that are sorted together."""
    return max(buffers(memory) // _BYTES_A_WORD, _LEAST_SEGMENT) * 4


def new_shelf(beside: str | None, memory: int) -> Shelf:
    """For the n-grams of a run whose process shall take `memory` bytes."""
    room = buffers(memory)
    return Shelf(beside, "n-grams", room, max(memory - room, 0))


def of_records(
    parts: Sequence[Iterable[Records]], words: WordList, order: int, shelf: Shelf | None = None, threads: int = 1
) -> NgramCounts:
    """The counts that ascending records make. They may come in parts, each for a thread, of which none begins with a
    word of another. Raises ValueError for records that are those of no text."""
    shelf = shelf or Shelf()
    try:
        levels = list(in_order(lambda part: _levels(part, order, shelf, len(parts)), parts, threads))
        bounds, word, first, count = _concatenate_levels(levels, len(words), shelf, threads)
    finally:
        shelf.drop_pieces()
    suffix, lacking = link(bounds, word, first, shelf, threads)
    if lacking:
        raise ValueError(f"{lacking} n-grams without the one that they end in")
    return NgramCounts(Trie(words, bounds, word, first, suffix, shelf), count)


_Level = tuple[Pieces, Pieces, Pieces]
_Words = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]


def _concatenate_levels(
    parts: list[tuple[_Words, list[_Level]]], words: int, shelf: Shelf, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """(levels, word, first, count) of all lengths, as in Trie and NgramCounts."""
    sizes = np.array([[level[0].length for level in longer] for _, longer in parts], np.int64).reshape(len(parts), -1)
    bounds = np.cumsum([0, words, *sizes.sum(axis=0).tolist()])
    if bounds[-1] >= 2**31:
        message = f"{bounds[-1]:,} n-grams are more than 2^31; lower --order or give less text"
        raise WvError(message)
    begins = bounds[1:-1] + np.cumsum(sizes, axis=0) - sizes  # of the parts in each level but the first
    word, count = shelf.new(int(bounds[-1]), np.int32), shelf.new(int(bounds[-1]), np.int64)
    first = shelf.new(int(bounds[-2]) + 1, np.int32)
    first[-1] = bounds[-1]
    children = begins[:, 0] if sizes.size else np.zeros(len(parts), np.int64)
    found = [(each[0], each[1] + np.int32(begin), each[2]) for (each, _), begin in zip(parts, children, strict=True)]
    ids, firsts, counts = (np.concatenate(column) for column in zip(*found, strict=True))
    word[:words], begin_of_each, count[:words] = _all_words(
        words, ids, firsts, counts, int(bounds[2]) if sizes.size else 0
    )
    if sizes.size:
        first[:words] = begin_of_each

    def place(at: tuple[int, int]) -> None:
        part, level = at
        words_of, first_of, count_of = parts[part][1][level]
        begin = int(begins[part, level])
        end = begin + int(sizes[part, level])
        words_of.move(word[begin:end])
        count_of.move(count[begin:end])
        if level + 1 < sizes.shape[1]:
            first_of.move(first[begin:end], int(begins[part, level + 1]))

    run_all(place, [(part, level) for level in range(sizes.shape[1]) for part in range(len(parts))], threads)
    return bounds, word, first, count


def _levels(blocks: Iterable[Records], order: int, shelf: Shelf, parts: int) -> tuple[_Words, list[_Level]]:
    """(word, first, count) of the single words and of the longer n-grams that ascending records make."""
    builder = Builder(order)
    levels = [(shelf.pieces(np.int32), shelf.pieces(np.int32), shelf.pieces(np.int64)) for _ in range(order - 1)]

    held = shelf.capacity(_HELD_BYTES * order, _HELD) // parts

    def take(length: int, *, finished: bool) -> None:
        arrays: tuple[NDArray[np.generic], ...] = builder.take(length, finished)
        for pieces, array in zip(levels[length - 2], arrays, strict=True):
            pieces.append(array)

    for records in blocks:
        builder.add(records)
        for length in range(2, order + 1):
            if builder.held(length) > held:
                take(length, finished=False)
    for length in range(2, order + 1):
        take(length, finished=True)
    return builder.take(1, True), levels


def _all_words(
    size: int, word: NDArray[np.int32], first: NDArray[np.int32], count: NDArray[np.int64], pairs: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The first level with all words in it, those that do not occur 0 times; `pairs` is the size of the second."""
    every = np.arange(size, dtype=np.int32)
    counts = np.zeros(size, np.int64)
    counts[word] = count
    # A word that does not occur has no children: they would begin where those of the next word do.
    return every, np.append(first, np.int32(pairs))[np.searchsorted(word, every)], counts


class _Text:
    """A text that is being read, as sentences of ids. `line` is the number of lines in the segments before."""

    def __init__(self, source: Source, config: CountConfig, threads: int) -> None:
        self.encoder = new_encoder(SPECIAL)
        self._threads = threads
        self._source, self._config = source, config
        self._carry = np.empty(0, np.int32)
        self._lines = 0

    def parts(self) -> list[Iterator[Records]]:
        """The records of the sentences that have ended since they were last asked for, in parts for as many threads;
        each block is valid until the next. Raises BadFile for SPECIAL words, unless the config skips these."""
        stream = self._sentences()
        if not len(stream):
            return []
        windows = Windows(stream, self._config.order, self.encoder.words)
        del stream
        shares = _shares(windows.first_words, min(self._threads, _MOST_PARTS))
        places = list(in_order(lambda share: windows.sort(*share), shares, self._threads))
        return [self._records(windows, *place) for place in places]

    def words(self) -> WordList:
        """All words of the text, which has been read."""
        blob, starts, _ = self.encoder.vocabulary()
        self.encoder.forget_words()
        return WordList(blob, starts)

    def _records(self, windows: Windows, at: int, end: int) -> Iterator[Records]:
        records = np.empty((_BLOCK, self._config.order + 2), np.int32)
        while at < end:
            found, at = windows.take(at, end, records)
            yield records[:found]

    def _sentences(self) -> NDArray[np.int32]:
        stream = np.frombuffer(memoryview(self.encoder.take_stream()), np.int32)
        stream = np.concatenate([self._carry, stream]) if len(self._carry) else stream
        ends = np.flatnonzero(stream < 0)
        whole = int(ends[-1]) + 1 if len(ends) else 0
        stream, self._carry = stream[:whole], stream[whole:].copy()
        special = (stream >= 0) & (stream < len(SPECIAL))
        if special.any():
            if not self._config.skip_symbols:
                self._refuse(stream, int(np.argmax(special)))
            stream = stream[~special]
        self._lines += len(ends)
        return stream

    def _refuse(self, stream: NDArray[np.int32], at: int) -> NoReturn:
        word, line = SPECIAL[int(stream[at])], self._lines + int(np.count_nonzero(stream[:at] < 0)) + 1
        problem = f"expected words, found {word}, which marks sentences in the model; take it out or --skip-symbols"
        raise BadFile(", ".join(self._source.inputs), problem, line=line)


def _shares(counts: NDArray[np.int64], shares: int) -> list[tuple[int, int]]:
    """The words low .. high - 1 that one thread after the other begins with: of about as many windows each."""
    sums = np.cumsum(counts)
    wanted = np.arange(1, shares) * (sums[-1] / shares)
    edges = [0, *np.searchsorted(sums, wanted).tolist(), len(counts)]
    return list(pairwise(edges))


def ngram_runs(beside: str | None, order: int, memory: int) -> SortedRuns:
    """See SortedRuns; the counts of equal records are added up."""
    return SortedRuns(
        beside,
        "n-grams",
        np.zeros((1, order + 2), np.int32),
        memory,
        lambda records, first, last, more, pending, out: merge(order, records, first, last, more, pending[0], out),
    )
