"""What whitening and quantising are asked to do."""

import math
from dataclasses import dataclass
from typing import Literal

from wv_cli.config import require


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
        require(0 <= self.dim <= 100_000, f"--dim must be 0 (all) to 100000, not {self.dim}")
        require(0 <= self.beta <= 1, f"--beta must be between 0 (pca) and 1 (whiten), not {self.beta}")
        require(self.remove >= 0, f"--remove must be 0 (dim / 100) or more, not {self.remove}")
        require(0 <= self.tolerance < 1, f"--tolerance must be at least 0 and below 1, not {self.tolerance}")
        if self.dim:
            message = f"--method {self.method} keeps every axis; --dim goes with whiten, pca and soft"
            require(self.method not in ("zca", "abtt"), message)
        if self.remove:
            require(self.method == "abtt", f"--remove goes with --method abtt, not with {self.method}")


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
        require(self.cutoff >= 0, f"--cutoff must be 0 (all rows) or more, not {self.cutoff}")
        require(1 <= self.dsub < 2**16, f"--dsub must be between 1 and 65,535, not {self.dsub}")
        require(self.epochs >= 1, f"--epochs must be at least 1, not {self.epochs}")
        require(0 < self.lr < math.inf, f"--lr must be above 0, not {self.lr}")
        require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")
        require(not self.retrain or self.cutoff > 0, "--retrain needs --cutoff: it trains the rows that are kept")
