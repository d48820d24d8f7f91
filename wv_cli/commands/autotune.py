"""The search for a classifier's options by trials on a validation file, within a time limit.

The first trial has the options as given; every next one changes the best so far (autotune_space). Options the user gave
stay as they are. Every trial is a line of a log in JSON; a search that is resumed takes what is there as done. The
proposal of a trial depends on the seed, its number, the trials before it and the time used, all of which are in the
log. No trial gets more than half of the time left, so that one slow choice cannot end the search.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from wv_cli.commands.autotune_log import Trial, TrialLog
from wv_cli.commands.autotune_metric import Metric
from wv_cli.commands.autotune_space import DSUBS, FEWEST_BUCKETS, SPACE, count_ngrams, propose_options
from wv_cli.commands.retrain import retrainer
from wv_cli.config import Options
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError, WvError
from wv_cli.io.events import Log
from wv_cli.models.classifier import Classifier
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.supervised import Supervised
from wv_cli.models.training.run import Outcome, train
from wv_cli.models.training.threads import Threads
from wv_cli.models.training.trainer import Diverged
from wv_cli.text.input_files import Inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.labeled import LabeledCorpus
from wv_cli.transforms.config import QuantizeConfig
from wv_cli.transforms.quantize import cutoff_for_size, quantize
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel

_OUT_OF_TIME = "out of time"  # why a trial has no score
_MOST_CHARACTERS, _MOST_WORDS = 6, 5  # of an n-gram that a search tries by itself
_QOUT_LABELS = 256  # with so many labels the output matrix is quantized, too


class NothingFound(WvError):
    """Error: every trial of a search failed, or there was none."""


@dataclass(frozen=True)
class Plan:
    """How long to search, on which file, for the best of which metric. `given` are the fields of the config that must
    stay; `log` is the file of trials ("": none). `size` (bytes, 0: none) asks for a quantized model."""

    validation: str
    duration: float = 300.0
    log: str = ""
    given: tuple[str, ...] = ()
    metric: str = "f1"
    predictions: int = 1
    size: int = 0

    def validate(self) -> None:
        """Raises UsageError."""
        Metric.parse(self.metric)
        if self.predictions < 1:
            raise UsageError(f"--autotune-predictions must be at least 1, not {self.predictions}")


def propose(
    best: SupervisedConfig, dsub: int, plan: Plan, number: int, fraction: float, most_buckets: int
) -> tuple[SupervisedConfig, int]:
    """The options of trial `number` (from 0), when `fraction` of the time is used, of a text for which `most_buckets`
    are enough."""
    if number == 0:
        return (best if "loss" in plan.given else replace(best, loss="softmax")), dsub
    random = np.random.default_rng((best.seed, number))
    most = max(most_buckets, FEWEST_BUCKETS)
    values = {**asdict(best), "buckets": min(best.buckets, most), "dsub": dsub}
    drawn = propose_options(SPACE, values, plan.given, random, fraction)
    dsub = drawn.pop("dsub")
    if "buckets" in drawn:
        drawn["buckets"] = min(drawn["buckets"], most)
    return replace(best, **drawn), dsub


class LabelSearch:
    """A search for a classifier's options over one corpus, which was made with keep_dropped. `inputs` are read again
    to retrain pruned models."""

    def __init__(
        self,
        plan: Plan,
        config: SupervisedConfig,
        min_count: int,
        corpus: LabeledCorpus,
        pretrained: Embeddings | None,
        inputs: Inputs,
        require_space: Callable[[int], None] = lambda size: None,
    ) -> None:
        """`require_space` raises WvError for a model of so many bytes that the disk has no room for."""
        self.plan, self.first = plan, config
        self.trials: list[Trial] = []
        self.metric = Metric.parse(plan.metric)
        self._min_count, self._corpus, self._pretrained, self._inputs = min_count, corpus, pretrained, inputs
        self._require_space = require_space
        maxn, word_ngrams = max(config.maxn, _MOST_CHARACTERS), max(config.word_ngrams, _MOST_WORDS)
        self._most_buckets = count_ngrams(corpus.words, len(corpus.ids), maxn, word_ngrams)

    @property
    def best(self) -> Trial | None:
        """The first of the trials with the highest score."""
        done = [trial for trial in self.trials if trial.score is not None]
        return max(done, key=lambda trial: (trial.score, -trial.number)) if done else None

    def best_config(self) -> tuple[SupervisedConfig, int]:
        """The config and `dsub` of the best trial. Raises NothingFound when every trial failed."""
        if self.best is None:
            why = self.trials[-1].why if self.trials else "no trial was finished in time"
            raise NothingFound(f"no options found: {why}; give --autotune-duration more time or other options")
        return replace(self.first, **self.best.config), self.best.dsub

    def metadata(self) -> dict[str, object]:
        """What the sidecar says."""
        return {"trials": len(self.trials), "best": self.best.metadata() if self.best else None}

    def run(self, log: Log, *, resume: bool = False) -> Outcome | None:
        """Tries until the time is over. Returns the outcome of a trial that a signal stopped, else None. Raises WvError
        for a log that cannot be written or belongs to another search (see autotune_log.claim_log), and for a signal
        before the first trial is finished."""
        trial_log = TrialLog(self.plan.log, self.header(), self.first)
        self.trials = trial_log.begin(log, resume=resume)
        try:
            stopped = self._search(trial_log, log)
        finally:
            if not self.trials:
                trial_log.discard()  # there is nothing to go on from
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
            config, dsub = self.proposal(number, elapsed / self.plan.duration)
            score, why, outcome = self._try(config, dsub, (self.plan.duration - elapsed) / 2)
            if outcome is not None and (signal := outcome.signal or outcome.late):
                stopped = replace(outcome, signal=signal)
                if not self.trials:
                    raise stopped.ended_early("no trial was finished, so nothing was saved")
                return stopped
            elapsed = time.monotonic() - begin
            trial = Trial(number, compare_options(config, self.first), dsub, score, why, round(elapsed, 3))
            self.trials.append(trial)
            trial_log.add(trial)
            best = self.best
            log(
                f"trial {number + 1}: {why if score is None else f'{self.plan.metric} {score:.4f}'}"
                + (f" (best {best.score:.4f})" if best is not None and best.score is not None else "")
                + f", {elapsed:.0f} of {self.plan.duration:.0f} s",
                **trial.metadata(),
            )
        return None

    def _try(self, config: SupervisedConfig, dsub: int, seconds: float) -> tuple[float | None, str, Outcome | None]:
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
            if not self.trials and not self.plan.size:
                raise  # the first trial has the options as given: what is wrong with them the user must know
            return None, str(error), None

    def proposal(self, number: int, fraction: float) -> tuple[SupervisedConfig, int]:
        """The config and `dsub` of trial `number` (from 0), when `fraction` of the time is used."""
        best, dsub = (self.first, DSUBS[0]) if self.best is None else self.best_config()
        return propose(best, dsub, self.plan, number, fraction, self._most_buckets)

    def attempt(self, config: SupervisedConfig, dsub: int, seconds: float) -> tuple[float | None, Outcome]:
        """The score, None when the training was not finished in `seconds`. Raises WvError."""
        model = Supervised(config, self._min_count, self._corpus, self._pretrained_if_fits(config))
        self._require_space(model.input.nbytes + model.output.nbytes)
        outcome = train(Threads(model, config.threads), max_seconds=seconds)
        if not outcome.is_finished:
            return None, outcome
        classifier = Classifier(self.finish_model(model.fasttext_model(), config, dsub))
        return self.metric.score(classifier, self._validation(), self.plan.predictions, config.threads), outcome

    def _validation(self) -> Inputs:
        """The lines that trials are scored on, read as the training's are."""
        path, inputs = self.plan.validation, self._inputs
        return replace(inputs.quiet(), inputs=[path]) if isinstance(inputs, Texts) else [path]

    def _pretrained_if_fits(self, config: SupervisedConfig) -> Embeddings | None:
        return self._pretrained if self._pretrained is None or self._pretrained.dim == config.dim else None

    def finish_model(self, model: FastTextModel, config: SupervisedConfig, dsub: int) -> FastTextModel:
        """The model to be written; with a size, it is pruned, retrained and quantized to fit."""
        if not self.plan.size:
            return model
        chosen = QuantizeConfig(
            dsub=dsub,
            qnorm=True,
            qout=len(model.labels) >= _QOUT_LABELS,
            epochs=config.epochs,
            lr=config.lr,
            threads=config.threads,
            seed=config.seed,
        )
        chosen = replace(chosen, cutoff=cutoff_for_size(model, self.plan.size, chosen))
        return quantize(model, chosen, retrainer(self._inputs, chosen) if chosen.cutoff else None)

    def header(self) -> dict[str, Any]:
        """What must be the same for a log to be continued; the duration may change."""
        plan = {field.name: getattr(self.plan, field.name) for field in fields(Plan)}
        del plan["duration"], plan["log"]
        options = {name: value for name, value in asdict(self.first).items() if name != "threads"}
        return {
            "autotune": 1,
            **plan,
            "given": sorted(self.plan.given),
            "corpus": self._corpus.digest,
            "start": options,
        }


def compare_options(config: Options, first: Options) -> dict[str, Any]:
    """The options in which a trial differs from the first."""
    before = asdict(first)
    return {name: value for name, value in asdict(config).items() if value != before[name]}


def changes(config: Options, first: Options) -> str:
    """The differences of two configs, written as command-line options."""
    words = (f"{flag_of(name)} {_show_value(value)}" for name, value in compare_options(config, first).items())
    return " ".join(words) or "those given"


def _show_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
