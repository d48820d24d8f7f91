"""The search for options by trials on a validation file, within a time limit, for any model.

The first trial has the options as given; every next one changes the best so far by Gaussian steps that get smaller as
time goes by, as in fastText's autotune. Options the user gave stay as they are. Every trial is a line of a log in
JSON; a search that is resumed takes what is there as done. A trial's proposal depends on the seed, its number, the
trials before it and the time used, all of which are in the log. No trial gets more than half of the time left, so that
one slow choice cannot end the search.

A task is a Search: a Space, and what a trial is worth (autotune for classifiers, autotune_words for word vectors).
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from wv_cli.config import Config, flag_of
from wv_cli.engine.run import Outcome
from wv_cli.engine.trainer import Diverged
from wv_cli.errors import UsageError, WvError
from wv_cli.jobs.autotune_log import Trial, TrialLog
from wv_cli.system.events import Log

Values = Mapping[str, Any]
Learner = TypeVar("Learner", bound=Config)

_OUT_OF_TIME = "out of time"  # why a trial has no score


class NothingFound(WvError):
    """Error: every trial of a search failed, or there was none."""


@dataclass(frozen=True)
class SearchPlan:
    """The limits of a search. How long to search on which file. `given` are the fields of the config that must stay;
    `log` is the file of trials ("": none)."""

    validation: str
    duration: float = 300.0
    log: str = ""
    given: tuple[str, ...] = ()


@dataclass(frozen=True)
class Number:
    """A numeric dimension of the search space. An option that moves between `low` and `high`, by octaves or, `linear`,
    by units: a standard deviation of `first` in the first quarter of the time, which falls to `last` in the half
    after it. It is a whole number or has `digits` significant ones, or as many `decimals`."""

    name: str
    low: float
    high: float
    first: float
    last: float
    linear: bool = False
    digits: int = 0
    decimals: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def moved(self, values: Values, random: np.random.Generator, fraction: float) -> dict[str, Any]:
        """The option after a step from its value in `values`, when `fraction` of the time is used."""
        sigma = self.first - (self.first - self.last) / 0.5 * min(0.5, max(fraction - 0.25, 0.0))
        draw, value = random.normal(0, sigma), values[self.name]
        moved = value + draw if self.linear else value * 2.0 ** min(max(draw, -60), 60)
        moved = min(max(moved, self.low), self.high)
        if self.digits:
            return {self.name: float(f"{moved:.{self.digits}g}")}
        return {self.name: round(float(moved), self.decimals) if self.decimals else round(moved)}


@dataclass(frozen=True)
class Choice:
    """A categorical dimension of the search space. Options that are chosen together: `rows` are their values,
    neighbours alike, and a step is one of Number's."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    first: float
    last: float

    def moved(self, values: Values, random: np.random.Generator, fraction: float) -> dict[str, Any]:
        """See Number.moved; values that are no row count as the first."""
        now = tuple(values[name] for name in self.names)
        at = self.rows.index(now) if now in self.rows else 0
        step = Number("row", 0, len(self.rows) - 1, self.first, self.last, linear=True)
        return dict(zip(self.names, self.rows[step.moved({"row": at}, random, fraction)["row"]], strict=True))


Space = tuple[Number | Choice, ...]


def propose_options(
    space: Space, values: Values, given: Collection[str], random: np.random.Generator, fraction: float
) -> dict[str, Any]:
    """The options of `space` after a step of each, but for those `given`."""
    drawn = [(move, move.moved(values, random, fraction)) for move in space]
    kept = [new for move, new in drawn if not set(move.names) & set(given)]
    return {name: value for new in kept for name, value in new.items()}


