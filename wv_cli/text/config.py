"""How words are counted, which are kept, and which are joined to phrases."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from wv_cli._text import SEPARATORS
from wv_cli.config import Options, frozen, lowercase_option, option, require

if TYPE_CHECKING:
    from wv_cli.text.lines import Lines

ScoreName = Literal["word2vec", "npmi"]
DEFAULT_THRESHOLD: dict[ScoreName, float] = {"word2vec": 100.0, "npmi": 0.5}


def is_one_word(text: str) -> bool:
    """Whether the tokenizer would take `text` for a word: something, without white space or NUL."""
    return bool(text) and not any(mark in text for mark in SEPARATORS.decode())


def falling_thresholds(last: float, passes: int, score: ScoreName) -> tuple[float, ...]:
    """`passes` thresholds that end with `last`, each half the one before (word2vec's demo: 200, 100); for npmi, whose
    scale ends at 1, each twice as far from 1 as the one before (0.875, 0.75, 0.5)."""
    steps = range(passes - 1, -1, -1)
    if score == "npmi":
        return tuple(1 - (1 - last) / 2**step for step in steps)
    return tuple(last * 2**step for step in steps)


def all_thresholds(given: tuple[float, ...], passes: int | None, score: ScoreName) -> tuple[float, ...]:
    """Those of every pass: the ones `given`, or as many as `passes` that end with the only one or the score's own."""
    last = given[-1] if given else DEFAULT_THRESHOLD[score]
    return falling_thresholds(last, passes, score) if passes is not None else given or (last,)


@frozen
class VocabConfig(Options):
    """How words are counted and which are kept."""

    group: ClassVar[str] = "Vocabulary"

    min_count: int = option(5, "Drop words seen fewer times.", low=1, common=True)
    max_vocab: int = option(0, "Keep only the most frequent words; 0 keeps all.", low=0, low_is="no limit", common=True)
    lowercase: bool = lowercase_option()
    dedup: bool = option(
        False,
        "Drop repeated lines; each distinct line takes 8 bytes of memory.",
        group="Input",
    )
    min_line: int = option(0, "Drop lines with fewer words; 0 keeps all.", low=0, low_is="off", group="Input")

    def lines(self, uncounted: tuple[bytes, ...] = ()) -> "Lines | None":
        """What leaves lines out; None when all are kept. Words that begin with one of `uncounted` make no line
        longer."""
        from wv_cli.text.lines import Lines

        if not (self.dedup or self.min_line):
            return None
        return Lines(repeated=self.dedup, least=self.min_line, uncounted=uncounted)


@frozen
class PhrasesConfig(Options):
    """`thresholds` has one entry per pass; without any there is one pass with the score's own. `memory` bounds the ids
    held (the rest is in a file) and the table of pair counts; the words themselves come on top."""

    thresholds: tuple[float, ...] = option((), flag="threshold")
    min_count: int = option(
        5, "Ignore pairs seen fewer times; word2vec's score also subtracts this.", low=1, only="not apply"
    )
    score: ScoreName = option(
        "word2vec",
        "Score of a pair: word2vec's formula, or normalized pointwise mutual information.",
        only="not apply",
    )
    delimiter: str = option("_", "Text between the words of a phrase.", only="not apply")
    lowercase: bool = lowercase_option()
    connectors: str = option(
        "", "Words inside phrases only: of,the or a FILE of words, or english.", shown="none", only="not apply"
    )
    across_lines: bool = option(
        False, "Count pairs across line ends, as word2phrase does, without joining them.", only="not apply"
    )
    memory: int = option(
        2 * 10**9,
        "Memory for the encoded text and for pair counts, half each.",
        metavar="SIZE", low=1, unit="bytes", shown="2G", group="Run",
    )  # fmt: skip

    def check(self) -> None:
        _check_phrases(self.of_passes, self.score, self.delimiter, "--")

    @property
    def of_passes(self) -> tuple[float, ...]:
        """The threshold of every pass."""
        return self.thresholds or all_thresholds((), None, self.score)


@frozen
class PhraseLearning(Options):
    """Phrases that a run finds in its own text before it learns from it: what PhrasesConfig is to `wv phrases`."""

    group: ClassVar[str] = "Input"

    learn_phrases: int = option(
        0,
        "Find and join phrases in INPUT first, in N passes; 0 finds none.",
        low=0,
        high=100,
        low_is="none",
        only="not phrases",
        common=True,
    )
    phrase_threshold: float | None = option(
        None, "Join pairs that score higher in the last pass.", only="learn_phrases", shown="100; npmi: 0.5"
    )
    phrase_min_count: int = option(
        5, "Ignore pairs seen fewer times; word2vec's score also subtracts this.", low=1, only="learn_phrases"
    )
    phrase_score: ScoreName = option("word2vec", "Score of a pair (see wv phrases --score).", only="learn_phrases")
    phrase_delimiter: str = option("_", "Text between the words of a phrase.", only="learn_phrases")

    def check(self) -> None:
        _check_phrases(self._thresholds(), self.phrase_score, self.phrase_delimiter, "--phrase-")

    def phrases_config(self, memory: int | None = None) -> PhrasesConfig | None:
        """How the phrases of a text are found when there are `memory` bytes, or as many as `wv phrases` takes; None:
        there are none to find."""
        if not self.learn_phrases:
            return None
        return PhrasesConfig(
            thresholds=self._thresholds(),
            min_count=self.phrase_min_count,
            score=self.phrase_score,
            delimiter=self.phrase_delimiter,
            memory=memory or PhrasesConfig.memory,
        )

    def _thresholds(self) -> tuple[float, ...]:
        given = () if self.phrase_threshold is None else (self.phrase_threshold,)
        return all_thresholds(given, self.learn_phrases or None, self.phrase_score)


def _check_phrases(thresholds: tuple[float, ...], score: ScoreName, delimiter: str, flag: str) -> None:
    """Raises UsageError for what cannot be; the options begin with `flag`."""
    finite = all(math.isfinite(threshold) for threshold in thresholds)
    require(bool(thresholds) and finite, f"{flag}threshold must be a finite number")
    low, high = (0.0, math.inf) if score == "word2vec" else (-1.0, 1.0)
    bounds = "0 or more" if low == 0 else "between -1 and 1"
    for threshold in reversed(thresholds):  # the last is the one that was given
        message = f"{flag}threshold must be {bounds} for the score {score}, not {threshold:g}"
        require(low <= threshold <= high, message)
    require(is_one_word(delimiter), f"{flag}delimiter must be text without spaces, not {delimiter!r}")


@dataclass(frozen=True)
class Marked:
    """Tokens that begin with `prefix` are labels, no words; those seen fewer than `min_count` times are dropped."""

    prefix: str
    min_count: int = 0
