"""Precision, recall and F1 of a classifier on labeled lines, as fastText's test and test-label count them.

Only lines with a label that the model knows, and with a word or n-gram that it knows, count; how many others there are
is noted. Of the k best labels of a line those count as predicted that are at least as probable as the threshold.
  micro: all labels together; precision at k is fastText's P@k, recall its R@k
  macro: the mean over the labels that occur in the data; a label that is never predicted has precision 0
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.config import require
from wv_cli.evaluation.base import Column, Report, Row, Vectors, number
from wv_cli.evaluation.config import LabelsConfig
from wv_cli.evaluation.label_numbers import LEFT_OUT, asked_questions, named_question, score_numbers
from wv_cli.evaluation.labeled_texts import labeled_texts, no_line
from wv_cli.io.places import is_stream
from wv_cli.models.classifier import load_classifier
from wv_cli.models.text_classifier import Answered, Question, TextClassifier
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
    classifier: TextClassifier,
    data: Inputs,
    k: int = 1,
    threshold: float = 0.0,
    threads: int = 1,
    *,
    bare_end: bool = False,
) -> Counts:
    """Answers every line of the files and counts; `bare_end`: see TextClassifier.answer. Raises what Source raises."""
    answers = classifier.answers(Source(data, bare_end=bare_end), k, threshold, threads, bare_end=bare_end)
    (counts,) = _count_answers(answers, [classifier.question()])
    return counts


def _count_answers(answers: Iterable[Answered], questions: Sequence[Question]) -> list[Counts]:
    """The counts of each question."""
    counts = [Counts.none(len(question.labels)) for question in questions]
    for answered in answers:
        for question, each in zip(questions, counts, strict=True):
            each.add(answered.to(question))
    return counts


@dataclass(frozen=True)
class Curve:
    """Micro scores by threshold. `probabilities` (n,) are those of all predicted labels, highest first; of the first
    i + 1 right[i] are right, and `gold` labels stand in the data."""

    probabilities: NDArray[np.float64]
    right: NDArray[np.int64]
    gold: int

    @classmethod
    def measure(cls, classifier: TextClassifier, question: Question, data: Inputs, k: int, threads: int) -> "Curve":
        """Of the k best labels of each line that count() counts. Raises what Source raises."""
        found, hits, gold, n = [np.empty(0)], [np.empty(0, np.bool_)], 0, len(question.labels)
        for every in classifier.answers(Source(data), k, threads=threads):
            answered = every.to(question)
            known = np.diff(answered.true_starts)
            used = (known > 0) & answered.reads
            label_line = np.repeat(np.arange(len(known)), known)
            keep = used[label_line]
            true = np.unique(label_line[keep] * n + answered.true_labels[keep])
            line, rank = np.nonzero((np.arange(answered.labels.shape[1]) < answered.found[:, None]) & used[:, None])
            hits.append(np.isin(line * n + answered.labels[line, rank], true, assume_unique=True))
            # --threshold is compared with the probability itself, scores have fastText's 1e-5 in them.
            found.append(np.minimum(np.exp(answered.scores[line, rank].astype(np.float64)) - 1e-5, 1))
            gold += len(true)
        probabilities = np.concatenate(found)
        order = np.argsort(-probabilities, kind="stable")
        return cls(probabilities[order], np.cumsum(np.concatenate(hits)[order]), gold)

    def at(self, threshold: float) -> tuple[int, int, int]:
        """(right, predicted, gold) of the labels that are at least so probable."""
        predicted = int(np.searchsorted(-self.probabilities, -threshold, side="right"))
        return (int(self.right[predicted - 1]) if predicted else 0), predicted, self.gold

    def best(self, goal: str, least: float) -> float | None:
        """The threshold of the highest F1, or of the highest recall where precision is at least `least` ("precision"),
        or the other way round ("recall"). It lies halfway to the next probability. None where none reaches it."""
        if not len(self.right) or not self.gold:
            return None
        predicted = np.arange(1, len(self.right) + 1)
        precision, recall = self.right / predicted, self.right / self.gold
        last = np.append(self.probabilities[1:] < self.probabilities[:-1], [True])  # equal ones come together
        given, value = {
            "f1": (np.ones_like(precision), 2 * self.right / (predicted + self.gold)),
            "precision": (precision, recall),
            "recall": (recall, precision),
        }[goal]
        possible = np.flatnonzero(last & (given >= least))
        if not len(possible):
            return None
        chosen = int(possible[np.argmax(value[possible])])
        below = self.probabilities[chosen + 1] if chosen + 1 < len(self.probabilities) else 0.0
        return _round_between(float(below), float(self.probabilities[chosen]))


def _round_between(low: float, high: float) -> float:
    """A short number above `low` and up to `high`."""
    middle = (low + high) / 2
    return next((short for digits in range(2, 9) if low < (short := round(middle, digits)) <= high), middle)


def run(vectors: Sequence[Vectors], data: Sequence[str], config: LabelsConfig) -> Report:
    """Scores every model on every data file; see evaluation.Task.run."""
    if config.number:
        return score_numbers(vectors, data, config)
    if config.best is not None or config.reliability:
        flag = "--best" if config.best is not None else "--reliability"
        for path in data:
            require(not is_stream(path), f"{flag} reads the data twice, which {path} cannot be; name a file")
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
        classifier = load_classifier(model.name)
        questions = asked_questions(classifier, config)
        for path in data:
            text = labeled_texts([path], classifier, config.label_field, config, report.notes.append)
            answers = classifier.answers(Source(text), config.k, config.threshold, config.threads)
            for question, counts in zip(questions, _count_answers(answers, questions), strict=True):
                name = named_question(model.name, question)
                _add_rows(report, name, path, question, counts, config)
                if counts.lines and (config.best is not None or config.reliability):
                    curve = Curve.measure(classifier, question, text, config.k, config.threads)
                    if config.best is not None:
                        _add_thresholds(report, name, path, curve, config)
                    if config.reliability:
                        _add_reliability(report, name, path, curve)
    return report


def _add_thresholds(report: Report, model: str, path: str, curve: Curve, config: LabelsConfig) -> None:
    """A row for each tenth, and one for the best threshold."""
    best = curve.best(*config.goal())
    lines = report.rows[-1]["lines"]
    thresholds = [(f"p >= {tenth / 10:g}", tenth / 10) for tenth in range(1, 10)]
    thresholds += [(f"best: p >= {best}", best)] if best is not None else []
    for name, threshold in thresholds:
        right, predicted, gold = curve.at(threshold)
        precision, recall, f1 = scores(right, predicted, gold)
        facts: Row = {"data": path, "model": model, "label": name, "precision": precision, "recall": recall, "f1": f1}
        report.rows.append({**facts, "right": right, "predicted": predicted, "gold": gold, "lines": lines})
    found = f"--threshold {best} is best by {config.best}" if best is not None else f"no threshold has {config.best}"
    report.notes.append(f"{model} on {path}: {found}")


def _add_reliability(report: Report, model: str, path: str, curve: Curve) -> None:
    """A row for each tenth of probabilities that predicted labels have: precision is the share that is right. The note
    says how far these shares are from the mean probabilities (Guo et al. 2017, arXiv 1706.04599)."""
    hits, tenth = np.diff(curve.right, prepend=0), np.minimum((10 * curve.probabilities).astype(int), 9)
    lines, gap = report.rows[-1]["lines"], 0.0
    for step in np.unique(tenth).tolist():
        inside = tenth == step
        predicted, right = int(inside.sum()), int(hits[inside].sum())
        mean = float(curve.probabilities[inside].mean())
        gap += abs(right - predicted * mean)
        name = f"{step / 10:.1f} to {(step + 1) / 10:.1f}: mean p {mean:.3f}"
        facts: Row = {"data": path, "model": model, "label": name, "precision": right / predicted}
        rest: Row = {"recall": float("nan"), "f1": float("nan"), "gold": curve.gold, "lines": lines}
        report.rows.append({**facts, **rest, "right": right, "predicted": predicted})
    error = gap / max(1, len(hits))
    report.notes.append(f"{model} on {path}: expected calibration error {error:.4f}")


def _add_rows(report: Report, model: str, path: str, question: Question, counts: Counts, config: LabelsConfig) -> None:
    what = f"{model} on {path}"
    if counts.lines == 0:
        report.unscored.append(f"{what}: {no_line(question, config.label_field)}")
        return
    totals = [int(each.sum()) for each in (counts.right, counts.predicted, counts.gold)]
    rows = [("micro", counts.micro(), totals), ("macro", counts.macro(), totals)]
    for label in np.argsort(-counts.gold, kind="stable").tolist() if config.per_label else []:
        own = [int(each[label]) for each in (counts.right, counts.predicted, counts.gold)]
        if own[1] or own[2]:
            rows.append((question.labels[label], scores(*own), own))
    for name, (precision, recall, f1), (right, predicted, gold) in rows:
        facts: Row = {"data": path, "model": model, "label": name, "precision": precision, "recall": recall, "f1": f1}
        report.rows.append(
            {**facts, "right": right, "predicted": predicted, "gold": gold, "lines": counts.lines},
        )
    report.scores.append((what, counts.micro()[2]))
    if counts.left_out:
        report.notes.append(f"{what}: {counts.left_out:,} {LEFT_OUT}")
    n = len(question.labels)
    worst = sorted(counts.confused.items(), key=lambda pair: (-pair[1], pair[0]))[: config.confusions]
    for pair, times in worst:
        label, answer = question.labels[pair // n], question.labels[pair % n]
        report.notes.append(f"{what}: {label} was taken for {answer} {times:,} times")
