"""Text classifiers: lines of text in, labels and their probabilities out. A kind of models says how a block of lines is
answered; here are the questions that all kinds take.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _prediction
from wv_cli._text import SEPARATORS
from wv_cli.errors import UsageError
from wv_cli.io import container, meta
from wv_cli.io.arguments import list_texts, real_number, whole_number
from wv_cli.io.input import Input
from wv_cli.io.threads import in_order
from wv_cli.models.label_numbers import expected_numbers, read_numbers
from wv_cli.words import WordList, encode

_BLOCK = 1 << 18  # bytes of text answered at once
LONG_LINE = 1 << 20  # bytes of a line that are read at once
ALL = -1  # k: every label
POOLED = "pooled-classifier"  # how the container of a model of `wv train --model pooled` is marked
_SEPARATORS = tuple(bytes([separator]) for separator in SEPARATORS if separator != ord("\n"))
_ANSWERS = ("labels", "scores", "found")


@dataclass(frozen=True, eq=False)
class Question:
    """A question that the classifier called `model` answers, with the `labels` from number `first` of its own on. They
    begin with `prefix`, which has the `name`, "" where there is one question: `__label__quality=`."""

    name: str
    labels: WordList
    first: int
    prefix: str
    model: str

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """(labels,) The numbers that the labels are, such as 3 of `__label__3`. Raises UsageError for one that is none,
        and what require_prefix() raises."""
        self.require_prefix()
        return read_numbers([*self.labels], self.prefix, self.model)

    def require_prefix(self) -> None:
        """Raises UsageError for labels of another prefix: a file of fastText does not say it."""
        if len(self.labels.beginning_with(encode(self.prefix))) < len(self.labels):
            other = next(label for label in self.labels if not label.startswith(self.prefix))
            way = f'write the prefix of its training to {meta.sidecar_path(self.model)}, as {{"label_prefix": "..."}}'
            raise UsageError(f"{self.model}: expected labels that begin with {self.prefix}, found {other}; {way}")

    @property
    def has_numbers(self) -> bool:
        """Whether all labels are numbers."""
        try:
            return len(self.numbers) > 0
        except UsageError:
            return False

    def select(
        self, labels: NDArray[np.int32], scores: NDArray[np.float32], found: NDArray[np.int32], k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]:
        """Of answers (lines, any), of which the first `found` count, the first `k` (ALL: every one) to this question;
        labels have its numbers."""
        size = len(self.labels)
        own = (np.arange(labels.shape[1]) < found[:, None]) & (self.first <= labels) & (labels < self.first + size)
        width = size if k == ALL else min(k, size)
        order = np.argsort(~own, axis=1, kind="stable")[:, :width]
        renumbered = np.where(own, labels - np.int32(self.first), np.int32(0))
        chosen: NDArray[np.int32] = np.take_along_axis(renumbered, order, axis=1)
        values: NDArray[np.float32] = np.take_along_axis(scores, order, axis=1)
        return chosen, values, np.minimum(own.sum(axis=1), width).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Answered:
    """Predictions for some lines: `labels` and `scores` are (lines, k), best first, of which found[line] count; of a
    classifier with several questions the k best of each, one question behind the other. A score is ln(p + 1e-5), as
    fastText has it. `reads` (lines,) says which lines have anything that the model knows,
    `</s>` included, and `seen` (lines, 2) how many words they have, and how many of these the model knows;
    `true_starts` and `true_labels` which known labels stand in the lines."""

    labels: NDArray[np.int32]
    scores: NDArray[np.float32]
    found: NDArray[np.int32]
    reads: NDArray[np.bool_]
    seen: NDArray[np.int32]
    true_starts: NDArray[np.int64]
    true_labels: NDArray[np.int32]
    _answers: _prediction.Answers

    def lines(self, labels: WordList, prob: bool) -> memoryview:
        """As fastText's predict, or with `prob` predict-prob, prints them."""
        return self._answers.lines(labels.blob, labels.starts, prob)

    @property
    def probabilities(self) -> NDArray[np.float32]:
        return np.exp(self.scores)

    def expected_numbers(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """(lines,) Of answers with every label, whose `numbers` these are; see expected_numbers()."""
        return expected_numbers(numbers, self.labels, self.probabilities, self.found)

    def to(self, question: Question) -> "Answered":
        """The answers to one of the questions, with its labels."""
        if not question.name:
            return self
        size = len(question.labels)
        labels, scores, found = question.select(self.labels, self.scores, self.found, ALL)
        answers = _prediction.Answers(labels, scores, found)
        own = (question.first <= self.true_labels) & (self.true_labels < question.first + size)
        line = np.repeat(np.arange(len(self.found)), np.diff(self.true_starts))[own]
        starts = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=len(self.found)))])
        true = (starts, self.true_labels[own] - np.int32(question.first))
        return Answered(answers.labels, answers.scores, answers.found, self.reads, self.seen, *true, answers)


