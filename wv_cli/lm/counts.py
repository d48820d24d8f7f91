"""NgramCounts: all n-grams of a text up to an order, with how often each occurs.

The text is read once: ids in order of first sight, a stream of them sorted window by window (csrc/core/ngrams.h). A
text that is too long for the memory is sorted in segments, whose records wait in a file without a name (record_runs).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli import _text
from wv_cli._lm import Builder, Windows, link
from wv_cli.errors import BadFile, WvError
from wv_cli.lm.config import CountConfig
from wv_cli.text.corpus import require_words
from wv_cli.text.input_files import Inputs
from wv_cli.text.source import Progress, Source
from wv_cli.words import WordList

UNKNOWN, SENTENCE, SENTENCE_END = 0, 1, 2
SPECIAL = WordList.of(["<unk>", "<s>", "</s>"])
_BLOCK = 1 << 16  # records at a time

Records = tuple[NDArray[np.int32], NDArray[np.int64]]


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
    """The n-grams of texts, each line a sentence. Raises WvError when there is no text, or when it holds one of the
    SPECIAL words and the config does not skip them, and what Source raises."""
    source = Source(inputs, lowercase=config.lowercase, progress=progress)
    encoder = new_encoder(SPECIAL)
    for chunk in source:
        encoder.feed(chunk)
    encoder.finish()
    require_words(encoder, source.inputs)
    stream = _sentences(encoder, config, source)
    blob, starts, _ = encoder.vocabulary()
    words = WordList(blob, starts)
    return of_records(_records(Windows(stream, config.order, len(words)), config.order), words, config.order)


def new_encoder(words: WordList) -> _text.Encoder:
    """An encoder that knows `words` by their place, and gives others the ids behind; blank lines are sentences."""
    encoder = _text.Encoder(every_line=True)
    encoder.add_words(words.blob, words.starts)
    return encoder


def of_records(blocks: Iterable[Records], words: WordList, order: int) -> NgramCounts:
    """The counts that ascending records make. Raises ValueError for records that are those of no text."""
    builder = Builder(order)
    for records, counts in blocks:
        builder.add(records, counts)
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


def _sentences(encoder: _text.Encoder, config: CountConfig, source: Source) -> NDArray[np.int32]:
    """The stream of ids, without SPECIAL words. Raises BadFile where there are some, WvError for two lines that are
    one."""
    stream = np.frombuffer(memoryview(encoder.take_stream()), np.int32)
    special = (stream >= 0) & (stream < len(SPECIAL))
    if special.any():
        if not config.skip_symbols:
            word = SPECIAL[int(stream[np.argmax(special)])]
            line = int(np.count_nonzero(stream[: np.argmax(special)] < 0)) + 1
            problem = f"expected words, found {word}, which marks sentences in the model; take it out or --skip-symbols"
            raise BadFile(", ".join(source.inputs), problem, line=line)
        stream = stream[~special]
    return stream


def _records(windows: Windows, order: int) -> Iterator[Records]:
    """Each block is valid until the next."""
    records, counts = np.empty((_BLOCK, order), np.int32), np.empty(_BLOCK, np.int64)
    while found := windows.take(records, counts):
        yield records[:found], counts[:found]
