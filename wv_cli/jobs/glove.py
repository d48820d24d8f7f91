"""One GloVe run, from text or counts to vectors, for `wv glove`: count, order, train, checkpoint, save."""

import time
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import ClassVar

from wv_cli import formats
from wv_cli._glove import RECORD
from wv_cli.cluster.inputs import refuse_for_cluster, refuse_for_ranks
from wv_cli.cluster.ranks import awaited
from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError
from wv_cli.glove import record_files
from wv_cli.glove.config import MODEL, GloveConfig
from wv_cli.glove.model import Glove
from wv_cli.glove.record_runs import RecordFile
from wv_cli.glove.state import open_state, save_state
from wv_cli.glove.tiles import TileStore
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.glove_counting import GloveCounting
from wv_cli.jobs.session import Observe, Reading
from wv_cli.system.events import Log as Say
from wv_cli.system.output import check_writable, open_output, together, write_together
from wv_cli.text.vocab import write_vocab


@dataclass(frozen=True, kw_only=True)
class GloveSession(GloveCounting):
    """`counts` are read instead of `inputs`; `save_counts` and `save_vocab`, which tells what their ids mean, are
    written, and with `counts_only` nothing else. `to` is the format of the outputs, whatever their names.

    A run that goes on with a state counts `inputs` with the words of both, adds the state's counts, and trains on the
    sums, known words from the state's rows and squared gradients. `decay` takes a share of the counts and of the
    squared gradients: with 0 they begin anew and the rows alone are the state's.

    Ranks count together, to the sums of one process, which rank 0 writes and trains on alone."""

    # What --counts settle, and what needs a training. A state says how its counts were made, which a file of counts
    # does not.
    CONDITIONS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("window", "symmetric", "weighting", "lowercase", "dedup", "min_line", "phrases", "learn_phrases"),
            "not counts",
        ),
        **dict.fromkeys(
            GloveConfig.options().keys() - {"window", "symmetric", "weighting", "threads"}, "not counts_only"
        ),
        **dict.fromkeys(("init", "init_gradsq"), "not counts_only and not continue_"),
        **dict.fromkeys(("continue_", "save_state"), "not counts and not counts_only"),
        "to": "not counts_only",
        "vocab": "not continue_",
        "decay": "continue_",
        "threads": "not dask or not counts_only",
    }
    STATES: ClassVar[Collection[str]] = (MODEL,)
    FIXED: ClassVar[tuple[str, ...]] = ("dim", "window", "symmetric", "weighting")

    # Not an option: what GloVe's program leaves alone is to be found by its own command line only.
    CLIP_BIASES: ClassVar[bool] = True

    save_counts: str | None = None
    to: str | None = None
    init: str | None = None
    init_gradsq: str | None = None

    def check_options(self) -> None:
        for wrong, message in [
            (
                bool(self.inputs) == bool(self.counts),
                "give either INPUT to count or --counts FILE, not both or neither",
            ),
            (self.counts_only and not self.save_counts, "--counts-only needs --save-counts FILE"),
            (self.counts_only and bool(self.outputs), "--counts-only trains nothing; leave -o out"),
            (
                self.counts_only and self.saves,
                "--counts-only trains nothing; leave --resume and --checkpoint-every out",
            ),
            (not self.counts_only and not self.outputs, "-o FILE is missing (or --counts-only --save-counts FILE)"),
            (bool(self.init_gradsq) and not self.init, "--init-gradsq needs --init, the vectors it belongs to"),
        ]:
            if wrong:
                raise UsageError(message)
        alone = {
            "counts": self.counts,
            "continue_": self.continue_,
            "dedup": self.vocab_config.dedup,
            "learn_phrases": self.phrase_learning.learn_phrases,
        }
        refuse_for_ranks(self.ranks, **alone)
        refuse_for_cluster(self.dask, self.ranks, **alone)
        for path in self.outputs:
            formats.format_for_output(path, self.to)

    @property
    def format_asked(self) -> str | None:
        return self.to

    @property
    def first_rows(self) -> tuple[str | None, ...]:
        return (*super().first_rows, self.init, self.init_gradsq)

    def read(self) -> list[str]:
        counts = [*self.counts, *(spec.rpartition(":")[0] for spec in self.counts)]
        return super().read() + [path for path in (*counts, self.init, self.init_gradsq) if path]

    def results(self) -> list[str]:
        return super().results() + ([self.save_counts] if self.save_counts else [])

    @property
    def by_steps(self) -> bool:
        return not self.counts_only

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: counts, trains unless `counts_only`, saves. Not `observe` but `say` is told how the training
        goes, once an iteration."""
        if not self.leads:
            assert self.ranks is not None, "a process alone leads"
            with ExitStack() as stack:
                for _ in self._records(say, reading, None, stack)[1]:
                    raise AssertionError("they come on rank 0")
            return awaited(self.ranks), {}
        # The counts wait for the vectors. A run that a signal stops leaves the counts, which are complete.
        with together(), ExitStack() as stack:
            outcome, facts = self._run(say, reading, stack)
        if outcome is not None and outcome.finished:
            self.finish([*self.outputs, *([self.save_state] if self.save_state else [])], facts)
        if self.ranks is not None:
            awaited(self.ranks, outcome)
        return outcome, facts

    def _run(self, say: Say, reading: Reading | None, stack: ExitStack) -> tuple[Outcome | None, Facts]:
        begin = time.monotonic()
        state = open_state(self.continue_) if self.continue_ else None
        vocab, records, digest = self._records(say, reading, state, stack)
        kept = RecordFile(self.beside)
        stack.callback(kept.close)
        if self.save_vocab:
            write_vocab(self.save_vocab, vocab, sentence_end=False)
        counted, store = 0, None
        with ExitStack() as files:
            if self.save_counts:
                records = record_files.written(records, files.enter_context(open_output(self.save_counts)))
            if self.save_state:
                records = kept.kept(records)
            if self.counts_only:
                counted = sum(len(block) for block in records)
            else:
                store = stack.enter_context(TileStore(records, len(vocab), self.beside, self.memory_limit // 4))
                counted = store.records
        seconds = round(time.monotonic() - begin, 3)
        counts: Facts = {"digest": digest, "records": counted, "words": len(vocab)}
        facts: Facts = {
            "config": asdict(self.config),
            "vocabulary_config": asdict(self.vocab_config),
            "counts": counts,
            "counting_seconds": seconds,
            **self.own_facts(),
        }
        say(f"{counted:,} pairs of {len(vocab):,} words ({seconds:.1f} s)", **counts)
        if store is None:
            return None, facts
        model = Glove(self.config, vocab, store, digest, clip_biases=self.CLIP_BIASES, room=self.room(say))
        if self.init or self.init_gradsq:
            model.load_raw(self.init, self.init_gradsq)
        if state is not None:
            model.go_on(state.rows, vocab.words.find_all(state.vocab.words), self.share)
        if self.save_state:
            rows = sum(array.nbytes for array in model.state_rows().values())
            check_writable(self.save_state, rows + kept.length * RECORD.itemsize)
        outcome = self._train(model, say)
        facts["training_seconds"] = round(outcome.seconds, 3)
        facts["costs"] = [cost / store.records for cost in model.costs if cost]
        facts["seconds"] = round(time.monotonic() - begin, 3)
        if outcome.finished:
            self._save(model)
            if self.save_state:
                left = self.left_behind(MODEL, self.config, self.config.eta, self.config.iterations * store.records)
                save_state(self.save_state, left, vocab, model.state_rows(), kept.mapped())
        return outcome, facts

    def _train(self, model: Glove, say: Say) -> Outcome:
        advice = f"lower --eta (now {self.config.eta:g}) or --grad-clip"
        first_step = self.first_step(model, say)
        iterations = _Iterations(model, first_step // model.epoch_steps, self.config.threads, say)
        return self.train(model, first_step, iterations, advice)

    def _save(self, model: Glove) -> None:
        embeddings = model.embeddings()
        write_together((path, lambda path: formats.save(path, embeddings, format=self.to)) for path in self.outputs)


class _Iterations:
    """Observes a run and reports every iteration that is complete; the first `told` are not told again."""

    def __init__(self, model: Glove, told: int, threads: int, say: Say) -> None:
        self.model, self.told, self.threads, self.say = model, told, threads, say

    def __call__(self, now: Progress) -> None:
        model = self.model
        # A step that is handed out may still run: an iteration is complete once the next is well under way.
        done = int(now.fraction * model.steps - self.threads) // model.epoch_steps
        while self.told < (model.epochs if now.fraction >= 1 else done):
            cost = model.costs[self.told] / model.store.records
            self.told += 1
            self.say(
                f"iteration {self.told}/{model.epochs}  cost {cost:.6f}  {now.rate / 1e6:.1f} M pairs/s",
                iteration=self.told,
                cost=cost,
                pairs_per_second=now.rate,
            )
