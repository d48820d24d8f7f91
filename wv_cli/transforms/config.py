"""What whitening, aligning and quantizing are asked to do."""

from typing import ClassVar, Literal

from wv_cli.config import Options, epochs_option, frozen, lr_option, option, require, seed_option, threads_option


@frozen
class WhitenConfig(Options):
    """What `wv whiten` makes of the mean and covariance of a set of rows.

    `dim`: how many dimensions to keep, 0: all that vary. `beta` concerns soft only, `remove` all-but-the-top only
    (0: dim / 100, at least 1, as its authors advise).
    """

    group: ClassVar[str] = "Method"

    method: Literal["whiten", "zca", "pca", "soft", "abtt", "project"] = option(
        "whiten",
        "Transform to fit (see the list above).",
    )
    dim: int = option(
        0,
        "Dimensions to keep; 0 keeps all that vary.",
        low=0,
        high=100_000,
        low_is="all",
        only="method=whiten|pca|soft|project",
    )
    beta: float = option(
        0.5,
        "soft: position between pca (0) and whiten (1).",
        low=0,
        high=1,
        low_is="pca",
        high_is="whiten",
        only="method=soft",
    )
    remove: int = option(
        0, "abtt: directions to remove; 0 removes dim / 100.", low=0, low_is="dim / 100", only="method=abtt"
    )
    tolerance: float = option(
        1e-9,
        "Drop directions with less than this fraction of the largest variance.",
        low=0,
        below=1,
        only="method=whiten|zca|pca|soft|abtt",
    )

    seed: int = seed_option("Random seed of the directions.", only="method=project")

    def check(self) -> None:
        if self.dim:
            message = f"--method {self.method} keeps every axis; --dim goes with whiten, pca, soft and project"
            require(self.method not in ("zca", "abtt"), message)
        if self.remove:
            require(self.method == "abtt", f"--remove goes with --method abtt, not with {self.method}")


@frozen
class AlignConfig(Options):
    """How `wv align` turns one space into another, and which words it takes for the same in both files. `dictionary`
    None: those that are spelled alike."""

    group: ClassVar[str] = "Method"

    method: Literal["procrustes", "rcsls"] = option(
        "procrustes",
        "Fit a rotation (procrustes), or a linear map for best retrieval (rcsls).",
    )
    dictionary: str | None = option(
        None, "File of `word translation` lines to align by, instead of shared words.", role="read"
    )
    anchors: int = option(
        0,
        "Align by shared words among the first N; 0 takes all.",
        low=0,
        low_is="all",
        only="not dictionary",
    )
    refine: int = option(
        0,
        "Rounds of aligning again by mutual CSLS neighbors.",
        low=0,
        high=1000,
        low_is="off",
    )
    refine_words: int = option(20_000, "Words of each file in which --refine looks for pairs.", low=2, only="refine>0")
    steps: int = option(10, "rcsls: gradient steps after the rotation.", low=1, high=10**6, only="method=rcsls")
    rcsls_words: int = option(
        200_000, "rcsls: words of each file among which neighbors are sought.", low=10, only="method=rcsls"
    )
    threads: int = threads_option("Search threads", common=False, only="refine>0 or method=rcsls")


@frozen
class DriftConfig(Options):
    """What `wv drift` compares."""

    group: ClassVar[str] = "Method"

    by: Literal["neighbors", "vectors"] = option(
        "neighbors",
        "Order of words: fewest shared neighbors first, or lowest cosine first.",
    )
    neighbors: int = option(100, "Nearest words to compare.", low=1, high=10**6)
    restrict_vocab: int = option(0, "Compare only the first N words of each file; 0 compares all.", low=0, low_is="all")
    top: int = option(100, "Words to show; 0 shows all.", low=0, low_is="all")
    threads: int = threads_option("Search threads", common=False)


POOLED_CUTOFF = 100_000  # half of it costs SST-5 .015 of P@1 on validation lines


@frozen
class QuantizeConfig(Options):
    """How a fastText model is made smaller. Names are fastText's; `epochs`, `lr` and `threads` serve retraining. Of a
    pooled classifier `cutoff` counts words, which all stay, and n-grams; POOLED_CUTOFF where it is not given."""

    group: ClassVar[str] = "Method"

    cutoff: int = option(
        0,
        "Input rows to keep, those of largest norm; 0 keeps all.",
        low=0,
        low_is="all rows",
        shown=f"0; pooled classifiers {POOLED_CUTOFF:,}",
    )
    dsub: int = option(2, "Coordinates per byte; more makes the model smaller and coarser.", low=1, high=2**16 - 1)
    qnorm: bool = option(False, "Quantize the norms of rows separately, to one byte each.")
    qout: bool = option(False, "Also quantize the output matrix if that makes it smaller.")
    retrain: bool = option(False, "Classifiers: train the kept rows again on --input before quantizing.")
    epochs: int = epochs_option(5, "Passes over --input.", only="retrain")
    lr: float = lr_option(0.1, "Learning rate of --retrain.", high=None, only="retrain")
    threads: int = threads_option("Threads, on which only --retrain's result depends")
    seed: int = seed_option("Random seed.")
