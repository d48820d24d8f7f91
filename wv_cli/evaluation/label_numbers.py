"""Spearman's correlation and the mean absolute error of a classifier's expected numbers, where labels are numbers.

Lines count as in wv_cli.evaluation.labels. The number of a line with several labels is their mean.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wv_cli.evaluation.base import Column, Report, Row, Vectors, number
from wv_cli.evaluation.config import LabelsConfig
from wv_cli.models.classifier import load_classifier
from wv_cli.models.text_classifier import ALL, TextClassifier
from wv_cli.text.inputs import Texts
from wv_cli.text.records.labels import LabelFields
from wv_cli.text.source import Source
from wv_cli.vectors.correlation import spearman
from wv_cli.vectors.recognize import input_texts

NO_LINE = (
    "no line has both a label and a word that the model knows; a line begins with its labels, such as __label__music"
)
LEFT_OUT = "lines without a known label or a known word left out"


def labeled_text(path: str, classifier: TextClassifier, config: LabelsConfig, log: Callable[[str], None]) -> Texts:
    """The lines of a file with their labels, or its records with those of their fields."""
    fields = config.label_field
    labels = LabelFields(fields, classifier.label_prefix) if fields else None
    return input_texts([path], log=log, reading=config, labels=labels)


def score_numbers(vectors: Sequence[Vectors], data: Sequence[str], config: LabelsConfig) -> Report:
    """Scores every model on every data file; see evaluation.Task.run."""
    report = Report(
        "labels",
        "spearman",
        config,
        [
            Column("data", "data", label=True),
            Column("model", "model", label=True),
            Column("spearman", "Spearman", number(4)),
            Column("mean_absolute_error", "mean absolute error", number(4)),
            Column("lines", "lines", "{:,}".format),
        ],
        protocol=["numbers: the mean of all labels, weighted by their probabilities"],
    )
    for model in vectors:
        classifier = load_classifier(model.name)
        numbers = classifier.numbers
        for path in data:
            text = labeled_text(path, classifier, config, report.notes.append)
            gold, expected, left_out = [np.empty(0)], [np.empty(0)], 0
            for answered in classifier.answers(Source(text), ALL, threads=config.threads):
                known = np.diff(answered.true_starts)
                used = (known > 0) & answered.reads
                left_out += int((~used).sum())
                sums = np.bincount(np.repeat(np.arange(len(known)), known), numbers[answered.true_labels], len(known))
                gold.append(sums[used] / known[used])
                expected.append(answered.expected_numbers(numbers)[used])
            _add_row(report, model.name, path, np.concatenate(gold), np.concatenate(expected), left_out)
    return report


def _add_row(
    report: Report, model: str, path: str, gold: NDArray[np.float64], expected: NDArray[np.float64], left_out: int
) -> None:
    what = f"{model} on {path}"
    if not len(gold):
        report.unscored.append(f"{what}: {NO_LINE}")
        return
    found: Row = {"data": path, "model": model, "spearman": spearman(gold, expected)}
    found["mean_absolute_error"] = float(np.abs(gold - expected).mean())
    report.rows.append({**found, "lines": len(gold)})
    report.scores.append((what, spearman(gold, expected)))
    if left_out:
        report.notes.append(f"{what}: {left_out:,} {LEFT_OUT}")
