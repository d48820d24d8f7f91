"""One run of a command and what all of them have in common: what is read and written, the checks made before any work,
the checkpoint, and the end, when results are saved and the checkpoint is removed.

    Session            files in, files out; the checks; the sidecars
    TrainingSession    trains step by step, so that it can stop and go on
    TextSession        learns from a text, with a vocabulary
    VocabularySession  can write that vocabulary

Prints nothing: sessions tell an observer about progress and `say` about events.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

from wv_cli import formats
from wv_cli.cluster.launcher import started_together
from wv_cli.config import flag_of, refuse_idle
from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Outcome, Worker, train
from wv_cli.engine.saved_run import Savable, SavedRun, Say
from wv_cli.errors import UsageError, WvError
from wv_cli.formats.recognise import texts
from wv_cli.jobs.facts import Facts
from wv_cli.system import meta
from wv_cli.system.output import check_writable
from wv_cli.system.places import is_stream, refuse_folder, refuse_reading, require_different
from wv_cli.text.config import VocabConfig
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import Part

Observe = Callable[[Progress], None]
Reading = Callable[[int, int | None], None]


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
    def identity(self) -> dict[str, Any]:
        """See wv_cli.config.Config."""
        ...


class SidecarWarning(UserWarning):
    """The results are written, what tells how they were made is not."""


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
        for path in self.results():
            refuse_folder(path)
        self.check_options()
        self.refuse_idle()
        for path in self.written():
            check_writable(path)
        files = [path for path in self.results() if not is_stream(path)]
        beside = [name for name in (formats.words_file(path, self.format_asked) for path in files) if name is not None]
        sidecars = [meta.sidecar_path(path) for path in files] if self.write_meta else []
        require_different([*self.written(), *beside, *sidecars])
        refuse_reading([*self.written(), *beside], self.read())

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes and talks."""
        return True

    @property
    def format_asked(self) -> str | None:
        """The format of all outputs of vectors, None where their names choose it."""
        return None

    def refuse_idle(self) -> None:
        """Raises UsageError for an option that was given and means nothing beside the others."""
        refuse_idle(self.conditions(), self.named, self.values())

    def values(self) -> Mapping[str, Any]:
        """Of options and other fields, by their names."""
        return {**vars(self.config), **vars(self)}

    def conditions(self) -> list[tuple[str, str]]:
        """(name, condition) of the options that do not always mean something."""
        return [*self.CONDITIONS.items(), *self.config.conditions()]

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
        if (started := started_together()) > 1:
            message = (
                f"started as {started} processes, which cannot share this work; start it once "
                "(shared are wv train of skipgram and cbow, and the counting of build-vocab, phrases and glove)"
            )
            raise WvError(message)
        self.validate()
        with self.claimed(say):
            return self.work(say, observe, reading)

    @contextmanager
    def claimed(self, say: Say) -> Iterator[None]:
        """What a run needs for itself while it lasts. Raises WvError when it cannot have it."""
        yield

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """What run() does once everything is checked."""
        raise NotImplementedError

    def finish(self, written: Sequence[str], facts: Mapping[str, object]) -> None:
        """After the results are written: their sidecars. One that cannot be written is a SidecarWarning."""
        for path in written:
            if self.write_meta and not is_stream(path):
                try:
                    meta.write(path, list(self.argv), facts)
                except WvError as error:
                    warnings.warn(f"{error}; {path} itself is written and whole", SidecarWarning, stacklevel=2)


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

    @cached_property
    def saved_run(self) -> SavedRun:
        return SavedRun(self.checkpoint_path, resume=self.resume, overwrite=self.overwrite)

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
    """`inputs` are texts; `vocab` is a vocabulary to use instead of their own; ids beyond `memory` bytes go to disk;
    with `force_text` inputs are read as text whatever they look like."""

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
