"""One GloVe run, from text or counts to vectors, for `wv glove`: count, order, train, checkpoint, save.

Prints nothing: `say` is told about events, the cost of every iteration among them.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

from wv_cli import formats, meta
from wv_cli.config import GloveConfig, VocabConfig
from wv_cli.corpus import encode
from wv_cli.errors import UsageError
from wv_cli.models import cooccurrence, record_files
from wv_cli.models.glove import Glove
from wv_cli.models.glove_tiles import TileStore
from wv_cli.text.output import check_writable, open_output, remove_output
from wv_cli.training.progress import Progress
from wv_cli.training.run import Outcome
from wv_cli.training.saved_run import resume, train_saving
from wv_cli.vocab import Vocab, read_vocab

Say = Callable[..., None]
Reading = Callable[[int, int | None], None]


@dataclass(frozen=True)
class GloveSession:
    """What to read, what to write; the model's options are in `config`."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    config: GloveConfig
    vocab_config: VocabConfig = field(default_factory=VocabConfig)
    vocab: str | None = None
    counts: tuple[str, ...] = ()
    save_counts: str | None = None
    counts_only: bool = False
    init: str | None = None
    init_gradsq: str | None = None
    memory: int | None = None
    checkpoint: str | None = None
    checkpoint_every: float | None = None
    resume: bool = False
    max_seconds: float | None = None
    write_meta: bool = True
    argv: tuple[str, ...] = ()

    def validate(self) -> None:
        """Checks everything that can be checked before reading. Raises UsageError or WvError."""
        self.config.validate()
        self.vocab_config.validate()
        for wrong, message in [
            (
                bool(self.inputs) == bool(self.counts),
                "give either INPUT to count or --counts FILE, not both or neither",
            ),
            (self.counts_only and not self.save_counts, "--counts-only needs --save-counts FILE"),
            (self.counts_only and bool(self.outputs), "--counts-only trains nothing; leave -o out"),
            (not self.counts_only and not self.outputs, "-o FILE is missing (or --counts-only --save-counts FILE)"),
            (bool(self.init_gradsq) and not self.init, "--init-gradsq needs --init, the vectors it belongs to"),
            (
                (self.resume or bool(self.checkpoint_every)) and self.checkpoint_path is None,
                "a run that writes no file needs --checkpoint FILE to save and resume",
            ),
        ]:
            if wrong:
                raise UsageError(message)
        for path in self._written():
            check_writable(path)
        for path in self.outputs:
            formats.format_for_output(path)
        read = {*self.inputs, *self.counts, *(spec.rpartition(":")[0] for spec in self.counts)}
        read |= {path for path in (self.vocab, self.init, self.init_gradsq) if path}
        sources = {os.path.realpath(path) for path in read if path and path != "-"}
        for path in self._written():
            if path != "-" and os.path.realpath(path) in sources:
                message = f"{path}: is both read and written; choose another output"
                raise UsageError(message)

    @property
    def checkpoint_path(self) -> str | None:
        if self.checkpoint:
            return self.checkpoint
        return f"{self.outputs[0]}.checkpoint" if self.outputs and self.outputs[0] != "-" else None

    @property
    def beside(self) -> str | None:
        """Where temporary files go."""
        return next((path for path in (*self.outputs, self.save_counts) if path and path != "-"), None)

    def _written(self) -> list[str]:
        paths = [*self.outputs, self.save_counts, None if self.counts_only else self.checkpoint_path]
        return [path for path in paths if path is not None]


def run(session: GloveSession, say: Say, reading: Reading | None = None) -> tuple[Outcome | None, dict[str, Any]]:
    """Counts, trains and, when the run finishes, writes the outputs and removes the checkpoint. Returns the outcome
    (None with counts_only) and the facts recorded beside the model.

    Raises WvError and its kin for everything the user can mend; a run stopped by a signal returns normally.
    """
    session.validate()
    with ExitStack() as stack:
        return _run(session, say, reading, stack)


