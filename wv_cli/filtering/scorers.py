"""The table of scorers: what gives every document a number, by which rules keep or reject it.

A scorer is stateless: threads may share it. Its text says which file it needs and what is asked of it.
"""

import importlib
from dataclasses import dataclass

from wv_cli.filtering.setting import Scorer, Setting
from wv_cli.registry import Registry


@dataclass(frozen=True)
class ScorerKind:
    """`opener`, as "module:function", makes the scorer of a subject (what stands before the comparison), the bound and
    the settings. The cheaper `cost`, the earlier it is asked. `has_file`: the subject begins with a file, MODEL or
    MODEL:LABELS. The scores of classifiers `are_probabilities`."""

    opener: str
    cost: int
    metavar: str
    help: str
    has_file: bool = False
    are_probabilities: bool = False

    def open(self, subject: str, bound: float, setting: Setting) -> Scorer:
        module, _, function = self.opener.partition(":")
        opened: Scorer = getattr(importlib.import_module(module), function)(subject, bound, setting)
        return opened


SCORERS: Registry[ScorerKind] = Registry(
    "scorer",
    [
        (
            "words",
            ScorerKind("wv_cli.filtering.heuristics:statistics", 0, "LOW..HIGH", "Keep records of so many words."),
        ),
        (
            "heuristic",
            ScorerKind(
                "wv_cli.filtering.heuristics:statistics",
                0,
                "NAME=LOW..HIGH | RECIPE",
                "Keep by a statistic of the text, or a recipe of several.",
            ),
        ),
        (
            "language",
            ScorerKind(
                "wv_cli.filtering.scoring:language",
                2,
                "MODEL:en,de=P..",
                "Keep records in these languages, by a language model of fastText's.",
                has_file=True,
                are_probabilities=True,
            ),
        ),
        (
            "classifier",
            ScorerKind(
                "wv_cli.filtering.scoring:classifier",
                3,
                "[NAME=]MODEL:LABEL=P..",
                "Keep records to which a classifier gives this label.",
                has_file=True,
                are_probabilities=True,
            ),
        ),
        (
            "perplexity",
            ScorerKind(
                "wv_cli.filtering.scoring:perplexity",
                4,
                "MODEL=..PP",
                "Keep records with this perplexity, by a language model of pieces.",
                has_file=True,
            ),
        ),
    ],
)
