"""What judges documents: all rules of a run, each asked only about what the ones before left."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.filtering.contamination import Contamination
from wv_cli.filtering.cutting import open_cutter
from wv_cli.filtering.duplicates import Deduplicator, Like, ParagraphRule, left_over, pack_keys, ranges_of
from wv_cli.filtering.heuristics import statistics
from wv_cli.filtering.near_duplicates import Keys
from wv_cli.filtering.rules import Rule
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorer_types import Columns, FieldScorer, LabelScorer, ModelScorer, Scorer, Scores
from wv_cli.text.records.text_spans import TextSpans, take_texts


class Judge:
    """Scores documents by rules, the cheap ones first; a document that one rejects is not scored by the others. Threads
    may share it."""

    def __init__(self, rules: Sequence[Rule], options: ScorerOptions) -> None:
        self.rules = sorted(rules, key=lambda rule: rule.cost)
        self._scorers: dict[str, Scorer] = {}
        self._field_scorers: dict[str, FieldScorer] = {}
        for rule in self.rules:
            if rule.statistic is None:
                scorer = rule.load_scorer(options)
                if isinstance(scorer, FieldScorer):
                    self._field_scorers[rule.name] = scorer
                else:
                    self._scorers[rule.name] = scorer
        self.cleans = options.decontaminate == "paragraph"
        self._cut = open_cutter(options.tokenize)
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
    def words(self) -> tuple[str, ...]:
        """The texts without quotes that rules compare fields with."""
        return tuple(dict.fromkeys(word for each in self._field_scorers.values() for word in each.words))

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
                if isinstance(judge, Contamination) and self.cleans and not every:
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
