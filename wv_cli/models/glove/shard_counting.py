"""Co-occurrences of a text that an executor's tasks read in shards: the records of one pass, to the byte.

The text is read twice: the words are counted first, which makes the vocabulary, then the co-occurrences of its words. A
task has the ids of one shard in memory, or beyond a limit in a file of its own. See wv_cli.text.shard_counting for what
is held of the records.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wv_cli.io.executor import Executor
from wv_cli.models.glove import cooccurrence
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.cooccurrence import Counting, Records
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode, require_known, tally
from wv_cli.text.inputs import Texts
from wv_cli.text.joining import Phrases
from wv_cli.text.shard_counting import Divided, piece_bytes, records_of, words_of
from wv_cli.text.vocab import Vocab

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
    """What cooccurrence.count gives of `texts`, of which counted_corpus has made the `corpus`. Raises WvError."""
    units, scale = cooccurrence.units_of(corpus, config)
    around = config.window * (2 if config.symmetric else 1)
    shard = max(int(piece_bytes(memory) / (_RECORD_BYTES * around)), _LEAST_SHARD)
    parts = Divided(texts, shard, whole_lines=True).parts
    held = executor.broadcast(corpus.vocab), executor.broadcast(phrases)
    count = partial(_count_shard, replace(config, threads=1), vocab_config, units, executor.scratch)
    what = "count co-occurrences"
    for records in records_of(executor, what, count, parts, *held, memory=memory, beside=spool_beside):
        yield cooccurrence.as_values(records, scale)


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
    memory, beside = cooccurrence.DEFAULT_MEMORY, scratch()
    ids = encode(
        part, vocab_config, vocab=vocab, phrases=phrases, memory=memory // 3, spool_beside=beside, may_be_empty=True
    )
    if ids.tokens:
        yield from Counting(ids, config, units, memory).sums(beside, first_row=row)
