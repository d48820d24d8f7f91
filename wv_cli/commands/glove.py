"""`wv glove`: text or co-occurrence counts in, GloVe vectors out."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    Size,
    dask_option,
    field_options,
    given_options,
    json_option,
    phrases_options,
    quiet_option,
    saved_run_options,
    to_option,
)
from wv_cli.commands.shared.training_options import continuation_options
from wv_cli.glove.config import MODEL, GloveConfig
from wv_cli.text.config import PhraseLearning, ReadingConfig, VocabConfig


@click.command("glove", cls=Command)
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help="NAME.vec is word2vec text, NAME.bin word2vec binary, NAME.glove GloVe's text, - text on standard output; "
    ".gz, .bz2, .xz or .zst behind it compresses.",
)  # fmt: skip
@to_option
@field_options(GloveConfig)
@field_options(VocabConfig)
@field_options(PhraseLearning)
@phrases_options
@continuation_options
@click.option("--vocab", metavar="FILE", help="Use this vocabulary (from build-vocab, word2vec or GloVe).")
@click.option(
    "--counts", multiple=True, metavar="FILE[:VOCAB]",
    help="Instead of INPUT: the sum of these counts (ours or GloVe's), mapped word by word to --vocab.",
)  # fmt: skip
@click.option("--save-vocab", metavar="FILE", help="Also save the vocabulary, `word count` lines, in GloVe's format.")
@click.option("--save-counts", metavar="FILE", help="Write the counts in GloVe's format (16-byte records, sorted).")
@click.option("--counts-only", is_flag=True, help="Stop after --save-counts.")
@click.option("--init", metavar="FILE", help="Start from GloVe's vectors.bin (raw doubles; same vocabulary and --dim).")
@click.option("--init-gradsq", metavar="FILE", help="Start from GloVe's gradsq.bin as well.")
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Memory of the whole process while counting; more goes to disk. Python and the vocabulary need 60 MB or more "
    "of it. Training needs 16 bytes x --dim x words, which are in a file where they are more than SIZE.  [default: 1G]",
)  # fmt: skip
@saved_run_options
@field_options(ReadingConfig)
@dask_option
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Train GloVe vectors on INPUT (texts as for `wv train`) or on co-occurrence --counts.

    Does the work of GloVe's vocab_count, cooccur, shuffle and glove. Ctrl-C, SIGTERM and --max-time save a checkpoint
    that --resume continues exactly where it stopped; the exit code is then 130, 143 or 124. With
    --dask workers count a part each, to the counts of one process; this process trains on them.
    """
    from wv_cli.commands.shared.running import job_of
    from wv_cli.commands.shared.training_run import run_training
    from wv_cli.jobs.glove import GloveJob
    from wv_cli.jobs.parts.continuation import inherit_options, state_of

    if state := options["continue_"]:
        options |= inherit_options(state, state_of(state, (MODEL,)), GloveConfig, given_options())
    job = job_of(GloveJob, options)
    saved = (options[name] for name in ("save_phrases", "save_vocab", "save_counts", "save_state"))
    written = [*options["outputs"], *(path for path in saved if path)]
    run_training(job, written, quiet, as_json, lambda facts: "", progress=False)
