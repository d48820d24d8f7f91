"""NgramCounts: all n-grams of a text up to an order, with how often each occurs.

The text is read once: ids in order of first sight, a stream of them sorted window by window (csrc/core/ngrams.h). A
text that is too long for the memory is sorted in segments, whose records wait in a file without a name (record_runs).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli import _text
from wv_cli._lm import Builder, Windows, link
from wv_cli.errors import BadFile, WvError
from wv_cli.lm.config import CountConfig
from wv_cli.lm.record_runs import Records, Runs
from wv_cli.text.corpus import require_words
from wv_cli.text.input_files import Inputs
from wv_cli.text.source import Progress, Source
from wv_cli.words import WordList

UNKNOWN, SENTENCE, SENTENCE_END = 0, 1, 2
SPECIAL = WordList.of(["<unk>", "<s>", "</s>"])
DEFAULT_MEMORY = 2 * 10**9
_BLOCK = 1 << 16  # records at a time
_BYTES_A_WORD = 32  # of the stream while it grows, and of what sorting it takes
_LEAST_SEGMENT = 1 << 12


@dataclass(frozen=True, eq=False)
class Trie:
    """The n-grams of all lengths as csrc/core/ngrams.h has them: those of n words are the nodes levels[n - 1] ..
    levels[n], words come first, in order of their ids, SPECIAL before all others. `word` is the last word of each node,
    first[node]:first[node + 1] its children, `suffix` the node without its first word (-1 for words)."""

    words: WordList
    levels: NDArray[np.int64]
    word: NDArray[np.int32]
    first: NDArray[np.int32]
    suffix: NDArray[np.int32]

    @property
    def order(self) -> int:
        return len(self.levels) - 1

    @property
    def sizes(self) -> list[int]:
        """How many n-grams there are of each length."""
        return [int(size) for size in np.diff(self.levels)]

    def level(self, length: int) -> slice:
        """The nodes of so many words."""
        return slice(int(self.levels[length - 1]), int(self.levels[length]))

    def children(self, length: int) -> NDArray[np.int32]:
        """first and last child of the nodes of so many words, (nodes + 1,), counted from the begin of their level."""
        begin, end = self.levels[length - 1], self.levels[length]
        return np.asarray(self.first[begin : end + 1] - np.int32(self.levels[length]), np.int32)

    def rows(self, length: int) -> NDArray[np.int32]:
        """The ids of the n-grams of so many words, (nodes, length)."""
        rows = self.word[self.level(1), None]
        for _ in range(2, length + 1):
            rows = self.longer_rows(rows)
        return rows

    def longer_rows(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """The rows of the n-grams that are one word longer than `rows`, which are all of a length."""
        length = rows.shape[1]
        nodes = self.level(length + 1)
        longer = np.empty((nodes.stop - nodes.start, length + 1), np.int32)
        longer[:, :length] = np.repeat(rows, np.diff(self.children(length)), axis=0)
        longer[:, length] = self.word[nodes]
        return longer


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
    progress: Progress | None = None,
) -> NgramCounts:
    """The n-grams of texts, each line a sentence. `memory` bounds the bytes that sorting takes; a longer text is sorted
    in segments that wait in a file without a name in the folder of `spool_beside`. The n-grams come on top.

    Raises WvError when there is no text, BadFile when it holds one of the SPECIAL words and the config does not skip
    them, and what Source raises."""
    source = Source(inputs, lowercase=config.lowercase, progress=progress)
    memory = memory or DEFAULT_MEMORY
    longest = max(memory // _BYTES_A_WORD, _LEAST_SEGMENT) * 4
    text = _Text(source, config)
    with Runs(spool_beside, config.order, memory) as runs:
        for chunk in source:
            text.encoder.feed(chunk)
            if text.encoder.ids_bytes > longest:
                runs.add(text.records())
        text.encoder.finish()
        require_words(text.encoder, source.inputs)
        last = text.records()
        blob, starts, _ = text.encoder.vocabulary()
        blocks: Iterable[Records] = last
        if len(runs):
            runs.add(last)
            blocks = runs.merged()
        return of_records(blocks, WordList(blob, starts), config.order)


def new_encoder(words: WordList) -> _text.Encoder:
    """An encoder that knows `words` by their place, and gives others the ids behind; blank lines are sentences."""
    encoder = _text.Encoder(every_line=True)
    encoder.add_words(words.blob, words.starts)
    return encoder


def of_records(blocks: Iterable[Records], words: WordList, order: int) -> NgramCounts:
    """The counts that ascending records make. Raises ValueError for records that are those of no text."""
    builder = Builder(order)
    for records in blocks:
        builder.add(records)
    levels = [builder.level(length) for length in range(1, order + 1)]
    levels[0] = _all_words(len(words), *levels[0], len(levels[1][0]) if order > 1 else 0)
    bounds = np.cumsum([0, *(len(level[0]) for level in levels)])
    if bounds[-1] >= 2**31:
        message = f"{bounds[-1]:,} n-grams are more than 2^31; lower --order or give less text"
        raise WvError(message)
    word = np.concatenate([level[0] for level in levels])
    parts = [level[1] + bounds[length] for length, level in enumerate(levels[:-1], 1)]
    first = np.concatenate([*parts, bounds[-1:]]).astype(np.int32)
    suffix, lacking = link(bounds, word, first)
    if lacking:
        raise ValueError(f"{lacking} n-grams without the one that they end in")
    return NgramCounts(Trie(words, bounds, word, first, suffix), np.concatenate([level[2] for level in levels]))


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

    def __init__(self, source: Source, config: CountConfig) -> None:
        self.encoder = new_encoder(SPECIAL)
        self._source, self._config = source, config
        self._carry = np.empty(0, np.int32)
        self._lines = 0

    def records(self) -> Iterator[Records]:
        """Those of the sentences that have ended since they were last asked for; each block is valid until the next.
        Raises BadFile for SPECIAL words, unless the config skips these."""
        stream = self._sentences()
        if not len(stream):
            return
        windows = Windows(stream, self._config.order, len(self.encoder.vocabulary()[1]) - 1)
        records = np.empty((_BLOCK, self._config.order + 2), np.int32)
        while found := windows.take(records):
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
