"""The training loop: signals, checkpoints, time limits, epochs and reports, whoever does the steps.

A run is a fixed list of steps: epoch after epoch, block after block of the corpus. A step is a pure function of its
number and the matrices (random draws are seeded by it, the learning rate follows from it), so stopping between steps
and going on later, even in another process, gives the same result as never having stopped. Threads do the steps, a
stretch at a time; the loop decides what happens between two stretches. This module prints nothing.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from wv_cli.errors import Interrupted, TimedOut, WvError
from wv_cli.models.training.progress import Progress, Reports, Totals
from wv_cli.models.training.threads import Threads
from wv_cli.models.training.trainer import Wishes


@dataclass(frozen=True)
class Outcome:
    """How a run that began with `first_step` ended: all steps done (signal None, timed_out False), a signal, or
    --max-time. A `late` signal came when all steps were as good as done: for whoever begins another run."""

    next_step: int
    totals: Totals
    seconds: float
    signal: int | None = None
    timed_out: bool = False
    late: int | None = None
    first_step: int = 0

    @property
    def is_finished(self) -> bool:
        return self.signal is None and not self.timed_out

    def ended_early(self, way_on: str) -> WvError:
        """The error for a run that did not finish: how it ended and how to go on."""
        if self.signal is not None:
            return Interrupted(f"interrupted; {way_on}", self.signal)
        return TimedOut(f"stopped after --max-time; {way_on}")


@contextmanager
def caught_signals() -> Iterator[list[int]]:
    """Collects SIGINT, SIGTERM and SIGHUP instead of dying; a second SIGINT raises KeyboardInterrupt as usual. One that
    is ignored (by nohup, or for a job that a script put in the background) stays ignored."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and caught:
            raise KeyboardInterrupt
        caught.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield caught
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for number in before:
            signal.signal(number, note)
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def train(
    trainer: Threads[Any],
    *,
    save: Callable[[int], None] | None = None,
    save_every: float | None = None,
    max_seconds: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    after_epoch: Callable[[int], bool] | None = None,
) -> Outcome:
    """Trains the steps of trainer.model from trainer.next_step on.

    save(next_step) is called between steps, with no thread running, every `save_every` seconds and when a signal or
    `max_seconds` ends the run early. A run that is out of time ends with the steps under way, one at least.
    on_progress is called from the calling thread about five times a second.
    after_epoch(n) is called, with no thread running, when n epochs are done, and once more where a run goes on from
    there; False ends the run, which is then finished. After the last one it is called whatever else ends the run.
    Raises Diverged when a loss is not finite.
    """
    begin = last_save = time.monotonic()
    deadline = None if max_seconds is None else begin + max_seconds
    steps, epochs, epoch_steps = trainer.model.steps, trainer.model.epochs, trainer.model.epoch_steps
    first_step = trainer.next_step
    report = Reports(on_progress, steps=steps, epochs=epochs, epoch_steps=epoch_steps, first_step=first_step)
    limit = steps
    if after_epoch is not None and steps:
        limit = max(1, -(-first_step // epoch_steps)) * epoch_steps

    with caught_signals() as caught:

        def wishes() -> Wishes:
            now = time.monotonic()
            due = save is not None and save_every is not None and now - last_save >= save_every
            return Wishes(caught[0] if caught else None, deadline is not None and now >= deadline, due)

        def watch() -> bool:
            report(trainer.next_step, trainer.totals)
            wished = wishes()
            return wished.to_end or wished.save

        while True:
            trainer.train_until(limit, deadline, watch)
            finished = trainer.next_step >= steps
            if after_epoch is not None and steps and trainer.next_step >= limit:
                finished = not after_epoch(limit // epoch_steps) or finished
                limit += epoch_steps
            wished = wishes()
            if finished or wished.to_end:
                break
            if wished.save:
                if save is not None:
                    save(trainer.next_step)
                last_save = time.monotonic()
        seconds, late = time.monotonic() - begin, caught[0] if caught else None
        outcome = Outcome(trainer.next_step, trainer.totals, seconds, late=late, first_step=first_step)
        if not finished:
            outcome = replace(outcome, signal=wished.signal, timed_out=wished.signal is None, late=None)
            if save is not None:
                save(trainer.next_step)
        report(trainer.next_step, trainer.totals)
    return outcome
