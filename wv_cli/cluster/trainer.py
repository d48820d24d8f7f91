"""Trains one rank's part of a model in rounds, after each of which the ranks meet.

A round is the same fraction of every rank's steps, so that all meet as often whatever the sizes of their texts. Between
two rounds the threads stop for as long as it takes to add up the rows that are due and to note what changed
(exchange.py); the sums are computed while they train on. What one rank wishes (to end, to save) all know one meeting
later, and act upon together.
"""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.cluster.exchange import Exchange
from wv_cli.cluster.ranks import Ranks
from wv_cli.engine.peers import PARTS, Shareable
from wv_cli.engine.progress import Totals
from wv_cli.engine.threads import WAKE_SECONDS, Threads
from wv_cli.engine.trainer import Wishes

# A round is so many words for each thread of a rank, but there are at least so many rounds in an epoch.
ROUND_WORDS, _LEAST_ROUNDS = 100_000, 64
_POLL_SECONDS = 0.002
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TIMED_OUT, _SAVE, _TOKENS, _EXAMPLES, _LOSS = range(len(_SIGNALS), len(_SIGNALS) + 5)
_NOTES = _LOSS + 1


@dataclass(frozen=True)
class Figures:
    """What the sidecar says about the exchange: rounds, bytes this rank handed over for each word it trained, and the
    seconds that its threads stood still for it."""

    rounds: int
    bytes_per_word: float
    stopped_seconds: float


class RankTrainer:
    """One rank's side of a training: its threads, its part of the rounds, what it knows of the others. It counts in
    parts of the whole (PARTS); its totals are those of all ranks. Satisfies wv_cli.engine.trainer.Trainer."""

    steps = PARTS

    def __init__(self, model: Shareable[Any], ranks: Ranks, threads: int, first_part: int = 0) -> None:
        """All ranks have the same values, and begin with the same part."""
        words = ranks.gather((model.words(), threads))
        each_epoch = max(_LEAST_ROUNDS, max(-(-count // (ROUND_WORDS * each)) for count, each in words))
        self.epochs, self.epoch_steps = model.epochs, PARTS // max(1, model.epochs)
        self._model, self._ranks = model, ranks
        self._rounds = max(1, each_epoch * model.epochs)
        self._first = self._done = -(-first_part * self._rounds // PARTS)
        mean = float(np.mean([count for count, _ in words])) / each_epoch
        most_rounds = max(1, each_epoch // 2)
        self._exchange = Exchange(ranks, model.shared(), words=mean, most_rounds=most_rounds, lr=model.lr)
        self._sent_before = ranks.bytes_sent
        self._threads = Threads(model, threads, self._step(self._first))
        self._everywhere = Totals()  # of all ranks, up to the meeting before the last
        self._told = Totals()
        self._stopped = 0.0

    def _step(self, round: int) -> int:
        """This rank's step with which a round begins."""
        return round * self._model.steps // self._rounds

    @property
    def next_step(self) -> int:
        return self._done * PARTS // self._rounds

    @property
    def totals(self) -> Totals:
        return replace(self._everywhere)

    def figures(self) -> Figures:
        sent = (self._ranks.bytes_sent - self._sent_before) / max(1, self._threads.totals.tokens)
        return Figures(self._done - self._first, round(sent, 2), round(self._stopped, 3))

    def train_until(self, limit: int, deadline: float | None, watch: Callable[[], bool]) -> None:
        """Trains one round, whatever this rank wishes: all of them end together."""
        self._done = min(self._done + 1, self._rounds)
        self._threads.start(self._step(self._done))
        next_watch = time.monotonic() + WAKE_SECONDS
        while not self._threads.idle.wait(_POLL_SECONDS if self._exchange.busy else WAKE_SECONDS):
            self._exchange.poll()
            if time.monotonic() >= next_watch:
                watch()
                next_watch += WAKE_SECONDS
        self._threads.stop()

    def agree(self, wishes: Wishes) -> Wishes:
        """The meeting after a round. The wishes are those of the last one."""
        begin = time.monotonic()
        sums = self._heard(self._exchange.meet(self._done - 1, self._notes(wishes)))
        self._stopped += time.monotonic() - begin
        number = next((number for number, count in zip(_SIGNALS, sums, strict=False) if count), None)
        return Wishes(number, bool(sums[_TIMED_OUT]), bool(sums[_SAVE]))

    def flush(self) -> None:
        self._heard(self._exchange.flush())

    def _notes(self, wishes: Wishes) -> NDArray[np.float32]:
        """What the others are told: the wishes, and what was trained since they were told last."""
        notes, now, before = np.zeros(_NOTES, np.float32), self._threads.totals, self._told
        notes[: len(_SIGNALS)] = [number == wishes.signal for number in _SIGNALS]
        notes[_TIMED_OUT], notes[_SAVE] = wishes.timed_out, wishes.save
        notes[_TOKENS:] = now.tokens - before.tokens, now.examples - before.examples, now.loss - before.loss
        self._told = now
        return notes

    def _heard(self, answer: NDArray[np.float32] | None) -> NDArray[np.float32]:
        """What all ranks together noted at the last meeting."""
        sums = answer if answer is not None else np.zeros(_NOTES, np.float32)
        lr = self._threads.totals.lr
        self._everywhere.add(float(sums[_LOSS]), int(sums[_EXAMPLES]), int(sums[_TOKENS]), lr)
        return sums
