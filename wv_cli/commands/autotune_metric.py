"""The score that a search for a classifier's options maximizes."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.evaluation.labels import count, scores
from wv_cli.models.classifier import Classifier
from wv_cli.models.text_classifier import ALL
from wv_cli.text.input_files import Inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.source import Source


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

    def score(self, classifier: Classifier, data: Inputs, k: int, threads: int) -> float:
        """Raises UsageError for a label the classifier has not, WvError when no line of the data can be scored."""
        label = self._find_label(classifier, data)
        if self.name != "f1":
            return self._on_curve(classifier, data, label, threads)
        counts = count(classifier, data, k, threads=threads)
        if counts.lines == 0:
            raise WvError(f"{_name(data)}: no line has both a label and a word of the training text")
        if label < 0:
            return counts.micro()[2]
        return scores(*(int(each[label]) for each in (counts.right, counts.predicted, counts.gold)))[2]

    def _find_label(self, classifier: Classifier, data: Inputs) -> int:
        """The number of the label, -1 where the metric names none. Where records have it in a field, its value may be
        named alone."""
        if not self.label:
            return -1
        fields = data.labels if isinstance(data, Texts) else None
        words = [self.label, *([fields.label(fields.names[0], self.label)] if fields is not None else [])]
        if (found := max(map(classifier.labels.find, words))) < 0:
            example = f"it has labels such as {classifier.labels[0]}"
            raise UnknownLabel(f"--autotune-metric: the text has no label {self.label}; {example}")
        return found

    def _on_curve(self, classifier: Classifier, data: Inputs, label: int, threads: int) -> float:
        """The best precision where recall is at least `at`, or the other way round, over all thresholds."""
        found: list[NDArray[np.float32]] = []
        right: list[NDArray[np.bool_]] = []
        gold, n = 0, len(classifier.labels)
        for answers in classifier.answers(Source(data), ALL, threads=threads):
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
            raise WvError(f"{_name(data)}: no line has a label that --autotune-metric looks at")
        precision, recall = hits / np.arange(1, len(hits) + 1), hits / gold
        given, value = (recall, precision) if self.name == "precisionAtRecall" else (precision, recall)
        return float(value[given >= self.at].max(initial=0.0))


def _name(data: Inputs) -> str:
    return ", ".join(data.inputs if isinstance(data, Texts) else data)
