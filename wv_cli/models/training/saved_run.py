"""A training run that can be stopped and resumed: the checkpoint handling of every job.

The checkpoint lies in one file beside the output (or where the user says) and belongs to one identity of the model. No
checkpoint is discarded that the user did not give up: a run begins where none lies, goes on with the one that does
(resume), or replaces it (overwrite), at its first save or when it has written its results. While it lasts the run
holds the checkpoint's name (wv_cli.io.lock), so that no two runs save to the same file.
"""

import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli import _cpu
from wv_cli.errors import WvError
from wv_cli.io.events import Log
from wv_cli.io.lock import hold_lock
from wv_cli.io.output import remove_output
from wv_cli.io.temporary import remove_strays
from wv_cli.models.training import checkpoint
from wv_cli.models.training.blocks import epoch_order
from wv_cli.models.training.progress import Progress
from wv_cli.models.training.run import Outcome, train
from wv_cli.models.training.threads import Threads
from wv_cli.models.training.trainer import Diverged, Trainable, Worker

_ROWS_AT_ONCE = 1 << 14


class Checkpointed(Protocol):
    """A training as its checkpoint sees it. `steps` are in the unit in which the trainer counts."""

    @property
    def steps(self) -> int: ...
    @property
    def epochs(self) -> int: ...
    def identity(self) -> Mapping[str, object]:
        """What must be the same for a checkpoint to be continued."""
        ...

    def schedule(self) -> Mapping[str, object]:
        """What decides, beside the identity, which step does what: sizes of blocks and the `version` of a step, raised
        when it computes something else than before."""
        ...

    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """Everything that training changes."""
        ...


class Savable(Trainable[Worker], Checkpointed, Protocol[Worker]):
    """A model whose training can stop and go on."""


