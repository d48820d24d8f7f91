"""`wv train`: text in; word vectors, a classifier, a model of texts or a neural language model out."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    Size,
    field_options,
    json_option,
    phrases_options,
    quiet_option,
    saved_run_options,
    to_option,
)
from wv_cli.commands.shared.training_options import autotune_options, continuation_options, training_options
from wv_cli.jobs.models import DEFAULT_MODEL, MODELS, PRESETS
from wv_cli.text.config import ReadingConfig


@click.command("train", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o", "--output", "outputs", multiple=True, required=True, metavar="FILE",
    help="NAME.vec is word2vec text, NAME.bin word2vec binary or, with subwords, a fastText model, NAME.lm a language "
    "model (--model nplm or lbl), NAME.s2v and NAME.d2v one of sentences and documents (sent2vec, doc2vec), - text on "
    "standard output; .gz, .bz2, .xz or .zst behind it compresses. May be given twice.",
)  # fmt: skip
@to_option
@click.option("--model", type=click.Choice(list(MODELS)), help=f"What predicts what.  [default: {DEFAULT_MODEL}]")
@click.option(
    "--preset", type=click.Choice(PRESETS),
    help="Whose defaults word models and classifiers start from; options given win. Of word models, balanced trains "
    "CBOW and then skip-gram with subwords, quality five such models, and their vectors are joined to one of --dim "
    "numbers a word: about twice and ten times the work of the defaults.  [default: word2vec (supervised fasttext)]",
)  # fmt: skip
@training_options
@phrases_options
@click.option("--vocab", metavar="FILE", help="Use this vocabulary (from build-vocab or word2vec) and its counts.")
@click.option("--save-vocab", metavar="FILE", help="Also save the vocabulary, `word count` lines, before the training.")
@click.option("--init", metavar="FILE", help="Start the words found in this vector file from their vectors.")
@click.option(
    "--keep-words",
    is_flag=True,
    default=None,
    help="Words of --init or --pretrained that INPUT lacks stay in the model.",
)
@continuation_options
@click.option("--tree-from", metavar="FILE", help="A neural language model (NAME.lm): --tree clustered is made of it.")
@click.option(
    "--pretrained", metavar="FILE", help="Classifier: start the words of INPUT found here from their vectors."
)
@click.option(
    "--validation", metavar="FILE",
    help="Word models: score the vectors after every epoch on this file, analogies `a b c d` (among the 30,000 most "
    "frequent words) or pairs `word word score`, and keep the best epoch.",
)  # fmt: skip
@click.option("--patience", type=int, metavar="N", help="Stop after N epochs without a better score; at least 1.")
@click.option("--save-output-vectors", metavar="FILE", help="Also save the context vectors.")
@click.option("--doc-vectors", metavar="FILE", help="doc2vec: also save the vectors of INPUT's lines, called 0, 1, 2.")
@click.option("--classes", type=int, metavar="K", help="Write K word classes (k-means) instead of vectors.")
@click.option(
    "--memory",
    type=Size(),
    metavar="SIZE",
    help="Keep an encoded text larger than this on disk (without it than 2G), and matrices larger than this, which is "
    "slower: rows of frequent words stay in memory by themselves.",
)
@autotune_options
@saved_run_options
@field_options(ReadingConfig)
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Train word vectors on INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are unpacked.

    Words are separated by white space, sentences by line ends. Ctrl-C, SIGTERM and --max-time save a checkpoint that
    --resume continues exactly where it stopped; the exit code is then 130, 143 or 124. Processes that mpirun or srun
    starts together train one model of skipgram, cbow or supervised, each machine on its part of INPUT.
    """
    from wv_cli.commands.shared.running import command_line
    from wv_cli.commands.shared.training_run import run_training
    from wv_cli.jobs.train import training_job

    job = training_job(argv=command_line(), **options)
    also = [options[name] for name in ("save_phrases", "save_vocab", "save_state") if options[name]]
    written = [*options["outputs"], *also]
    run_training(job, written, quiet, as_json, lambda facts: f" ({facts['words_per_second']:,} words/s)")
