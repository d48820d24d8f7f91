"""The options of `wv train` that are fields of a model's config or of the vocabulary's, and the session they make.

Their defaults depend on --model and --preset: an option that is not given is None until the session is made.
"""

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import click

from wv_cli.commands.shared.options import Duration, Size, fitting, shared_options
from wv_cli.errors import UsageError
from wv_cli.jobs import MODELS
from wv_cli.models.config import PRESETS
from wv_cli.text.config import VocabConfig

# Whose defaults help shows: the word models' under every preset, then those of models with defaults of their own.
_VARIANTS = {preset: (MODELS["skipgram"].config, changed) for preset, changed in PRESETS.items()}
_VARIANTS |= {name: (row.config, {}) for name, row in MODELS.items() if not row.presets}
_VOCAB_VARIANTS: dict[str, tuple[type, dict[str, Any]]] = {"word2vec": (VocabConfig, {})}
_VOCAB_VARIANTS |= {name: (VocabConfig, row.vocab_defaults) for name, row in MODELS.items() if row.vocab_defaults}

_MODEL_HELPS = {
    "loss": "Output layer: negative sampling, hierarchical softmax, full softmax, noise-contrastive estimation.",
    "dim": "Numbers per vector.",
    "window": "Words of context on each side.",
    "shrink_window": "Draw the window of each position from 1..window, as word2vec does, or always use all of it.",
    "negative": "Negative (noise) words per position, for ns and nce.",
    "share_negatives": "Skip-gram: one draw of negatives per position, or one per context word as word2vec.",
    "power": "Negatives are drawn with probability count^power.",
    "sample": "Threshold for dropping frequent words; 0 keeps all.",
    "sample_formula": "How --sample is meant: word2vec's program, its paper, or fastText.",
    "minn": "Shortest character n-gram.",
    "maxn": "Longest character n-gram (subwords as in fastText); 0: whole words only.",
    "word_ngrams": "Longest word n-gram of a classifier; 1: single words.",
    "buckets": "Rows that n-grams are hashed into; those never used cost no memory.",
    "lr": "Learning rate at the start; 0 means 0.025 for skipgram, 0.05 for cbow.",
    "lr_floor": "The learning rate falls linearly, down to this share of --lr.",
    "epochs": "Passes over the text.",
    "max_sentence": "Longer lines are cut after this many words.",
    "cbow_mean": "CBOW: average the context words, or sum them.",
    "cbow_gradient": "CBOW: the true gradient of the mean, or word2vec's, which is not divided by the window.",
    "label_prefix": "What the labels of a classifier's lines begin with.",
    "min_count_label": "Drop labels seen fewer times.",
    "seed": "Random seed; with one thread the same seed gives the same file.",
    "threads": "Threads that train.",
}
_VOCAB_HELPS = {
    "min_count": "Drop words seen fewer times.",
    "max_vocab": "Keep only the most frequent words; 0 keeps all.",
    "lowercase": "Lower-case the text (Unicode).",
}


def training_options(function: Callable[..., Any]) -> Callable[..., Any]:
    return shared_options(_VARIANTS, _MODEL_HELPS)(shared_options(_VOCAB_VARIANTS, _VOCAB_HELPS)(function))


def autotune_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a classifier: the search for options (wv_cli.jobs.autotune)."""
    for option in [
        click.option("--autotune-log", metavar="FILE", help="Trials, in JSON.  [default: first OUTPUT.autotune.jsonl]"),
        click.option("--autotune-size", type=Size(), metavar="SIZE", help="Quantise the model to this size (2M)."),
        click.option("--autotune-predictions", type=int, metavar="K", help="Labels per line for f1.  [default: 1]"),
        click.option(
            "--autotune-metric", metavar="METRIC",
            help="f1, f1:LABEL, precisionAtRecall:R[:LABEL] or recallAtPrecision:P[:LABEL].  [default: f1]",
        ),
        click.option("--autotune-duration", type=Duration(), metavar="TIME", help="How long to search.  [default: 5m]"),
        click.option(
            "--autotune-validation", metavar="FILE",
            help="Classifier: search for the options not given here, by their score on this file.",
        ),
    ]:  # fmt: skip
        function = option(function)
    return function


def training_session(model: str, preset: str | None, options: dict[str, Any]) -> Any:
    """The session of `model` with the options given. Raises UsageError for an option that the model has not."""
    row = MODELS[model]
    if preset and not row.presets:
        message = f"--preset has no meaning for --model {model}; its defaults are fastText's"
        raise UsageError(message)
    kind = row.session_type()
    config, vocab, rest = fitting(options, f"--model {model}", row.config, VocabConfig, kind)
    if row.presets:
        config = {"model": model, **PRESETS[preset or "word2vec"], **config}
    vocab_config = VocabConfig(**{**row.vocab_defaults, **vocab})
    if "given" in {field.name for field in dataclasses.fields(kind)}:
        rest["given"] = tuple(config)
    return kind(config=row.config(**config), vocab_config=vocab_config, argv=("wv", *sys.argv[1:]), **rest)
