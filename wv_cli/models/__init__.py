"""The tables of models: what `wv train --model` and `wv hash --method` offer."""

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wv_cli.config import SupervisedConfig, Word2vecConfig
from wv_cli.registry import Registry

if TYPE_CHECKING:
    from wv_cli.training.session import Session


@dataclass(frozen=True)
class Model:
    """`session` is "module:class" of the training session, imported when it is needed, `config` what it takes;
    `vocab_defaults` stand in the place of VocabConfig's. `presets`: whether --preset chooses the defaults."""

    summary: str
    source: str
    config: type
    session: str
    vocab_defaults: dict[str, Any] = field(default_factory=dict)
    presets: bool = True

    def session_type(self) -> "type[Session]":
        module, name = self.session.split(":")
        found: type[Session] = getattr(importlib.import_module(module), name)
        return found


MODELS: Registry[Model] = Registry(
    "model",
    [
        (
            "skipgram",
            Model(
                "Each context word predicts the word in the middle.",
                "Mikolov et al. 2013, arXiv 1310.4546; subwords Bojanowski et al. 2017, arXiv 1607.04606",
                Word2vecConfig,
                "wv_cli.training.word2vec_session:Word2vecSession",
            ),
        ),
        (
            "cbow",
            Model(
                "The mean (or sum) of the context words predicts the word in the middle.",
                "Mikolov et al. 2013, arXiv 1301.3781; gradient of Irsoy et al. 2021, arXiv 2012.15332",
                Word2vecConfig,
                "wv_cli.training.word2vec_session:Word2vecSession",
            ),
        ),
        (
            "supervised",
            Model(
                "The mean of a line's words and n-grams predicts its label: a text classifier.",
                "Joulin et al. 2017, arXiv 1607.01759",
                SupervisedConfig,
                "wv_cli.training.supervised_session:SupervisedSession",
                vocab_defaults={"min_count": 1},
                presets=False,
            ),
        ),
    ],
)


@dataclass(frozen=True)
class Hasher:
    """`module` has fit(method, x, config, train), see linear_hash.Fitted. `kind`: of the codes
    (wv_cli.codes), sparse ones have a fixed number of active bits. `centre` is what --centre auto means for the method:
    `none`, `mean` (of all rows) or `row` (each its own)."""

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
        (name, Hasher(f"wv_cli.models.{module}", summary, source, kind, centre))
        for name, module, kind, centre, summary, source in [
            ("lsh", "random_hashes", "dense", "none", "Signs of Gaussian projections.", "Charikar 2002"),
            (
                "fly",
                "random_hashes",
                "sparse",
                "row",
                "The highest of many sums of a few coordinates.",
                "Dasgupta, Stevens, Navlakha 2017",
            ),
            (
                "densefly",
                "random_hashes",
                "dense",
                "row",
                "Signs of sums of a few coordinates.",
                "Sharma, Navlakha 2018, arXiv 1812.01844",
            ),
            (
                "randexp",
                "random_hashes",
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
                "principal_hashes",
                "dense",
                "mean",
                "Signs of the principal components.",
                "Wang, Kumar, Chang 2010",
            ),
            (
                "itq",
                "principal_hashes",
                "dense",
                "mean",
                "Signs of the principal components, rotated to lose least.",
                "Gong, Lazebnik 2011",
            ),
            ("sign", "random_hashes", "dense", "none", "Signs of the coordinates themselves.", "Faruqui et al. 2015"),
            (
                "pq",
                "product_hash",
                "product",
                "none",
                "Bytes that name the nearest centroid of each block of coordinates.",
                "Jegou, Douze, Schmid 2011",
            ),
        ]
    ],
)

# Methods of `wv hash` that learn from a text instead of vectors: commands/bioword.py and the module named.
TEXT_HASHERS: Registry[Hasher] = Registry(
    "hashing method of texts",
    [
        (
            "bioword",
            Hasher(
                "wv_cli.models.bioword",
                "Kenyon cells most active for a word, learnt from a text (`wv bioword`).",
                "Liang et al. 2021, arXiv 2101.06887",
                "sparse",
                "none",
            ),
        )
    ],
)
