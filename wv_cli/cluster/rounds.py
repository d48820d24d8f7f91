"""Trains one rank's part of a model in rounds, after each of which the ranks meet.

A round is the same share of every rank's steps, so that all meet as often whatever the sizes of their texts. Between
two rounds the threads stop for as long as it takes to add up the rows that are due and to note what changed
(exchange.py); the sums are computed while they train on. What one rank wishes (to stop, to save) all know one meeting
later, and act upon together.
"""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.cluster.exchange import Exchange
from wv_cli.cluster.ranks import Ranks
from wv_cli.engine.progress import Progress, Reports, Totals
from wv_cli.engine.run import WAKE_SECONDS, Crew, Outcome, Worker, caught_signals
from wv_cli.engine.saved_run import Savable

# A round is so many words for each thread of a rank, but there are at least so many rounds in an epoch.
ROUND_WORDS, _LEAST_ROUNDS = 100_000, 64
_POLL_SECONDS = 0.002
# What a checkpoint counts in: parts of the whole training, however many ranks, and so rounds, it takes.
PARTS = 1_000_000
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TIMED_OUT, _SAVE, _TOKENS, _EXAMPLES, _LOSS = range(len(_SIGNALS), len(_SIGNALS) + 5)
_NOTES = _LOSS + 1


class Counted(Protocol):
    """A text that is known by its counts."""

    @property
    def counted(self) -> str: ...


class Shareable(Savable[Worker], Protocol[Worker]):
    """A model that ranks can train together, on its part of the text."""

    @property
    def corpus(self) -> Counted: ...

    def shared(self) -> Sequence[tuple[NDArray[np.float32], NDArray[np.float64]]]:
        """The rows of all that training changes, and how often one word of this rank's text changes each. A model has
        the same rows on all ranks, whatever the text of each."""
        ...

    def words(self) -> int:
        """Words of this rank's text, which it trains in an epoch."""
        ...

    @property
    def lr(self) -> float:
        """The learning rate at the start."""
        ...


@dataclass(frozen=True)
class Figures:
    """What the sidecar says about the exchange: rounds, bytes this rank handed over for each word it trained, and the
    seconds that its threads stood still for it."""

    rounds: int
    bytes_per_word: float
    stopped_seconds: float


class InParts:
    """A model as any number of ranks save it, one alone among them: its training counts in parts of the whole, and its
    text is known by the counts. Satisfies engine.saved_run.Savable."""

    def __init__(self, model: Shareable[Any]) -> None:
        self.model = model

    @property
    def steps(self) -> int:
        return PARTS

    @property
    def epochs(self) -> int:
        return self.model.epochs

    @property
    def epoch_steps(self) -> int:
        return PARTS // self.model.epochs

    def identity(self) -> Mapping[str, object]:
        return {**self.model.identity(), "corpus": self.model.corpus.counted}

    def schedule(self) -> Mapping[str, object]:
        """Parts are what they are whatever the length of a step."""
        return {"version": self.model.schedule()["version"]}

    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        return self.model.arrays()

    def worker(self) -> Any:
        return self.model.worker()

    def train_step(self, step: int, worker: Any, /) -> Any:
        return self.model.train_step(step, worker)

    def settle(self, worker: Any, /) -> None:
        self.model.settle(worker)


class Together(InParts):
    """A rank's model as one of a training by any number of ranks; train() trains it."""

    def __init__(self, model: Shareable[Any], ranks: Ranks) -> None:
        super().__init__(model)
        self._ranks = ranks
        self.figures = Figures(0, 0, 0)

    @property
    def saved(self) -> "Together":
        """What a checkpoint is of."""
        return self

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
        """Trains as engine.run.train does, from `first_step` (of PARTS) on; all ranks have the same values then. The
        totals of the outcome are those of all ranks. `save` is of rank 0. Raises Diverged."""
        training = _Training(self.model, self._ranks, threads, first_step)
        outcome = training.run(save, save_every, max_seconds, observe)
        self.figures = training.figures()
        return outcome


