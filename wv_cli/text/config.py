"""How words are counted, which are kept, and which are joined to phrases."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from wv_cli._text import SEPARATORS
from wv_cli.config import Config, option, require

if TYPE_CHECKING:
    from wv_cli.text.lines import Lines

ScoreName = Literal["word2vec", "npmi"]
DEFAULT_THRESHOLD: dict[ScoreName, float] = {"word2vec": 100.0, "npmi": 0.5}


def is_one_word(text: str) -> bool:
    """Whether the tokenizer would take `text` for a word: something, without white space or NUL."""
    return bool(text) and not any(mark in text for mark in SEPARATORS.decode())


def lowercase_option() -> bool:
    return option(False, "Lower-case the text (Unicode).")


@dataclass(frozen=True)
class ReadingConfig(Config):
    """What a command takes for running text."""

    force_text: bool = option(
        False, "Read as text even what looks like vectors, a model or binary data.", group="Input", identity=False
    )


@dataclass(frozen=True)
class VocabConfig(Config):
    """How words are counted and which are kept."""

    group: ClassVar[str] = "Vocabulary"

    min_count: int = option(5, "Drop words seen fewer times.", low=1)
    max_vocab: int = option(0, "Keep only the most frequent words; 0 keeps all.", low=0, low_is="no limit")
    lowercase: bool = lowercase_option()
    dedup: bool = option(
        False,
        "Leave out lines that stood in INPUT before, byte for byte; takes 8 bytes of memory a different line.",
        group="Input",
    )
    min_line: int = option(0, "Leave out lines of fewer words; 0 keeps all.", low=0, low_is="off", group="Input")

    def lines(self) -> "Lines | None":
        """What leaves lines out; None when all are kept."""
        from wv_cli.text.lines import Lines

        return Lines(repeated=self.dedup, least=self.min_line) if self.dedup or self.min_line else None


@dataclass(frozen=True)
class PhrasesConfig(Config):
    """`thresholds` has one entry per pass. `memory` bounds the ids held (the rest is in a file) and the table of pair
    counts, half each; the words themselves come on top."""

    thresholds: tuple[float, ...] = option((100.0,), flag="threshold")
    min_count: int = option(5, "Ignore pairs seen fewer times; word2vec: discount.", low=1)
    score: ScoreName = option(
        "word2vec",
        "word2vec: (ab - min_count) * words / (a * b). npmi: mutual information scaled to -1..1.",
    )
    delimiter: str = option("_", "What joins the words of a phrase.")
    lowercase: bool = lowercase_option()
    across_lines: bool = option(False, "Count pairs across line ends, too, as word2phrase; none is joined there.")
    memory: int = option(2 * 10**9, low=1, unit="bytes")

    def check(self) -> None:
        finite = all(math.isfinite(threshold) for threshold in self.thresholds)
        require(bool(self.thresholds) and finite, "--threshold must be a finite number")
        low, high = (0.0, math.inf) if self.score == "word2vec" else (-1.0, 1.0)
        bounds = "0 or more" if low == 0 else "between -1 and 1"
        for threshold in reversed(self.thresholds):  # the last is the one that was given
            message = f"--threshold must be {bounds} for the score {self.score}, not {threshold:g}"
            require(low <= threshold <= high, message)
        require(is_one_word(self.delimiter), f"--delimiter must be text without spaces, not {self.delimiter!r}")
