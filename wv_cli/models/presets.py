"""What --preset puts in the place of a config's defaults. The values were found by trials: see benchmarks/notes.md."""

from dataclasses import dataclass
from typing import Any

from wv_cli.registry import Registry


@dataclass(frozen=True)
class Member:
    """One model of several that are trained in one run: what it has besides the preset's own changes. `with_contexts`:
    its context vectors are added; `gives_length`: so long as its rows are the joined ones (transforms.ensemble)."""

    changes: dict[str, Any]
    with_contexts: bool = False
    gives_length: bool = False


@dataclass(frozen=True)
class Preset:
    """`members` are several models, whose vectors are joined (transforms.ensemble) and one of which gives the length;
    none: one model."""

    changes: dict[str, Any]
    members: tuple[Member, ...] = ()


_FASTTEXT: dict[str, Any] = {
    "minn": 3,
    "maxn": 6,
    "power": 0.5,
    "sample": 1e-4,
    "sample_formula": "fasttext",
    "lr": 0.05,
    "lr_floor": 0.0,
}
_CBOW: dict[str, Any] = {"model": "cbow", "window": 8, "negative": 15, "sample": 1e-4}
_SUBWORDS: dict[str, Any] = {**_FASTTEXT, "model": "skipgram", "epochs": 3}
WORD_PRESETS: Registry[Preset] = Registry(
    "preset",
    [
        ("word2vec", Preset({})),
        ("fasttext", Preset(_FASTTEXT)),
        (
            "balanced",
            Preset(
                {"dim": 200},
                (
                    Member({**_CBOW, "share_positions": True, "epochs": 5}, with_contexts=True),
                    Member({**_SUBWORDS, "minn": 4, "maxn": 5}, gives_length=True),
                ),
            ),
        ),
        (
            "quality",
            Preset(
                {"dim": 300},
                (
                    Member({"model": "skipgram", "negative": 12, "epochs": 10}),
                    Member(
                        {"model": "skipgram", "shrink_window": False, "sample": 1e-4, "epochs": 10}, gives_length=True
                    ),
                    Member({**_CBOW, "epochs": 15}, with_contexts=True),
                    Member(_SUBWORDS),
                    Member({**_SUBWORDS, "minn": 4, "maxn": 5}),
                ),
            ),
        ),
    ],
)
CLASSIFIER_PRESETS: Registry[Preset] = Registry(
    "preset",
    [
        ("fasttext", Preset({})),
        ("quality", Preset({"lr": 1.0, "epochs": 25, "word_ngrams": 2, "dropout": 0.7})),
    ],
)