class SavedRun:
    """The checkpoint of one run at `path` (None: the run saves nothing). With `resume` it goes on from there, with
    `overwrite` it begins anew although a checkpoint may be there. Of a run that begins with rows `from_files` these
    are, by a check sum, part of what must be the same for it to go on. `learnt` are the digests of the texts that the
    state has learnt which the run continues. The checkpoint of a run that has ended, so that the state has its text, is
    of no use: it was killed before it could remove it."""

    def __init__(
        self,
        path: str | None,
        *,
        resume: bool = False,
        overwrite: bool = False,
        from_files: bool = False,
        learnt: Sequence[str] = (),
    ) -> None:
        self.path, self._resume, self._overwrite, self._from_files = path, resume, overwrite, from_files
        self._learnt = learnt
        self._text: dict[str, object] = {}
        self._keep: Callable[[], None] | None = None
        self._ours: object = None  # the file at `path` that this run may remove
        self._first_rows: dict[str, object] = {}

    @contextmanager
    def claim(self, log: Log) -> Iterator[None]:
        """The run happens inside. Raises WvError, before any of it, when another run uses the checkpoint or one is
        there about which the user has not said what shall become of it."""
        if self.path is None:
            yield
            return
        who = "another run saves to this checkpoint; wait for it, or choose another output or --checkpoint"
        with hold_lock(self.path, who) as locked:
            if not locked:
                log(f"{self.path}: no locks on this file system; see that no other run saves to the same checkpoint")
            remove_strays(Path(os.path.realpath(self.path)))  # of a run that was killed while it saved
            found = checkpoint.text_of(self.path) if self._learnt and Path(self.path).is_file() else None
            if found is not None and self._learnt.count(found[0]) > found[1]:
                log(f"{self.path}: the run of this checkpoint has ended, the state has learnt its text; removed")
                remove_output(self.path)
            if Path(self.path).is_file() and not (self._resume or self._overwrite):
                made = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(Path(self.path).stat().st_mtime))
                way_on = "go on with --resume, or begin anew with --overwrite"
                message = f"{self.path}: {checkpoint.describe_progress(self.path)}, made {made}; {way_on}"
                raise WvError(message)
            self._ours = _file_at(self.path) if self._overwrite else None
            yield

    @property
    def is_waiting(self) -> bool:
        """Whether there is a checkpoint with which this run goes on."""
        return self.path is not None and self._resume and Path(self.path).is_file()

    def record_text_digest(self, text: str) -> None:
        """The run, which leaves a state, learns the text with this digest."""
        self._text = {"text": text, "times": self._learnt.count(text)} if text else {}

    def first_step(self, model: Checkpointed, log: Log) -> int:
        """The step to begin with: 0, or with `resume` where the checkpoint, now loaded into the model, was saved. The
        model's rows are those that it begins with. Raises WvError for a checkpoint of another run or a damaged one."""
        if self.path is not None and self._from_files:
            self._first_rows = {"first_rows": _check_sum(model.arrays())}
        if self.path is None or not self._resume:
            return 0
        if not Path(self.path).is_file():
            log(f"{self.path}: no checkpoint yet; starting from the beginning")
            return 0
        before = _file_at(self.path)
        state = checkpoint.load(self.path, self._identity(model), model.arrays(), _schedule(model), model.steps)
        step = int(state["next_step"])
        self._ours = before
        log(f"{self.path}: going on at {step / max(model.steps, 1):.1%}", step=step)
        if state["isa"] != _cpu.name():
            message = (
                f"{self.path}: made with {state['isa']} kernels, going on with {_cpu.name()}: the last bits differ"
            )
            log(message, made_with=state["isa"], isa=_cpu.name())
        return step

    def _identity(self, model: Checkpointed) -> dict[str, object]:
        return {**model.identity(), **self._first_rows}

    def train(
        self,
        model: Checkpointed,
        trainer: Threads[Any],
        *,
        save_every: float | None,
        max_seconds: float | None,
        on_progress: Callable[[Progress], None] | None,
        advice: str,
        after_epoch: Callable[[int], bool] | None = None,
    ) -> Outcome:
        """Trains on by `trainer`, saving the `model`; for the other arguments see run.train. A divergence is a WvError
        that ends with `advice`; it leaves the last checkpoint as it was."""

        def save(next_step: int) -> None:
            assert self.path is not None, "only called when there is a path"
            state = {"next_step": next_step, "isa": _cpu.name(), **self._text}
            checkpoint.save(self.path, self._identity(model), state, model.arrays(), _schedule(model))
            self._ours = _file_at(self.path)

        try:
            outcome = train(
                trainer,
                save=save if self.path else None,
                save_every=save_every,
                max_seconds=max_seconds,
                on_progress=on_progress,
                after_epoch=after_epoch,
            )
            self._keep = partial(save, outcome.next_step) if self.path and outcome.is_finished else None
            return outcome
        except Diverged as error:
            intact = self.path is not None and _file_at(self.path) is not None
            kept = f"the last checkpoint, {self.path}, is intact; " if intact else ""
            raise WvError(f"{error}; {kept}nothing was written; {advice}") from error

    def keep(self, error: WvError) -> None:
        """After a training, of which not all results could be written: what was learnt is saved, if it can be, and the
        message of the `error` says so."""
        if self._keep is not None:
            with suppress(WvError):
                self._keep()
                error.args = (f"{error}; what was learnt is in {self.path}, from which --resume writes it",)

    def remove(self) -> None:
        """After the results are written: the checkpoint goes if this run made it, continued it, or was told to
        overwrite it; one that appeared meanwhile stays."""
        self._keep = None
        if self.path is not None and self._ours is not None and _file_at(self.path) == self._ours:
            remove_output(self.path)


def _check_sum(arrays: Mapping[str, NDArray[np.generic]]) -> int:
    """Of numbers in the order of their names, some rows at a time: they may be views of larger rows."""
    crc = 0
    for _, array in sorted(arrays.items()):
        for first in range(0, len(array), _ROWS_AT_ONCE):
            crc = zlib.crc32(np.ascontiguousarray(array[first : first + _ROWS_AT_ONCE]).data, crc)
    return crc


def _schedule(model: Checkpointed) -> dict[str, object]:
    steps = {"steps": model.steps, "epochs": model.epochs, "epoch_order": epoch_order()}
    return {**steps, **model.schedule()}


def _file_at(path: str) -> tuple[int, int, int] | None:
    """What tells a file from another of the same name; None where there is none."""
    try:
        found = Path(os.path.realpath(path)).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns
