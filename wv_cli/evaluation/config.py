"""The protocols of the evaluation tasks: each of these choices changes the number."""

import math
from dataclasses import dataclass
from typing import Literal

from wv_cli.errors import UsageError


@dataclass(frozen=True)
class TaskConfig:
    """The options of a task."""

    def validate(self) -> None:
        """Raises UsageError."""


@dataclass(frozen=True)
class EvalConfig(TaskConfig):
    """The protocol of a score of vectors. Each of these choices changes the number, so every report names them."""

    case: Literal["fold-first", "lower", "none"] = "fold-first"
    oov: Literal["skip", "zero"] = "skip"
    restrict_vocab: int = 0
    strict: bool = False
    subwords: bool = True

    def validate(self) -> None:
        """Raises UsageError."""
        if self.restrict_vocab < 0:
            message = f"--restrict-vocab must be 0 (the whole vocabulary) or more, not {self.restrict_vocab}"
            raise UsageError(message)


EVAL_HELP = {
    "case": "fold-first: upper and lower case are one, the first (most frequent) word with a spelling stands for all; "
    "lower: look up the data's words in lower case; none: as written.",
    "oov": "Words without a vector: skip leaves the item out; zero keeps it, as similarity 0 or a wrong answer.",
    "subwords": "Compose words that a fastText model does not list of their character n-grams.",
    "restrict_vocab": "Use only the first N words of each vector file, for questions and answers; 0 uses all.",
    "strict": "A malformed line is an error; otherwise it is counted and left out.",
}


@dataclass(frozen=True)
class LabelsConfig(TaskConfig):
    """How a classifier is scored: its `k` best labels per line, those with a probability of at least `threshold`."""

    k: int = 1
    threshold: float = 0.0
    per_label: bool = False
    confusions: int = 5
    threads: int = 1

    def validate(self) -> None:
        """Raises UsageError."""
        for wrong, message in [
            (self.k < 1 and self.k != -1, f"--k must be at least 1, or -1 for all labels, not {self.k}"),
            (not 0 <= self.threshold <= 1, f"--threshold is a probability from 0 to 1, not {self.threshold:g}"),
            (self.confusions < 0, f"--confusions must be 0 (none) or more, not {self.confusions}"),
            (not 1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}"),
        ]:
            if wrong:
                raise UsageError(message)


@dataclass(frozen=True)
class AnalogyConfig(EvalConfig):
    method: Literal["3cosadd", "3cosmul"] = "3cosadd"
    threads: int = 0

    def validate(self) -> None:
        """Raises UsageError."""
        super().validate()
        if not 0 <= self.threads <= 1024:
            message = f"--threads must be 0 (all processors) to 1024, not {self.threads}"
            raise UsageError(message)


@dataclass(frozen=True)
class RetrievalConfig(TaskConfig):
    """The protocol of `wv eval retrieval`. Words are matched as they are spelled."""

    restrict_vocab: int = 0
    neighbours: int = 100
    at: int = 100
    queries: int = 1000
    seed: int = 1
    threads: int = 0

    def validate(self) -> None:
        """Raises UsageError."""
        for name, least, most in [
            ("restrict-vocab", 0, 10**12),
            ("neighbours", 1, 10**6),
            ("at", 1, 10**9),
            ("queries", 0, 10**9),
            ("threads", 0, 1024),
        ]:
            value = getattr(self, name.replace("-", "_"))
            if not least <= value <= most:
                message = f"--{name} must be between {least} and {most}, not {value}"
                raise UsageError(message)
        if self.seed < 0:
            message = f"--seed must be 0 or more, not {self.seed}"
            raise UsageError(message)


@dataclass(frozen=True)
class StsConfig(EvalConfig):
    """`after`: names of transforms to fit on the sentences themselves, or files of saved ones."""

    oov: Literal["skip", "zero"] = "zero"
    pooling: tuple[Literal["mean", "sif", "idf"], ...] = ("mean",)
    after: tuple[str, ...] = ()
    stop_words: Literal["keep", "drop", "both"] = "keep"
    stop_list: str | None = None
    counts: str | None = None
    sif_a: float = 1e-3
    resamples: int = 1000
    seed: int = 1

    def validate(self) -> None:
        """Raises UsageError."""
        super().validate()
        if not 0 < self.sif_a < math.inf:
            message = f"--sif-a must be above 0, not {self.sif_a}"
            raise UsageError(message)
        if not 0 <= self.resamples <= 1_000_000:
            message = f"--resamples must be 0 (no intervals of gains) to 1000000, not {self.resamples}"
            raise UsageError(message)
        if "sif" in self.pooling and self.counts is None:
            message = "--pooling sif needs the words' frequencies: give --counts VOCAB (`wv build-vocab` makes one)"
            raise UsageError(message)


STS_HELP = {
    **EVAL_HELP,
    "oov": "Sentences no word of which has a vector: zero gives their pairs similarity 0, skip leaves them out.",
    "pooling": "Sentence vectors: plain mean, SIF (weights by frequency, common component removed), or mean weighted "
    "by inverse document frequency. Repeat for more.",
    "after": "Then apply a transform: whiten, zca, pca, soft or abtt fitted on these sentences, or a FILE that `wv "
    "whiten --save-transform` saved. Repeat for more; each is shown beside the result without.",
    "stop_words": "Keep or drop English stop words; both shows both.",
    "stop_list": "FILE with the stop words to drop instead.",
    "counts": "Vocabulary FILE (`word count` lines) for sif; for idf, too, instead of the sentences.",
    "sif_a": "The a of SIF's weight a / (a + p(word)).",
    "resamples": "Bootstrap samples for the intervals of gains; 0 for none.",
    "seed": "Of the bootstrap.",
}
