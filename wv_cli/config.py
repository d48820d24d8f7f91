"""What a run is asked to do: frozen dataclasses with the defaults and one validate() each.

The command line fills them (help prints these defaults), checkpoints and the .meta.json sidecars record them.
"""

import math
from dataclasses import dataclass, field
from typing import Literal

from wv_cli.errors import UsageError


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise UsageError(message)


@dataclass(frozen=True)
class VocabConfig:
    """How words are counted and which are kept."""

    min_count: int = 5
    max_vocab: int = 0
    lowercase: bool = False

    def validate(self) -> None:
        """Raises UsageError."""
        _require(self.min_count >= 1, f"--min-count must be at least 1, not {self.min_count}")
        _require(self.max_vocab >= 0, f"--max-vocab must be 0 (no limit) or more, not {self.max_vocab}")


@dataclass(frozen=True)
class Word2vecConfig:
    """A word2vec run. Names and defaults are word2vec's where it has them; lr 0 means 0.025 for skip-gram and 0.05 for
    CBOW, as word2vec chooses."""

    model: Literal["skipgram", "cbow"] = "skipgram"
    loss: Literal["ns", "hs", "softmax", "nce"] = "ns"
    dim: int = 100
    window: int = 5
    shrink_window: bool = True
    negative: int = 5
    share_negatives: bool = True
    power: float = 0.75
    sample: float = 1e-3
    sample_formula: Literal["word2vec", "paper"] = "word2vec"
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

    def validate(self) -> None:
        """Raises UsageError."""
        _require(1 <= self.dim <= 100_000, f"--dim must be between 1 and 100000, not {self.dim}")
        _require(1 <= self.window <= 1000, f"--window must be between 1 and 1000, not {self.window}")
        _require(1 <= self.negative <= 1000, f"--negative must be between 1 and 1000, not {self.negative}")
        _require(0 <= self.power <= 2, f"--power must be between 0 and 2, not {self.power}")
        _require(self.sample >= 0, f"--sample must be 0 (off) or more, not {self.sample}")
        _require(0 <= self.lr <= 10, f"--lr must be between 0 and 10, not {self.lr}")
        _require(0 <= self.lr_floor <= 1, f"--lr-floor is a share of --lr between 0 and 1, not {self.lr_floor}")
        _require(1 <= self.epochs <= 100_000, f"--epochs must be between 1 and 100000, not {self.epochs}")
        _require(
            2 <= self.max_sentence <= 1_000_000, f"--max-sentence must be 2 to 1000000 tokens, not {self.max_sentence}"
        )
        _require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        _require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")
        finite = all(math.isfinite(x) for x in (self.power, self.sample, self.lr, self.lr_floor))
        _require(finite, "numbers must be finite, not nan or inf")


@dataclass(frozen=True)
class GloveConfig:
    """A GloVe run. Names and defaults are GloVe's, except dim 100 (50) and window 10 (15), which its paper uses.

    bias_lr is the biases' learning rate: GloVe's program has used 1 whatever eta is since 2019; 0 means eta.
    """

    dim: int = 100
    window: int = 10
    symmetric: bool = field(default=True, metadata={"off": "left-only"})
    weighting: Literal["distance", "flat"] = "distance"
    x_max: float = 100.0
    alpha: float = 0.75
    eta: float = 0.05
    bias_lr: float = 1.0
    grad_clip: float = 100.0
    iterations: int = 25
    vectors: Literal["sum", "word", "all"] = "sum"
    unk: bool = False
    seed: int = 1
    threads: int = 1

    def validate(self) -> None:
        """Raises UsageError."""
        _require(1 <= self.dim <= 100_000, f"--dim must be between 1 and 100000, not {self.dim}")
        _require(1 <= self.window <= 1000, f"--window must be between 1 and 1000, not {self.window}")
        _require(0 < self.x_max < math.inf, f"--x-max must be above 0, not {self.x_max}")
        _require(0 <= self.alpha <= 10, f"--alpha must be between 0 and 10, not {self.alpha}")
        _require(0 < self.eta <= 10, f"--eta must be above 0 and at most 10, not {self.eta}")
        _require(0 <= self.bias_lr <= 10, f"--bias-lr must be 0 (as --eta) to 10, not {self.bias_lr}")
        _require(0 < self.grad_clip < math.inf, f"--grad-clip must be above 0, not {self.grad_clip}")
        _require(1 <= self.iterations <= 100_000, f"--iterations must be between 1 and 100000, not {self.iterations}")
        _require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        _require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")


