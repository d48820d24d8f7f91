"""Trains one model on several ranks that take every step together, each its part of it, to the bytes of one process.

Every rank has the whole text and the whole model. What the parts of a step have changed all ranks tell each other, as
often as the model asks for it (Meetings), and each adds up the same numbers in the same order, so that all models are
the same again. A checkpoint is that of one process, which may go on with it. That one rank has got a signal to stop all
know at the end of a step, and stop together; when to save is a matter of rank 0.
"""

import hashlib
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli import _cpu
from wv_cli.cluster.ranks import Ranks, agreeing
from wv_cli.cluster.trainer import Figures
from wv_cli.engine.progress import Totals
from wv_cli.engine.saved_run import Savable
from wv_cli.engine.threads import WAKE_SECONDS
from wv_cli.engine.trainer import Wishes, Worker, require_finite
from wv_cli.errors import WvError


class Meetings:
    """Where ranks tell each other what they have changed: how often they did, and how long that took this one."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks, self.count, self.seconds = ranks, 0, 0.0
        self._sent_before = ranks.bytes_sent

    def __call__(self, own: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
        """What all ranks have given, in their order."""
        begin = time.monotonic()
        found = self.ranks.gather_bytes(own)
        self.seconds += time.monotonic() - begin
        self.count += 1
        return found

    def figures(self, words: int) -> Figures:
        """What has been handed over, in the mean of the ranks, since all of them together trained the first of so many
        words."""
        sent = sum(self.ranks.gather(self.ranks.bytes_sent - self._sent_before))
        return Figures(self.count, round(sent / max(1, words), 2), round(self.seconds, 3))


class Alike(Savable[Worker], Protocol[Worker]):
    """A model of which the steps change the same on all ranks, whichever part of them each does."""

    def tables(self) -> Iterable[NDArray[Any]]:
        """What a step reads beside arrays() and the text: computed by NumPy, of which another version, or another
        processor, may give other bits."""
        ...


class Lockstep:
    """A model of this rank whose steps all ranks take together; `saved` is what a checkpoint is of. Raises WvError on
    all ranks when one of them would change other bits."""

    def __init__(self, model: Alike[Any], meetings: Meetings) -> None:
        require_alike(meetings.ranks, model)
        self.saved, self._meetings = model, meetings
        self._figures = Figures(0, 0, 0)

    def begin(self, first_step: int) -> "Lockstep":
        """Satisfies wv_cli.engine.trainer.Trainer from then on."""
        model = self.saved
        self.steps, self.epochs, self.epoch_steps = model.steps, model.epochs, model.epoch_steps
        self.next_step, self.totals, self._worker = first_step, Totals(), model.worker()
        self._last_watch = 0.0
        return self

    def train_until(self, limit: int, deadline: float | None, watch: Callable[[], bool]) -> None:
        if self.next_step < self.steps:
            self.totals.add(*self._trained(self.next_step, self._worker))
            self.next_step += 1
        if time.monotonic() - self._last_watch >= WAKE_SECONDS:
            self._last_watch = time.monotonic()
            watch()

    def agree(self, wishes: Wishes) -> Wishes:
        found = self._meetings.ranks.gather((wishes.signal, wishes.timed_out, wishes.save))
        number = next((each for each, _, _ in found if each is not None), None)
        return Wishes(number, any(late for _, late, _ in found), any(save for _, _, save in found))

    def flush(self) -> None:
        self._figures = self._meetings.figures(self.totals.tokens)

    def figures(self) -> Figures:
        return self._figures

    def _trained(self, step: int, worker: Any) -> tuple[float, int, int, float]:
        model = self.saved
        result = model.train_step(step, worker)
        if not np.isfinite(result[0]):  # on all ranks
            with agreeing(self._meetings.ranks):
                require_finite(result[0], step, model.steps)
        return result


def require_alike(ranks: Ranks, model: Alike[Any]) -> None:
    """Raises WvError on all ranks when one has read another text than rank 0, has other kernels, or begins with other
    numbers."""
    names = ranks.gather(ranks.name)
    found = ranks.gather((dict(model.identity()), _cpu.name(), _digest(model)))
    text, kernels, numbers = found[0]
    with agreeing(ranks):
        for name, (its_text, its_kernels, its_numbers) in zip(names, found, strict=True):
            if its_text != text:
                raise WvError(f"{name} has read another text than {names[0]}; all must see the same files")
            if its_kernels != kernels:
                message = (
                    f"{name} computes with {its_kernels} kernels, {names[0]} with {kernels}, which differ in the last "
                    "digits; set WV_ISA to what all can run"
                )
                raise WvError(message)
            if its_numbers != numbers:
                message = (
                    f"{name} begins with other numbers than {names[0]}: another NumPy or processor, or other files; "
                    "use machines of one kind, or leave --deterministic out"
                )
                raise WvError(message)


def _digest(model: Alike[Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in (*model.arrays().values(), *model.tables()):
        digest.update(np.ravel(array).data)
    return digest.hexdigest()
