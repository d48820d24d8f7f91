"""How vectors, or words of a text, become codes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from wv_cli.config import Config, epochs_option, lr_option, option, require, seed_option, threads_option


@dataclass(frozen=True)
class HashConfig(Config):
    """How vectors become codes. 0 stands for the method's own choice: length 128 bits or 32 active ones, expansion
    10 x dim for random and 20 x length for learnt projections."""

    group: ClassVar[str] = "Method"

    length: int = option(
        0,
        "Bits of a code, active bits of a sparse one; 0: 128 or the most up to it, 32 active, all of sign's.",
        low=0,
        high=1 << 20,
        low_is="the method's choice",
    )
    expansion: int = option(
        0,
        "Sparse: units to choose from; 0: 10 x dim for fly and randexp, 20 x length for biohash.",
        low=0,
        high=1 << 20,
        low_is="as the method has it",
    )
    normalize: bool = option(True, "Scale vectors to unit length first.")
    centre: Literal["auto", "none", "mean", "row"] = option(
        "auto", "Then take off the mean of all rows, or of each row; auto: fly, densefly row, pcah, itq mean."
    )
    threshold: Literal["zero", "median"] = option("zero", "Dense: a bit is on above 0 or above the unit's median.")
    orthogonal: bool = option(False, "lsh: projections orthogonal in groups of dim.")
    sampling: float = option(
        0.1, "fly, densefly: share of the coordinates a unit sums.", above=0, high=1, what="a share"
    )
    iterations: int = epochs_option(50, "itq: turns of the rotation.")
    rule: Literal["kmeans", "sgd"] = option(
        "kmeans", "biohash: spherical k-means, or the paper's competitive learning."
    )
    p: float = option(2.0, "sgd: the norm's exponent.", low=1, high=100, only="rule=sgd")
    rank: int = option(
        2, "sgd: the unit of this rank is pushed away by --delta.", low=2, high=1 << 20, only="rule=sgd and delta>0"
    )
    delta: float = option(0.0, "sgd: how much.", low=0, high=10, low_is="off", only="rule=sgd")
    lr: float = lr_option(
        0.2,
        "sgd: learning rate of the first epoch, falling to 0 (the authors: 0.02, for more rows).",
        high=10,
        only="rule=sgd",
    )
    epochs: int = epochs_option(20, "biohash: passes over the rows.")
    batch: int = option(100, "sgd: rows per update.", low=1, high=1_000_000, only="rule=sgd")
    normalize_weights: bool = option(
        False, "sgd: bring weights back to unit length after each update.", only="rule=sgd"
    )
    seed: int = seed_option("Random seed; the same seed gives the same codes.")
    threads: int = threads_option("Threads that encode and find nearest centres; sgd uses one. 0: all processors.")


@dataclass(frozen=True)
class BiowordConfig(Config):
    """A BioWord run. Names follow its paper; cells and window are its values. lr, batch and epochs are chosen for
    corpora of some million words (the authors' program: 0.002, 10,000 and 15 for billions)."""

    group: ClassVar[str] = "Training"

    cells: int = option(400, "Kenyon cells: bits of a code.", low=1, high=1 << 16)
    window: int = option(5, "Words of context on each side.", low=1, high=1000)
    context: Literal["counts", "bag"] = option(
        "counts",
        "A word that stands in a context twice: counts, it counts twice, as in the authors' program; bag, once, as in "
        "their paper.",
    )
    length: int = option(50, "Active cells of a code.", low=1, identity=False)
    normalize_cells: bool = option(True, "Codes from weights divided by their cell's norm.", identity=False)
    lr: float = lr_option(0.3, "Learning rate of the first epoch; it falls linearly to 0.", high=1)
    batch: int = option(2000, "Windows per update.", low=1, high=1_000_000, unit="windows")
    epochs: int = epochs_option(15)
    seed: int = seed_option("Random seed; the same seed gives the same file with any number of threads.")
    threads: int = threads_option()

    def check(self) -> None:
        message = f"--length, the active cells, must be between 1 and --cells {self.cells}, not {self.length}"
        require(self.length <= self.cells, message)
