"""The table of scorers: what gives every document a number, by which rules keep or reject it.

A scorer is stateless: threads may share it. Its text says which file it needs and what is asked of it.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.filtering.flattening import flatten
from wv_cli.registry import Registry

Scores = NDArray[np.float32]
Scorer = Callable[[list[bytes]], Scores]


@dataclass(frozen=True)
class Setting:
    """What scorers share: how documents are made one line, the tokenizer and the normalization of language models."""

    flatten: str = "space"
    tokenizer: str | None = None
    normalize: str = "none"


@dataclass(frozen=True)
class ScorerKind:
    """`opener`, as "module:function", makes the scorer of a subject (what stands before the comparison), the bound and
    the settings. The cheaper `cost`, the earlier it is asked. `has_file`: the subject begins with a file, MODEL or
    MODEL:REST."""

    opener: str
    cost: int
    metavar: str
    help: str
    has_file: bool = False

    def open(self, subject: str, bound: float, setting: Setting) -> Scorer:
        module, _, function = self.opener.partition(":")
        opened: Scorer = getattr(importlib.import_module(module), function)(subject, bound, setting)
        return opened


SCORERS: Registry[ScorerKind] = Registry(
    "scorer",
    [
        (
            "words",
            ScorerKind("wv_cli.filtering.scorers:words", 0, "LOW..HIGH", "Keep records of so many words."),
        ),
        (
            "characters",
            ScorerKind("wv_cli.filtering.scorers:characters", 0, "LOW..HIGH", "Keep records of so many characters."),
        ),
        (
            "language",
            ScorerKind(
                "wv_cli.filtering.scorers:language",
                2,
                "MODEL:en,de>=P",
                "Keep records in these languages, by a language model of fastText's.",
                has_file=True,
            ),
        ),
        (
            "classifier",
            ScorerKind(
                "wv_cli.filtering.scorers:classifier",
                3,
                "[NAME=]MODEL:LABEL>=P",
                "Keep records to which a classifier gives this label.",
                has_file=True,
            ),
        ),
    ],
)


def words(subject: str, bound: float, setting: Setting) -> Scorer:
    """Words divided by white space."""
    return lambda texts: np.fromiter((len(text.split()) for text in texts), np.float32, len(texts))


def characters(subject: str, bound: float, setting: Setting) -> Scorer:
    return lambda texts: np.fromiter((len(text.decode("utf-8", "replace")) for text in texts), np.float32, len(texts))


def language(subject: str, bound: float, setting: Setting) -> Scorer:
    """`MODEL:en,de`: the probability of the most probable of these languages."""
    return _of_labels(subject, bound, setting)


def classifier(subject: str, bound: float, setting: Setting) -> Scorer:
    """`MODEL:LABEL`: the probability of the label."""
    return _of_labels(subject, bound, setting)


def _of_labels(subject: str, bound: float, setting: Setting) -> Scorer:
    from wv_cli.models.classifier import ALL, load_classifier

    path, _, named = subject.rpartition(":")
    if not path or not named:
        message = f"{subject!r}: expected MODEL:LABEL, such as lid.176.ftz:en"
        raise UsageError(message)
    model = load_classifier(path)
    known = {label.removeprefix("__label__"): number for number, label in enumerate(model.labels)}
    wanted = [label.removeprefix("__label__") for label in named.split(",")]
    if missing := [label for label in wanted if label not in known]:
        import difflib

        near = difflib.get_close_matches(missing[0], known, n=3) or list(known)[:5]
        raise UsageError(f"{path}: has no label {missing[0]!r}; labels like it: {', '.join(near)}")
    chosen = np.array([known[label] for label in wanted], np.int32)
    # Where probabilities come to 1, a label of half and more is the best one: the others need not be computed.
    k = 1 if bound >= 0.5 and model.sums_to_one else ALL

    def score(texts: list[bytes]) -> Scores:
        answered = model.answer(flatten(texts, setting.flatten), k)
        valid = np.arange(answered.labels.shape[1]) < answered.found[:, None]
        of_chosen = np.where(valid & np.isin(answered.labels, chosen), answered.probabilities, np.float32(0))
        best: Scores = of_chosen.max(axis=1, initial=np.float32(0)).astype(np.float32)
        return np.where(answered.seen[:, 1] > 0, best, np.float32(0))

    return score
