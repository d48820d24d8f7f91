"""The options of `wv train` that are fields of a model's config or of the vocabulary's, and those of autotuning.

Their defaults depend on --model and --preset: an option that is not given is None until the job is made.
"""

from collections.abc import Callable, Mapping
from typing import Any

import click

from wv_cli.commands.shared.options import (
    CommonOption,
    Duration,
    FieldOption,
    Size,
    Variants,
    add_options,
    shared_fields,
)
from wv_cli.config import Options
from wv_cli.jobs.models import DEFAULT_MODEL, MODELS, Model
from wv_cli.models.presets import WORD_PRESETS, Preset
from wv_cli.text.config import PhraseLearning, VocabConfig
from wv_cli.text.reading_config import ReadingConfig

# The configs whose options are those of all models, with what stands in the place of their defaults.
_PHRASES: Variants = {"": (PhraseLearning, {})}
_VOCABULARY: Variants = {
    "word2vec": (VocabConfig, {}),
    **{name: (VocabConfig, row.vocab_defaults) for name, row in MODELS.items() if row.vocab_defaults},
}


def _model_variants() -> Variants:
    """The word models' config under every preset, then those of the other models, under theirs."""
    variants = _preset_variants(MODELS[DEFAULT_MODEL])
    for name, row in MODELS.items():
        if row.presets is not WORD_PRESETS:
            first, *others = _preset_variants(row).items()
            variants[name] = first[1]
            variants |= {f"{name} {preset}": changed for preset, changed in others}
    return variants


def _preset_variants(row: Model) -> dict[str, tuple[type[Options], Mapping[str, Any]]]:
    return {preset: (row.config, made.changes) for preset, made in (row.presets or {"": Preset({})}).items()}


def fields_of(model: str) -> list[FieldOption]:
    """The options of one model that are fields of configs, with its own help, bounds and defaults."""
    row = MODELS[model]
    vocabulary: Variants = {model: (VocabConfig, row.vocab_defaults)}
    return [option for variants in (_preset_variants(row), vocabulary, _PHRASES) for option in shared_fields(variants)]


def training_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for variants in (_PHRASES, _VOCABULARY, _model_variants()):
        function = add_options(shared_fields(variants))(function)
    return function


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How the text is read."""
    return add_options(shared_fields({"": (ReadingConfig, {})}))(function)


def start_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The words of a model, and what it starts from."""
    for option in [
        click.option(
            "--pretrained", metavar="FILE", help="Classifier: initialize words of INPUT from the vectors of this file."
        ),
        click.option(
            "--tree-from",
            metavar="FILE",
            help="Neural language model (NAME.lm) whose predictions make the clustered tree.",
        ),
        click.option(
            "--tokenizer",
            metavar="FILE",
            help="pairs: take pieces of this tokenizer.json or unigram sentencepiece model instead of words.",
        ),
        click.option(
            "--fields",
            metavar="NAMES",
            help="pairs: fields of anchor, positive and hard negatives, with commas.  [default: anchor,positive]",
        ),
        click.option(
            "--keep-words",
            is_flag=True,
            default=None,
            help="Keep words of --init or --pretrained that INPUT lacks.",
        ),
        click.option(
            "--bad-rows",
            type=click.Choice(["error", "skip"]),
            help="Rows of --init or --pretrained that cannot be read: stop, or count and skip them.  [default: error]",
        ),
        click.option(
            "--init",
            cls=CommonOption,
            metavar="FILE",
            help="Initialize words from the vectors of this file; pairs: or a static embedding (wv/small).",
        ),
        click.option(
            "--save-vocab",
            cls=CommonOption,
            metavar="FILE",
            help="Also save the vocabulary as `word count` lines before training.",
        ),
        click.option(
            "--vocab",
            cls=CommonOption,
            metavar="FILE",
            help="Use this vocabulary, whole unless --min-count is given.",
        ),
    ]:
        function = option(function)
    return function


def continuation_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of models that go on with other text (jobs.parts.continuation)."""
    for option in [
        click.option(
            "--save-state",
            cls=CommonOption,
            metavar="FILE",
            help="Also save the state for --continue; it may replace the earlier state.",
        ),
        click.option(
            "--decay",
            type=float,
            metavar="SHARE",
            help="With --continue: weight of the earlier counts and training, 0 to 1.  [default: 1]",
        ),
        click.option(
            "--again",
            is_flag=True,
            default=None,
            help="With --continue: learn INPUT even if the state has already learnt it.",
        ),
        click.option(
            "--continue",
            "continue_",
            cls=CommonOption,
            metavar="FILE",
            help="Continue training from a saved state; options that are not given are its own.",
        ),
    ]:
        function = option(function)
    return function


def autotune_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The search for a classifier's options (wv_cli.jobs.autotune)."""
    for option in [
        click.option(
            "--autotune-log",
            metavar="FILE",
            help="File for the trials, one JSON object per line.  [default: first OUTPUT.autotune.jsonl]",
        ),
        click.option(
            "--autotune-size", type=Size(), metavar="SIZE", help="Quantize the classifier to at most this size (2M)."
        ),
        click.option(
            "--autotune-predictions",
            type=int,
            metavar="K",
            help="Labels predicted per line in the search.  [default: 1]",
        ),
        click.option(
            "--autotune-metric",
            metavar="METRIC",
            help="Score to maximize: f1, f1:LABEL, precisionAtRecall:R[:LABEL] or recallAtPrecision:P[:LABEL].  "
            "[default: f1]",
        ),
        click.option(
            "--autotune-duration", type=Duration(), metavar="TIME", help="Time for the search.  [default: 5m]"
        ),
        click.option(
            "--autotune-validation",
            cls=CommonOption,
            metavar="FILE",
            help="Search for a classifier's options that are not given, by their score on this file.",
        ),
    ]:
        function = option(function)
    return function
