"""One run of a job: its event log and its checkpoint."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wv_cli.errors import WvError
from wv_cli.io.events import Log, OnProgress

if TYPE_CHECKING:  # most jobs train nothing and do without
    from wv_cli.models.training.progress import Progress
    from wv_cli.models.training.run import Outcome
    from wv_cli.models.training.saved_run import Savable, SavedRun

Metadata = dict[str, object]
OnTraining = Callable[["Progress"], None]
AfterEpoch = Callable[[int], bool]


@dataclass(frozen=True)
class Run:
    """The context of one run. `log` is told of events, `on_progress` about a training, `on_reading` (done, total or
    None) about a long file. A training is `saved` (None: nowhere) every `save_every` seconds and when it ends early,
    which it does after `max_seconds`."""

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

    def record_text_digest(self, text: str) -> None:
        """The run, which leaves a state, learns the text with this digest."""
        if self.saved is not None:
            self.saved.record_text_digest(text)

    @property
    def is_resuming(self) -> bool:
        """Whether there is a checkpoint with which it goes on."""
        return self.saved is not None and self.saved.is_waiting

    def first_step(self, model: "Savable[Any]") -> int:
        """The step to begin with: 0, or where the checkpoint, now loaded, was saved. Raises WvError."""
        return self._saved_run.first_step(model, self.log)

    @property
    def _saved_run(self) -> "SavedRun":
        from wv_cli.models.training.saved_run import SavedRun

        return self.saved or SavedRun(None)

    def train(
        self,
        model: "Savable[Any]",
        *,
        threads: int,
        advice: str,
        on_progress: OnTraining | None = None,
        after_epoch: AfterEpoch | None = None,
        first_step: int | None = None,
    ) -> "Outcome":
        """Trains with so many steps at once, from the checkpoint if `first_step` does not say where, and saves on the
        way. `on_progress` is told in the run's place; for `after_epoch` see models.training.run.train. Raises WvError;
        after a divergence its message ends with `advice`."""
        from wv_cli.models.training.threads import Threads

        if first_step is None:
            first_step = self.first_step(model)
        if threads > 1:
            self.log(f"{threads} threads: results differ a little from run to run; --threads 1: they do not")
        return self._saved_run.train(
            model,
            Threads(model, threads, first_step),
            save_every=self.save_every,
            max_seconds=self.max_seconds,
            on_progress=on_progress or self.on_progress,
            advice=advice,
            after_epoch=after_epoch,
        )
