"""One run of a job: its event log, its checkpoint, and the processes that share the work."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from wv_cli.errors import WvError
from wv_cli.system.events import Log, OnProgress

if TYPE_CHECKING:  # most jobs train nothing and do without
    from wv_cli.engine.peers import Peers
    from wv_cli.engine.progress import Progress
    from wv_cli.engine.run import Outcome
    from wv_cli.engine.saved_run import Checkpointed, Savable, SavedRun
    from wv_cli.engine.trainer import Trainer
    from wv_cli.text.corpus import Corpus, Pooled
    from wv_cli.text.labelled import LabelledCorpus
    from wv_cli.text.parts import Part as TextPart

Metadata = dict[str, object]
OnTraining = Callable[["Progress"], None]
AfterEpoch = Callable[[int], bool]


class Processes(Protocol):
    """The processes that share a run. Each trains a copy of the model on its part of the text."""

    @property
    def is_main(self) -> bool:
        """Whether this one writes and talks."""
        ...

    @property
    def peers(self) -> "Peers | None":
        """The other processes, as a model sees them; None: there are none."""
        ...

    @property
    def pooled(self) -> "Pooled | None":
        """The merger of all processes' word counts into one vocabulary; None: there is one process."""
        ...

    def part(self, *, whole_lines: bool) -> "TextPart | None":
        """This process's part of the text; None: all of it."""
        ...

    def agreeing(self) -> AbstractContextManager[None]:
        """Context manager: an error in one process becomes an error in all."""
        ...

    def whole(self, corpus: "Corpus") -> "Corpus":
        """The corpus of this process's part, with the sizes and the digest of the whole text."""
        ...

    def whole_labelled(self, corpus: "LabelledCorpus") -> "LabelledCorpus":
        """The same of a labelled text."""
        ...

    def first_step(self, saved: "SavedRun", model: "Savable[Any]", log: Log) -> int:
        """The step to begin with: 0, or where the checkpoint, now loaded, was saved. Raises WvError."""
        ...

    def saved_as(self, model: "Savable[Any]") -> "Checkpointed":
        """The form of the model that checkpoints store."""
        ...

    def trainer(self, model: "Savable[Any]", threads: int, first_step: int) -> "Trainer":
        """The trainer that does the steps of the model from `first_step` on."""
        ...

    def metadata(self) -> Metadata:
        """Facts about the processes for the sidecar."""
        ...


@dataclass(frozen=True)
class Run:
    """The context of one run. `log` is told of events, `on_progress` about a training, `on_reading` (done, total or
    None) about a long file. A training is `saved` (None: nowhere) every `save_every` seconds and when it ends early,
    which it does after `max_seconds`."""

    processes: Processes
    log: Log
    on_progress: OnTraining | None = None
    on_reading: OnProgress | None = None
    saved: "SavedRun | None" = None
    save_every: float | None = None
    max_seconds: float | None = None

    @contextmanager
    def kept_on_failure(self) -> Iterator[None]:
        """What was learnt is saved when its results cannot be written."""
        try:
            yield
        except WvError as error:
            if self.saved is not None:
                self.saved.keep(error)
            raise

    def learns(self, text: str) -> None:
        """The run, which leaves a state, learns the text with this digest."""
        if self.saved is not None:
            self.saved.learns(text)

    @property
    def goes_on(self) -> bool:
        """Whether there is a checkpoint with which it goes on."""
        return self.saved is not None and self.saved.is_waiting

    def first_step(self, model: "Savable[Any]") -> int:
        """The step to begin with: 0, or where the checkpoint, now loaded, was saved. Raises WvError."""
        return self.processes.first_step(self._saved, model, self.log)

    @property
    def _saved(self) -> "SavedRun":
        from wv_cli.engine.saved_run import SavedRun

        return self.saved or SavedRun(None)

    def train(
        self,
        model: "Savable[Any]",
        first_step: int,
        *,
        threads: int,
        advice: str,
        on_progress: OnTraining | None,
        after_epoch: AfterEpoch | None = None,
    ) -> "Outcome":
        """Trains on with so many steps at once, saving on the way; for `after_epoch` see engine.run.train. Raises
        WvError; after a divergence its message ends with `advice`."""
        return self._saved.train(
            self.processes.saved_as(model),
            self.processes.trainer(model, threads, first_step),
            save_every=self.save_every,
            max_seconds=self.max_seconds,
            on_progress=on_progress,
            advice=advice,
            after_epoch=after_epoch,
        )
