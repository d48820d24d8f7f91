"""A pooled text classifier for prediction: labels of lines by their softmax. Formulas: csrc/kernels/pooled.c."""

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wv_cli import _prediction
from wv_cli.errors import WvError
from wv_cli.models.pooled_files import dump_pooled, parse_pooled
from wv_cli.models.pooled_model import PooledModel, texts_of
from wv_cli.models.pooled_reader import LineReader, name_of_question
from wv_cli.models.text_classifier import ALL, Answered, Question, TextClassifier
from wv_cli.text.records.labels import value_of
from wv_cli.words import WordList

_FLOOR = 1e-5  # fastText's scores are logarithms of p + 1e-5


class PooledClassifier(TextClassifier):
    """The classifier that `wv train --model pooled` makes."""

    def __init__(self, model: PooledModel, name: str = "the model") -> None:
        """Raises WvError for parts that do not fit together."""
        self.model, self.labels, self.name = model, model.reading.labels, name
        self.label_prefix = model.reading.label_prefix
        try:
            self._reader, self._engine = LineReader(model.reading, name), model.engine()
        except ValueError as error:
            raise WvError(f"{name}: {error}") from error

    def __reduce__(self) -> tuple[Callable[[bytes, str], "PooledClassifier"], tuple[bytes, str]]:
        """As its file: rows that are pickled would lie anywhere."""
        return _unpickle, (dump_pooled(self.model), self.name)

    def __copy__(self) -> "PooledClassifier":
        return self  # it does not change

    def __deepcopy__(self, memo: dict[int, object]) -> "PooledClassifier":
        return self

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        reading = self.model.reading
        if not reading.questions:
            return super().questions
        found, blob = [], [*self.labels]
        for first, last in pairwise(reading.question_starts.tolist()):
            name = name_of_question(blob[first], self.label_prefix)
            labels = WordList.from_words(blob[first:last])
            found.append(Question(value_of(name), labels, first, f"{self.label_prefix}{name}=", self.name))
        return tuple(found)

    def _answer(self, text: bytes, k: int, threshold: float, bare_end: bool) -> Answered:
        lines = self._reader.read(text)
        reads, starts = lines.has_input, self.model.reading.question_starts.tolist()
        every = self.model.log_probabilities(self._engine.scores(texts_of(lines)))
        answered = [_best(scores, first, k) for first, scores in zip(starts[:-1], every, strict=True)]
        labels, best = (np.concatenate(each, axis=1) for each in zip(*answered, strict=True))
        probabilities = np.exp(best)
        probable = probabilities >= threshold
        found = np.where(reads, probable.sum(axis=1), 0).astype(np.int32)
        if threshold and len(answered) > 1:  # those that count stand first
            order = np.argsort(~probable, axis=1, kind="stable")
            labels, probabilities = (np.take_along_axis(each, order, axis=1) for each in (labels, probabilities))
        answers = _prediction.Answers(labels, np.log(probabilities + np.float32(_FLOOR)), found)
        known = (reads, lines.seen, lines.label_starts, lines.labels, answers)
        return Answered(answers.labels, answers.scores, answers.found, *known)


def _unpickle(file: bytes, name: str) -> PooledClassifier:
    return PooledClassifier(parse_pooled(file, name), name)


def _best(scores: NDArray[np.float32], first: int, k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(labels, scores), each (lines, k), the best first; the lower number where two are equal. Labels are numbered from
    `first` on, and `k` is at most all of them."""
    k = scores.shape[1] if k == ALL else min(k, scores.shape[1])
    labels = scores.argmax(axis=1)[:, None] if k == 1 else np.argsort(-scores, axis=1, kind="stable")[:, :k]
    best: NDArray[np.float32] = np.take_along_axis(scores, labels, axis=1)
    return np.ascontiguousarray(labels + first, np.int32), np.ascontiguousarray(best)
