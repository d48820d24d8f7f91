"""How words are counted, which are kept, and which are joined to phrases."""

import math
from dataclasses import dataclass
from typing import Literal

from wv_cli._text import SEPARATORS
from wv_cli.config import require
from wv_cli.errors import UsageError

ScoreName = Literal["word2vec", "npmi"]
DEFAULT_THRESHOLD: dict[ScoreName, float] = {"word2vec": 100.0, "npmi": 0.5}


@dataclass(frozen=True)
class VocabConfig:
    """How words are counted and which are kept."""

    min_count: int = 5
    max_vocab: int = 0
    lowercase: bool = False

    def validate(self) -> None:
        """Raises UsageError."""
        require(self.min_count >= 1, f"--min-count must be at least 1, not {self.min_count}")
        require(self.max_vocab >= 0, f"--max-vocab must be 0 (no limit) or more, not {self.max_vocab}")


@dataclass(frozen=True)
class PhrasesConfig:
    """`thresholds` has one entry per pass. `memory` bounds the ids held (the rest is in a file) and the table of pair
    counts, half each; the words themselves come on top."""

    thresholds: tuple[float, ...] = (100.0,)
    min_count: int = 5
    score: ScoreName = "word2vec"
    delimiter: str = "_"
    lowercase: bool = False
    memory: int = 2 * 10**9

    def validate(self) -> None:
        """Raises UsageError."""
        if self.min_count < 1:
            message = f"--min-count must be at least 1, not {self.min_count}"
            raise UsageError(message)
        if not self.thresholds or not all(math.isfinite(threshold) for threshold in self.thresholds):
            message = "--threshold must be a finite number"
            raise UsageError(message)
        low, high = (0.0, math.inf) if self.score == "word2vec" else (-1.0, 1.0)
        for threshold in self.thresholds:
            if not low <= threshold <= high:
                message = f"--threshold must be {'0 or more' if low == 0 else 'between -1 and 1'} for the score "
                message += f"{self.score}, not {threshold:g}"
                raise UsageError(message)
        if not self.delimiter or any(mark in self.delimiter for mark in SEPARATORS.decode()):
            message = f"--delimiter must be text without spaces, not {self.delimiter!r}"
            raise UsageError(message)