class Search(ABC, Generic[Learner]):
    """A search for options that starts from the options `first`. DSUBS are the possible values of a trial's `dsub`, 0
    where nothing is quantized."""

    DSUBS: ClassVar[tuple[int, ...]] = (0,)

    def __init__(self, plan: SearchPlan, first: Learner) -> None:
        self.plan, self.first = plan, first
        self.trials: list[Trial] = []

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """What must be the same for a log to be continued; the duration may change."""

    @abstractmethod
    def proposal(self, number: int, fraction: float) -> tuple[Learner, int] | None:
        """The config and `dsub` of trial `number` (from 0), when `fraction` of the time is used; None: all are
        tried."""

    @abstractmethod
    def attempt(self, config: Learner, dsub: int, seconds: float) -> tuple[float | None, Outcome]:
        """The score, None when the training was not finished in `seconds`. Raises WvError."""

    @abstractmethod
    def shown(self, score: float) -> str:
        """With what it is."""

    def number(self, score: float) -> str:
        return f"{score:.4f}"

    @property
    def scores(self) -> tuple[float, float]:
        """The least and the highest that there may be."""
        return 0, 1

    @property
    def first_may_fail(self) -> bool:
        """Whether the search goes on when the options as given cannot be used."""
        return False

    @property
    def best(self) -> Trial | None:
        """The first of the trials with the highest score."""
        done = [trial for trial in self.trials if trial.score is not None]
        return max(done, key=lambda trial: (trial.score, -trial.number)) if done else None

    def best_options(self) -> Learner:
        """Raises NothingFound when every trial failed."""
        if self.best is None:
            why = self.trials[-1].why if self.trials else "no trial was finished in time"
            raise NothingFound(f"no options found: {why}; give --autotune-duration more time or other options")
        return replace(self.first, **self.best.config)

    def metadata(self) -> dict[str, object]:
        """What the sidecar says."""
        return {"trials": len(self.trials), "best": self.best.metadata() if self.best else None}

    def run(self, log: Log, *, resume: bool = False) -> Outcome | None:
        """Tries until the time is over. Returns the outcome of a trial that a signal stopped, else None. Raises WvError
        for a log that cannot be written or belongs to another search; see autotune_log.claimed."""
        trial_log = TrialLog(self.plan.log, self.header(), self.first, scores=self.scores, dsubs=self.DSUBS)
        self.trials = trial_log.begin(log, resume=resume)
        stopped = self._search(trial_log, log)
        trial_log.close(over=stopped is None)
        if stopped is None and self.trials and all(trial.why == _OUT_OF_TIME for trial in self.trials[1:]):
            self._tell_of_one(log)
        return stopped

    def _tell_of_one(self, log: Log) -> None:
        """That nothing was searched, when no trial but the first, with the options as given, was finished in time."""
        first = self.trials[0]
        if first.score is not None:
            log(
                f"the search found nothing: only the options as given were tried, in {first.elapsed:.1f} s a trial; "
                f"give --autotune-duration {math.ceil(20 * first.elapsed)}",
                trial_seconds=first.elapsed,
            )

    def _search(self, trial_log: TrialLog, log: Log) -> Outcome | None:
        used = self.trials[-1].elapsed if self.trials else 0.0
        begin = time.monotonic() - used
        while (elapsed := time.monotonic() - begin) < self.plan.duration:
            number = len(self.trials)
            proposal = self.proposal(number, elapsed / self.plan.duration)
            if proposal is None:
                return None
            config, dsub = proposal
            score, why, outcome = self._try(config, dsub, (self.plan.duration - elapsed) / 2)
            if outcome is not None and (signal := outcome.signal or outcome.late):
                return replace(outcome, signal=signal)
            elapsed = time.monotonic() - begin
            trial = Trial(number, compare_options(config, self.first), dsub, score, why, round(elapsed, 3))
            self.trials.append(trial)
            trial_log.add(trial)
            best = self.best
            log(
                f"trial {number + 1}: {why if score is None else self.shown(score)}"
                + (f" (best {self.number(best.score)})" if best is not None and best.score is not None else "")
                + f", {elapsed:.0f} of {self.plan.duration:.0f} s",
                **trial.metadata(),
            )
        return None

    def _try(self, config: Learner, dsub: int, seconds: float) -> tuple[float | None, str, Outcome | None]:
        """(score, why there is none, the outcome of training)."""
        try:
            config.validate()
            score, outcome = self.attempt(config, dsub, seconds)
            if score is None:
                return None, _OUT_OF_TIME, outcome
            return (None, "nothing to score", outcome) if math.isnan(score) else (score, "", outcome)
        except Diverged:
            return None, "diverged", None
        except MemoryError:
            return None, "out of memory", None
        except UsageError:
            raise
        except WvError as error:
            if not self.trials and not self.first_may_fail:
                raise  # the first trial has the options as given: what is wrong with them the user must know
            return None, str(error), None


def compare_options(config: Config, first: Config) -> dict[str, Any]:
    """The options in which a trial differs from the first."""
    before = asdict(first)
    return {name: value for name, value in asdict(config).items() if value != before[name]}


def changes(config: Config, first: Config) -> str:
    """The differences of two configs, written as command-line options."""
    words = (f"{flag_of(name)} {_show_value(value)}" for name, value in compare_options(config, first).items())
    return " ".join(words) or "those given"


def _show_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
