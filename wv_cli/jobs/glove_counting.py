"""What a GloVe run learns from: counts in files, or those of a text, counted by this process, ranks, or a cluster."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from wv_cli.cluster.counted import SHARD_BYTES, Divided
from wv_cli.cluster.dask_cluster import dask_cluster
from wv_cli.cluster.sums import records_of_all
from wv_cli.cluster.training import of_all
from wv_cli.glove import cooccurrence, record_files
from wv_cli.glove.config import GloveConfig
from wv_cli.glove.growing import Earlier
from wv_cli.glove.on_cluster import counted_corpus, records_on
from wv_cli.glove.record_runs import Records
from wv_cli.glove.state import GloveState
from wv_cli.glove.tiles import ORDERING_BYTES
from wv_cli.jobs.facts import tell_corpus
from wv_cli.jobs.growing import GrowingSession
from wv_cli.jobs.phrases import PhrasesSession
from wv_cli.jobs.session import Reading
from wv_cli.jobs.shared import ReadingSession
from wv_cli.jobs.training_session import VocabularySession
from wv_cli.system import memory
from wv_cli.system.events import Log as Say
from wv_cli.system.output import write_together
from wv_cli.text.corpus import encode
from wv_cli.text.growing import decayed
from wv_cli.text.vocab import Vocab, read_vocab


@dataclass(frozen=True, kw_only=True)
class GloveCounting(GrowingSession, ReadingSession, VocabularySession, PhrasesSession):
    """`counts` are read instead of `inputs`; `counts_only` leaves the memory of ordering them to counting. With `dask`,
    the address of a scheduler, its workers count for this process; with ranks all of them do, for rank 0."""

    config: GloveConfig
    counts: tuple[str, ...] = ()
    counts_only: bool = False
    dask: str | None = None

    @property
    def whole_lines(self) -> bool:
        """Pairs of words stand in one line."""
        return True

    @property
    def memory_limit(self) -> int:
        return self.memory or cooccurrence.DEFAULT_MEMORY

    def _buffer_memory(self) -> int:
        """For the buffers of counting or summing, now; ordering the records at the same time takes its share."""
        if self.counts_only:
            return memory.for_buffers(self.memory_limit)
        return memory.for_buffers(self.memory_limit - self.memory_limit // 4 - ORDERING_BYTES)

    def _records(
        self, say: Say, reading: Reading | None, state: GloveState | None, stack: ExitStack
    ) -> tuple[Vocab, Iterator[Records], str]:
        """The vocabulary, the sorted stream of records, the state's among them, and its fingerprint. What they need
        until then is in `stack`."""
        begin = time.monotonic()
        target = read_vocab(self.vocab) if self.vocab else None
        if self.counts:
            files = record_files.open_counts(self.counts, self.vocab)
            counts = record_files.Counts(files, self.vocab_config, target)
            return counts.vocab, counts.stream(self._buffer_memory(), self.beside), counts.digest
        if self.dask is not None:
            return self._records_on(self.dask, target, say, reading, stack.enter_context(ExitStack()))
        ids_memory = memory.for_buffers(self.memory_limit) // 3  # the positions of every word take as much again
        corpus = encode(
            self.texts(say),
            self.vocab_config,
            vocab=target,
            older=decayed(state.vocab, self.share) if state is not None else None,
            phrases=self.phrases_to_join(say, memory=2 * ids_memory),
            memory=ids_memory,
            spool_beside=self.beside,
            progress=reading,
            pooled=self.pooled,
            may_be_empty=self.ranks is not None,
        )
        corpus = of_all(corpus, self.ranks)
        tell_corpus(corpus, say, time.monotonic() - begin)
        write_together(self.phrases_writers())
        earlier, digest = None, corpus.digest
        if self.save_state:
            corpus.require_different_words()
        if state is not None:
            self.going_on(state.options, len(state.vocab), len(corpus.vocab), say)
            earlier = Earlier(state, corpus.vocab.words, self.share)
            digest = earlier.digest(digest)
        records = cooccurrence.count(
            corpus,
            self.config,
            memory=self._buffer_memory(),
            spool_beside=self.beside,
            earlier=earlier,
            summed=self._summed if self.ranks is not None else None,
        )
        return corpus.vocab, records, digest

    def _records_on(
        self, address: str, vocab: Vocab | None, say: Say, reading: Reading | None, stack: ExitStack
    ) -> tuple[Vocab, Iterator[Records], str]:
        """The same by the cluster at `address`, which is there until the last record has come."""
        begin = time.monotonic()
        texts, phrases = self.texts(say), self.phrases_to_join(say)
        divided = Divided(texts, SHARD_BYTES, reading, whole_lines=True)
        cluster = stack.enter_context(dask_cluster(address, say))
        corpus = counted_corpus(cluster, divided, self.vocab_config, vocab, phrases)
        tell_corpus(corpus, say, time.monotonic() - begin)
        if self.save_state:
            corpus.require_different_words()

        def records() -> Iterator[Records]:
            with stack:
                yield from records_on(
                    cluster,
                    texts,
                    corpus,
                    self.config,
                    self.vocab_config,
                    phrases,
                    memory=self._buffer_memory(),
                    spool_beside=self.beside,
                )

        return corpus.vocab, records(), corpus.digest

    def _summed(self, own: Iterator[Records]) -> Iterator[Records]:
        assert self.ranks is not None, "several processes have sums to add up"
        return records_of_all(self.ranks, own, self._buffer_memory() // 4)
