"""Finding a classifier's options: trials on a validation file, within a time, as fastText's autotune.

The first trial has the options as given; every next one changes the best so far by Gaussian steps that get smaller as
time goes by (ranges and steps are fastText's). Options the user gave stay as they are. Every trial is a line of a log
in JSON; a search that is resumed takes what is there as done. A trial's proposal depends on the seed, its number, the
best trial before it and the time used, all of which are in the log. No trial gets more than half of the time left, so
that one slow choice cannot end the search.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.engine.run import Diverged, Outcome, train
from wv_cli.errors import UsageError, WvError
from wv_cli.evaluation.labels import count, scores
from wv_cli.jobs.autotune_log import Trial, TrialLog
from wv_cli.jobs.retrain import retrainer
from wv_cli.models.classifier import ALL, Classifier
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.supervised import Supervised
from wv_cli.text.input_files import Inputs
from wv_cli.text.labelled import LabelledCorpus
from wv_cli.text.source import Source
from wv_cli.transforms.config import QuantizeConfig
from wv_cli.transforms.quantize import cutoff_for_size, quantize
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel

Say = Callable[..., None]
_QOUT_LABELS = 256  # with so many labels the output matrix is quantised, too


class UnknownLabel(UsageError):
    """The metric is that of a label which the text does not have."""


class NothingFound(WvError):
    """Every trial of a search failed, or there was none."""


@dataclass(frozen=True)
class Metric:
    """What is made as large as possible: f1, f1:LABEL, precisionAtRecall:R[:LABEL], recallAtPrecision:P[:LABEL], R and
    P in percent. Without a label all labels count together."""

    name: str
    at: float
    label: str

    @classmethod
    def parse(cls, text: str) -> "Metric":
        """Raises UsageError."""
        name, _, rest = text.partition(":")
        if name == "f1":
            return cls(name, 0, rest)
        if name in ("precisionAtRecall", "recallAtPrecision"):
            at, _, label = rest.partition(":")
            try:
                percent = float(at)
            except ValueError:
                percent = math.nan
            if 0 <= percent <= 100:
                return cls(name, percent / 100, label)
        message = (
            f"--autotune-metric {text}: expected f1, f1:LABEL, precisionAtRecall:R[:LABEL] or "
            "recallAtPrecision:P[:LABEL], with R and P in percent"
        )
        raise UsageError(message)

    def score(self, classifier: Classifier, data: str, k: int, threads: int) -> float:
        """Raises UsageError for a label the classifier has not, WvError when no line of the data can be scored."""
        label = classifier.labels.find(self.label) if self.label else -1
        if self.label and label < 0:
            raise UnknownLabel(f"--autotune-metric: the text has no label {self.label}")
        if self.name != "f1":
            return self._on_curve(classifier, data, label, threads)
        counts = count(classifier, [data], k, threads=threads)
        if counts.lines == 0:
            raise WvError(f"{data}: no line has both a label and a word of the training text")
        if label < 0:
            return counts.micro()[2]
        return scores(*(int(each[label]) for each in (counts.right, counts.predicted, counts.gold)))[2]

    def _on_curve(self, classifier: Classifier, data: str, label: int, threads: int) -> float:
        """The best precision where recall is at least `at`, or the other way round, over all thresholds."""
        found: list[NDArray[np.float32]] = []
        right: list[NDArray[np.bool_]] = []
        gold, n = 0, len(classifier.labels)
        for answers in classifier.answers(Source([data]), ALL, threads=threads):
            lines = len(answers.found)
            is_true = np.zeros((lines, n), np.bool_)
            is_true[np.repeat(np.arange(lines), np.diff(answers.true_starts)), answers.true_labels] = True
            wanted = np.arange(n) < answers.found[:, None]
            wanted &= (answers.labels == label) | (label < 0)
            found.append(answers.scores[wanted])
            right.append(np.take_along_axis(is_true, answers.labels, axis=1)[wanted])
            gold += int(is_true[:, label].sum() if label >= 0 else is_true.sum())
        order = np.argsort(-np.concatenate(found), kind="stable")
        hits = np.cumsum(np.concatenate(right)[order])
        if gold == 0 or len(hits) == 0:
            raise WvError(f"{data}: no line has a label that --autotune-metric looks at")
        precision, recall = hits / np.arange(1, len(hits) + 1), hits / gold
        given, value = (recall, precision) if self.name == "precisionAtRecall" else (precision, recall)
        return float(value[given >= self.at].max(initial=0.0))


@dataclass(frozen=True)
class Plan:
    """What to search for and how long. `given` are the fields of the config that must stay; `log` is the file of
    trials ("": none); `size` (bytes, 0: none) asks for a quantised model."""

    validation: str
    duration: float = 300.0
    metric: str = "f1"
    predictions: int = 1
    size: int = 0
    log: str = ""
    given: tuple[str, ...] = ()

    def validate(self) -> None:
        """Raises UsageError."""
        Metric.parse(self.metric)
        if self.predictions < 1:
            raise UsageError(f"--autotune-predictions must be at least 1, not {self.predictions}")


def propose(best: SupervisedConfig, dsub: int, plan: Plan, number: int, share: float) -> tuple[SupervisedConfig, int]:
    """The options of trial `number` (from 0), when `share` of the time is used."""
    if number == 0:
        return (best if "loss" in plan.given else replace(best, loss="softmax")), dsub
    random = np.random.default_rng((best.seed, number))

    def step(value: float, low: float, high: float, first: float, last: float, *, linear: bool = False) -> float:
        sigma = first - (first - last) / 0.5 * min(0.5, max(share - 0.25, 0.0))
        draw = random.normal(0, sigma)
        moved = value + draw if linear else value * 2.0 ** min(max(draw, -60), 60)
        return min(max(moved, low), high)

    minn_choices = (0, 2, 3)
    minn = minn_choices.index(best.minn) if best.minn in minn_choices else 0
    minn = minn_choices[round(step(minn, 0, 2, 4.0, 1.4, linear=True))]
    drawn: dict[str, Any] = {
        "epochs": round(step(best.epochs, 1, 100, 2.8, 2.5)),
        "lr": float(f"{step(best.lr, 0.01, 5, 1.9, 1.0):.6g}"),
        "dim": round(step(best.dim, 1, 1000, 1.4, 0.3)),
        "word_ngrams": round(step(best.word_ngrams, 1, 5, 4.3, 2.4, linear=True)),
        "buckets": round(step(best.buckets, 10_000, 10_000_000, 2.0, 1.5)),
        "minn": minn,
        "maxn": minn + 3 if minn else 0,
    }
    dsub = 2 ** round(step(math.log2(dsub), 1, 4, 2.0, 1.0, linear=True))
    if {"minn", "maxn"} & set(plan.given):
        del drawn["minn"], drawn["maxn"]
    return replace(best, **{name: value for name, value in drawn.items() if name not in plan.given}), dsub


class Search:
    """One search over a corpus made with keep_dropped. `inputs` are read again to retrain pruned models."""

    def __init__(
        self,
        plan: Plan,
        config: SupervisedConfig,
        min_count: int,
        corpus: LabelledCorpus,
        pretrained: Embeddings | None,
        inputs: Inputs,
    ) -> None:
        self.plan, self.metric, self.first = plan, Metric.parse(plan.metric), config
        self._min_count, self._corpus, self._pretrained, self._inputs = min_count, corpus, pretrained, inputs
        self.trials: list[Trial] = []

    @property
    def best(self) -> Trial | None:
        """The first of the trials with the highest score."""
        done = [trial for trial in self.trials if trial.score is not None]
        return max(done, key=lambda trial: (trial.score, -trial.number)) if done else None

    def best_config(self) -> tuple[SupervisedConfig, int]:
        """Raises NothingFound when every trial failed."""
        if self.best is None:
            why = self.trials[-1].why if self.trials else "no trial was finished in time"
            raise NothingFound(f"no options found: {why}; give --autotune-duration more time or other options")
        return replace(self.first, **self.best.config), self.best.dsub

    def run(self, say: Say, *, resume: bool = False) -> Outcome | None:
        """Tries until the time is over. Returns the outcome of a trial that a signal stopped, else None. Raises WvError
        for a log that cannot be written or belongs to another search; see autotune_log.claimed."""
        log = TrialLog(self.plan.log, self._header(), self.first)
        self.trials = log.begin(say, resume=resume)
        stopped = self._search(log, say)
        log.close(over=stopped is None)
        return stopped

    def _search(self, log: TrialLog, say: Say) -> Outcome | None:
        used = self.trials[-1].elapsed if self.trials else 0.0
        begin = time.monotonic() - used
        while (elapsed := time.monotonic() - begin) < self.plan.duration:
            best, dsub = (self.first, 2) if self.best is None else self.best_config()
            number = len(self.trials)
            config, dsub = propose(best, dsub, self.plan, number, elapsed / self.plan.duration)
            score, why, outcome = self._try(config, dsub, (self.plan.duration - elapsed) / 2)
            if outcome is not None and outcome.signal is not None:
                return outcome
            elapsed = time.monotonic() - begin
            trial = Trial(number, _changed(config, self.first), dsub, score, why, round(elapsed, 3))
            self.trials.append(trial)
            log.add(trial)
            shown = why or f"{self.plan.metric} {score:.4f}"
            best_now = self.best
            say(
                f"trial {number + 1}: {shown}"
                + (f" (best {best_now.score:.4f})" if best_now is not None else "")
                + f", {elapsed:.0f} of {self.plan.duration:.0f} s",
                **asdict(trial),
            )
        return None

    def _try(self, config: SupervisedConfig, dsub: int, seconds: float) -> tuple[float | None, str, Outcome | None]:
        """(score, why there is none, the outcome of training)."""
        try:
            config.validate()
            model = Supervised(config, self._min_count, self._corpus, self._fitting(config))
            outcome = train(model, threads=config.threads, max_seconds=seconds)
            if not outcome.finished:
                return None, "out of time", outcome
            trained = self.finished(model.fasttext_model(), config, dsub)
            score = self.metric.score(Classifier(trained), self.plan.validation, self.plan.predictions, config.threads)
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

    def _fitting(self, config: SupervisedConfig) -> Embeddings | None:
        return self._pretrained if self._pretrained is None or self._pretrained.dim == config.dim else None

    def finished(self, model: FastTextModel, config: SupervisedConfig, dsub: int) -> FastTextModel:
        """The model as it will be written: with a size, pruned, retrained and quantised to fit."""
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

    def _header(self) -> dict[str, Any]:
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


def changes(config: SupervisedConfig, first: SupervisedConfig) -> str:
    """As options of the command line."""
    changed = _changed(config, first)
    return " ".join(f"--{name.replace('_', '-')} {value:g}" for name, value in changed.items()) or "those given"


def _changed(config: SupervisedConfig, first: SupervisedConfig) -> dict[str, Any]:
    """The options in which a trial differs from the first."""
    before = asdict(first)
    return {name: value for name, value in asdict(config).items() if value != before[name]}
