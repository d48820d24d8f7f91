"""Binary codes of vectors and of words, and the table of methods: what `wv hash --method` offers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wv_cli.hashing.config import BiowordConfig, HashConfig
from wv_cli.registry import Registry

DENSE_LENGTH, SPARSE_LENGTH = 128, 32
_EVERY = ("length", "normalize", "center", "seed")  # recorded with all codes of vectors


def _product_length(dim: int) -> int:
    from wv_cli.hashing.product import longest

    return longest(dim, DENSE_LENGTH)


def _never(config: HashConfig) -> bool:
    return False


@dataclass(frozen=True)
class Hasher:
    """`learner` is "module:function" of what fits a method on vectors (hashing.base.Fit), or of the model that learns
    from a text, which has a command, a job and a file of its own; `loader` the module whose read_hasher, or
    load_hasher, reads what was saved.

    `config` is what it takes, `options` the fields of it that are recorded with the codes; they have an effect, but for
    those in `idle`, and no others have. `kind`:
    of the codes (wv_cli.vectors.codes); sparse ones have a fixed number of active bits. What the config leaves open:
    `center` is what --center auto means, `none`, `mean` (of all rows) or `row` (each its own); `length` the bits, or
    the active ones, for vectors of a dimension; `expansion` the units of sparse codes for a length and a dimension
    (None: the method has no such option). `by_steps`: whether a run can stop and go on.
    """

    learner: str
    summary: str
    source: str
    kind: Literal["dense", "sparse", "product"] = "dense"
    center: Literal["none", "mean", "row"] = "none"
    options: tuple[str, ...] = _EVERY
    idle: tuple[str, ...] = ()
    length: Callable[[int], int] = lambda dim: DENSE_LENGTH
    expansion: Callable[[int, int], int] | None = None
    by_steps: Callable[[HashConfig], bool] = _never
    loader: str = "wv_cli.hashing.linear"
    learns_from: Literal["vectors", "text"] = "vectors"
    config: type[HashConfig] | type[BiowordConfig] = HashConfig

    @property
    def effective_options(self) -> list[str]:
        """The options that have an effect."""
        return [name for name in self.options if name not in self.idle]

    @property
    def sparse(self) -> bool:
        return self.kind == "sparse"


HASHERS: Registry[Hasher] = Registry(
    "hashing method",
    [
        (
            "lsh",
            Hasher(
                "wv_cli.hashing.random:lsh",
                "Signs of Gaussian projections.",
                "Charikar 2002",
                options=(*_EVERY, "threshold", "orthogonal"),
            ),
        ),
        (
            "fly",
            Hasher(
                "wv_cli.hashing.random:fly",
                "The highest of many sums of a few coordinates.",
                "Dasgupta, Stevens, Navlakha 2017",
                kind="sparse",
                center="row",
                options=(*_EVERY, "expansion", "sampling"),
                length=lambda dim: SPARSE_LENGTH,
                expansion=lambda length, dim: 10 * dim,
            ),
        ),
        (
            "densefly",
            Hasher(
                "wv_cli.hashing.random:densefly",
                "Signs of sums of a few coordinates.",
                "Sharma, Navlakha 2018, arXiv 1812.01844",
                center="row",
                options=(*_EVERY, "threshold", "sampling"),
            ),
        ),
        (
            "randexp",
            Hasher(
                "wv_cli.hashing.random:randexp",
                "The highest of many Gaussian projections.",
                "Liang et al. 2021, arXiv 2101.06887 (baseline)",
                kind="sparse",
                options=(*_EVERY, "expansion"),
                length=lambda dim: SPARSE_LENGTH,
                expansion=lambda length, dim: 10 * dim,
            ),
        ),
        (
            "biohash",
            Hasher(
                "wv_cli.hashing.biohash:fit",
                "The nearest of many centers, learned by competition.",
                "Ryali, Hopfield, Grinberg, Krotov 2020, arXiv 2001.04907",
                kind="sparse",
                options=(
                    *_EVERY,
                    *("expansion", "rule", "p", "rank", "delta", "lr", "epochs", "batch", "normalize_weights"),
                ),
                length=lambda dim: SPARSE_LENGTH,
                expansion=lambda length, dim: 20 * length,
                by_steps=lambda config: config.rule == "sgd",
            ),
        ),
        (
            "pcah",
            Hasher(
                "wv_cli.hashing.principal:pcah",
                "Signs of the principal components.",
                "Wang, Kumar, Chang 2010",
                center="mean",
                idle=("seed",),
                options=(*_EVERY, "threshold"),
                length=lambda dim: min(DENSE_LENGTH, dim),
            ),
        ),
        (
            "itq",
            Hasher(
                "wv_cli.hashing.principal:itq",
                "Signs of the principal components, rotated to lose least.",
                "Gong, Lazebnik 2011",
                center="mean",
                options=(*_EVERY, "threshold", "iterations"),
                length=lambda dim: min(DENSE_LENGTH, dim),
            ),
        ),
        (
            "sign",
            Hasher(
                "wv_cli.hashing.random:sign",
                "Signs of the coordinates themselves.",
                "Faruqui et al. 2015",
                idle=("seed",),
                options=(*_EVERY, "threshold"),
                length=lambda dim: dim,
            ),
        ),
        (
            "pq",
            Hasher(
                "wv_cli.hashing.product:fit",
                "Bytes that name the nearest centroid of each block of coordinates.",
                "Jegou, Douze, Schmid 2011",
                kind="product",
                idle=("center",),
                length=_product_length,
                loader="wv_cli.hashing.product",
            ),
        ),
        (
            "bioword",
            Hasher(
                "wv_cli.hashing.bioword:Bioword",
                "Kenyon cells most active for a word, learned from a text.",
                "Liang et al. 2021, arXiv 2101.06887",
                kind="sparse",
                options=("cells", "window", "context", "length", "normalize_cells", "lr", "batch", "epochs", "seed"),
                length=lambda dim: BiowordConfig.length,
                loader="wv_cli.hashing.bioword",
                learns_from="text",
                config=BiowordConfig,
            ),
        ),
    ],
)
