"""How vectors, or words of a text, become codes."""

from typing import ClassVar, Literal

from wv_cli.config import Options, epochs_option, frozen, lr_option, option, require, seed_option, threads_option


@frozen
class HashConfig(Options):
    """How vectors become codes. 0 stands for the method's own choice: length 128 bits or 32 active ones, expansion
    10 x dim for random and 20 x length for learnt projections."""

    group: ClassVar[str] = "Method"

    length: int = option(
        0,
        "Bits of a dense code, active bits of a sparse one; 0 chooses.",
        low=0,
        high=1 << 20,
        low_is="the method's choice",
    )
    expansion: int = option(
        0,
        "Units of a sparse code; 0: 10 x dim (fly, randexp), 20 x length (biohash).",
        low=0,
        high=1 << 20,
        low_is="as the method has it",
    )
    normalize: bool = option(True, "Scale vectors to unit length first.")
    center: Literal["auto", "none", "mean", "row"] = option(
        "auto", "Subtract a mean; auto: of each row for fly, densefly, of all for pcah, itq."
    )
    threshold: Literal["zero", "median"] = option("zero", "Dense codes: set bits above 0, or above the unit's median.")
    orthogonal: bool = option(False, "lsh: make projections orthogonal in groups of dim.")
    sampling: float = option(
        0.1, "fly, densefly: fraction of the coordinates that a unit sums.", above=0, high=1, what="a share"
    )
    iterations: int = epochs_option(50, "itq: iterations that fit the rotation.")
    rule: Literal["kmeans", "sgd"] = option(
        "kmeans", "biohash: spherical k-means, or the paper's competitive learning."
    )
    p: float = option(2.0, "sgd: exponent of the norm.", low=1, high=100, only="rule=sgd")
    rank: int = option(
        2, "sgd: rank of the unit that --delta pushes away.", low=2, high=1 << 20, only="rule=sgd and delta>0"
    )
    delta: float = option(0.0, "sgd: strength of the push.", low=0, high=10, low_is="off", only="rule=sgd")
    lr: float = lr_option(
        0.2,
        "sgd: initial learning rate; it falls linearly to 0.",
        high=10,
        only="rule=sgd",
    )
    epochs: int = epochs_option(20, "biohash: passes over the rows.")
    batch: int = option(100, "sgd: rows per update.", low=1, high=1_000_000, only="rule=sgd")
    normalize_weights: bool = option(
        False, "sgd: scale weights back to unit length after each update.", only="rule=sgd"
    )
    seed: int = seed_option("Random seed; the same seed gives the same codes.")
    threads: int = threads_option("Threads for encoding and finding centers (sgd uses one)")


@frozen
class BiowordConfig(Options):
    """A BioWord run. Names follow its paper; cells and window are its values. lr, batch and epochs are chosen for
    corpora of some million words (the authors' program: 0.002, 10,000 and 15 for billions)."""

    group: ClassVar[str] = "Training"

    cells: int = option(400, "Number of Kenyon cells, the bits of a code.", low=1, high=1 << 16)
    window: int = option(5, "Context words on each side.", low=1, high=1000)
    context: Literal["counts", "bag"] = option(
        "counts",
        "Count a repeated context word each time (counts), or once (bag).",
    )
    length: int = option(50, "Active cells of a code.", low=1, identity=False)
    normalize_cells: bool = option(True, "Divide weights by their cell's norm before encoding.", identity=False)
    lr: float = lr_option(0.3, "Initial learning rate; it falls linearly to 0.", high=1)
    batch: int = option(2000, "Windows per update.", low=1, high=1_000_000, unit="windows")
    epochs: int = epochs_option(15)
    seed: int = seed_option("Random seed; the same seed gives the same file at any --threads.")
    threads: int = threads_option()

    def check(self) -> None:
        message = f"--length, the active cells, must be between 1 and --cells {self.cells}, not {self.length}"
        require(self.length <= self.cells, message)
