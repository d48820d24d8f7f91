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
from wv_cli.text.config import PhraseLearning, VocabConfig
from wv_cli.text.reading_config import ReadingConfig


@click.command("glove", cls=Command)
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help="Output file, whose ending chooses the format (.vec, .bin, .glove); - is standard output.",
)  # fmt: skip
@to_option
@field_options(GloveConfig)
@field_options(VocabConfig)
@field_options(PhraseLearning)
@phrases_options
@continuation_options
@click.option("--vocab", metavar="FILE", help="Use this vocabulary, whole unless --min-count is given.")
@click.option(
    "--counts", multiple=True, metavar="FILE[:VOCAB]",
    help="Train on these co-occurrence counts (or their sum), mapped to --vocab.",
)  # fmt: skip
@click.option("--save-vocab", metavar="FILE", help="Also save the vocabulary as `word count` lines in GloVe's format.")
@click.option("--save-counts", metavar="FILE", help="Also write the counts as GloVe's 16-byte records, sorted.")
@click.option("--counts-only", is_flag=True, help="Stop after counting; needs --save-counts.")
@click.option("--init", metavar="FILE", help="Initialize from GloVe's vectors.bin (same vocabulary and --dim).")
@click.option("--init-gradsq", metavar="FILE", help="Initialize AdaGrad's sums from GloVe's gradsq.bin.")
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Memory of the whole process; counts and matrices that exceed it go to disk.  [default: 1G]",
)  # fmt: skip
@saved_run_options
@field_options(ReadingConfig)
@dask_option
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Train GloVe vectors on INPUT (texts as for `wv train`) or on co-occurrence --counts.

    The command does the work of GloVe's vocab_count, cooccur, shuffle and glove. Ctrl-C, SIGTERM and --max-time save
    a checkpoint. --resume continues it exactly; the exit code is 130, 143 or 124.

    Python and the vocabulary need at least 60 MB of --memory. Training needs 16 bytes x --dim x words, which are
    kept in a file if they exceed --memory.

    With --dask, workers count parts of INPUT and this process trains. Every worker needs this version of wv and the
    same files at the same paths.
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