@dataclass(frozen=True)
class HashConfig:
    """How vectors become codes. 0 stands for the method's own choice: length 128 bits or 32 active ones, expansion
    10 x dim for random and 20 x length for learnt projections."""

    length: int = 0
    expansion: int = 0
    normalize: bool = True
    centre: Literal["auto", "none", "mean", "row"] = "auto"
    threshold: Literal["zero", "median"] = "zero"
    orthogonal: bool = False
    sampling: float = 0.1
    iterations: int = 50
    rule: Literal["kmeans", "sgd"] = "kmeans"
    p: float = 2.0
    rank: int = 2
    delta: float = 0.0
    lr: float = 0.3
    epochs: int = 20
    batch: int = 100
    normalize_weights: bool = False
    seed: int = 1
    threads: int = 1

    def validate(self) -> None:
        """Raises UsageError."""
        _require(0 <= self.length <= 1 << 20, f"--length must be 0 (the method's choice) to 1048576, not {self.length}")
        _require(
            0 <= self.expansion <= 1 << 20,
            f"--expansion must be 0 (as the method has it) to 1048576, not {self.expansion}",
        )
        _require(0 < self.sampling <= 1, f"--sampling is a share above 0 and at most 1, not {self.sampling}")
        _require(1 <= self.iterations <= 100_000, f"--iterations must be between 1 and 100000, not {self.iterations}")
        _require(1 <= self.p <= 100, f"--p must be between 1 and 100, not {self.p}")
        _require(2 <= self.rank <= 1 << 20, f"--rank must be 2 or more, not {self.rank}")
        _require(0 <= self.delta <= 10, f"--delta must be between 0 (off) and 10, not {self.delta}")
        _require(0 < self.lr <= 10, f"--lr must be above 0 and at most 10, not {self.lr}")
        _require(1 <= self.epochs <= 100_000, f"--epochs must be between 1 and 100000, not {self.epochs}")
        _require(1 <= self.batch <= 1_000_000, f"--batch must be between 1 and 1000000, not {self.batch}")
        _require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        _require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")


@dataclass(frozen=True)
class BiowordConfig:
    """A BioWord run. Names follow its paper; cells and window are its values. lr, batch and epochs are chosen for
    corpora of some million words (the authors' program: 0.002, 10,000 and 15 for billions)."""

    cells: int = 400
    window: int = 5
    length: int = 50
    normalize_cells: bool = True
    lr: float = 0.3
    batch: int = 2000
    epochs: int = 15
    seed: int = 1
    threads: int = 1

    def validate(self) -> None:
        """Raises UsageError."""
        _require(1 <= self.cells <= 1 << 16, f"--cells must be between 1 and 65536, not {self.cells}")
        _require(1 <= self.window <= 1000, f"--window must be between 1 and 1000, not {self.window}")
        _require(
            1 <= self.length <= self.cells,
            f"--length, the active cells, must be between 1 and --cells {self.cells}, not {self.length}",
        )
        _require(0 < self.lr <= 1, f"--lr must be above 0 and at most 1, not {self.lr}")
        _require(1 <= self.batch <= 1_000_000, f"--batch must be between 1 and 1000000 windows, not {self.batch}")
        _require(1 <= self.epochs <= 100_000, f"--epochs must be between 1 and 100000, not {self.epochs}")
        _require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        _require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")
