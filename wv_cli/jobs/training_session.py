"""Runs that train: the checkpoint on the way, and the end, when results are saved and the checkpoint is removed.

TrainingSession    trains step by step, so that it can stop and go on
TextSession        learns from a text, with a vocabulary
VocabularySession  can write that vocabulary
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from wv_cli.config import flag_of
from wv_cli.engine.run import Outcome, Worker, train
from wv_cli.engine.saved_run import Savable, SavedRun
from wv_cli.errors import UsageError
from wv_cli.formats.recognise import texts
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.session import Config, Observe, Session
from wv_cli.system.events import Log as Say
from wv_cli.system.matrices import Room
from wv_cli.system.output import check_writable
from wv_cli.system.places import is_stream
from wv_cli.text.config import VocabConfig
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import Part


class TrainingConfig(Config, Protocol):
    @property
    def threads(self) -> int: ...
    def identity(self) -> dict[str, Any]:
        """See wv_cli.config.Config."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrainingSession(Session):
    """`checkpoint` is where the run is saved, every `checkpoint_every` seconds and when it stops early, `max_seconds`
    when it must; with `resume` it goes on from there, with `overwrite` it begins anew although one is there. A run that
    is not `resumable` saves nothing on the way."""

    config: TrainingConfig
    outputs: tuple[str, ...]
    checkpoint: str | None = None
    checkpoint_every: float | None = None
    resume: bool = False
    overwrite: bool = False
    max_seconds: float | None = None
    resumable: bool = True

    def validate(self) -> None:
        super().validate()
        if self.resume and self.overwrite:
            message = "--resume goes on with the checkpoint and --overwrite discards it; give one of them"
            raise UsageError(message)
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
    def saves(self) -> bool:
        """Whether an option asks for what only a run that can stop and go on has."""
        return bool(self.resume or self.overwrite or self.checkpoint or self.checkpoint_every)

    @property
    def by_steps(self) -> bool:
        """Whether this run can stop and go on."""
        return True

    @property
    def checkpoint_path(self) -> str | None:
        if not (self.by_steps and self.resumable):
            return None
        return self.checkpoint or (f"{self.beside}.checkpoint" if self.beside else None)

    @property
    def workers(self) -> int:
        """How many steps run at once."""
        return self.config.threads

    @property
    def beside(self) -> str | None:
        """The file beside which the checkpoint and temporary files go."""
        return next((path for path in self.results() if not is_stream(path)), None)

    @property
    def first_rows(self) -> tuple[str | None, ...]:
        """The files, as far as they are given, whose rows the training begins with."""
        return ()

    @cached_property
    def saved_run(self) -> SavedRun:
        path, from_files = self.checkpoint_path, any(self.first_rows)
        return SavedRun(path, resume=self.resume, overwrite=self.overwrite, from_files=from_files)

    @contextmanager
    def claimed(self, say: Say) -> Iterator[None]:
        with super().claimed(say), self.saved_run.claimed(say):
            yield

    def first_step(self, model: Savable[Worker], say: Say) -> int:
        """The step to begin with: 0, or with `resume` where the checkpoint, now loaded, was saved. Raises WvError."""
        return self.saved_run.first_step(model, say)

    def train(
        self,
        model: Savable[Worker],
        first_step: int,
        observe: Observe | None,
        advice: str,
        after_epoch: Callable[[int], bool] | None = None,
    ) -> Outcome:
        """Trains on, saving as the options say; for `after_epoch` see engine.run.train. Raises WvError; after a
        divergence its message ends with `advice`."""
        trained, by = self.trained_by(model)
        return self.saved_run.train(
            trained,
            first_step=first_step,
            threads=self.workers,
            save_every=self.checkpoint_every,
            max_seconds=self.max_seconds,
            observe=observe,
            advice=advice,
            after_epoch=after_epoch,
            by=by,
        )

    def require_room(self, needed: int) -> None:
        """Raises WvError where a result or the checkpoint, of `needed` bytes each, cannot be written."""
        for path in [*self.results(), *([self.checkpoint_path] if self.checkpoint_path else [])]:
            check_writable(path, needed)

    def trained_by(self, model: Savable[Any]) -> tuple[Savable[Any], Callable[..., Outcome]]:
        """The model as it is saved, and what trains it, called as engine.run.train."""
        return model, train

    def finish(self, written: Sequence[str], facts: Mapping[str, object]) -> None:
        """After the results are written: the sidecars, and the run's own checkpoint goes."""
        super().finish(written, facts)
        self.saved_run.remove()


@dataclass(frozen=True, kw_only=True)
class TextSession(TrainingSession):
    """`inputs` are texts; `vocab` is a vocabulary to use instead of their own; ids, and matrices, of more than `memory`
    bytes are on disk; with `force_text` inputs are read as text whatever they look like."""

    inputs: tuple[str, ...]
    vocab_config: VocabConfig = field(default_factory=VocabConfig)
    vocab: str | None = None
    memory: int | None = None
    force_text: bool = False

    def validate(self) -> None:
        self.vocab_config.validate()
        super().validate()

    def read(self) -> list[str]:
        return [path for path in (*self.inputs, self.vocab) if path]

    def own_facts(self) -> Facts:
        """What the sidecar says of how the text was read, beside what every run says of itself."""
        return {}

    def texts(self, say: Say, *others: str) -> Texts:
        """`inputs`, or `others` instead, of which only running text is read."""
        return texts(others or self.inputs, note=say, written=self.written(), force=self.force_text, part=self.part)

    def room(self, say: Say) -> Room:
        """For the matrices of this run."""
        return Room(self.memory, self.beside, say)

    @property
    def part(self) -> Part | None:
        """The part of the texts that this process reads; None for all of them."""
        return None


@dataclass(frozen=True, kw_only=True)
class VocabularySession(TextSession):
    """`save_vocab` gets the words and their counts before the training."""

    save_vocab: str | None = None

    def written(self) -> list[str]:
        return super().written() + ([self.save_vocab] if self.save_vocab else [])
