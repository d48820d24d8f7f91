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
from wv_cli.cluster.rounds import Figures
from wv_cli.engine.progress import Progress, Reports, Totals
from wv_cli.engine.run import WAKE_SECONDS, Outcome, Worker, caught_signals, require_finite
from wv_cli.engine.saved_run import Savable
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
        self.figures = Figures(0, 0, 0)

    def train(
        self,
        _: object,
        *,
        threads: int,
        first_step: int = 0,
        save: Callable[[int], None] | None = None,
        save_every: float | None = None,
        max_seconds: float | None = None,
        observe: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Trains as engine.run.train does a model whose steps take all threads; all ranks have the same values then,
        and totals. `save` is of rank 0. Raises Diverged."""
        model, ranks = self.saved, self._meetings.ranks
        begin = last_save = last_report = time.monotonic()
        step, totals = first_step, Totals()
        report = Reports(
            observe, steps=model.steps, epochs=model.epochs, epoch_steps=model.epoch_steps, first_step=first_step
        )
        number, timed_out = None, False
        with caught_signals() as caught:
            worker = model.worker()
            while step < model.steps:
                totals.add(*self._trained(step, worker))
                step += 1
                now = time.monotonic()
                late = max_seconds is not None and now - begin >= max_seconds
                wishes = ranks.gather((caught[0] if caught else None, late))
                number = next((each for each, _ in wishes if each is not None), None)
                timed_out = any(late for _, late in wishes)
                if number is not None or timed_out or step == model.steps:
                    break
                if save is not None and save_every is not None and now - last_save >= save_every:
                    save(step)
                    last_save = now
                if now - last_report >= WAKE_SECONDS:
                    report(step, totals)
                    last_report = now
        report(step, totals)
        self.figures = self._meetings.figures(totals.tokens)
        seconds = time.monotonic() - begin
        if step == model.steps:
            return Outcome(step, totals, seconds, late=number)
        if save is not None:
            save(step)
        return Outcome(step, totals, seconds, number, timed_out and number is None)

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
