"""`wv glove`: text or co-occurrence counts in, GloVe vectors out."""

import json
import sys
from typing import Any

import click

from wv_cli.commands.shared.options import Size, field_options, json_option, quiet_option, saved_run_options, take
from wv_cli.glove.config import GloveConfig
from wv_cli.text.config import VocabConfig


@click.command("glove", short_help="Train GloVe vectors; count co-occurrences.")
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help="NAME.vec is word2vec text, NAME.bin word2vec binary, NAME.glove GloVe's text, - text on standard output.",
)  # fmt: skip
@field_options(
    GloveConfig,
    {
        "dim": "Numbers per vector.",
        "window": "Words of context on each side.",
        "symmetric": "Contexts on both sides, or only to the left.",
        "weighting": "Weight of a pair at distance d: 1/d or 1.",
        "x_max": "Pairs seen more often than this weigh no more.",
        "alpha": "A pair seen x times weighs (x / x-max)^alpha.",
        "eta": "Learning rate of the vectors (AdaGrad).",
        "bias_lr": "Learning rate of the biases: 1 as in GloVe's program since 2019, 0 for --eta as before.",
        "grad_clip": "Largest gradient of one number.",
        "iterations": "Passes over the counts.",
        "vectors": "Write word + context vectors, word vectors, or word, bias, context and bias side by side.",
        "unk": "Add a row <unk>, the mean of the 100 rarest words, as GloVe does.",
        "seed": "Random seed; with one thread the same seed gives the same file.",
        "threads": "Threads that count and train.",
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
@click.option("--vocab", metavar="FILE", help="Use this vocabulary (from build-vocab, word2vec or GloVe).")
@click.option(
    "--counts", multiple=True, metavar="FILE[:VOCAB]",
    help="Instead of INPUT: the sum of these counts (ours or GloVe's), mapped word by word to --vocab.",
)  # fmt: skip
@click.option("--save-counts", metavar="FILE", help="Write the counts in GloVe's format (16-byte records, sorted).")
@click.option("--counts-only", is_flag=True, help="Stop after --save-counts.")
@click.option("--init", metavar="FILE", help="Start from GloVe's vectors.bin (raw doubles; same vocabulary and --dim).")
@click.option("--init-gradsq", metavar="FILE", help="Start from GloVe's gradsq.bin as well.")
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Memory of the whole process while counting (1G); more goes to disk. Python and the vocabulary need 60 MB or "
    "more of it. Training needs 16 bytes x --dim x words.",
)  # fmt: skip
@saved_run_options
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Train GloVe vectors on INPUT (texts as for `wv train`) or on co-occurrence --counts.

    Does the work of GloVe's vocab_count, cooccur, shuffle and glove. Ctrl-C, SIGTERM and --max-time save a checkpoint
    that --resume continues exactly where it stopped; the exit code is then 130, 143 or 124.
    """
    from wv_cli.commands.shared.bar import reading_bar
    from wv_cli.commands.shared.display import say, stopped
    from wv_cli.jobs.glove import GloveSession

    session = GloveSession(
        config=take(GloveConfig, options),
        vocab_config=take(VocabConfig, options),
        argv=("wv", *sys.argv[1:]),
        **options,
    )

    def tell(message: str, **facts: object) -> None:
        say(message, quiet, as_json, **facts)

    with reading_bar(quiet or as_json) as reading:
        outcome, facts = session.run(tell, reading=reading)
    if outcome is not None and not outcome.finished:
        raise stopped(outcome, session.checkpoint_path is not None, session.resume)
    written = [*session.outputs, *([session.save_counts] if session.save_counts else [])]
    if as_json and "-" not in written:
        click.echo(json.dumps({"outputs": written, **facts}))
    tell(f"wrote {', '.join(written)}")
