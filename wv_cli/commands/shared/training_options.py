"""The options of `wv train` that are fields of a model's config or of the vocabulary's, and those of autotuning.

Their defaults depend on --model and --preset: an option that is not given is None until the job is made.
"""

from collections.abc import Callable
from typing import Any

import click

from wv_cli.commands.shared.options import Duration, Size, shared_options
from wv_cli.config import Config
from wv_cli.jobs.models import DEFAULT_MODEL, MODELS
from wv_cli.models.presets import WORD_PRESETS, Preset
from wv_cli.text.config import PhraseLearning, VocabConfig

# Whose defaults help shows: the word models' under every preset, then those of the other models, under theirs.
_VARIANTS: dict[str, tuple[type[Config], dict[str, Any]]]
_VARIANTS = {preset: (MODELS[DEFAULT_MODEL].config, row.changes) for preset, row in WORD_PRESETS.items()}
for _name, _model in MODELS.items():
    if _model.presets is not WORD_PRESETS:
        _first, *_others = (_model.presets or {"": Preset({})}).items()
        _VARIANTS[_name] = (_model.config, _first[1].changes)
        _VARIANTS |= {f"{_name} {preset}": (_model.config, row.changes) for preset, row in _others}
_VOCAB_VARIANTS: dict[str, tuple[type[Config], dict[str, Any]]] = {"word2vec": (VocabConfig, {})}
_VOCAB_VARIANTS |= {name: (VocabConfig, row.vocab_defaults) for name, row in MODELS.items() if row.vocab_defaults}
_PHRASES_VARIANTS: dict[str, tuple[type[Config], dict[str, Any]]] = {"": (PhraseLearning, {})}


def training_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for variants in (_PHRASES_VARIANTS, _VOCAB_VARIANTS, _VARIANTS):
        function = shared_options(variants)(function)
    return function


def continuation_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of models that go on with other text (jobs.parts.continuation)."""
    for option in [
        click.option("--save-state", metavar="FILE", help="Also save what --continue goes on with; may replace that."),
        click.option(
            "--decay", type=float, metavar="SHARE",
            help="With --continue: how much of the earlier counts and training still counts, 0 to 1.  [default: 1]",
        ),
        click.option(
            "--continue", "continue_", metavar="FILE",
            help="Go on with a saved state: its words stay, INPUT's new ones come, and options not given are its own.",
        ),
    ]:  # fmt: skip
        function = option(function)
    return function


def autotune_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The search for options (wv_cli.jobs.trials): a classifier's, or those of word vectors."""
    for option in [
        click.option("--autotune-log", metavar="FILE", help="Trials, in JSON.  [default: first OUTPUT.autotune.jsonl]"),
        click.option("--autotune-size", type=Size(), metavar="SIZE", help="Classifier: quantise to this size (2M)."),
        click.option("--autotune-predictions", type=int, metavar="K", help="Classifier: labels a line.  [default: 1]"),
        click.option(
            "--autotune-metric", metavar="METRIC",
            help="Classifier: f1, f1:LABEL, precisionAtRecall:R[:LABEL] or recallAtPrecision:P[:LABEL].  [default: f1]",
        ),
        click.option("--autotune-duration", type=Duration(), metavar="TIME", help="How long to search.  [default: 5m]"),
        click.option(
            "--autotune-validation", metavar="FILE",
            help="Classifier, skip-gram, CBOW: search for the options not given here (of word vectors not --dim), by "
            "their score on this file: labelled lines, or what --validation reads. It is no test of what is found.",
        ),
    ]:  # fmt: skip
        function = option(function)
    return function
