"""Rules: a scorer and a range of its scores. A record stays while every rule keeps it."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.filtering.heuristics import HEURISTICS
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorer_types import FieldScorer, NumberScorer, Scorer, Scores, split_subject
from wv_cli.filtering.scorers import NUMBER, SCORERS, ScorerKind


@dataclass(frozen=True)
class Rule:
    """Keeps what has a score from `low` to `high`; `open`: these two are not kept themselves. `text` is the rule as it
    was written. The `language` is that of the texts where a statistic of their words is asked for; "": English."""

    name: str
    scorer: str
    subject: str
    low: float
    high: float
    open: bool
    text: str
    of_recipe: bool = False
    language: str = ""

    @property
    def kind(self) -> ScorerKind:
        """Its row of the table, or that of a classifier's number."""
        is_number = self.scorer == "classifier" and _asks_number(self.subject)
        return NUMBER if is_number else SCORERS.find(self.scorer)

    @property
    def files(self) -> list[str]:
        """The files that it needs."""
        if not self.kind.has_file:
            return []
        return [split_subject(self.subject)[0]]

    @property
    def staged_text(self) -> str:
        """The rule as it was written, but for the folders of its files, which may be copied elsewhere."""
        text = self.text
        for path in self.files:
            text = text.replace(path, Path(path).name)
        return text

    def absolute(self) -> "Rule":
        """The same for a process in another folder."""
        subject = self.subject
        for path in self.files:
            subject = str(Path(path).absolute()) + subject.removeprefix(path)
        return replace(self, subject=subject)

    @property
    def statistic(self) -> str | None:
        """The statistic of the text that it is about, for a rule without a model."""
        return None if self.kind.opener else self.subject

    @property
    def is_count(self) -> bool:
        return self.statistic is not None and self.statistic in HEURISTICS and HEURISTICS[self.statistic].is_count

    @property
    def cost(self) -> int:
        """The cheaper, the earlier it is asked."""
        return 1 if self.statistic is not None and "-gram" in self.statistic else self.kind.cost

    @property
    def only_scores(self) -> bool:
        """Whether no record is rejected: the range has all scores that there are."""
        kind = self.kind
        if self.high == -self.low == np.inf:
            return True
        has_lowest = self.low < kind.lowest or (self.low == kind.lowest and (not self.open or self.low == -np.inf))
        has_highest = self.high > kind.highest or (self.high == kind.highest and (not self.open or self.high == np.inf))
        return has_lowest and has_highest and not kind.may_lack

    def require_possible(self) -> None:
        """Raises UsageError where no score is in the range, or where its upper bound is no score. What a classifier
        has not is told first: a question whose name is wrong looks like a label, whose bounds are others."""
        kind, highest = self.kind, self.kind.highest
        low, high = max(self.low, kind.lowest), min(self.high, highest)
        kept = low < high or (low == high and not (self.open and (low == self.low or high == self.high)))
        if not kept:
            if kind.are_probabilities:
                kind.open(self.subject, ScorerOptions())
            scores = "0 to 1" if highest == 1 else "0 or more" if kind.lowest == 0 else "numbers"
            why = f"scores are {scores}, and the rule keeps {self.bounds_text}"
            if self.low > self.high:
                why = f"with the other rules about {self.name} it keeps {self.bounds_text}"
            raise UsageError(f"{self.text}: keeps no record; {why}")
        if highest < self.high < np.inf:
            step = f"; write {self.high / 100:g} for {self.high:g} %" if self.high <= 100 else ""
            raise UsageError(f"{self.text}: expected a bound from 0 to {highest:g}, found {self.high:g}{step}")

    def load_scorer(self, options: ScorerOptions) -> Scorer | FieldScorer:
        """Raises UsageError for a label that the model has not, and for a range without one of its numbers."""
        scorer = self.kind.open(self.subject, options)
        if isinstance(scorer, NumberScorer) and (self.low > scorer.high or self.high < scorer.low):
            numbers = f"numbers of its labels are {scorer.low:g} to {scorer.high:g}"
            raise UsageError(f"{self.text}: keeps no record; {numbers}, and the rule keeps {self.bounds_text}")
        return scorer

    def accepts(self, scores: Scores) -> NDArray[np.bool_]:
        """(n,) A score that is no number is in no range, unless both ends are left out: then the rule only scores."""
        if self.low == -np.inf and self.high == np.inf:
            return np.ones(len(scores), np.bool_)
        if self.kind.are_probabilities:
            scores = np.minimum(scores, 1)  # fastText's logarithms and exponentials come to 1.00001
        low, high = scores.dtype.type(self.low), scores.dtype.type(self.high)
        return (scores > low) & (scores < high) if self.open else (scores >= low) & (scores <= high)

    @property
    def reads_fields(self) -> bool:
        """Whether it is about fields of a record beside the text."""
        return self.kind.reads_fields

    @property
    def bounds_text(self) -> str:
        """The range, as a reader takes it."""
        if self.reads_fields:
            return self.subject
        if self.low == -np.inf and self.high == np.inf:
            return ".."
        if self.low == -np.inf:
            return f"{'<' if self.open else '<='} {self.high:g}"
        if self.high == np.inf:
            return f"{'>' if self.open else '>='} {self.low:g}"
        return f"{self.low:g}..{self.high:g}"


def _asks_number(subject: str) -> bool:
    """Whether a rule about a classifier is about its number: no label is named, or a question."""
    path, named = split_subject(subject)
    if path == subject:
        return True
    if not Path(path).is_file():
        return False
    status = Path(path).stat()
    return _is_question(path, named, (status.st_ino, status.st_mtime_ns))


@cache
def _is_question(path: str, name: str, state: object) -> bool:
    """Whether the classifier in a file answers a question of this name; `state` is that of the file."""
    from wv_cli.io.input import open_input
    from wv_cli.models.text_classifier import is_pooled

    try:
        with open_input(path) as source:
            if not is_pooled(source):
                return False
            from wv_cli.models.pooled_files import question_names

            return name in question_names(source)
    except WvError:
        return False  # what is wrong with the file is told when it is loaded