class _Training:
    """One rank's side of a training: its threads, its part of the rounds, what it knows of the others."""

    def __init__(self, model: Shareable[Any], ranks: Ranks, threads: int, first_part: int) -> None:
        words = ranks.gather((model.words(), threads))
        each_epoch = max(_LEAST_ROUNDS, max(-(-count // (ROUND_WORDS * each)) for count, each in words))
        self._model, self._ranks, self._threads, self._each_epoch = model, ranks, threads, each_epoch
        self._rounds = each_epoch * model.epochs
        self._first = self._done = -(-first_part * self._rounds // PARTS)
        mean = float(np.mean([count for count, _ in words])) / each_epoch
        most_rounds = max(1, each_epoch // 2)
        self._exchange = Exchange(ranks, model.shared(), words=mean, most_rounds=most_rounds, lr=model.lr)
        self._sent_before = ranks.bytes_sent
        self._crew = Crew(model, self._step(self._first), Totals())
        self._everywhere = Totals()  # of all ranks, up to the meeting before the last
        self._told = Totals()
        self._begin = time.monotonic()
        self._stopped = 0.0

    def _step(self, round: int) -> int:
        """This rank's step with which a round begins."""
        return round * self._model.steps // self._rounds

    @property
    def _part(self) -> int:
        return self._done * PARTS // self._rounds

    def figures(self) -> Figures:
        sent = (self._ranks.bytes_sent - self._sent_before) / max(1, self._crew.totals.tokens)
        return Figures(self._done - self._first, round(sent, 2), round(self._stopped, 3))

    def run(
        self,
        save: Callable[[int], None] | None,
        save_every: float | None,
        max_seconds: float | None,
        observe: Callable[[Progress], None] | None,
    ) -> Outcome:
        last_save = time.monotonic()
        report = Reports(
            observe,
            steps=self._rounds,
            epochs=self._model.epochs,
            epoch_steps=self._each_epoch,
            first_step=self._first,
        )
        ending = np.zeros(_NOTES, np.float32)
        with caught_signals() as caught:
            while self._done < self._rounds:
                self._train_round(report)
                now = time.monotonic()
                notes = self._notes(caught)
                notes[_TIMED_OUT] = max_seconds is not None and now - self._begin >= max_seconds
                notes[_SAVE] = save is not None and save_every is not None and now - last_save >= save_every
                sums = self._heard(self._exchange.meet(self._done - 1, notes))
                self._stopped += time.monotonic() - now
                if sums[: _TIMED_OUT + 1].any() and self._done < self._rounds:
                    ending = sums
                    break
                if sums[_SAVE]:
                    self._heard(self._exchange.flush())
                    if save is not None:
                        save(self._part)
                    last_save = time.monotonic()
            self._heard(self._exchange.flush())
        report(self._done, self._everywhere)
        if self._done < self._rounds and save is not None:
            save(self._part)
        numbers = [number for number, count in zip(_SIGNALS, ending, strict=False) if count]
        seconds = time.monotonic() - self._begin
        timed_out = bool(ending[_TIMED_OUT]) and not numbers
        return Outcome(self._part, self._everywhere, seconds, numbers[0] if numbers else None, timed_out)

    def _train_round(self, report: Reports) -> None:
        crew = self._crew
        crew.limit = self._step(self._done + 1)
        crew.start(self._threads)
        next_report = time.monotonic() + WAKE_SECONDS
        while not crew.idle.wait(_POLL_SECONDS if self._exchange.busy else WAKE_SECONDS):
            self._exchange.poll()
            if time.monotonic() >= next_report:
                report(self._done, self._everywhere)
                next_report += WAKE_SECONDS
        crew.stop()
        self._done += 1

    def _notes(self, caught: Sequence[int]) -> NDArray[np.float32]:
        """What the others are told: the signals that came, and what was trained since they were told last."""
        notes, now, before = np.zeros(_NOTES, np.float32), self._crew.totals, self._told
        notes[: len(_SIGNALS)] = [number in caught for number in _SIGNALS]
        notes[_TOKENS:] = now.tokens - before.tokens, now.examples - before.examples, now.loss - before.loss
        self._told = Totals(**vars(now))
        return notes

    def _heard(self, answer: NDArray[np.float32] | None) -> NDArray[np.float32]:
        """What all ranks together noted at the last meeting."""
        sums = answer if answer is not None else np.zeros(_NOTES, np.float32)
        self._everywhere.add(float(sums[_LOSS]), int(sums[_EXAMPLES]), int(sums[_TOKENS]), self._crew.totals.lr)
        return sums
