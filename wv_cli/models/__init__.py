"""The table of models: what `wv train --model` offers."""

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
