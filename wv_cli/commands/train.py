"""`wv train`: text in, word vectors out."""

import json
import sys
from typing import Any

import click

from wv_cli.commands.options import Size, field_options, json_option, quiet_option, saved_run_options, take
from wv_cli.config import VocabConfig, Word2vecConfig


@click.command("train", short_help="Train word vectors: skip-gram or CBOW.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o", "--output", "outputs", multiple=True, required=True, metavar="FILE",
    help="NAME.vec is word2vec text, NAME.bin word2vec binary, - text on standard output. May be given twice.",
)  # fmt: skip
@field_options(
    Word2vecConfig,
    {
        "model": "What predicts what.",
        "loss": "Output layer: negative sampling, hierarchical softmax, full softmax, noise-contrastive estimation.",
        "dim": "Numbers per vector.",
        "window": "Words of context on each side.",
        "shrink_window": "Draw the window of each position from 1..window, as word2vec does, or always use all of it.",
        "negative": "Negative (noise) words per position, for ns and nce.",
        "share_negatives": "Skip-gram: one draw of negatives per position, or one per context word as word2vec.",
        "power": "Negatives are drawn with probability count^power.",
        "sample": "Threshold for dropping frequent words; 0 keeps all.",
        "sample_formula": "How --sample is meant: word2vec's program or its paper.",
        "lr": "Learning rate at the start; 0 means 0.025 for skipgram, 0.05 for cbow.",
        "lr_floor": "The learning rate falls linearly, down to this share of --lr.",
        "epochs": "Passes over the text.",
        "max_sentence": "Longer lines are cut after this many words.",
        "cbow_mean": "CBOW: average the context words, or sum them.",
        "cbow_gradient": "CBOW: the true gradient of the mean, or word2vec's, which is not divided by the window.",
        "seed": "Random seed; with one thread the same seed gives the same file.",
        "threads": "Threads that train.",
    },
)
@field_options(
    VocabConfig,
    {
        "min_count": "Drop words seen fewer times.",
        "max_vocab": "Keep only the most frequent words; 0 keeps all.",
        "lowercase": "Lower-case the text (Unicode).",
    },
)
@click.option("--vocab", metavar="FILE", help="Use this vocabulary (from build-vocab or word2vec) and its counts.")
@click.option("--init", metavar="FILE", help="Start the words found in this vector file from their vectors.")
@click.option("--save-output-vectors", "output_vectors", metavar="FILE", help="Also save the context vectors.")
@click.option("--classes", default=0, metavar="K", help="Write K word classes (k-means) instead of vectors.")
@click.option("--memory", type=Size(), metavar="SIZE", help="Keep the encoded text on disk when it is larger (2G).")
@saved_run_options
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Train word vectors on INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are unpacked.

    Words are separated by white space, sentences by line ends. Ctrl-C, SIGTERM and --max-time save a checkpoint that
    --resume continues exactly where it stopped; the exit code is then 130, 143 or 124.
    """
    from wv_cli.commands.bar import reading_bar
    from wv_cli.commands.display import observer, say, stopped
    from wv_cli.training.session import Session, run

    session = Session(
        config=take(Word2vecConfig, options),
        vocab_config=take(VocabConfig, options),
        argv=("wv", *sys.argv[1:]),
        **options,
    )

    def tell(message: str, **facts: object) -> None:
        say(message, quiet, as_json, **facts)

    with reading_bar(quiet or as_json) as reading:
        outcome, facts = run(session, tell, observer(quiet, as_json), reading)
    if not outcome.finished:
        raise stopped(outcome, session.checkpoint_path is not None, session.resume)
    if as_json and "-" not in session.outputs:
        click.echo(json.dumps({"outputs": session.outputs, **facts}))
    tell(f"wrote {', '.join(session.outputs)} ({facts['words_per_second']:,} words/s)")
