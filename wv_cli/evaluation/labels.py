"""Precision, recall and F1 of a classifier on labelled lines, as fastText's test and test-label count them.

Only lines with a label that the model knows, and with a word or n-gram that it knows, count; how many others there are
is noted. Of the k best labels of a line those count as predicted that are at least as probable as the threshold.
  micro: all labels together; precision at k is fastText's P@k, recall its R@k
  macro: the mean over the labels that occur in the data; a label that is never predicted has precision 0
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.evaluation.base import Column, Report, Row, Vectors, number
from wv_cli.evaluation.config import LabelsConfig
from wv_cli.formats.fasttext_bin import load_model
from wv_cli.formats.recognise import input_texts
from wv_cli.models.classifier import Answered, Classifier
from wv_cli.text.input_files import Inputs
from wv_cli.text.source import Source


@dataclass
class Counts:
    """Per label (n,) int64: how often it stands in the data, is predicted, and is predicted rightly; `confused` counts
    pairs label * n + answer, where a line with `label` was answered `answer` first, wrongly, and without `label`."""

    gold: NDArray[np.int64]
    predicted: NDArray[np.int64]
    right: NDArray[np.int64]
    confused: dict[int, int]
    lines: int = 0
    left_out: int = 0

    @classmethod
    def none(cls, labels: int) -> "Counts":
        gold, predicted, right = np.zeros((3, labels), np.int64)
        return cls(gold, predicted, right, {})

    def add(self, answered: Answered) -> None:
        n = len(self.gold)
        known = np.diff(answered.true_starts)
        used = (known > 0) & answered.reads
        self.lines += int(used.sum())
        self.left_out += int((~used).sum())
        label_line = np.repeat(np.arange(len(known)), known)
        keep = used[label_line]
        # A label given twice counts once.
        true = np.unique(label_line[keep] * n + answered.true_labels[keep])
        line, rank = np.nonzero((np.arange(answered.labels.shape[1]) < answered.found[:, None]) & used[:, None])
        guess = line * n + answered.labels[line, rank]
        hits = np.isin(guess, true, assume_unique=True)
        self.gold += np.bincount(true % n, minlength=n)
        self.predicted += np.bincount(guess % n, minlength=n)
        self.right += np.bincount(guess[hits] % n, minlength=n)
        missed = true[~np.isin(true, guess, assume_unique=True)]
        wrong_first = np.full(len(known), -1, np.int64)
        wrong_first[line[(rank == 0) & ~hits]] = answered.labels[line[(rank == 0) & ~hits], 0]
        answer = wrong_first[missed // n]
        pairs, counts = np.unique((missed % n * n + answer)[answer >= 0], return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            self.confused[pair] = self.confused.get(pair, 0) + count

    def micro(self) -> tuple[float, float, float]:
        """(precision, recall, F1); NaN where nothing was predicted or there is nothing to find."""
        return scores(int(self.right.sum()), int(self.predicted.sum()), int(self.gold.sum()))

    def macro(self) -> tuple[float, float, float]:
        seen = np.flatnonzero(self.gold)
        if len(seen) == 0:
            return float("nan"), float("nan"), float("nan")
        table = [scores(*(int(each[label]) for each in (self.right, self.predicted, self.gold))) for label in seen]
        precision, recall, f1 = np.nan_to_num(np.array(table)).mean(axis=0).tolist()
        return precision, recall, f1


def scores(right: int, predicted: int, gold: int) -> tuple[float, float, float]:
    nan = float("nan")
    precision = right / predicted if predicted else nan
    recall = right / gold if gold else nan
    f1 = 2 * right / (predicted + gold) if predicted + gold else nan
    return precision, recall, f1


def count(
    classifier: Classifier,
    data: Inputs,
    k: int = 1,
    threshold: float = 0.0,
    threads: int = 1,
    *,
    bare_end: bool = False,
) -> Counts:
    """Answers every line of the files and counts; `bare_end`: see Classifier.answer. Raises what Source raises."""
    counts = Counts.none(len(classifier.labels))
    for answered in classifier.answers(Source(data, bare_end=bare_end), k, threshold, threads, bare_end=bare_end):
        counts.add(answered)
    return counts


def run(vectors: Sequence[Vectors], data: Sequence[str], config: LabelsConfig) -> Report:
    """Scores every model on every data file; see evaluation.Task.run."""
    kept = {1: "the best label of a line", -1: "all labels of a line"}.get(config.k, f"the best {config.k} of a line")
    kept += f" with a probability of at least {config.threshold:g}" if config.threshold else ""
    report = Report(
        "labels",
        "f1",
        config,
        [
            Column("data", "data", label=True),
            Column("model", "model", label=True),
            Column("label", "label", label=True),
            Column("precision", "precision", number(4)),
            Column("recall", "recall", number(4)),
            Column("f1", "F1", number(4)),
            Column("right", "right", "{:,}".format),
            Column("predicted", "predicted", "{:,}".format),
            Column("gold", "in data", "{:,}".format),
            Column("lines", "", "{:,}".format),
        ],
        protocol=[kept, "micro: all labels together; macro: the mean over the labels in the data"],
    )
    for model in vectors:
        classifier = Classifier(load_model(model.name), model.name)
        for path in data:
            text = input_texts([path], log=report.notes.append, reading=config)
            counts = count(classifier, text, config.k, config.threshold, config.threads)
            _add_rows(report, model.name, path, classifier, counts, config)
    return report


def _add_rows(
    report: Report, model: str, path: str, classifier: Classifier, counts: Counts, config: LabelsConfig
) -> None:
    what = f"{model} on {path}"
    totals = [int(each.sum()) for each in (counts.right, counts.predicted, counts.gold)]
    rows = [("micro", counts.micro(), totals), ("macro", counts.macro(), totals)]
    for label in np.argsort(-counts.gold, kind="stable").tolist() if config.per_label else []:
        own = [int(each[label]) for each in (counts.right, counts.predicted, counts.gold)]
        if own[1] or own[2]:
            rows.append((classifier.labels[label], scores(*own), own))
    for name, (precision, recall, f1), (right, predicted, gold) in rows:
        facts: Row = {"data": path, "model": model, "label": name, "precision": precision, "recall": recall, "f1": f1}
        report.rows.append(
            {**facts, "right": right, "predicted": predicted, "gold": gold, "lines": counts.lines},
        )
    report.scores.append((what, counts.micro()[2]))
    if counts.lines == 0:
        report.unscored.append(f"{what}: no line has both a label and a word that the model knows")
    if counts.left_out:
        report.notes.append(f"{what}: {counts.left_out:,} lines without a known label or a known word left out")
    n = len(classifier.labels)
    worst = sorted(counts.confused.items(), key=lambda pair: (-pair[1], pair[0]))[: config.confusions]
    for pair, times in worst:
        label, answer = classifier.labels[pair // n], classifier.labels[pair % n]
        report.notes.append(f"{what}: {label} was taken for {answer} {times:,} times")
