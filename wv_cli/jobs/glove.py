"""`wv glove`: from a text or co-occurrence counts to GloVe vectors (count, order, train, save)."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import ClassVar

from wv_cli import formats
from wv_cli._glove import RECORD
from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError
from wv_cli.glove import record_files
from wv_cli.glove.config import MODEL, GloveConfig
from wv_cli.glove.model import Glove
from wv_cli.glove.record_runs import RecordFile
from wv_cli.glove.state import GloveState, open_state, save_state
from wv_cli.glove.tiles import TileStore
from wv_cli.jobs.distribution import refuse_with_dask
from wv_cli.jobs.glove_counting import Counted, Counting, Counts
from wv_cli.jobs.job import Job, Writer
from wv_cli.jobs.part import Part, SidecarOption
from wv_cli.jobs.parts.continuation import Continuation
from wv_cli.jobs.parts.phrases import PhraseJoining, found_phrases
from wv_cli.jobs.parts.reading import Reading, SavedVocabulary
from wv_cli.jobs.parts.resume import Resume
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.events import Log
from wv_cli.system.output import check_writable, commit_together, open_output, write_each, write_together
from wv_cli.system.places import is_stream
from wv_cli.text.vocab import write_vocab

# The options that the arrays of a state depend on.
_FIXED = ("dim", "window", "symmetric", "weighting")


@dataclass(frozen=True, kw_only=True)
class GloveOutputs(Part):
    """`to` is the format of the `outputs`, whatever their names."""

    outputs: tuple[str, ...] = ()
    to: str | None = None

    def results(self) -> list[str]:
        return list(self.outputs)


@dataclass(frozen=True, kw_only=True)
class FirstRows(Part):
    """Initial values: raw numbers of GloVe's program in `init`, and its squared gradients."""

    init: str | None = None
    init_gradsq: str | None = None

    def check(self) -> None:
        if self.init_gradsq and not self.init:
            message = "--init-gradsq needs --init, the vectors it belongs to"
            raise UsageError(message)
        for path in self.reads():
            if is_stream(path):
                raise UsageError(f"{path}: expected a file of raw numbers, found a pipe or device; write it to a file")

    def reads(self) -> list[str]:
        return [path for path in (self.init, self.init_gradsq) if path]

    def begins_with(self) -> list[str]:
        return self.reads()