class TextClassifier:
    """A text classifier with these `labels`. Threads may share it."""

    labels: WordList
    label_prefix: str = "__label__"
    name: str  # in messages

    def among(self, labels: NDArray[np.int32]) -> "TextClassifier":
        """This classifier for one who asks for labels with these numbers: those have the same probabilities. Others are
        left out of the answers where that saves time."""
        return self

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """What is answered of each line; most classifiers answer one question."""
        return (Question("", self.labels, 0, self.label_prefix, self.name),)

    def question(self, name: str | None = None) -> Question:
        """The question of this name; None: the only one. Raises UsageError."""
        found = [each for each in self.questions if name in (None, each.name)]
        if len(found) == 1:
            return found[0]
        names = ", ".join(each.name for each in self.questions if each.name)
        if name is None:
            raise UsageError(f"{self.name}: answers several questions; name one of {names}")
        raise UsageError(f"{self.name}: has no question {name!r}; it answers {names or 'one, without a name'}")

    def number_questions(self, log: Callable[[str], None] | None = None) -> list[Question]:
        """The questions whose labels are numbers. `log` is told of others. Raises UsageError where there is none."""
        found = [each for each in self.questions if each.has_numbers]
        if not found:
            _ = self.questions[0].numbers
        others = ", ".join(each.name for each in self.questions if each not in found)
        if others and log is not None:
            log(f"{self.name}: --number leaves out {others}, whose labels are not all numbers")
        return found

    def _answer(self, text: Any, k: int, threshold: float, bare_end: bool) -> Answered:
        """Answers for a block, as _blocks() gives it."""
        raise NotImplementedError

    def _blocks(self, chunks: Iterable[bytes | memoryview], bare_end: bool) -> Iterator[Any]:
        """The text in blocks of whole lines. Of a line longer than LONG_LINE, about so much is read."""
        begin = b""  # of a line whose end has not come
        for block in blocks_of_lines(chunks):
            if not block.endswith(b"\n"):
                begin = begin or block
                continue
            if begin:
                yield begin + b"\n"
                block, begin = block[block.find(b"\n") + 1 :], b""
            if block:
                yield block
        if begin:
            yield begin

    def predict(self, lines: str | Iterable[str], k: int = 1, threshold: float = 0.0) -> list[list[tuple[str, float]]]:
        """The k best labels of each line (ALL: every label) with their probabilities, 0 to 1, best first; of several
        questions the k best of each, in the order of `questions`. Only labels
        of at least `threshold` count; a line of unknown words has none. A single line may be given as it is, several in
        any iterable, which is read once. Raises UsageError for another k or threshold, TypeError for other types,
        ValueError for a line with a line end in it."""
        k = whole_number(k, "k")
        real_number(threshold, "threshold")
        if k < 1 and k != ALL:
            message = f"k must be at least 1, or {ALL} for all labels, not {k}"
            raise UsageError(message)
        if not 0 <= threshold <= 1:
            message = f"threshold is a probability between 0 and 1, not {threshold:g}"
            raise UsageError(message)
        result = []
        for answered in self.answers(_encode_lines(lines), k, threshold):
            rows = zip(answered.labels, answered.probabilities, answered.found.tolist(), strict=True)
            for labels, probabilities, found in rows:
                names = [self.labels[label] for label in labels[:found].tolist()]
                result.append(list(zip(names, probabilities[:found].clip(max=1).tolist(), strict=True)))
        return result

    def predict_number(self, lines: str | Iterable[str], question: str | None = None) -> list[float]:
        """The expected number of each line, where labels are numbers such as `__label__3`: the mean of these, weighted
        by their probabilities. Of several questions one must be named. NaN for a line of unknown words. Takes lines and
        raises errors as predict() does, and UsageError for a label that is no number, or an unknown question."""
        asked = self.question(question)
        numbers, result = asked.numbers, list[float]()
        for answered in self.answers(_encode_lines(lines), ALL):
            result += answered.to(asked).expected_numbers(numbers).tolist()
        return result

    def answer(
        self, text: bytes | memoryview, k: int = 1, threshold: float = 0.0, *, bare_end: bool = False
    ) -> Answered:
        """The k best labels (ALL: every one) with a probability of at least `threshold` for every line of `text`. A
        line of which the model knows nothing has no answer. With `bare_end` a last line without a newline has no
        `</s>`, as in fastText."""
        parts = list(self.answers([text], k, threshold, bare_end=bare_end))
        return (
            parts[0] if len(parts) == 1 else join_answers(parts) if parts else self._answer(b"", k, threshold, bare_end)
        )

    def answer_line(self, line: bytes, k: int = 1, threshold: float = 0.0) -> tuple[list[int], list[float]]:
        """(labels, their probabilities) of one line, which ends with its newline."""
        answered = self.answer(line, k, threshold)
        found, scores = int(answered.found[0]), answered.scores.astype(np.float64)
        probabilities = np.exp(scores).astype(np.float32)[0, :found].tolist()
        return answered.labels[0, :found].tolist(), probabilities

    def answers(
        self,
        chunks: Iterable[bytes | memoryview],
        k: int = 1,
        threshold: float = 0.0,
        threads: int = 1,
        *,
        bare_end: bool = False,
    ) -> Iterator[Answered]:
        """Answers for a text in chunks cut anywhere, in order, a block of lines at a time; see answer()."""
        task = partial(self._answer, k=k, threshold=threshold, bare_end=bare_end)
        return in_order(task, self._blocks(chunks, bare_end), threads)


