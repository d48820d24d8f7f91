"""Rules: a scorer and a range of its scores. A record stays while every rule keeps it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.filtering.scorers import SCORERS
from wv_cli.filtering.scoring import Scores
from wv_cli.filtering.setting import Scorer, Setting

_COMPARED = re.compile(r"(?P<subject>.*?)(?P<sign>>=|<=|>|<)(?P<bound>[-+.\deE]+)")
_RANGE = re.compile(r"(?:(?P<subject>.*)=)?(?P<low>[-+.\deE]*?)\.\.(?P<high>[-+.\deE]*)")


@dataclass(frozen=True)
class Rule:
    """Keeps what has a score from `low` to `high`; `open`: these two are not kept themselves. `text` is the rule as it
    was written."""

    name: str
    scorer: str
    subject: str
    low: float
    high: float
    open: bool
    text: str

    @property
    def files(self) -> list[str]:
        """The files that it needs."""
        kind = SCORERS.find(self.scorer)
        if not kind.has_file:
            return []
        return [self.subject if Path(self.subject).exists() else self.subject.rpartition(":")[0] or self.subject]

    @property
    def cost(self) -> int:
        return SCORERS.find(self.scorer).cost

    def opened(self, setting: Setting) -> Scorer:
        bound = self.low if np.isfinite(self.low) else 0.0
        return SCORERS.find(self.scorer).open(self.subject, bound, setting)

    def kept(self, scores: Scores) -> NDArray[np.bool_]:
        low, high = np.float32(self.low), np.float32(self.high)
        return (scores > low) & (scores < high) if self.open else (scores >= low) & (scores <= high)

    @property
    def shown(self) -> str:
        """The range, as a reader takes it."""
        if self.low == -np.inf:
            return f"{'<' if self.open else '<='} {self.high:g}"
        if self.high == np.inf:
            return f"{'>' if self.open else '>='} {self.low:g}"
        return f"{self.low:g}..{self.high:g}"


def parse_rule(scorer: str, text: str) -> Rule:
    """The rule of the option --SCORER TEXT. Raises UsageError.

    NAME=MODEL:LABEL>=0.5, MODEL:en,de>=0.65, MODEL<=800, 50..100000: a name that may be left out, the subject, and a
    comparison or a range of which one end may be left out.
    """
    low, high, is_open = -np.inf, np.inf, False
    if found := _COMPARED.fullmatch(text):
        bound, sign = _number(found["bound"], text), found["sign"]
        low, high = (bound, high) if sign[0] == ">" else (low, bound)
        is_open = len(sign) == 1
    elif found := _RANGE.fullmatch(text):
        low = _number(found["low"], text) if found["low"] else low
        high = _number(found["high"], text) if found["high"] else high
        if low > high:
            raise UsageError(f"--{scorer} {text}: the range is empty; the lower number comes first")
    else:
        if SCORERS.find(scorer).has_file and ":" in text:
            message = f"--{scorer} {text}: has no comparison; quote the rule, since a shell takes > and < for itself"
            raise UsageError(message)
        example = "lid.176.ftz:en>=0.65" if SCORERS.find(scorer).has_file else "50..100000"
        raise UsageError(f"--{scorer} {text}: expected a rule such as {example}")
    subject = found["subject"] or ""
    name, given, rest = subject.partition("=")
    name, subject = (name, rest) if given and re.fullmatch(r"[\w.-]+", name) else (scorer, subject)
    return Rule(name, scorer, subject, float(low), float(high), is_open, f"--{scorer} {text}")


def _number(text: str, rule: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{rule}: expected a number, found {text!r}") from None


def require_different_names(rules: Sequence[Rule]) -> None:
    """Raises UsageError for two rules of one name."""
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.name in seen:
            raise UsageError(
                f"two rules are called {rule.name}; give one a name: --{rule.scorer} NAME={rule.subject}..."
            )
        seen[rule.name] = rule


class Judge:
    """Scores documents by rules, the cheap ones first; a document that one rejects is not scored by the others, unless
    `every` rule is to be shown. Threads may share it."""

    def __init__(self, rules: Sequence[Rule], setting: Setting, *, every: bool = False) -> None:
        self.rules = sorted(rules, key=lambda rule: rule.cost)
        self._scorers = {rule.name: rule.opened(setting) for rule in self.rules}
        self._every = every

    def judged(self, texts: list[bytes]) -> "Judged":
        scores: dict[str, Scores] = {}
        reason = np.full(len(texts), -1, np.int32)
        for number, rule in enumerate(self.rules):
            alive = np.arange(len(texts)) if self._every else np.flatnonzero(reason < 0)
            own = scores[rule.name] = np.full(len(texts), np.nan, np.float32)
            if len(alive):
                own[alive] = self._scorers[rule.name]([texts[i] for i in alive.tolist()])
                wrong = alive[~rule.kept(own[alive])]
                reason[wrong] = np.where(reason[wrong] < 0, number, reason[wrong])
        return Judged(scores, reason)


@dataclass(frozen=True, eq=False)
class Judged:
    """Of some documents: the scores of each rule, NaN where it was not asked, and the number of the rule that rejects
    each, -1 for those that stay."""

    scores: Mapping[str, Scores]
    reason: NDArray[np.int32]