@dataclass(frozen=True, kw_only=True)
class GloveJob(Job):
    """The job of `wv glove`. A run that continues a state counts the text with the words of both, adds the state's
    counts, and trains on the sums, known words from the state's rows and squared gradients. `decay` takes a
    fraction of the counts and of the squared gradients: with 0 they begin anew and the rows alone are the state's.

    With `dask`, the address of a scheduler, its workers count.
    """

    invocation: SidecarOption = field(default_factory=SidecarOption)
    # What --counts have settle, and what needs a training. A state says how its counts were made, which a file of
    # counts does not.
    CONDITIONS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            (
                *("window", "symmetric", "weighting", "lowercase", "dedup", "min_line", "phrases", "learn_phrases"),
                *("field", "no_header", "tsv_quotes", "tokenize"),
            ),
            "not counts",
        ),
        **dict.fromkeys(
            GloveConfig.options().keys() - {"window", "symmetric", "weighting", "threads"}, "not counts_only"
        ),
        **dict.fromkeys(("init", "init_gradsq"), "not counts_only and not continue_"),
        **dict.fromkeys(("continue_", "save_state"), "not counts and not counts_only"),
        "to": "not counts_only",
        "vocab": "not continue_",
        "threads": "not dask or not counts_only",
    }

    config: GloveConfig
    reading: Reading = field(default_factory=Reading)
    vocabulary: SavedVocabulary = field(default_factory=SavedVocabulary)
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    counts: Counts = field(default_factory=Counts)
    outputs: GloveOutputs = field(default_factory=GloveOutputs)
    first: FirstRows = field(default_factory=FirstRows)
    continuation: Continuation = field(default_factory=Continuation)
    resume: Resume = field(default_factory=Resume)
    dask: str | None = None

    def check(self) -> None:
        if (before := self.continuation.before) is not None:
            self.continuation.require_same(before, self.config, self.reading.word_options, _FIXED)
        counts, outputs = self.counts, self.outputs.outputs
        for wrong, message in [
            (not (self.reading.inputs or counts.counts), "INPUT is missing (or --counts FILE)"),
            (
                bool(self.reading.inputs and counts.counts),
                "INPUT and --counts cannot be used together: --counts trains on earlier counts; leave one out",
            ),
            (counts.counts_only and not counts.save_counts, "--counts-only needs --save-counts FILE"),
            (counts.counts_only and bool(outputs), "--counts-only trains nothing; leave -o out"),
            (
                counts.counts_only and bool(self.resume.given_options),
                f"--counts-only trains nothing; leave {' and '.join(self.resume.given_options)} out",
            ),
            (not counts.counts_only and not outputs, "-o FILE is missing (or --counts-only --save-counts FILE)"),
        ]:
            if wrong:
                raise UsageError(message)
        for path in outputs:
            formats.format_for_output(path, self.outputs.to)
        refuse_with_dask(
            self.dask,
            counts=counts.counts,
            continue_=self.continuation.continue_,
            dedup=self.reading.words.dedup,
            learn_phrases=self.phrases.learning.learn_phrases,
        )

    @property
    def output_format(self) -> str | None:
        return self.outputs.to

    @property
    def trains(self) -> bool:
        return not self.counts.counts_only

    @cached_property
    def counter(self) -> Counting:
        return Counting(self.config, self.reading, self.counts, self.phrases, self.continuation, self.beside)

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: counts, trains unless `counts_only`, saves. The log is told how the training goes, once an
        iteration."""
        # The counts wait for the vectors. A run that a signal stops leaves the counts, which are complete.
        problems: list[str] = []
        with commit_together(self.continuation.save_state), ExitStack() as stack:
            outcome, metadata = self._work(run, stack, problems)
        if outcome is not None and outcome.is_finished:
            self.end(run, problems)
        return outcome, metadata

    def _work(self, run: Run, stack: ExitStack, problems: list[str]) -> tuple[Outcome | None, Metadata]:
        """`problems` are those with sidecars."""
        begin, continuation = time.monotonic(), self.continuation
        state = open_state(continuation.continue_) if continuation.continue_ else None
        found = self._count(run, state, stack)
        vocab, records, leaves_state = found.vocab, found.records, continuation.leaves_state(known=found.known)
        run.record_text_digest(found.text)
        kept = RecordFile(self.beside)
        stack.callback(kept.close)
        if self.vocabulary.save_vocab:
            write_vocab(self.vocabulary.save_vocab, vocab, sentence_end=False)
        counted, store = 0, None
        with ExitStack() as files:
            if self.counts.save_counts:
                records = record_files.write_through(records, files.enter_context(open_output(self.counts.save_counts)))
            if leaves_state:
                records = kept.append_all(records)
            if self.counts.counts_only:
                counted = sum(len(block) for block in records)
            else:
                order_memory = self.counter.memory_limit // 4
                store = stack.enter_context(TileStore(records, len(vocab), self.beside, order_memory))
                counted = store.records
        seconds = round(time.monotonic() - begin, 3)
        counts: Metadata = {"digest": found.digest, "records": counted, "words": len(vocab)}
        metadata: Metadata = {
            "config": asdict(self.config),
            "vocabulary_config": asdict(self.reading.words),
            "counts": counts,
            "counting_seconds": seconds,
            **self.metadata(),
            **found_phrases(found.joiner),
        }
        run.log(f"{counted:,} pairs of {len(vocab):,} words ({seconds:.1f} s)", **counts)
        if store is None:
            return None, metadata
        model = Glove(self.config, vocab, store, found.digest, allocator=self.reading.matrices(self.beside, run.log))
        if self.first.init:
            model.load_raw(self.first.init, self.first.init_gradsq)
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
            save = partial(formats.save, embeddings=model.embeddings(), format=self.outputs.to)
            writers: list[Writer] = [(path, save) for path in self.outputs.outputs]
            if continuation.save_state and leaves_state:
                config, learnt = self.config, 0 if found.known else self.config.iterations * store.records
                left = continuation.left_behind(
                    MODEL, config, self.reading.word_options, lr=config.eta, learnt=learnt, text=found.text
                )
                arrays, pairs = model.state_rows(), kept.map_records()
                save_left = partial(save_state, options=left, vocab=vocab, rows=arrays, records=pairs)
                writers.append((continuation.save_state, save_left))
            missing = write_each(writers)
            results = [*self.outputs.outputs, *continuation.results()]
            problems += self.write_sidecars([path for path in results if path not in missing], metadata)
        return outcome, metadata

    def _count(self, run: Run, state: GloveState | None, stack: ExitStack) -> Counted:
        counting = self.counter
        if self.counts.counts:
            return counting.of_files()
        texts = self.reading.texts(run.log, written=self.writes())
        if self.dask is not None:
            return counting.of_text_on(self.dask, texts, run, stack.enter_context(ExitStack()))
        found = counting.of_text(texts, run, state)
        write_together(self.phrases.writers(found.joiner))
        if state is not None:
            self.continuation.require_same(state.options, self.config, self.reading.word_options, _FIXED)
            self.continuation.tell(len(state.vocab), len(found.vocab), run.log)
        return found

    def _train(self, model: Glove, run: Run) -> Outcome:
        first_step = run.first_step(model)
        told = _Iterations(model, first_step // model.epoch_steps, self.config.threads, run.log)
        advice = f"lower --eta (now {self.config.eta:g}) or --grad-clip"
        return run.train(model, first_step, threads=self.config.threads, advice=advice, on_progress=told)


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
