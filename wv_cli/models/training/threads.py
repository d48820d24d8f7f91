"""Trains a model by threads on one memory.

The threads are Python threads, each inside one call without the GIL per step. They take the next step from a counter;
with one thread the order, and so the result, is fixed bit for bit.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Generic

from wv_cli.io.threads import raise_start_errors
from wv_cli.models.training.progress import Totals
from wv_cli.models.training.trainer import Trainable, Worker, require_finite

WAKE_SECONDS = 0.2


class Threads(Generic[Worker]):
    """`count` threads that train a model, from `next_step` on; the loop (wv_cli.models.training.run) decides when they
    pause and when they end. `totals` are the sums over all steps done so far."""

    def __init__(self, model: Trainable[Worker], count: int = 1, first_step: int = 0) -> None:
        self.model, self.count, self.next_step = model, count, first_step
        self.idle = threading.Event()  # set once a thread has found nothing more to do
        self._limit, self._deadline = model.steps, float("inf")
        self._totals, self._lock = Totals(), threading.Lock()
        self._stopping = False
        self._error: BaseException | None = None
        self._threads: list[threading.Thread] = []

    @property
    def totals(self) -> Totals:
        with self._lock:
            return replace(self._totals)

    def train_until(self, limit: int, deadline: float | None, watch: Callable[[], bool]) -> None:
        """Trains steps before `limit`; none is under way when this returns. It returns early after the `deadline` (of
        the monotonic clock), when each thread has ended the step that it has under way, one at least, and once `watch`,
        which is called about five times a second, has said True. Raises Diverged."""
        self.start(limit, deadline)
        while not self.idle.wait(WAKE_SECONDS) and not watch():
            pass
        self.stop()

    def start(self, limit: int, deadline: float | None = None) -> None:
        """Starts the threads on the steps before `limit`; stop() must follow."""
        self.idle.clear()
        self._limit, self._deadline = limit, float("inf") if deadline is None else deadline
        self._stopping = False
        self._threads = []
        try:
            for _ in range(self.count):
                thread = threading.Thread(target=self._work, daemon=True)
                with raise_start_errors():
                    thread.start()
                self._threads.append(thread)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Returns once every thread has finished its step; every step below next_step is then done."""
        self._stopping = True
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            worker = self.model.worker()
            while True:
                with self._lock:
                    step = self.next_step
                    if self._stopping or step >= self._limit:
                        break
                    self.next_step += 1
                loss, examples, tokens, lr = self.model.train_step(step, worker)
                require_finite(loss, step, self.model.steps)
                with self._lock:
                    self._totals.add(loss, examples, tokens, lr)
                if time.monotonic() >= self._deadline:
                    self._stopping = True
            with self._lock:  # one after the other: all go through the same rows
                self.model.flush(worker)
        except BaseException as error:  # carried to the main thread by stop()
            self._error = error
            self._stopping = True
        finally:
            self.idle.set()
