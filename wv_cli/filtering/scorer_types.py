"""What a scorer is: a function of documents, or of fields of records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Scores: TypeAlias = "NDArray[np.float32]"  # (documents,)
Scorer = Callable[[list[bytes]], Scores]
Columns = Mapping[str, Sequence[Any]]  # of a field its value in each record, None where there is none


@dataclass(frozen=True)
class FieldScorer:
    """A scorer of records by some of their `fields`: 1 for those that stay, 0 for the others. `words` are the texts
    that it compares with, where they stand without quotes, as names of fields do."""

    fields: tuple[str, ...]
    score: Callable[[Columns], Scores]
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelScorer:
    """A scorer by what a classifier answers: `ask` gives the LabelAnswers of documents. Scorers with the same `model`,
    not None, ask the same, so that documents need be read once."""

    ask: Callable[[list[bytes]], Any]
    model: object

    def __call__(self, texts: list[bytes]) -> Scores:
        return self.scores(self.ask(texts))

    def scores(self, answers: Any) -> Scores:
        """The scores, of the answers."""
        raise NotImplementedError


@dataclass(frozen=True)
class LabelScorer(ModelScorer):
    """A scorer by labels of a classifier. `pick` gives of each document the score and the number of its best label
    among `labels`, -1 for none."""

    labels: Sequence[str]
    pick: Callable[[Any], tuple[Scores, "NDArray[np.int32]"]]

    def scores(self, answers: Any) -> Scores:
        return self.pick(answers)[0]


@dataclass(frozen=True)
class NumberScorer(ModelScorer):
    """A scorer by the expected number of a classifier whose labels are numbers from `low` to `high`."""

    low: float
    high: float
    pick: Callable[[Any], Scores]

    def scores(self, answers: Any) -> Scores:
        return self.pick(answers)


def split_subject(subject: str) -> tuple[str, str]:
    """(MODEL, LABELS) of MODEL:LABELS. Both may hold colons: the longest beginning that is a file is the model."""
    parts = subject.split(":")
    for end in range(len(parts), 0, -1):
        if Path(path := ":".join(parts[:end])).is_file():
            return path, ":".join(parts[end:])
    path, _, labels = subject.rpartition(":")
    return (path, labels) if path else (subject, "")