def _run(
    session: GloveSession, say: Say, reading: Reading | None, stack: ExitStack
) -> tuple[Outcome | None, dict[str, Any]]:
    begin = time.monotonic()
    vocab, records, digest = _records(session, say, reading)
    counted, store = 0, None
    with ExitStack() as files:
        if session.save_counts:
            records = record_files.written(records, files.enter_context(open_output(session.save_counts)))
        if session.counts_only:
            counted = sum(len(block) for block in records)
        else:
            store = stack.enter_context(TileStore(records, len(vocab), session.beside, _memory(session) // 4))
            counted = store.records
    facts: dict[str, Any] = {
        "config": asdict(session.config),
        "vocabulary_config": asdict(session.vocab_config),
        "counts": {"digest": digest, "records": counted, "words": len(vocab)},
        "counting_seconds": round(time.monotonic() - begin, 3),
    }
    say(f"{counted:,} pairs of {len(vocab):,} words ({facts['counting_seconds']:.1f} s)", **facts["counts"])
    if store is None:
        return None, facts
    model = Glove(session.config, vocab, store, digest)
    if session.init:
        model.load_raw(session.init, session.init_gradsq)
    path = session.checkpoint_path
    outcome = _train(session, model, resume(path, model, say) if session.resume and path else 0, say)
    facts["training_seconds"] = round(outcome.seconds, 3)
    facts["costs"] = [cost / store.records for cost in model.costs if cost]
    facts["seconds"] = round(time.monotonic() - begin, 3)
    if outcome.finished:
        _save(session, model, facts)
    return outcome, facts


def _memory(session: GloveSession) -> int:
    return session.memory or cooccurrence.DEFAULT_MEMORY


def _records(session: GloveSession, say: Say, reading: Reading | None) -> tuple[Vocab, Iterator[Any], str]:
    """The vocabulary, the sorted stream of records and its fingerprint."""
    target = read_vocab(session.vocab) if session.vocab else None
    if session.counts:
        files = record_files.open_counts(session.counts, session.vocab)
        counts = record_files.Counts(files, session.vocab_config, target)
        return counts.vocab, counts.stream(_memory(session), session.beside), counts.digest
    corpus = encode(
        session.inputs,
        session.vocab_config,
        vocab=target,
        memory=session.memory and session.memory // 2,
        spool_beside=session.beside,
        progress=reading,
    )
    say(
        f"{corpus.tokens:,} words in {corpus.lines:,} lines, {len(corpus.vocab):,} different ones",
        tokens=corpus.tokens,
        lines=corpus.lines,
        vocabulary=len(corpus.vocab),
    )
    return (
        corpus.vocab,
        cooccurrence.count(corpus, session.config, memory=_memory(session) // 2, spool_beside=session.beside),
        corpus.digest,
    )


def _train(session: GloveSession, model: Glove, first_step: int, say: Say) -> Outcome:
    told = first_step // model.epoch_steps

    def tell(done: int, rate: float, lr: float) -> None:
        """Reports the iterations that are complete."""
        nonlocal told
        while told < done:
            cost = model.costs[told] / model.store.records
            told += 1
            say(
                f"iteration {told}/{model.epochs}  cost {cost:.6f}  {rate / 1e6:.1f} M pairs/s",
                iteration=told,
                cost=cost,
                pairs_per_second=rate,
            )

    def observe(now: Progress) -> None:
        # A step that is handed out may still run: an iteration is complete once the next is well under way.
        done = int(now.fraction * model.steps - session.config.threads) // model.epoch_steps
        tell(model.epochs if now.fraction >= 1 else done, now.rate, now.lr)

    return train_saving(
        session.checkpoint_path,
        model,
        first_step=first_step,
        threads=session.config.threads,
        save_every=session.checkpoint_every,
        max_seconds=session.max_seconds,
        observe=observe,
        advice=f"lower --eta (now {session.config.eta:g}) or --grad-clip",
    )


def _save(session: GloveSession, model: Glove, facts: dict[str, Any]) -> None:
    embeddings = model.embeddings()
    for path in session.outputs:
        formats.save(path, embeddings)
        if session.write_meta and path != "-":
            meta.write(path, list(session.argv), facts)
    if session.checkpoint_path:
        remove_output(session.checkpoint_path)
