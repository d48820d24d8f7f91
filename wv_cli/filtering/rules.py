"""Rules: a scorer and a range of its scores. A record stays while every rule keeps it."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.filtering.contamination import Contamination
from wv_cli.filtering.cutting import open_cutter
from wv_cli.filtering.duplicates import Deduplicator, Like, ParagraphRule, left_over, pack_keys, ranges_of
from wv_cli.filtering.heuristics import HEURISTICS, statistics
from wv_cli.filtering.near_duplicates import Keys
from wv_cli.filtering.scorers import NUMBER, SCORERS, ScorerKind
from wv_cli.filtering.setting import (
    Columns,
    FieldScorer,
    LabelScorer,
    ModelScorer,
    NumberScorer,
    Scorer,
    Setting,
    split_subject,
)
from wv_cli.text.records.text_spans import TextSpans, take_texts

Scores = NDArray[np.float32]


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
                kind.open(self.subject, 0.0, Setting())
            scores = "0 to 1" if highest == 1 else "0 or more" if kind.lowest == 0 else "numbers"
            why = f"scores are {scores}, and the rule keeps {self.bounds_text}"
            if self.low > self.high:
                why = f"with the other rules about {self.name} it keeps {self.bounds_text}"
            raise UsageError(f"{self.text}: keeps no record; {why}")
        if highest < self.high < np.inf:
            step = f"; write {self.high / 100:g} for {self.high:g} %" if self.high <= 100 else ""
            raise UsageError(f"{self.text}: expected a bound from 0 to {highest:g}, found {self.high:g}{step}")

    def load_scorer(self, setting: Setting) -> Scorer | FieldScorer:
        """Raises UsageError for a label that the model has not, and for a range without one of its numbers."""
        bound = self.low if np.isfinite(self.low) else 0.0
        scorer = self.kind.open(self.subject, bound, setting)
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


class Judge:
    """Scores documents by rules, the cheap ones first; a document that one rejects is not scored by the others. Threads
    may share it."""

    def __init__(self, rules: Sequence[Rule], setting: Setting) -> None:
        self.rules = sorted(rules, key=lambda rule: rule.cost)
        self._scorers: dict[str, Scorer] = {}
        self._field_scorers: dict[str, FieldScorer] = {}
        for rule in self.rules:
            if rule.statistic is None:
                scorer = rule.load_scorer(setting)
                if isinstance(scorer, FieldScorer):
                    self._field_scorers[rule.name] = scorer
                else:
                    self._scorers[rule.name] = scorer
        self._cleans = setting.decontaminate == "paragraph"
        self._cut = open_cutter(setting.tokenize)
        self._language = next((rule.language for rule in rules if rule.language), "")
        self.duplicates: list[Deduplicator] = []
        self.paragraphs: ParagraphRule | None = None

    def with_duplicates(self, duplicates: Sequence[Deduplicator]) -> "Judge":
        """The same with rules of its own that know what stayed."""
        judge = copy.copy(self)
        judge.duplicates = [*duplicates]
        return judge

    @property
    def names(self) -> list[str]:
        """Of all rules, those of duplicates last."""
        return [*(rule.name for rule in self.rules), *(each.name for each in self.duplicate_rules)]

    @property
    def ranges(self) -> dict[str, tuple[str, str]]:
        """(statistic, range) of each of the names."""
        own = {rule.name: (rule.statistic or rule.scorer, rule.bounds_text) for rule in self.rules}
        return own | ranges_of(self.duplicate_rules)

    @property
    def fields(self) -> tuple[str, ...]:
        """What score_batch() needs of each record beside its text."""
        return tuple(dict.fromkeys(name for each in self._field_scorers.values() for name in each.fields))

    @property
    def duplicate_rules(self) -> list[Any]:
        """The rules that know what stayed."""
        return [*self.duplicates, *([self.paragraphs] if self.paragraphs is not None else [])]

    @property
    def verifies(self) -> bool:
        """Whether near-duplicates are compared with what they are like."""
        return any(each.has_evidence for each in self.duplicates)

    @property
    def has_evidence(self) -> bool:
        """Whether a rule says what the texts that it rejects are like."""
        return self.verifies or any(isinstance(each, Contamination) for each in self._scorers.values())

    def has_labels(self, name: str | None) -> bool:
        """Whether this is the name of a rule that gives records labels."""
        return name is not None and isinstance(self._scorers.get(name), LabelScorer)

    def scorer(self, name: str) -> Scorer | None:
        """That of a rule which needs a file."""
        return self._scorers.get(name)

    def score_batch(
        self,
        texts: Sequence[bytes],
        fields: Columns | None = None,
        *,
        every: bool = False,
        labels_by: str | None = None,
    ) -> "Judged":
        """With `every` all rules score all texts, and none is shortened. `labels_by` is the rule by which texts get
        labels."""
        scores: dict[str, Scores] = {}
        like: dict[int, Like] = {}
        shortened: dict[int, bytes] = {}
        labels: list[str | None] = [None] * len(texts)
        reason = np.full(len(texts), -1, np.int32)
        held: dict[int, tuple[NDArray[np.int64], Any]] = {}
        for number, rule in enumerate(self.rules):
            alive = np.arange(len(texts)) if every else np.flatnonzero(reason < 0)
            if rule.name in self._field_scorers:
                scores[rule.name] = self._field_scorers[rule.name].score(fields or {})  # cheap: of all
            elif rule.statistic is not None and rule.name not in scores:
                scores |= self._statistics(rule.cost, texts, alive)
            elif rule.statistic is None:
                own = scores[rule.name] = np.full(len(texts), np.nan, np.float32)
                scorer = self._scorers[rule.name]
                if isinstance(scorer, ModelScorer) and len(alive):
                    answers = _ask_once(scorer, texts, alive, held)
                if rule.name == labels_by and isinstance(scorer, LabelScorer) and len(alive):
                    own[alive], found = scorer.pick(answers)
                    for place, label in zip(alive.tolist(), found.tolist(), strict=True):
                        labels[place] = scorer.labels[label] if label >= 0 else None
                elif isinstance(scorer, ModelScorer) and len(alive):
                    own[alive] = scorer.scores(answers)
                else:
                    own[alive] = scorer(take_texts(texts, alive)) if len(alive) else 0
            own = scores[rule.name]
            if len(alive):
                wrong = alive[~rule.accepts(own[alive])]
                judge = self._scorers.get(rule.name)
                if isinstance(judge, Contamination) and self._cleans and not every:
                    wrong = _clean(judge, rule, texts, wrong, shortened)
                if isinstance(judge, Contamination) and len(wrong):
                    items = judge.like(take_texts(texts, wrong))
                    like = dict(zip(wrong.tolist(), items, strict=True)) | like
                reason[wrong] = np.where(reason[wrong] < 0, number, reason[wrong])
        alive = np.flatnonzero(reason < 0)
        left = _select(texts, alive) if self.duplicate_rules else []
        if shortened:
            left = [shortened.get(i, text) for i, text in zip(alive.tolist(), left, strict=False)]
        keys = [each.keys(left) for each in self.duplicates]
        paragraphs = None
        if self.paragraphs is not None:
            lines = [*left]
            paragraphs = (lines, *self.paragraphs.keys(lines))
        return Judged(scores, reason, alive, keys, paragraphs, shortened, like, labels)

    def _statistics(self, cost: int, texts: Sequence[bytes], alive: NDArray[np.int64]) -> dict[str, Scores]:
        """Those of all rules of this cost, in one walk over the texts."""
        names = [rule.name for rule in self.rules if rule.statistic is not None and rule.cost == cost]
        some = _select(texts, alive)
        found, words = {}, self._cut([*some]) if self._cut is not None else None
        for name, values in statistics(some, names, words, self._language).items():
            found[name] = np.full(len(texts), np.nan)
            found[name][alive] = values
        return found

    def reject_duplicates(self, judged: "Judged", shard: int = 0, before: int = 0) -> list[bytes]:
        """Rejects duplicates. One thread asks, in the order of the records, which are those of this shard behind the
        first `before`. Returns what each rule of duplicates must be given to know them again."""
        alive, stays = judged.alive, np.ones(len(judged.alive), np.bool_)
        kept = []
        for number, (each, keys) in enumerate(zip(self.duplicates, judged.keys, strict=True), len(self.rules)):
            asked = np.flatnonzero(stays)
            answer = each.first_seen(keys, asked, shard, alive[asked] + before + 1)
            gone = asked[~answer.first]
            judged.reason[alive[gone]] = number
            judged.like.update(zip(alive[gone].tolist(), answer.like, strict=False))
            stays[gone] = False
            kept.append(answer.kept)
        if self.paragraphs is not None and judged.paragraphs is not None:
            kept.append(self._shorten(self.paragraphs, judged, stays, *judged.paragraphs))
        for number in [number for number in judged.shortened if judged.reason[number] >= 0]:
            del judged.shortened[number]
        return kept

    def _shorten(
        self,
        rule: ParagraphRule,
        judged: "Judged",
        asked: NDArray[np.bool_],
        texts: list[bytes],
        keys: Keys,
        starts: NDArray[np.int64],
    ) -> bytes:
        """Rejects documents that lose all paragraphs, and shortens the others. Returns the keys that are new."""
        lines, stays, new = rule.stays(keys, starts, asked)
        judged.reason[judged.alive[asked & ~stays]] = len(self.rules) + len(self.duplicates)
        for place, text in enumerate(left_over(texts, starts, lines)):
            if stays[place] and text is not texts[place]:
                judged.shortened[int(judged.alive[place])] = text
        return pack_keys(new)


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


def _ask_once(
    scorer: ModelScorer,
    texts: Sequence[bytes],
    numbers: NDArray[np.int64],
    held: dict[int, tuple[NDArray[np.int64], Any]],
) -> Any:
    """What the model answers of the texts with these numbers, in order; `held` is what was answered of them, and of
    others, for another rule."""
    if scorer.model is None:
        return scorer.ask(take_texts(texts, numbers))
    if id(scorer.model) not in held:
        held[id(scorer.model)] = (numbers, scorer.ask(take_texts(texts, numbers)))
    asked, answers = held[id(scorer.model)]
    return answers if asked is numbers else answers.take(np.searchsorted(asked, numbers))


def _select(texts: Sequence[bytes], numbers: NDArray[np.int64]) -> Sequence[bytes]:
    """The texts with these numbers, which C reads where they lie."""
    return texts.take(numbers) if isinstance(texts, TextSpans) else take_texts(texts, numbers)


def _clean(
    scorer: Contamination, rule: Rule, texts: Sequence[bytes], wrong: NDArray[np.int64], shortened: dict[int, bytes]
) -> NDArray[np.int64]:
    """The numbers of the texts of which nothing would be left without lines of items. The others are `shortened`."""
    nothing_left = []
    for number in wrong.tolist():
        left = scorer.without_items(shortened.get(number, texts[number]), rule.accepts)
        if left is None:
            nothing_left.append(number)
        else:
            shortened[number] = left
    return np.array(nothing_left, np.int64)


@dataclass(frozen=True, eq=False)
class Judged:
    """Of some documents: the scores of each rule, NaN where it was not asked, and the number of the rule that rejects
    each, -1 for those that stay. `alive` are those that are left for the rules of duplicates, with their `keys`, and
    for that of paragraphs their texts, keys and where each text's keys begin. `shortened` are texts that lost
    paragraphs, which came before or held items of a benchmark. `like` is, for near-duplicates, the text that stayed,
    and for contaminated ones the item. Both are by the number of the document. `labels` are those by one rule."""

    scores: Mapping[str, Scores]
    reason: NDArray[np.int32]
    alive: NDArray[np.int64]
    keys: list[Any]
    paragraphs: tuple[list[bytes], Keys, NDArray[np.int64]] | None = None
    shortened: dict[int, bytes] = field(default_factory=dict)
    like: dict[int, Like] = field(default_factory=dict)
    labels: list[str | None] = field(default_factory=list)
