"""How vectors, or words of a text, become codes."""

from dataclasses import dataclass
from typing import Literal

from wv_cli.config import require


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
        require(0 <= self.length <= 1 << 20, f"--length must be 0 (the method's choice) to 1048576, not {self.length}")
        require(
            0 <= self.expansion <= 1 << 20,
            f"--expansion must be 0 (as the method has it) to 1048576, not {self.expansion}",
        )
        require(0 < self.sampling <= 1, f"--sampling is a share above 0 and at most 1, not {self.sampling}")
        require(1 <= self.iterations <= 100_000, f"--iterations must be between 1 and 100000, not {self.iterations}")
        require(1 <= self.p <= 100, f"--p must be between 1 and 100, not {self.p}")
        require(2 <= self.rank <= 1 << 20, f"--rank must be 2 or more, not {self.rank}")
        require(0 <= self.delta <= 10, f"--delta must be between 0 (off) and 10, not {self.delta}")
        require(0 < self.lr <= 10, f"--lr must be above 0 and at most 10, not {self.lr}")
        require(1 <= self.epochs <= 100_000, f"--epochs must be between 1 and 100000, not {self.epochs}")
        require(1 <= self.batch <= 1_000_000, f"--batch must be between 1 and 1000000, not {self.batch}")
        require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")


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
        require(1 <= self.cells <= 1 << 16, f"--cells must be between 1 and 65536, not {self.cells}")
        require(1 <= self.window <= 1000, f"--window must be between 1 and 1000, not {self.window}")
        require(
            1 <= self.length <= self.cells,
            f"--length, the active cells, must be between 1 and --cells {self.cells}, not {self.length}",
        )
        require(0 < self.lr <= 1, f"--lr must be above 0 and at most 1, not {self.lr}")
        require(1 <= self.batch <= 1_000_000, f"--batch must be between 1 and 1000000 windows, not {self.batch}")
        require(1 <= self.epochs <= 100_000, f"--epochs must be between 1 and 100000, not {self.epochs}")
        require(1 <= self.threads <= 1024, f"--threads must be between 1 and 1024, not {self.threads}")
        require(0 <= self.seed < 2**63, f"--seed must be between 0 and 2^63 - 1, not {self.seed}")
