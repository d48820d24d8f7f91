"""Runs the steps of a training on several threads and lets the main thread watch.

A run is a fixed list of steps: epoch after epoch, block after block of the corpus. A step is a pure function of its
number and the matrices (random draws are seeded by it, the learning rate follows from it), so stopping between steps
and going on later, even in another process, gives the same result as never having stopped. Threads take the next step
from a counter; with one thread the order, and so the result, is fixed bit for bit.

The workers are Python threads inside one call without the GIL per step. This module prints nothing.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Generic, Protocol, TypeVar

from wv_cli.engine.progress import Progress, Reports, Totals
from wv_cli.errors import Interrupted, TimedOut, WvError
from wv_cli.system.threads import starting

WAKE_SECONDS = 0.2

Worker = TypeVar("Worker")
StepResult = tuple[float, int, int, float]  # loss sum, examples, tokens, learning rate


class Trainable(Protocol[Worker]):
    """A model as the runner sees it."""

    @property
    def steps(self) -> int: ...
    @property
    def epochs(self) -> int: ...
    @property
    def epoch_steps(self) -> int: ...
    def worker(self) -> Worker:
        """What one thread needs to train steps: working memory and the like."""
        ...

    def train_step(self, step: int, worker: Worker, /) -> StepResult:
        """Trains one step without the GIL, with what worker() made for this thread."""
        ...

    def settle(self, worker: Worker, /) -> None:
        """The thread trains no more for now: what it has learnt and the model does not have yet goes to the model."""
        ...


class Immediate:
    """A Trainable whose steps change the model itself."""

    def settle(self, worker: object, /) -> None:
        """No thread holds anything back."""


class Diverged(WvError):
    """A row holds NaN or infinity."""


def require_finite(loss: float, step: int, steps: int) -> None:
    """Raises Diverged when the loss of a step is not."""
    if not math.isfinite(loss):
        message = f"the vectors diverged (NaN or infinity) in step {step:,} of {steps:,}"
        raise Diverged(message)


@dataclass(frozen=True)
class Outcome:
    """Why the run ended: all steps done (signal None, timed_out False), a signal, or --max-time. A `late` signal came
    when all steps were as good as done: for whoever begins another run."""

    next_step: int
    totals: Totals
    seconds: float
    signal: int | None = None
    timed_out: bool = False
    late: int | None = None

    @property
    def finished(self) -> bool:
        return self.signal is None and not self.timed_out

    def ended_early(self, way_on: str) -> WvError:
        """The error for a run that did not finish: how it ended and how to go on."""
        if self.signal is not None:
            return Interrupted(f"interrupted; {way_on}", self.signal)
        return TimedOut(f"stopped after --max-time; {way_on}")


class Crew(Generic[Worker]):
    """The threads of one stretch of work, which ends before the step `limit` or with the steps that are under way at
    `deadline` (of the monotonic clock), and what they share."""

    def __init__(self, model: Trainable[Worker], next_step: int, totals: Totals, deadline: float | None = None) -> None:
        self.model = model
        self.next_step, self.limit = next_step, model.steps
        self.deadline = deadline
        self.totals = totals
        self.stopping = False
        self.error: BaseException | None = None
        self.lock = threading.Lock()
        self.idle = threading.Event()
        self.threads: list[threading.Thread] = []

    def start(self, count: int) -> None:
        self.idle.clear()
        self.stopping = False
        self.threads = []
        try:
            for _ in range(count):
                thread = threading.Thread(target=self._work, daemon=True)
                with starting():
                    thread.start()
                self.threads.append(thread)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Returns once every thread has finished its step; every step below next_step is then done."""
        self.stopping = True
        for thread in self.threads:
            thread.join()
        if self.error is not None:
            raise self.error

    def _work(self) -> None:
        try:
            worker = self.model.worker()
            while True:
                with self.lock:
                    step = self.next_step
                    if self.stopping or step >= self.limit:
                        break
                    self.next_step += 1
                loss, examples, tokens, lr = self.model.train_step(step, worker)
                require_finite(loss, step, self.model.steps)
                with self.lock:
                    self.totals.add(loss, examples, tokens, lr)
                if self.deadline is not None and time.monotonic() >= self.deadline:
                    self.stopping = True
            with self.lock:  # one after the other: all go through the same rows
                self.model.settle(worker)
        except BaseException as error:  # carried to the main thread by stop()
            self.error = error
            self.stopping = True
        finally:
            self.idle.set()


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
    model: Trainable[Worker],
    *,
    threads: int = 1,
    first_step: int = 0,
    save: Callable[[int], None] | None = None,
    save_every: float | None = None,
    max_seconds: float | None = None,
    observe: Callable[[Progress], None] | None = None,
    after_epoch: Callable[[int], bool] | None = None,
) -> Outcome:
    """Trains steps first_step .. model.steps - 1.

    save(next_step) is called between steps, with no thread running, every `save_every` seconds and when a signal or
    `max_seconds` ends the run early. A run that is out of time ends with the steps under way, one at least. observe is
    called from the calling thread about five times a second.
    after_epoch(n) is called, with no thread running, when n epochs are done, and once more where a run goes on from
    there; False ends the run, which is then finished. After the last one it is called whatever else ends the run.
    Raises Diverged when a loss is not finite.
    """
    begin = last_save = time.monotonic()
    deadline = None if max_seconds is None else begin + max_seconds
    crew = Crew(model, first_step, Totals(), deadline)
    reports = Reports(
        observe, steps=model.steps, epochs=model.epochs, epoch_steps=model.epoch_steps, first_step=first_step
    )

    def report() -> None:
        with crew.lock:
            step, totals = crew.next_step, Totals(**vars(crew.totals))
        reports(step, totals)

    if after_epoch is not None and model.steps:
        crew.limit = max(1, -(-first_step // model.epoch_steps)) * model.epoch_steps
    told = 0  # of so many epochs
    enough = False
    with caught_signals() as caught:
        crew.start(threads)
        timed_out = False
        while True:
            ended = crew.idle.wait(WAKE_SECONDS)
            now = time.monotonic()
            timed_out = deadline is not None and now >= deadline
            if ended:
                crew.stop()
                if after_epoch is None or crew.next_step < crew.limit or not model.steps:
                    break
                told = crew.limit // model.epoch_steps
                enough = not after_epoch(told)
                if enough or crew.limit == model.steps:
                    break
                crew.limit += model.epoch_steps
                crew.start(threads)
            if caught or timed_out:
                break
            report()
            if save is not None and save_every is not None and now - last_save >= save_every:
                crew.stop()
                save(crew.next_step)
                last_save = time.monotonic()
                crew.start(threads)
        crew.stop()
        if after_epoch is not None and told < model.epochs and model.steps and crew.next_step == model.steps:
            after_epoch(model.epochs)  # a signal came while the last step was under way
        outcome = Outcome(crew.next_step, crew.totals, time.monotonic() - begin, late=caught[0] if caught else None)
        if crew.next_step < model.steps and not enough:
            outcome = Outcome(
                crew.next_step, crew.totals, outcome.seconds, caught[0] if caught else None, timed_out and not caught
            )
            if save is not None:
                save(crew.next_step)
        report()
    return outcome
