"""What whitening, aligning and quantising are asked to do."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from wv_cli.config import (
    Config,
    epochs_option,
    lr_option,
    option,
    require,
    search_threads_option,
    seed_option,
    threads_option,
)


@dataclass(frozen=True)
class WhitenConfig(Config):
    """What `wv whiten` makes of the mean and covariance of a set of rows.

    `dim`: how many dimensions to keep, 0: all that vary. `beta` concerns soft only, `remove` all-but-the-top only
    (0: dim / 100, at least 1, as its authors advise).
    """

    group: ClassVar[str] = "Method"

    method: Literal["whiten", "zca", "pca", "soft", "abtt", "project"] = option(
        "whiten",
        "whiten: covariance I; zca: the same in the old axes; pca: turned only; soft: between pca and whiten; abtt: "
        "all but the top directions; project: random directions, nothing is fitted.",
    )
    dim: int = option(
        0,
        "Dimensions to keep, those of the largest variance, or of project to draw; 0 keeps all that vary.",
        low=0,
        high=100_000,
        low_is="all",
        only="method=whiten|pca|soft|project",
    )
    beta: float = option(
        0.5, "soft: 0 is pca, 1 is whiten.", low=0, high=1, low_is="pca", high_is="whiten", only="method=soft"
    )
    remove: int = option(
        0, "abtt: how many directions to remove; 0 is dim / 100.", low=0, low_is="dim / 100", only="method=abtt"
    )
    tolerance: float = option(
        1e-9,
        "A direction varies if its variance is more than this share of the largest.",
        low=0,
        below=1,
        only="method=whiten|zca|pca|soft|abtt",
    )

    seed: int = seed_option("Of the random directions.", only="method=project")

    def check(self) -> None:
        if self.dim:
            message = f"--method {self.method} keeps every axis; --dim goes with whiten, pca, soft and project"
            require(self.method not in ("zca", "abtt"), message)
        if self.remove:
            require(self.method == "abtt", f"--remove goes with --method abtt, not with {self.method}")


@dataclass(frozen=True)
class AlignConfig(Config):
    """How `wv align` turns one space into another, and which words it takes for the same in both files. `dictionary`
    None: those that are spelled alike."""

    group: ClassVar[str] = "Method"

    method: Literal["procrustes", "rcsls"] = option(
        "procrustes",
        "procrustes: the rotation that brings pairs nearest together; rcsls: from there on to the linear map, no "
        "rotation, by which they are best found.",
    )
    dictionary: str | None = option(
        None, "FILE of words of A and their translations in B, `word word` lines, instead of words that are in both."
    )
    anchors: int = option(
        0,
        "Of the words in both files only those among the first N of each; 0 takes all.",
        low=0,
        low_is="all",
        only="not dictionary",
    )
    refine: int = option(
        0,
        "Rounds of finding new pairs, mutual nearest neighbours by CSLS, and aligning by these.",
        low=0,
        high=1000,
        low_is="off",
    )
    refine_words: int = option(20_000, "Among the first N words of each file.", low=2, only="refine>0")
    steps: int = option(10, "rcsls: steps from the rotation.", low=1, high=10**6, only="method=rcsls")
    rcsls_words: int = option(
        200_000, "rcsls: look for ten neighbours among the first N words of each file.", low=10, only="method=rcsls"
    )
    threads: int = search_threads_option(only="refine>0 or method=rcsls")


@dataclass(frozen=True)
class DriftConfig(Config):
    """What `wv drift` compares."""

    group: ClassVar[str] = "Method"

    by: Literal["neighbours", "vectors"] = option(
        "neighbours",
        "What comes first. neighbours: words that share the fewest of their nearest; vectors: those of the lowest "
        "cosine.",
    )
    neighbours: int = option(100, "Nearest words that are compared.", low=1, high=10**6)
    restrict_vocab: int = option(
        0, "Compare only words among the first N of each file; 0 compares all.", low=0, low_is="all"
    )
    top: int = option(100, "Words to show; 0 shows all.", low=0, low_is="all")
    threads: int = search_threads_option()


@dataclass(frozen=True)
class QuantizeConfig(Config):
    """How a fastText model is made smaller. Names are fastText's; `epochs`, `lr` and `threads` serve retraining."""

    group: ClassVar[str] = "Method"

    cutoff: int = option(
        0,
        "Rows of the input matrix to keep, words and n-grams: those of the largest norms; 0 keeps all.",
        low=0,
        low_is="all rows",
    )
    dsub: int = option(2, "Coordinates in one byte; the more, the smaller and the coarser.", low=1, high=2**16 - 1)
    qnorm: bool = option(False, "Keep the norms of rows in a byte of their own.")
    qout: bool = option(False, "Quantise the output matrix, too, where that makes it smaller.")
    retrain: bool = option(False, "Classifiers: train the rows that are kept on --input before they are quantised.")
    epochs: int = epochs_option(5, "Passes over --input.", only="retrain")
    lr: float = lr_option(0.1, "Learning rate of --retrain.", high=None, only="retrain")
    threads: int = threads_option("Threads; without --retrain the result does not depend on them. 0: all.")
    seed: int = seed_option("Seed of every random draw.")
