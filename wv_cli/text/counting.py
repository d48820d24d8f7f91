"""Words counted exactly in bounded memory, however many different ones a text has.

What is counted until the table of words has its share of the memory is kept as a run sorted by a hash of the word. The
runs merged, every word stands at one place, with the sum of its counts and the place where it was seen first. Those
that are frequent enough are sorted by falling count and that place, in memory or in runs again: the same words in the
same order as by counting in one table.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from wv_cli import _text
from wv_cli.io import memory as process
from wv_cli.io.events import OnProgress
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import count, require_words
from wv_cli.text.input_files import Inputs
from wv_cli.text.source import Source
from wv_cli.text.vocab import Vocab, order_words, too_rare
from wv_cli.text.word_runs import COUNT, FIRST, KEY, Rows, WordRuns, concatenate_rows
from wv_cli.words import WordList

_TABLE_SHARE = 5  # of memory is the table's: it doubles when it is full, and is then sorted
_ORDER_SHARE = 10  # while the other runs are merged
_LEAST_ROOM = 1 << 24  # less saves little beside what Python takes, and makes runs that take for ever to merge
_FEEDS = 64  # until the table can have all of its memory, at least


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
    encoder = _text.Encoder(keep_ids=False)
    source = Source(inputs, lowercase=config.lowercase, lines=config.lines(), progress=progress)
    with ExitStack() as stack:
        by_word = stack.enter_context(WordRuns(spool_beside, room // 2, repeated=True))
        seen = 0
        for chunk in source:
            for piece in _pieces(chunk, max(room // _FEEDS, 1)):
                encoder.feed(piece)
                if encoder.words_bytes > room // _TABLE_SHARE:
                    seen += _keep(encoder, by_word, seen)
        encoder.finish()
        require_words(encoder.tokens, source.inputs)
        if not len(by_word):
            blob, starts, counts = encoder.vocabulary()
            every, _ = order_words(blob, starts, counts, lines=encoder.lines, tokens_read=encoder.tokens)
            yield Counts.from_vocab(every, config)
            return
        _keep(encoder, by_word, seen)
        by_count = stack.enter_context(WordRuns(spool_beside, room // 2, repeated=False))
        words, last = _by_count(by_word.merge(), config, by_count, room // _ORDER_SHARE)
        by_word.close()
        pieces = by_count.merge() if last is None else iter([last])
        yield Counts(encoder.tokens, encoder.lines, words, _most_frequent(pieces, config.max_vocab))


def _pieces(chunk: bytes, size: int) -> Iterator[memoryview]:
    whole = memoryview(chunk)
    return (whole[begin : begin + size] for begin in range(0, len(whole), size))


def _keep(encoder: _text.Encoder, runs: WordRuns, seen: int) -> int:
    """Makes a run of what the encoder has counted since it began anew; `seen` words stand before in the runs. Returns
    how many words it had."""
    blob, starts, counts = encoder.vocabulary()
    encoder.begin_anew()
    numbers = np.empty((len(counts), 3), np.int64)
    # By the bytes of a hash the other way round: tables of words choose the slot by its upper bits, and the words of a
    # block, which have nearly the same key, would all want one slot.
    numbers[:, KEY] = _text.hashes(blob, starts).byteswap().view(np.int64)
    numbers[:, FIRST] = np.arange(seen, seen + len(counts))
    numbers[:, COUNT] = counts
    runs.add([Rows(WordList(blob, starts), numbers).sort()])
    return len(counts)


def _by_count(blocks: Iterable[Rows], config: VocabConfig, runs: WordRuns, memory: int) -> tuple[int, Rows | None]:
    """How many words there are. Those frequent enough are put in runs sorted by falling count, or, if they take no more
    than `memory` bytes, returned so. Raises EmptyVocabulary when there are none."""
    words, held, kept = 0, [], 0
    best = (0, 0, b"")
    for block in blocks:
        words += len(block)
        counts, firsts = block.numbers[:, COUNT], block.numbers[:, FIRST]
        top = int(np.lexsort((firsts, -counts))[0])
        best = max(best, (int(counts[top]), -int(firsts[top]), block.words.bytes_at(top)))
        frequent = np.flatnonzero(counts >= config.min_count)
        if len(frequent):
            rows = Rows(block.words.take(frequent), block.numbers[frequent])
            rows.numbers[:, KEY] = -rows.numbers[:, COUNT]
            held.append(rows)
            kept += rows.nbytes
        if kept > memory:
            runs.add([concatenate_rows(held).sort()])
            held, kept = [], 0
    if not len(runs):
        if not held:
            raise too_rare(config, best[2], best[0])
        return words, concatenate_rows(held).sort()
    if held:
        runs.add([concatenate_rows(held).sort()])
    return words, None


def _most_frequent(pieces: Iterable[Rows], most: int) -> Iterator[Vocab]:
    """The first `most` words (0: all), as vocabularies."""
    left = most
    for rows in pieces:
        some = rows.part(0, left) if most and left < len(rows) else rows
        yield Vocab(some.words, np.ascontiguousarray(some.numbers[:, COUNT]))
        left -= len(some)
        if most and not left:
            return
