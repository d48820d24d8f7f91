"""Words counted exactly in bounded memory, however many different ones a text has.

The first words are counted in a table. When it has its share of memory it takes no more of them, and the others go to a
file, divided by hash into parts that are counted one by one (core/wordspill.h). Every word then stands at one place,
with its count and the place where it was seen first. Those that are frequent enough are sorted by falling count and
that place, in memory or in runs: the same words in the same order as by counting in one table.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain

import numpy as np

from wv_cli import _encoder
from wv_cli.io import memory as process
from wv_cli.io.events import OnProgress
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import count, require_words
from wv_cli.text.input_files import Inputs
from wv_cli.text.source import Source
from wv_cli.text.spilled_words import SpilledWords, table_rows
from wv_cli.text.vocab import Vocab, order_words, too_rare
from wv_cli.text.word_runs import FIRST, KEY, Rows, WordRuns, concatenate_rows

_ORDER_SHARE = 8  # of memory is that of words to be sorted, which are copied, beside those of one table
_LEAST_ROOM = 1 << 24  # less saves little beside what Python takes, and makes many small segments and runs
_FEEDS = 64  # pieces of text, at least, that have the size of the memory


@dataclass(frozen=True, eq=False)
class Counts:
    """What a text has, and the words kept, in order and in pieces, to be asked for once."""

    tokens: int
    lines: int
    words: int
    kept: Iterable[Vocab]

    @classmethod
    def from_vocab(cls, every: Vocab, config: VocabConfig) -> "Counts":
        """Of a vocabulary in memory, cut as `config` says. Raises EmptyVocabulary."""
        return cls(every.tokens, every.lines, len(every), [every.cut(config)])


@contextmanager
def count_words(
    inputs: Inputs,
    config: VocabConfig,
    *,
    memory: int | None = None,
    spool_beside: str | None = None,
    progress: OnProgress | None = None,
    threads: int = 1,
) -> Iterator[Counts]:
    """The words of texts, cut as `config` says, counted by `threads`. With `memory` one thread counts, and the process
    takes about so many bytes, whatever the text (but see config.dedup); what does not fit waits in files without a name
    in the folder of `spool_beside`.

    Raises WvError when there is no text or no disk, EmptyVocabulary when no word is left, and what Source raises."""
    if memory is None:
        yield Counts.from_vocab(count(inputs, config, progress, threads=threads), config)
        return
    config.validate()
    room = max(process.for_buffers(memory), _LEAST_ROOM)
    source = Source(inputs, lowercase=config.lowercase, lines=config.lines(), progress=progress)
    with ExitStack() as stack:
        spilled = stack.enter_context(SpilledWords(spool_beside, room))
        table = _encoder.Encoder(keep_ids=False, spill=spilled.spill)
        for chunk in source:
            for piece in _pieces(chunk, max(room // _FEEDS, 1)):
                table.feed(piece)
                spilled.keep()
        table.finish()
        tokens, lines, found = table.tokens, table.lines, table.vocabulary()
        del table
        require_words(tokens, source.inputs)
        if not spilled:
            every, _ = order_words(*found, lines=lines, tokens_read=tokens)
            yield Counts.from_vocab(every, config)
            return
        by_count = stack.enter_context(WordRuns(spool_beside, room // 2))
        blocks = chain(table_rows(*found), spilled.rows())
        del found
        words, last = _by_count(blocks, config, by_count, room // _ORDER_SHARE)
        spilled.close()
        pieces = by_count.merge() if last is None else iter([last])
        yield Counts(tokens, lines, words, _most_frequent(pieces, config.max_vocab))


def _pieces(chunk: bytes, size: int) -> Iterator[memoryview]:
    whole = memoryview(chunk)
    return (whole[begin : begin + size] for begin in range(0, len(whole), size))


def _by_count(blocks: Iterable[Rows], config: VocabConfig, runs: WordRuns, memory: int) -> tuple[int, Rows | None]:
    """How many words there are. Those frequent enough are put in runs sorted by falling count, or, if they take no more
    than `memory` bytes, returned so. Raises EmptyVocabulary when there are none."""
    words, kept, held = 0, 0, list[Rows]()

    def sort_held() -> Rows:
        rows = concatenate_rows(held)
        held.clear()
        return rows.sort()

    best = (0, 0, b"")
    for block in blocks:
        words += len(block)
        keys, firsts = block.numbers[:, KEY], block.numbers[:, FIRST]
        top = np.flatnonzero(keys == keys.min())
        first = int(top[np.argmin(firsts[top])])
        best = min(best, (int(keys[first]), int(firsts[first]), block.words.bytes_at(first)))
        frequent = np.flatnonzero(keys <= -config.min_count)
        if len(frequent):
            rows = Rows(block.words.take(frequent), block.numbers[frequent])
            held.append(rows)
            kept += rows.nbytes
        if kept > memory:
            runs.add([sort_held()])
            kept = 0
    if not len(runs):
        if not held:
            raise too_rare(config, best[2], -best[0])
        return words, sort_held()
    if held:
        runs.add([sort_held()])
    return words, None


def _most_frequent(pieces: Iterable[Rows], most: int) -> Iterator[Vocab]:
    """The first `most` words (0: all), as vocabularies."""
    left = most
    for rows in pieces:
        some = rows.part(0, left) if most and left < len(rows) else rows
        yield Vocab(some.words, some.counts)
        left -= len(some)
        if most and not left:
            return
