"""The table of scorers: what gives every document a number, by which rules keep or reject it.

A scorer is stateless: threads may share it. Its text says which file it needs and what is asked of it.
"""

import math
from dataclasses import dataclass, replace

from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorer_types import FieldScorer, Scorer
from wv_cli.registry import Registry, load


@dataclass(frozen=True)
class ScorerKind:
    """A kind of rules; its option is a field of wv_cli.commands.parts.filter_rules. `opener`, as "module:function",
    makes the scorer of a subject (what stands before the comparison) and the options; "": a statistic of the text, all
    of which are counted in one pass (wv_cli.filtering.heuristics). The cheaper `cost`, the earlier it is asked.
    `has_file`: the subject begins with a file, MODEL or MODEL:LABELS. Scores are `lowest` or more; those of classifiers
    `are_probabilities`, others `are_shares`. A high one is a reason to reject where `high_is_bad`. A text may have no
    score where `may_lack` is true. With `reads_fields` the scorer is a FieldScorer, and the subject is the whole
    rule."""

    opener: str = ""
    cost: int = 0
    has_file: bool = False
    are_probabilities: bool = False
    are_shares: bool = False
    high_is_bad: bool = False
    may_lack: bool = False
    reads_fields: bool = False
    lowest: float = 0

    @property
    def highest(self) -> float:
        """The highest score that there is."""
        return 1 if self.are_probabilities or self.are_shares else math.inf

    def open(self, subject: str, options: ScorerOptions) -> Scorer | FieldScorer:
        opened: Scorer | FieldScorer = load(self.opener)(subject, options)
        return opened


SCORERS: Registry[ScorerKind] = Registry(
    "scorer",
    [
        ("where", ScorerKind("wv_cli.filtering.conditions:where", reads_fields=True)),
        ("blocked-hosts", ScorerKind("wv_cli.filtering.hosts:blocked_hosts", has_file=True, reads_fields=True)),
        ("words", ScorerKind()),
        ("heuristic", ScorerKind()),
        (
            "contamination",
            ScorerKind(
                "wv_cli.filtering.contamination:contamination", 2, has_file=True, are_shares=True, high_is_bad=True
            ),
        ),
        ("language", ScorerKind("wv_cli.filtering.model_scorers:language", 2, has_file=True, are_probabilities=True)),
        (
            "classifier",
            ScorerKind("wv_cli.filtering.model_scorers:classifier", 3, has_file=True, are_probabilities=True),
        ),
        (
            "perplexity",
            ScorerKind("wv_cli.filtering.model_scorers:perplexity", 4, has_file=True, may_lack=True, high_is_bad=True),
        ),
    ],
)
# A classifier without a label gives the number that is expected of its labels.
NUMBER = replace(
    SCORERS.find("classifier"),
    opener="wv_cli.filtering.model_scorers:number",
    are_probabilities=False,
    may_lack=True,
    lowest=-math.inf,
)
