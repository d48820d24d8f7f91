"""The search for a classifier's options: search space, score of a trial, models of a given size; see jobs.trials."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wv_cli.engine.run import Outcome, train
from wv_cli.engine.threads import Threads
from wv_cli.errors import UsageError, WvError
from wv_cli.evaluation.labels import count, scores
from wv_cli.jobs.retrain import retrainer
from wv_cli.jobs.trials import Choice, Number, Search, SearchPlan, Space, propose_options
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

_QOUT_LABELS = 256  # with so many labels the output matrix is quantised, too
_DSUBS = (2, 4, 8, 16)
# Ranges and steps are fastText's; it knows no dropout. The random numbers are drawn in this order.
SPACE: Space = (
    Choice(("minn", "maxn"), ((0, 0), (2, 5), (3, 6)), 4.0, 1.4),
    Number("epochs", 1, 100, 2.8, 2.5),
    Number("lr", 0.01, 5, 1.9, 1.0, digits=6),
    Number("dim", 1, 1000, 1.4, 0.3),
    Number("word_ngrams", 1, 5, 4.3, 2.4, linear=True),
    Number("buckets", 10_000, 10_000_000, 2.0, 1.5),
    Choice(("dsub",), tuple((dsub,) for dsub in _DSUBS), 2.0, 1.0),
    Number("dropout", 0, 0.9, 0.4, 0.2, linear=True, decimals=2),
)


class UnknownLabel(UsageError):
    """Error: the metric names a label that the text does not have."""


@dataclass(frozen=True)
class Metric:
    """The score that a search maximizes: f1, f1:LABEL, precisionAtRecall:R[:LABEL], recallAtPrecision:P[:LABEL], R and
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
class Plan(SearchPlan):
    """The plan of a classifier's search. `size` (bytes, 0: none) asks for a quantized model."""

    metric: str = "f1"
    predictions: int = 1
    size: int = 0

    def validate(self) -> None:
        """Raises UsageError."""
        Metric.parse(self.metric)
        if self.predictions < 1:
            raise UsageError(f"--autotune-predictions must be at least 1, not {self.predictions}")


def propose(
    best: SupervisedConfig, dsub: int, plan: Plan, number: int, fraction: float
) -> tuple[SupervisedConfig, int]:
    """The options of trial `number` (from 0), when `fraction` of the time is used."""
    if number == 0:
        return (best if "loss" in plan.given else replace(best, loss="softmax")), dsub
    random = np.random.default_rng((best.seed, number))
    drawn = propose_options(SPACE, {**asdict(best), "dsub": dsub}, plan.given, random, fraction)
    dsub = drawn.pop("dsub")
    return replace(best, **drawn), dsub


class LabelSearch(Search[SupervisedConfig]):
    """A search for a classifier's options over one corpus, which was made with keep_dropped. `inputs` are read again
    to retrain pruned models."""

    DSUBS: ClassVar[tuple[int, ...]] = _DSUBS

    plan: Plan

    def __init__(
        self,
        plan: Plan,
        config: SupervisedConfig,
        min_count: int,
        corpus: LabelledCorpus,
        pretrained: Embeddings | None,
        inputs: Inputs,
        require_space: Callable[[int], None] = lambda size: None,
    ) -> None:
        """`require_space` raises WvError for a model of so many bytes that the disk has no room for."""
        super().__init__(plan, config)
        self.metric = Metric.parse(plan.metric)
        self._min_count, self._corpus, self._pretrained, self._inputs = min_count, corpus, pretrained, inputs
        self._require_space = require_space

    @property
    def first_may_fail(self) -> bool:
        return bool(self.plan.size)

    def best_config(self) -> tuple[SupervisedConfig, int]:
        """Raises NothingFound when every trial failed."""
        return self.best_options(), self.best.dsub if self.best else _DSUBS[0]

    def proposal(self, number: int, fraction: float) -> tuple[SupervisedConfig, int]:
        best, dsub = (self.first, _DSUBS[0]) if self.best is None else self.best_config()
        return propose(best, dsub, self.plan, number, fraction)

    def attempt(self, config: SupervisedConfig, dsub: int, seconds: float) -> tuple[float | None, Outcome]:
        model = Supervised(config, self._min_count, self._corpus, self._fitting(config))
        self._require_space(model.input.nbytes + model.output.nbytes)
        outcome = train(Threads(model, config.threads), max_seconds=seconds)
        if not outcome.finished:
            return None, outcome
        classifier = Classifier(self.finished(model.fasttext_model(), config, dsub))
        return self.metric.score(classifier, self.plan.validation, self.plan.predictions, config.threads), outcome

    def shown(self, score: float) -> str:
        return f"{self.plan.metric} {self.number(score)}"

    def _fitting(self, config: SupervisedConfig) -> Embeddings | None:
        return self._pretrained if self._pretrained is None or self._pretrained.dim == config.dim else None

    def finished(self, model: FastTextModel, config: SupervisedConfig, dsub: int) -> FastTextModel:
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
