"""Co-occurrence counts: counting them in a Corpus, in bounded memory and exactly, whatever memory and threads.

Everything here is a stream of records: arrays of GloVe's 16-byte records (row word, column word, both from 1; value),
sorted by row and column across the whole stream, every pair once. A block is valid until the next is asked for. The
record files are in record_files.py.

A pair at distance d weighs units[d] / scale. Sums are kept as integers, so no order of summation changes them: with
scale = lcm(1 .. window) they are exact (windows up to 22 or so); for wider windows scale is a power of two and every
weight is rounded once, by less than 2e-8 of it for a thousand million words and windows up to 100. Counts of earlier
texts (continued_counts.py) are turned back to units, of which there are more then, since a share of a count is none of
its own: the sums of several days are those of one pass over all texts.

Co-occurrences of a text that an executor's tasks read in shards: the records of one pass, to the byte.

The text is read twice: the words are counted first, which makes the vocabulary, then the co-occurrences of its words. A
task has the ids of one shard in memory, or beyond a limit in a file of its own. See wv_cli.text.shard_counting for what
is held of the records.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, Segment
from wv_cli.io import host
from wv_cli.io.executor import Executor
from wv_cli.io.memory import file_of
from wv_cli.io.runs import pair_runs
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.continued_counts import EarlierCounts
from wv_cli.models.glove.record_runs import WHAT
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode, require_known, tally
from wv_cli.text.inputs import Texts
from wv_cli.text.joining import Phrases
from wv_cli.text.shard_counting import Divided, piece_bytes, records_of, words_of
from wv_cli.text.vocab import Vocab

Records = NDArray[Any]

_BLOCK_RECORDS = 1 << 19  # 8 MB: what a thread counts at a time
_LARGEST_SUM = 2**62
_LARGEST_EXACT = 2**51  # of a sum that is found again in its quotient by the scale
DEFAULT_MEMORY = 10**9


def distance_units(
    window: int, weighting: str, most_frequent: int, earlier: float | None = None
) -> tuple[NDArray[np.int64], int]:
    """(units, scale): the weight of distance d is units[d] / scale. No pair can sum to 2^62 when the most frequent word
    occurs `most_frequent` times and no pair has had more than `earlier` before; given that, units are as fine as exact
    sums can be."""
    flat = weighting == "flat"
    pairs = 2 * most_frequent * (window if flat else 1 + math.log(window)) + (earlier or 0)  # weighted by 1 / d
    scale = 1 if flat else math.lcm(*range(1, window + 1))
    if scale * pairs >= _LARGEST_SUM:
        scale = 1 << int(math.log2(_LARGEST_SUM / pairs))
    elif earlier is not None:
        scale <<= max(0, int(math.log2(_LARGEST_EXACT / (scale * pairs))))
    return np.array([0, *(scale if flat else round(scale / d) for d in range(1, window + 1))], np.int64), scale


def count(
    corpus: Corpus,
    config: GloveConfig,
    *,
    memory: int | None = None,
    spool_beside: str | None = None,
    earlier: EarlierCounts | None = None,
) -> Iterator[Records]:
    """The co-occurrences of a corpus, and with them those of `earlier` texts. `memory` bounds the bytes of positions,
    pages of a mapped corpus, blocks and merge buffers (not a corpus in memory); a text that needs more is counted in
    segments whose sorted records wait in a file without a name in the folder of `spool_beside`. Raises WvError when
    that file cannot be written."""
    memory = memory or DEFAULT_MEMORY
    if corpus.tokens == 0:
        return
    units, scale = units_of(corpus, config, earlier)
    own = Counting(corpus, config, units, memory)
    if len(own.cuts) == 2 and earlier is None:
        yield from own.segment(0, scale)
        return
    for records in own.sums(spool_beside, earlier.units(scale, memory) if earlier is not None else None):
        yield as_values(records, scale)


def as_values(records: Records, scale: int) -> Records:
    """The same records, their sums of units divided by the scale."""
    records["value"] = records["value"].view(np.int64) / scale
    return records


class Counting:
    """The co-occurrences of a corpus of which some ids are words, whose vocabulary and `units` may be those of a larger
    text. `cuts` are the ends of the segments in which `memory` bytes suffice."""

    def __init__(self, corpus: Corpus, config: GloveConfig, units: NDArray[np.int64], memory: int) -> None:
        self._corpus, self._config, self._units, self._memory = corpus, config, units, memory
        self._words = words = len(corpus.vocab.words)
        # Up to a quarter for the blocks of records in flight and one row in each, the rest for the positions, which are
        # as large as the pages of ids that they come from.
        buffers = config.threads + 1
        self._block = max(min(_BLOCK_RECORDS, memory // (4 * RECORD.itemsize * buffers)), 1)
        fixed = buffers * RECORD.itemsize * max(self._block, words) + words * (12 * config.threads + 32)
        each = corpus.ids.itemsize * (2 if file_of(corpus.ids) else 1)
        longest = min(max((memory - fixed) // each, memory // 16, 1 << 14), 2**31 - 2 - config.window)
        self.cuts = [*range(0, len(corpus.ids), longest), len(corpus.ids)]

    def segment(self, number: int, scale: int, first_row: int = 0) -> Iterator[Records]:
        """The records of one segment from a row on, counted from 0; with the scale 0 their values are int64 units."""
        ids, config = self._corpus.ids, self._config
        low, end = self.cuts[number], self.cuts[number + 1]
        part = Segment(ids, low, end, self._words, self._units, config.symmetric, scale)
        yield from _rows(part, first_row, self._words, self._block, config.threads)
        _release(ids, end)

    def sums(
        self, spool_beside: str | None, earlier: Iterator[Records] | None = None, first_row: int = 0
    ) -> Iterator[Records]:
        """The records of all segments, and with them sorted runs of `earlier` ones, all as units."""
        if len(self.cuts) == 2 and earlier is None:
            yield from self.segment(0, 0, first_row)
            return
        with pair_runs(spool_beside, WHAT, self._memory, as_values=False) as runs:
            for run in earlier or ():
                runs.add([run])
            for number in range(len(self.cuts) - 1):
                runs.add(self.segment(number, 0, first_row))
            yield from runs.merge()


def units_of(
    corpus: Corpus, config: GloveConfig, earlier: EarlierCounts | None = None
) -> tuple[NDArray[np.int64], int]:
    """distance_units() for a corpus, whatever ids it has, and `earlier` texts."""
    largest = earlier.largest if earlier is not None else None
    return distance_units(config.window, config.weighting, _most_frequent(corpus), largest)


def _most_frequent(corpus: Corpus) -> int:
    """How often the most frequent word occurs, or more: a vocabulary from elsewhere has the counts of another text."""
    vocab = corpus.vocab
    own = (vocab.tokens, vocab.tokens_read) == (corpus.tokens, corpus.tokens_read)
    return int(vocab.counts[0]) if own else corpus.tokens


def _rows(part: Segment, first_row: int, words: int, block: int, threads: int) -> Iterator[Records]:
    """The rows of a segment from `first_row` on, in order, counted in blocks of rows by several threads."""
    ends = np.cumsum(part.capacity)
    firsts, total = [first_row], int(ends[first_row - 1]) if first_row else 0
    while firsts[-1] < words:
        last = max(int(np.searchsorted(ends, total + block, side="right")), firsts[-1] + 1)
        firsts.append(last)
        total = int(ends[last - 1])
    capacity = max(block, int(part.capacity.max()))
    scratches = deque(part.scratch() for _ in range(threads))
    buffers = deque(np.empty(capacity, RECORD) for _ in range(threads + 1))

    def rows(first: int, last: int, buffer: Records) -> tuple[Records, Records]:
        scratch = scratches.pop()
        records = part.rows(first, last, scratch, buffer)
        scratches.append(scratch)
        return records, buffer

    if threads == 1:
        for first, last in pairwise(firsts):
            yield rows(first, last, buffers[0])[0]
        return
    waiting: deque[Future[tuple[Records, Records]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for first, last in pairwise(firsts):
            if not buffers:
                records, buffer = waiting.popleft().result()
                yield records
                buffers.append(buffer)
            waiting.append(pool.submit(rows, first, last, buffers.pop()))
        while waiting:
            yield waiting.popleft().result()[0]


def _release(ids: NDArray[np.int32], end: int) -> None:
    """Tells the system that the pages of a mapped file below `end` are not needed any more; memory is left alone."""
    file = file_of(ids)
    if file is not None:
        host.let_go(file, end * ids.itemsize)


# Bytes of records that a byte of text gives, for every word on one side of a window: in a shard of 1 MB of Wikipedia
# two words of it have 0.9, in one of 16 MB 0.5.
_RECORD_BYTES = 0.75
_LEAST_SHARD = 1 << 16


def counted_corpus(
    executor: Executor, divided: Divided, config: VocabConfig, vocab: Vocab | None, phrases: Phrases | None
) -> Corpus:
    """What text.corpus.encode makes of a text, but without ids; `lines` are all line ends, and the digest is that of
    the vocabulary. Raises what encode raises."""
    whole = words_of(executor, divided, partial(tally, config=config, phrases=phrases))
    own = replace(whole, tokens_read=int(whole.counts.sum()))
    known = (own.vocab() if vocab is None else vocab).cut(config)
    tokens = int(whole.counts[known.words.find_all(whole.words) >= 0].sum())
    require_known(tokens, whole.tokens_read)
    return Corpus(np.empty(0, np.int32), known, tokens, whole.lines, known.digest, whole.tokens_read)


def shard_records(
    executor: Executor,
    texts: Texts,
    corpus: Corpus,
    config: GloveConfig,
    vocab_config: VocabConfig,
    phrases: Phrases | None,
    *,
    memory: int,
    spool_beside: str | None,
) -> Iterator[Records]:
    """What count gives of `texts`, of which counted_corpus has made the `corpus`. Raises WvError."""
    units, scale = units_of(corpus, config)
    around = config.window * (2 if config.symmetric else 1)
    shard = max(int(piece_bytes(memory) / (_RECORD_BYTES * around)), _LEAST_SHARD)
    parts = Divided(texts, shard, whole_lines=True).parts
    held = executor.broadcast(corpus.vocab), executor.broadcast(phrases)
    count_one = partial(_count_shard, replace(config, threads=1), vocab_config, units, executor.scratch)
    what = "count co-occurrences"
    for records in records_of(executor, what, count_one, parts, *held, memory=memory, beside=spool_beside):
        yield as_values(records, scale)


def _count_shard(
    config: GloveConfig,
    vocab_config: VocabConfig,
    units: NDArray[np.int64],
    scratch: Callable[[], str | None],
    part: Texts,
    row: int,
    vocab: Vocab,
    phrases: Phrases | None,
) -> Iterator[Records]:
    memory, beside = DEFAULT_MEMORY, scratch()
    ids = encode(
        part, vocab_config, vocab=vocab, phrases=phrases, memory=memory // 3, spool_beside=beside, may_be_empty=True
    )
    if ids.tokens:
        yield from Counting(ids, config, units, memory).sums(beside, first_row=row)
