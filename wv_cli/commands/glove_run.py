"""A run of `wv glove`: counts, orders, trains, saves."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from wv_cli._glove import RECORD
from wv_cli.commands.distribution import executor
from wv_cli.commands.job import Writer
from wv_cli.commands.metadata import tell_corpus
from wv_cli.commands.parts.continuation import Continuation
from wv_cli.commands.parts.phrases import PhraseJoining, found_phrases
from wv_cli.commands.parts.reading import Reading
from wv_cli.commands.run import Metadata, Run
from wv_cli.io import memory
from wv_cli.io.events import Log
from wv_cli.io.output import check_writable, commit_together, open_output, write_each, write_together
from wv_cli.models.glove import cooccurrence, record_files
from wv_cli.models.glove.config import MODEL, GloveConfig
from wv_cli.models.glove.continued_counts import EarlierCounts
from wv_cli.models.glove.cooccurrence import counted_corpus, shard_records
from wv_cli.models.glove.model import Glove
from wv_cli.models.glove.record_runs import RecordFile, Records
from wv_cli.models.glove.state import GloveState, blocks, open_state, save_state
from wv_cli.models.glove.tiles import ORDERING_BYTES, TileStore
from wv_cli.models.training.progress import Progress
from wv_cli.models.training.run import Outcome
from wv_cli.text.continued_vocabulary import decay_vocab
from wv_cli.text.corpus import encode
from wv_cli.text.inputs import Texts
from wv_cli.text.joining import Phrases
from wv_cli.text.shard_counting import SHARD_BYTES, Divided
from wv_cli.text.source import tell_words, text_digest
from wv_cli.text.vocab import Vocab, write_vocab
from wv_cli.vectors import formats

if TYPE_CHECKING:
    from wv_cli.commands.glove import Counts, GloveJob


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
    counts: "Counts"
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
        tell_words(texts)
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


@dataclass(frozen=True)
class GloveRun:
    """One run of the job. A run that continues a state counts the text with the words of both, adds the state's counts,
    and trains on the sums, known words from the state's rows and squared gradients. `decay` takes a fraction of the
    counts and of the squared gradients: with 0 they begin anew and the rows alone are the state's. With `dask`, the
    address of a scheduler, its workers count."""

    job: "GloveJob"
    run: Run

    @cached_property
    def counter(self) -> Counting:
        job = self.job
        return Counting(job.config, job.reading, job.counts, job.phrases, job.continuation, job.beside)

    def train(self) -> tuple[Outcome | None, Metadata]:
        """See Job.work: counts, trains unless `counts_only`, saves. The log is told how the training goes, once an
        iteration."""
        # The counts wait for the vectors. A run that a signal stops leaves the counts, which are complete.
        problems: list[str] = []
        with commit_together(self.job.continuation.save_state), ExitStack() as stack:
            outcome, metadata = self._work(stack, problems)
        if outcome is not None and outcome.is_finished:
            self.job.end(self.run, problems)
        return outcome, metadata

    def _work(self, stack: ExitStack, problems: list[str]) -> tuple[Outcome | None, Metadata]:
        """`problems` are those with sidecars."""
        job, run = self.job, self.run
        begin, continuation = time.monotonic(), job.continuation
        state = open_state(continuation.continue_) if continuation.continue_ else None
        found = self._count(state, stack)
        vocab, records, leaves_state = found.vocab, found.records, continuation.leaves_state(known=found.known)
        run.record_text_digest(found.text)
        kept = RecordFile(job.beside)
        stack.callback(kept.close)
        if job.vocabulary.save_vocab:
            write_vocab(job.vocabulary.save_vocab, vocab, sentence_end=False)
        counted, store = 0, None
        with ExitStack() as files:
            if job.counts.save_counts:
                records = record_files.write_through(records, files.enter_context(open_output(job.counts.save_counts)))
            if leaves_state:
                records = kept.append_all(records)
            if job.counts.counts_only:
                counted = sum(len(block) for block in records)
            else:
                order_memory = self.counter.memory_limit // 4
                store = stack.enter_context(TileStore(records, len(vocab), job.beside, order_memory))
                counted = store.records
        seconds = round(time.monotonic() - begin, 3)
        counts: Metadata = {"digest": found.digest, "records": counted, "words": len(vocab)}
        metadata: Metadata = {
            "config": asdict(job.config),
            "vocabulary_config": asdict(job.reading.words),
            "counts": counts,
            "counting_seconds": seconds,
            **job.continuation.metadata(),
            **found_phrases(found.joiner),
        }
        run.log(f"{counted:,} pairs of {len(vocab):,} words ({seconds:.1f} s)", **counts)
        if store is None:
            return None, metadata
        model = Glove(
            job.config,
            vocab,
            store,
            found.digest,
            allocator=job.reading.matrices(job.beside, run.log),
        )
        if job.first.init:
            model.load_raw(job.first.init, job.first.init_gradsq)
        if state is not None:
            fraction = continuation.kept_fraction if not found.known else 1
            model.load_state(state.rows, vocab.words.find_all(state.vocab.words), fraction)
        if continuation.save_state and leaves_state:
            rows = sum(array.nbytes for array in model.state_rows().values())
            check_writable(continuation.save_state, rows + kept.length * RECORD.itemsize, read_only="")
        outcome = self._train(model.until(0) if found.known else model, run)
        metadata["training_seconds"] = round(outcome.seconds, 3)
        metadata["costs"] = [cost / store.records for cost in model.costs if cost]
        metadata["seconds"] = round(time.monotonic() - begin, 3)
        if outcome.is_finished:
            save = partial(formats.save, embeddings=model.embeddings(), format=job.outputs.to)
            writers: list[Writer] = [(path, save) for path in job.outputs.outputs]
            if continuation.save_state and leaves_state:
                config, learnt = job.config, 0 if found.known else job.config.iterations * store.records
                left = continuation.left_behind(
                    MODEL, config, job.reading.word_options, lr=config.eta, learnt=learnt, text=found.text
                )
                arrays, pairs = model.state_rows(), kept.map_records()
                save_left = partial(save_state, options=left, vocab=vocab, rows=arrays, records=pairs)
                writers.append((continuation.save_state, save_left))
            missing = write_each(writers)
            results = [*job.outputs.outputs, *continuation.results()]
            problems += job.write_sidecars([path for path in results if path not in missing], metadata)
        return outcome, metadata

    def _count(self, state: GloveState | None, stack: ExitStack) -> Counted:
        job, run = self.job, self.run
        counting = self.counter
        if job.counts.counts:
            return counting.of_files()
        texts = job.reading.texts(run.log, written=job.writes(), advise=not run.is_resuming and state is None)
        if job.dask is not None:
            return counting.of_text_on(job.dask, texts, run, stack.enter_context(ExitStack()))
        found = counting.of_text(texts, run, state)
        write_together(job.phrases.writers(found.joiner))
        if state is not None:
            job.continuation.require_same(state.options, job.config, job.reading.word_options, job.FIXED)
            job.continuation.tell(len(state.vocab), len(found.vocab), run.log)
        return found

    def _train(self, model: Glove, run: Run) -> Outcome:
        job, run = self.job, self.run
        first_step = run.first_step(model)
        told = _Iterations(model, first_step // model.epoch_steps, job.config.threads, run.log)
        advice = f"lower --eta (now {job.config.eta:g}) or --grad-clip"
        threads = job.config.threads
        return run.train(model, threads=threads, advice=advice, on_progress=told, first_step=first_step)


class _Iterations:
    """Observes a run and reports every iteration that is complete; the first `told` are not told again."""

    def __init__(self, model: Glove, told: int, threads: int, log: Log) -> None:
        self.model, self.told, self.threads, self.log = model, told, threads, log

    def __call__(self, now: Progress) -> None:
        model = self.model
        # A step that is handed out may still run: an iteration is complete once the next is well under way.
        done = int(now.fraction * model.steps - self.threads) // model.epoch_steps
        while self.told < (model.epochs if now.fraction >= 1 else done):
            cost = model.costs[self.told] / model.store.records
            self.told += 1
            self.log(
                f"iteration {self.told}/{model.epochs}  cost {cost:.6f}  {now.rate / 1e6:.1f} M pairs/s",
                iteration=self.told,
                cost=cost,
                pairs_per_second=now.rate,
            )
