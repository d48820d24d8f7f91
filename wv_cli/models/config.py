"""What a run of word2vec, fastText or a classifier is asked to do."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from wv_cli.config import require


def require_subwords(minn: int, maxn: int, buckets: int) -> None:
    """What every model with character n-grams asks of their options. Raises UsageError."""
    require(0 <= maxn <= 100, f"--maxn must be between 0 (no subwords) and 100, not {maxn}")
    require(maxn == 0 or 1 <= minn <= maxn, f"--minn must be between 1 and --maxn ({maxn}), not {minn}")
    require(1 <= buckets < 2**31, f"--buckets must be between 1 and 2^31 - 1, not {buckets}")


@dataclass(frozen=True)
class Word2vecConfig:
    """A word2vec run, with subwords (fastText) when maxn is above 0. Names and defaults are word2vec's where it has
    them; lr 0 means 0.025 for skip-gram and 0.05 for CBOW, as word2vec chooses. PRESETS has fastText's."""

    model: Literal["skipgram", "cbow"] = "skipgram"
    loss: Literal["ns", "hs", "softmax", "nce"] = "ns"
    dim: int = 100
    window: int = 5
    shrink_window: bool = True
    negative: int = 5
    share_negatives: bool = True
    power: float = 0.75
    sample: float = 1e-3
    sample_formula: Literal["word2vec", "paper", "fasttext"] = "word2vec"
    minn: int = 0
    maxn: int = 0
    buckets: int = 2_000_000
    lr: float = 0.0
    lr_floor: float = 1e-4
    epochs: int = 5
    max_sentence: int = 1000
    cbow_mean: bool = field(default=True, metadata={"off": "cbow-sum"})
    cbow_gradient: Literal["word2vec", "corrected"] = "word2vec"
    seed: int = 1
    threads: int = 1

    @property
    def start_lr(self) -> float:
        return self.lr or (0.05 if self.model == "cbow" else 0.025)

    @property
    def least_lr(self) -> float:
        """Below which the learning rate does not fall."""
        return self.start_lr * self.lr_floor

    def validate(self) -> None:
        """Raises UsageError."""
        require(1 <= self.dim <= 100_000, f"--dim must be between 1 and 100000, not {self.dim}")
        require(1 <= self.window <= 1000, f"--window must be between 1 and 1000, not {self.window}")
        require(1 <= self.negative <= 1000, f"--negative must be between 1 and 1000, not {self.negative}")
        require(0 <= self.power <= 2, f"--power must be between 0 and 2, not {self.power}")
        require(self.sample >= 0, f"--sample must be 0 (off) or more, not {self.sample}")
        require_subwords(self.minn, self.maxn, self.buckets)
        require(0 <= self.lr <= 10, f"--lr must be between 0 and 10, not {self.lr}")
        require(0 <= self.lr_floor <= 1, f"--lr-floor is a share of --lr between 0 and 1, not {self.lr_floor}")
        require(1 <= self.epochs <= 100_000, f"--epochs must be between 1 and 100000, not {self.epochs}")
        require(
            2 <= self.max_sentence <= 1_000_000, f"--max-sentence must be 2 to 1000000 tokens, not {self.max_sentence}"
        )
        require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")
        finite = all(math.isfinite(x) for x in (self.power, self.sample, self.lr, self.lr_floor))
        require(finite, "numbers must be finite, not nan or inf")


# What --preset puts in the place of the defaults above.
PRESETS: dict[str, dict[str, Any]] = {
    "word2vec": {},
    "fasttext": {
        "minn": 3,
        "maxn": 6,
        "power": 0.5,
        "sample": 1e-4,
        "sample_formula": "fasttext",
        "lr": 0.05,
        "lr_floor": 0.0,
    },
}


@dataclass(frozen=True)
class SupervisedConfig:
    """A text classifier. Names and defaults are fastText's; buckets count only with word_ngrams > 1 or maxn > 0."""

    loss: Literal["softmax", "hs", "ns", "ova"] = "softmax"
    dim: int = 100
    lr: float = 0.1
    epochs: int = 5
    word_ngrams: int = 1
    minn: int = 0
    maxn: int = 0
    buckets: int = 2_000_000
    negative: int = 5
    min_count_label: int = 0
    label_prefix: str = "__label__"
    seed: int = 1
    threads: int = 1

    @property
    def uses_buckets(self) -> bool:
        return self.word_ngrams > 1 or self.maxn > 0

    def validate(self) -> None:
        """Raises UsageError."""
        require(1 <= self.dim <= 100_000, f"--dim must be between 1 and 100000, not {self.dim}")
        require(0 < self.lr <= 1000, f"--lr must be above 0 and at most 1000, not {self.lr}")
        require(1 <= self.epochs <= 100_000, f"--epochs must be between 1 and 100000, not {self.epochs}")
        require(1 <= self.word_ngrams <= 20, f"--word-ngrams must be between 1 and 20, not {self.word_ngrams}")
        require_subwords(self.minn, self.maxn, self.buckets)
        require(1 <= self.negative <= 1000, f"--negative must be between 1 and 1000, not {self.negative}")
        require(self.min_count_label >= 0, f"--min-count-label must be 0 or more, not {self.min_count_label}")
        plain = self.label_prefix and not any(byte in self.label_prefix for byte in " \t\n\v\f\r\0")
        require(bool(plain), f"--label-prefix must be letters without white space, not {self.label_prefix!r}")
        require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")
