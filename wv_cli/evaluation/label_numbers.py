"""Spearman's correlation and the mean absolute error of a classifier's expected numbers, where labels are numbers.

Lines count as in wv_cli.evaluation.labels. The number of a line with several labels is their mean.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wv_cli.evaluation.base import Column, Report, Row, Vectors, number
from wv_cli.evaluation.config import LabelsConfig
from wv_cli.evaluation.labeled_texts import labeled_texts, no_line
from wv_cli.models.classifier import load_classifier
from wv_cli.models.text_classifier import ALL, Answered, Question, TextClassifier
from wv_cli.text.source import Source
from wv_cli.vectors.correlation import spearman

LEFT_OUT = "lines without a known label or a known word left out"


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
        questions = asked_questions(classifier, config, report.notes.append)
        for path in data:
            text = labeled_texts([path], classifier, config.label_field, config, report.notes.append)
            found = [_Numbers(question) for question in questions]
            for answered in classifier.answers(Source(text), ALL, threads=config.threads):
                for each in found:
                    each.add(answered)
            for each in found:
                _add_row(report, model.name, path, each, config)
    return report


def asked_questions(
    classifier: TextClassifier, config: LabelsConfig, log: Callable[[str], None] | None = None
) -> list[Question]:
    """The questions that are scored: those of --label-field, else all; with --number those whose labels are numbers,
    and `log` is told of the others. Raises UsageError where there is none, and for a name whose labels are no
    numbers."""
    if not (len(classifier.questions) > 1 and config.label_field):
        return classifier.number_questions(log) if config.number else [*classifier.questions]
    questions = [classifier.question(name) for name in config.label_field]
    for each in questions if config.number else ():
        _ = each.numbers
    return questions


class _Numbers:
    """True and expected numbers of lines, by one question."""

    def __init__(self, question: Question) -> None:
        self.question, self.left_out = question, 0
        self._gold, self._expected = [np.empty(0)], [np.empty(0)]

    def add(self, answers: Answered) -> None:
        answered, numbers = answers.to(self.question), self.question.numbers
        known = np.diff(answered.true_starts)
        used = (known > 0) & answered.reads
        self.left_out += int((~used).sum())
        sums = np.bincount(np.repeat(np.arange(len(known)), known), numbers[answered.true_labels], len(known))
        self._gold.append(sums[used] / known[used])
        self._expected.append(answered.expected_numbers(numbers)[used])

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(true, expected) numbers of the lines that count."""
        return np.concatenate(self._gold), np.concatenate(self._expected)


def _add_row(report: Report, model: str, path: str, numbers: _Numbers, config: LabelsConfig) -> None:
    model, (gold, expected) = named_question(model, numbers.question), numbers.pairs()
    what = f"{model} on {path}"
    if not len(gold):
        report.unscored.append(f"{what}: {no_line(numbers.question, config.label_field)}")
        return
    found: Row = {"data": path, "model": model, "spearman": spearman(gold, expected)}
    found["mean_absolute_error"] = float(np.abs(gold - expected).mean())
    report.rows.append({**found, "lines": len(gold)})
    report.scores.append((what, spearman(gold, expected)))
    if numbers.left_out:
        report.notes.append(f"{what}: {numbers.left_out:,} {LEFT_OUT}")


def named_question(model: str, question: Question) -> str:
    """What a report calls the answers to a question: MODEL, or MODEL:QUESTION of several."""
    return f"{model}:{question.name}" if question.name else model
