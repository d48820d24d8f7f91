"""Binary codes of vectors, and the table of methods: what `wv hash --method` offers."""

from dataclasses import dataclass

from wv_cli.registry import Registry


@dataclass(frozen=True)
class Hasher:
    """`module` has fit(method, x, config, train), see linear.Fitted. `kind`: of the codes (wv_cli.vectors.codes),
    sparse ones have a fixed number of active bits. `centre` is what --centre auto means for the method: `none`, `mean`
    (of all rows) or `row` (each its own)."""

    module: str
    summary: str
    source: str
    kind: str  # dense, sparse, product
    centre: str

    @property
    def sparse(self) -> bool:
        return self.kind == "sparse"


HASHERS: Registry[Hasher] = Registry(
    "hashing method",
    [
        (name, Hasher(f"wv_cli.hashing.{module}", summary, source, kind, centre))
        for name, module, kind, centre, summary, source in [
            ("lsh", "random", "dense", "none", "Signs of Gaussian projections.", "Charikar 2002"),
            (
                "fly",
                "random",
                "sparse",
                "row",
                "The highest of many sums of a few coordinates.",
                "Dasgupta, Stevens, Navlakha 2017",
            ),
            (
                "densefly",
                "random",
                "dense",
                "row",
                "Signs of sums of a few coordinates.",
                "Sharma, Navlakha 2018, arXiv 1812.01844",
            ),
            (
                "randexp",
                "random",
                "sparse",
                "none",
                "The highest of many Gaussian projections.",
                "Liang et al. 2021, arXiv 2101.06887 (baseline)",
            ),
            (
                "biohash",
                "biohash",
                "sparse",
                "none",
                "The nearest of many centres, learnt by competition.",
                "Ryali, Hopfield, Grinberg, Krotov 2020, arXiv 2001.04907",
            ),
            (
                "pcah",
                "principal",
                "dense",
                "mean",
                "Signs of the principal components.",
                "Wang, Kumar, Chang 2010",
            ),
            (
                "itq",
                "principal",
                "dense",
                "mean",
                "Signs of the principal components, rotated to lose least.",
                "Gong, Lazebnik 2011",
            ),
            ("sign", "random", "dense", "none", "Signs of the coordinates themselves.", "Faruqui et al. 2015"),
            (
                "pq",
                "product",
                "product",
                "none",
                "Bytes that name the nearest centroid of each block of coordinates.",
                "Jegou, Douze, Schmid 2011",
            ),
        ]
    ],
)

# Methods that learn from a text instead of vectors; each is a command of its own: `wv bioword`.
TEXT_HASHERS: Registry[Hasher] = Registry(
    "hashing method of texts",
    [
        (
            "bioword",
            Hasher(
                "wv_cli.hashing.bioword",
                "Kenyon cells most active for a word, learnt from a text.",
                "Liang et al. 2021, arXiv 2101.06887",
                "sparse",
                "none",
            ),
        )
    ],
)
