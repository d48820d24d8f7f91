"""What a run is asked to do: frozen dataclasses with the defaults and one validate() each.

The command line fills them (help prints these defaults), checkpoints and the .meta.json sidecars record them.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

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


def require_subwords(minn: int, maxn: int, buckets: int) -> None:
    """What every model with character n-grams asks of their options. Raises UsageError."""
    _require(0 <= maxn <= 100, f"--maxn must be between 0 (no subwords) and 100, not {maxn}")
    _require(maxn == 0 or 1 <= minn <= maxn, f"--minn must be between 1 and --maxn ({maxn}), not {minn}")
    _require(1 <= buckets < 2**31, f"--buckets must be between 1 and 2^31 - 1, not {buckets}")


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

    def validate(self) -> None:
        """Raises UsageError."""
        _require(1 <= self.dim <= 100_000, f"--dim must be between 1 and 100000, not {self.dim}")
        _require(1 <= self.window <= 1000, f"--window must be between 1 and 1000, not {self.window}")
        _require(1 <= self.negative <= 1000, f"--negative must be between 1 and 1000, not {self.negative}")
        _require(0 <= self.power <= 2, f"--power must be between 0 and 2, not {self.power}")
        _require(self.sample >= 0, f"--sample must be 0 (off) or more, not {self.sample}")
        require_subwords(self.minn, self.maxn, self.buckets)
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
class GloveConfig:
    """A GloVe run. Names and defaults are GloVe's, except dim 100 (50) and window 10 (15), which its paper uses.

    bias_lr is the biases' learning rate: 1 whatever eta is, as in GloVe's program since 2019; 0 means eta. On 17
    million words 1 answers a few more analogies (18.5 to 18.2 %, p .05) and is no worse on word similarity.
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
class QuantizeConfig:
    """How a fastText model is made smaller. Names are fastText's; `epochs`, `lr` and `threads` serve retraining."""

    cutoff: int = 0
    dsub: int = 2
    qnorm: bool = False
    qout: bool = False
    retrain: bool = False
    epochs: int = 5
    lr: float = 0.1
    threads: int = 1
    seed: int = 1

    def validate(self) -> None:
        """Raises UsageError."""
        _require(self.cutoff >= 0, f"--cutoff must be 0 (all rows) or more, not {self.cutoff}")
        _require(1 <= self.dsub < 2**16, f"--dsub must be between 1 and 65,535, not {self.dsub}")
        _require(self.epochs >= 1, f"--epochs must be at least 1, not {self.epochs}")
        _require(0 < self.lr < math.inf, f"--lr must be above 0, not {self.lr}")
        _require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        _require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")
        _require(not self.retrain or self.cutoff > 0, "--retrain needs --cutoff: it trains the rows that are kept")


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
        _require(1 <= self.dim <= 100_000, f"--dim must be between 1 and 100000, not {self.dim}")
        _require(0 < self.lr <= 1000, f"--lr must be above 0 and at most 1000, not {self.lr}")
        _require(1 <= self.epochs <= 100_000, f"--epochs must be between 1 and 100000, not {self.epochs}")
        _require(1 <= self.word_ngrams <= 20, f"--word-ngrams must be between 1 and 20, not {self.word_ngrams}")
        require_subwords(self.minn, self.maxn, self.buckets)
        _require(1 <= self.negative <= 1000, f"--negative must be between 1 and 1000, not {self.negative}")
        _require(self.min_count_label >= 0, f"--min-count-label must be 0 or more, not {self.min_count_label}")
        plain = self.label_prefix and not any(byte in self.label_prefix for byte in " \t\n\v\f\r\0")
        _require(bool(plain), f"--label-prefix must be letters without white space, not {self.label_prefix!r}")
        _require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        _require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")


@dataclass(frozen=True)
class WhitenConfig:
    """What `wv whiten` makes of the mean and covariance of a set of rows.

    `dim`: how many dimensions to keep, 0: all that vary. `beta` concerns soft only, `remove` all-but-the-top only
    (0: dim / 100, at least 1, as its authors advise).
    """

    method: Literal["whiten", "zca", "pca", "soft", "abtt"] = "whiten"
    dim: int = 0
    beta: float = 0.5
    remove: int = 0
    tolerance: float = 1e-9

    def validate(self) -> None:
        """Raises UsageError."""
        _require(0 <= self.dim <= 100_000, f"--dim must be 0 (all) to 100000, not {self.dim}")
        _require(0 <= self.beta <= 1, f"--beta must be between 0 (pca) and 1 (whiten), not {self.beta}")
        _require(self.remove >= 0, f"--remove must be 0 (dim / 100) or more, not {self.remove}")
        _require(0 <= self.tolerance < 1, f"--tolerance must be at least 0 and below 1, not {self.tolerance}")
        if self.dim:
            message = f"--method {self.method} keeps every axis; --dim goes with whiten, pca and soft"
            _require(self.method not in ("zca", "abtt"), message)
        if self.remove:
            _require(self.method == "abtt", f"--remove goes with --method abtt, not with {self.method}")


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
    lr: float = 0.2
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