def _encode_lines(lines: str | Iterable[str]) -> list[bytes]:
    """The chunks of a text of these lines. Raises TypeError, and ValueError for a line with a line end in it."""
    lines = list_texts(lines, "lines", "line")
    if wrong := [line for line in lines if "\n" in line]:
        message = f"expected lines without line ends, found {wrong[0]!r:.60}; put blanks in their place, or split it"
        raise ValueError(message)
    return [encode("".join(f"{line}\n" for line in lines))] if lines else []


def blocks_of_lines(chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """The same text in blocks of whole lines, the last without a newline where it has none. A line longer than
    LONG_LINE is cut between words: a block with its begin and no newline goes on in the next one."""
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        for first in range(0, len(chunk), _BLOCK):
            part = bytes(chunk[first : first + _BLOCK])
            cut = part.rfind(b"\n") + 1
            if not cut and size + len(part) > LONG_LINE:
                cut = max(part.rfind(separator) for separator in _SEPARATORS) + 1
            if cut:
                yield b"".join([*pieces, part[:cut]])
                pieces, size, part = [], 0, part[cut:]
            if part:
                pieces.append(part)
                size += len(part)
    if pieces:
        yield b"".join(pieces)


def join_answers(parts: list[Answered]) -> Answered:
    """The same for all lines."""
    joined = _prediction.Answers(*(np.concatenate([getattr(part, name) for part in parts]) for name in _ANSWERS))
    reads, seen, true_labels = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("reads", "seen", "true_labels")
    )
    counts = np.concatenate([np.diff(part.true_starts) for part in parts])
    true_starts = np.concatenate([[0], np.cumsum(counts)])
    return Answered(joined.labels, joined.scores, joined.found, reads, seen, true_starts, true_labels, joined)


def is_pooled(source: Input) -> bool:
    """Whether a file begins as that of a pooled classifier. Here, so that other files are told without its modules."""
    mark = container.magic(POOLED)
    return source.peek(len(mark)).startswith(mark)
