"""`wv train`: text in; word vectors, a classifier, a model of texts or a neural language model out."""

from typing import Any

import click

from wv_cli.commands.shared.options import (
    CommonOption,
    Size,
    json_option,
    phrases_options,
    quiet_option,
    saved_run_options,
    to_option,
)
from wv_cli.commands.shared.training_help import TrainCommand, help_all_option
from wv_cli.commands.shared.training_options import (
    autotune_options,
    continuation_options,
    reading_options,
    start_options,
    training_options,
)
from wv_cli.jobs.models import DEFAULT_MODEL, MODELS, PRESETS


@click.command("train", cls=TrainCommand)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o", "--output", "outputs", cls=CommonOption, multiple=True, required=True, metavar="FILE",
    help="Output file, whose ending chooses the format; may be given twice.",
)  # fmt: skip
@to_option
@click.option(
    "--model",
    cls=CommonOption,
    type=click.Choice(list(MODELS)),
    help=f"Model to train; `wv train --model NAME -h` explains it.  [default: {DEFAULT_MODEL}]",
)
@click.option(
    "--preset",
    cls=CommonOption,
    type=click.Choice(PRESETS),
    help="Start from this preset's defaults; explicit options override them.  "
    "[default: word2vec (supervised fasttext)]",
)
@training_options
@phrases_options
@start_options
@continuation_options
@click.option(
    "--validation", cls=CommonOption, metavar="FILE",
    help="Score the vectors on this file after each epoch; keep the best epoch.",
)  # fmt: skip
@click.option("--patience", type=int, metavar="N", help="Stop after N epochs without a better score; at least 1.")
@click.option("--save-output-vectors", metavar="FILE", help="Also save the context vectors.")
@click.option("--doc-vectors", metavar="FILE", help="doc2vec: also save the vectors of INPUT's lines, named 0, 1, 2.")
@click.option("--classes", type=int, metavar="K", help="Write K word classes (k-means) instead of vectors.")
@click.option(
    "--memory", cls=CommonOption, type=Size(), metavar="SIZE",
    help="Keep the encoded text and matrices on disk if larger than this.",
)  # fmt: skip
@autotune_options
@saved_run_options
@reading_options
@quiet_option
@json_option
@help_all_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Train word vectors on INPUT: text files, folders, or - for standard input, plain or compressed.

    White space separates words, line ends separate sentences. Analogy scores of a few million words peak at about
    20 epochs (2-5 with subwords).

    The ending of an output chooses its format. NAME.vec is word2vec's text; NAME.bin is word2vec's binary or, with
    subwords, a fastText model. NAME.lm is a language model, NAME.d2v a doc2vec model, and
    - is text on standard output. A second ending .gz, .bz2, .xz or .zst compresses the file.

    The preset fasttext has fastText's defaults. balanced trains two models and quality five, for about 2 and 10
    times the work; their vectors are combined to --dim numbers.
    --model pairs reads records of an anchor, its positive and hard negatives, and writes a static embedding to DIR/.

    --validation takes analogies `a b c d` (among the 30,000 most frequent words) or pairs `word word score`.
    With --model pairs it takes other pairs, or two texts and a score a line. --autotune-validation takes labeled
    lines, for a classifier. Do not report scores on such a file: it chose the epoch or the options.

    Ctrl-C, SIGTERM and --max-time save a checkpoint. --resume continues it exactly; the exit code is 130, 143 or
    124.
    """
    from wv_cli.commands.shared.running import command_line
    from wv_cli.commands.shared.training_run import run_training
    from wv_cli.jobs.train import training_job

    job = training_job(argv=command_line(), **options)
    also = [options[name] for name in ("save_phrases", "save_vocab", "save_state") if options[name]]
    written = [*options["outputs"], *also]
    run_training(job, written, quiet, as_json, lambda facts: f" ({facts['words_per_second']:,} words/s)")
