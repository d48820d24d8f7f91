"""The co-occurrence counts of a GloVe job, read from files or counted in a text by this process or by an executor."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from wv_cli.commands.distribution import executor
from wv_cli.commands.metadata import tell_corpus
from wv_cli.commands.parts.continuation import Continuation
from wv_cli.commands.parts.counts import Counts
from wv_cli.commands.parts.phrases import PhraseJoining
from wv_cli.commands.parts.reading import Reading
from wv_cli.commands.run import Run
from wv_cli.io import memory
from wv_cli.models.glove import cooccurrence, record_files
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.continued_counts import EarlierCounts
from wv_cli.models.glove.record_runs import Records
from wv_cli.models.glove.shard_counting import counted_corpus, shard_records
from wv_cli.models.glove.state import GloveState, blocks
from wv_cli.models.glove.tiles import ORDERING_BYTES
from wv_cli.text.continued_vocabulary import decay_vocab
from wv_cli.text.corpus import encode
from wv_cli.text.inputs import Texts
from wv_cli.text.joining import Phrases
from wv_cli.text.shard_counting import SHARD_BYTES, Divided
from wv_cli.text.source import text_digest
from wv_cli.text.vocab import Vocab

_RECORDS = 1 << 18  # at a time


@dataclass(frozen=True)
class Counted:
    """Co-occurrence counts: sorted `records` of the words `vocab`, the fingerprint `digest` of both, and the phrase
    joiner of the text. `text` is the digest of a text that is to be known again, and a text that is `known` adds
    nothing to the state's counts."""

    vocab: Vocab
    records: Iterator[Records]
    digest: str
    joiner: Phrases | None = None
    text: str = ""
    known: bool = False


@dataclass(frozen=True)
class Counting:
    """Counting for a GloVe job. Files for what exceeds memory lie beside `beside`."""

    config: GloveConfig
    reading: Reading
    counts: Counts
    phrases: PhraseJoining
    continuation: Continuation
    beside: str | None

    @property
    def memory_limit(self) -> int:
        return self.reading.memory or cooccurrence.DEFAULT_MEMORY

    @property
    def buffer_memory(self) -> int:
        """Bytes for the buffers of counting or summing; ordering the records at the same time takes its part."""
        if self.counts.counts_only:
            return memory.for_buffers(self.memory_limit)
        return memory.for_buffers(self.memory_limit - self.memory_limit // 4 - ORDERING_BYTES)

    def of_files(self) -> Counted:
        """The sum of counts that were saved."""
        files = record_files.open_counts(self.counts.counts, self.reading.vocab)
        counts = record_files.Counts(files, self.reading.words, self.reading.vocabulary())
        return Counted(counts.vocab, counts.stream(self.buffer_memory, self.beside), counts.digest)

    def of_text(self, texts: Texts, run: Run, state: GloveState | None) -> Counted:
        """The counts of a text, with those of a state."""
        begin, reading, kept = time.monotonic(), self.reading, self.continuation.kept_fraction
        ids_memory = memory.for_buffers(self.memory_limit) // 3  # the positions of every word take as much again
        joiner = self.phrases.joiner(run.log, 2 * ids_memory)
        corpus = encode(
            texts,
            reading.words,
            vocab=reading.vocabulary(),
            older=decay_vocab(state.vocab, kept) if state is not None else None,
            phrases=joiner,
            memory=ids_memory,
            spool_beside=self.beside,
            progress=run.on_reading,
            compute_digest=self.continuation.knows_texts,
        )
        tell_corpus(corpus, run.log, time.monotonic() - begin)
        if state is not None and not run.is_resuming and self.continuation.has_seen_text(corpus.text, run.log):
            records = blocks(state.records, _RECORDS)
            return Counted(state.vocab, records, state.digest, joiner, known=True)
        if self.continuation.save_state:
            corpus.require_different_words()
        earlier, digest = None, corpus.digest
        if state is not None:
            earlier = EarlierCounts(state, corpus.vocab.words, kept)
            digest = earlier.digest(digest)
        records = cooccurrence.count(
            corpus, self.config, memory=self.buffer_memory, spool_beside=self.beside, earlier=earlier
        )
        return Counted(corpus.vocab, records, digest, joiner, corpus.text)

    def of_text_on(self, address: str, texts: Texts, run: Run, stack: ExitStack) -> Counted:
        """The counts of a text, by the executor at `address`, which `stack` ends after the last record."""
        begin, reading = time.monotonic(), self.reading
        joiner = self.phrases.joiner(run.log, reading.memory)
        divided = Divided(texts, SHARD_BYTES, run.on_reading, whole_lines=True)
        workers = stack.enter_context(executor(address, run.log))
        corpus = counted_corpus(workers, divided, reading.words, reading.vocabulary(), joiner)
        tell_corpus(corpus, run.log, time.monotonic() - begin)
        if self.continuation.save_state:
            corpus.require_different_words()

        def records() -> Iterator[Records]:
            with stack:
                yield from shard_records(
                    workers,
                    texts,
                    corpus,
                    self.config,
                    reading.words,
                    joiner,
                    memory=self.buffer_memory,
                    spool_beside=self.beside,
                )

        text = text_digest(texts) if self.continuation.knows_texts else ""
        return Counted(corpus.vocab, records(), corpus.digest, joiner, text)
