"""The tables of models: what `wv train --model` and `wv hash --method` offer."""

from dataclasses import dataclass

from wv_cli.registry import Registry


@dataclass(frozen=True)
class Model:
    module: str
    summary: str
    source: str


MODELS: Registry[Model] = Registry(
    "model",
    [
        (
            "skipgram",
            Model(
                "wv_cli.models.word2vec",
                "Each context word predicts the word in the middle.",
                "Mikolov et al. 2013, arXiv 1310.4546",
            ),
        ),
        (
            "cbow",
            Model(
                "wv_cli.models.word2vec",
                "The mean (or sum) of the context words predicts the word in the middle.",
                "Mikolov et al. 2013, arXiv 1301.3781; gradient of Irsoy et al. 2021, arXiv 2012.15332",
            ),
        ),
    ],
)


@dataclass(frozen=True)
class Hasher:
    """`module` has fit(method, x, config, train), see linear_hash.Fitted. `sparse`: codes have a fixed number of active
    bits. `centre` is what --centre auto means for the method: `none`, `mean` (of all rows) or `row` (each its own)."""

    module: str
    summary: str
    source: str
    sparse: bool
    centre: str


HASHERS: Registry[Hasher] = Registry(
    "hashing method",
    [
        (name, Hasher(f"wv_cli.models.{module}", summary, source, sparse, centre))
        for name, module, sparse, centre, summary, source in [
            ("lsh", "random_hashes", False, "none", "Signs of Gaussian projections.", "Charikar 2002"),
            (
                "fly",
                "random_hashes",
                True,
                "row",
                "The highest of many sums of a few coordinates.",
                "Dasgupta, Stevens, Navlakha 2017",
            ),
            (
                "densefly",
                "random_hashes",
                False,
                "row",
                "Signs of sums of a few coordinates.",
                "Sharma, Navlakha 2018, arXiv 1812.01844",
            ),
            (
                "randexp",
                "random_hashes",
                True,
                "none",
                "The highest of many Gaussian projections.",
                "Liang et al. 2021, arXiv 2101.06887 (baseline)",
            ),
            (
                "biohash",
                "biohash",
                True,
                "none",
                "The nearest of many centres, learnt by competition.",
                "Ryali, Hopfield, Grinberg, Krotov 2020, arXiv 2001.04907",
            ),
            (
                "pcah",
                "principal_hashes",
                False,
                "mean",
                "Signs of the principal components.",
                "Wang, Kumar, Chang 2010",
            ),
            (
                "itq",
                "principal_hashes",
                False,
                "mean",
                "Signs of the principal components, rotated to lose least.",
                "Gong, Lazebnik 2011",
            ),
            ("sign", "random_hashes", False, "none", "Signs of the coordinates themselves.", "Faruqui et al. 2015"),
        ]
    ],
)
