"""One run of a command and what all of them have in common: what is read and written, the checks made before any work,
the checkpoint, and the end, when results are saved and the checkpoint is removed.

    Session            files in, files out; the checks; the sidecars
    TrainingSession    trains step by step, so that it can stop and go on
    TextSession        learns from a text, with a vocabulary

Prints nothing: sessions tell an observer about progress and `say` about events.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from wv_cli.config import flag_of, refuse_idle
from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Outcome, Worker
from wv_cli.engine.saved_run import Savable, Say, resume, train_saving
from wv_cli.errors import UsageError
from wv_cli.system import meta
from wv_cli.system.output import check_writable, remove_output
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus

Observe = Callable[[Progress], None]
Reading = Callable[[int, int | None], None]
Facts = dict[str, object]


class Config(Protocol):
    """Options that know what they may be."""

    def validate(self) -> None:
        """Raises UsageError."""
        ...

    @classmethod
    def conditions(cls) -> list[tuple[str, str]]:
        """See wv_cli.config.Config."""
        ...


class TrainingConfig(Config, Protocol):
    @property
    def threads(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class Session:
    """What is asked for; `argv` is the command line, recorded beside the results unless `write_meta` is false. `named`
    are the options that the user gave, whatever their values. CONDITIONS says of options that do not
    always mean something when they do (wv_cli.config.holds), besides what the fields of `config` say of themselves."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {}

    config: Config
    argv: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    write_meta: bool = True

    def validate(self) -> None:
        """Checks everything that can be checked before reading. Raises UsageError or WvError."""
        self.checked_config().validate()
        self.check_options()
        self.refuse_idle()
        for path in self.written():
            check_writable(path)
        sources = {os.path.realpath(path) for path in self.read() if path != "-"}
        for path in self.written():
            if path != "-" and os.path.realpath(path) in sources:
                message = f"{path}: is both read and written; choose another output"
                raise UsageError(message)

    def refuse_idle(self) -> None:
        """Raises UsageError for an option that was given and means nothing beside the others."""
        values = {**vars(self.config), **vars(self)}
        refuse_idle([*self.CONDITIONS.items(), *self.config.conditions()], self.named, values)

    def checked_config(self) -> Config:
        """The config with what other options say about it. Raises UsageError where they contradict it."""
        return self.config

    def check_options(self) -> None:
        """Raises UsageError for options that do not go together."""

    def read(self) -> list[str]:
        """The files this session reads, which no output may replace."""
        raise NotImplementedError

    def results(self) -> list[str]:
        """The files this session makes."""
        raise NotImplementedError

    def written(self) -> list[str]:
        """All files this session writes, in the end or on the way."""
        return self.results()

    def run(
        self, say: Say, observe: Observe | None = None, reading: Reading | None = None
    ) -> tuple[Outcome | None, Facts]:
        """Does the work and, unless it was stopped, writes the results. `observe` is called while a model trains,
        `reading` with (done, total or None) while a long file is gone through. Returns the outcome of the training
        (None: there was none) and the facts that are recorded beside the results.

        Raises WvError and its kin for everything the user can mend; a run stopped by a signal returns normally.
        """
        raise NotImplementedError

    def finish(self, written: Sequence[str], facts: Mapping[str, object]) -> None:
        """After the results are written: their sidecars."""
        for path in written:
            if self.write_meta and path != "-":
                meta.write(path, list(self.argv), facts)


@dataclass(frozen=True, kw_only=True)
class TrainingSession(Session):
    """`checkpoint` is where the run is saved, every `checkpoint_every` seconds and when it stops early, `max_seconds`
    when it must; with `resume` it goes on from there."""

    config: TrainingConfig
    outputs: tuple[str, ...]
    checkpoint: str | None = None
    checkpoint_every: float | None = None
    resume: bool = False
    max_seconds: float | None = None

    def validate(self) -> None:
        super().validate()
        if self.by_steps and (self.resume or self.checkpoint_every) and self.checkpoint_path is None:
            message = "a run that writes no file needs --checkpoint FILE to save and resume"
            raise UsageError(message)

    def refuse_idle(self) -> None:
        super().refuse_idle()
        for name in ("checkpoint", "checkpoint_every", "resume", "max_time"):
            if name in self.named and not self.by_steps:
                raise UsageError(f"{flag_of(name)} has no meaning here: nothing is trained that could stop and go on")

    def results(self) -> list[str]:
        return list(self.outputs)

    def written(self) -> list[str]:
        return super().written() + ([self.checkpoint_path] if self.checkpoint_path else [])

    @property
    def by_steps(self) -> bool:
        """Whether this run can stop and go on."""
        return True

    @property
    def checkpoint_path(self) -> str | None:
        if not self.by_steps:
            return None
        return self.checkpoint or (f"{self.beside}.checkpoint" if self.beside else None)

    @property
    def workers(self) -> int:
        """How many steps run at once."""
        return self.config.threads

    @property
    def beside(self) -> str | None:
        """The file beside which the checkpoint and temporary files go."""
        return next((path for path in self.results() if path != "-"), None)

    def first_step(self, model: Savable[Worker], say: Say) -> int:
        """The step to begin with: 0, or with `resume` where the checkpoint, now loaded, was saved. Raises WvError."""
        path = self.checkpoint_path
        return resume(path, model, say) if self.resume and path else 0

    def train(self, model: Savable[Worker], first_step: int, observe: Observe | None, advice: str) -> Outcome:
        """Trains on, saving as the options say. Raises WvError; after a divergence its message ends with `advice`."""
        return train_saving(
            self.checkpoint_path,
            model,
            first_step=first_step,
            threads=self.workers,
            save_every=self.checkpoint_every,
            max_seconds=self.max_seconds,
            observe=observe,
            advice=advice,
        )

    def finish(self, written: Sequence[str], facts: Mapping[str, object]) -> None:
        """After the results are written: the sidecars, and the checkpoint goes."""
        super().finish(written, facts)
        if self.checkpoint_path:
            remove_output(self.checkpoint_path)


@dataclass(frozen=True, kw_only=True)
class TextSession(TrainingSession):
    """`inputs` are texts; `vocab` is a vocabulary to use instead of their own; ids beyond `memory` bytes go to disk."""

    inputs: tuple[str, ...]
    vocab_config: VocabConfig = field(default_factory=VocabConfig)
    vocab: str | None = None
    memory: int | None = None

    def validate(self) -> None:
        self.vocab_config.validate()
        super().validate()

    def read(self) -> list[str]:
        return [path for path in (*self.inputs, self.vocab) if path]


def tell_corpus(corpus: Corpus, say: Say, seconds: float) -> None:
    words = len(corpus.vocab)
    say(
        f"{corpus.tokens:,} words in {corpus.lines:,} lines, {words:,} different ones ({seconds:.1f} s to read)",
        tokens=corpus.tokens,
        lines=corpus.lines,
        vocabulary=words,
    )


def corpus_facts(corpus: Corpus) -> Facts:
    """What the sidecar says about the text."""
    return {
        "digest": corpus.digest,
        "tokens": corpus.tokens,
        "lines": corpus.lines,
        "tokens_read": corpus.vocab.tokens_read,
        "words": len(corpus.vocab),
    }


def training_facts(outcome: Outcome) -> Facts:
    """What the sidecar says about the training."""
    totals = outcome.totals
    return {
        "training_seconds": round(outcome.seconds, 3),
        "words_per_second": round(totals.tokens / outcome.seconds) if outcome.seconds else None,
        "examples": totals.examples,
        "mean_loss": totals.loss / totals.examples if totals.examples else None,
    }
