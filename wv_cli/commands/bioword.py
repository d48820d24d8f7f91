"""`wv bioword`, which `wv hash --method bioword` becomes: a text in, learnt binary codes of its words out."""

import json
import sys
from typing import Any

import click

from wv_cli.commands.shared.options import field_options, json_option, quiet_option, saved_run_options, take
from wv_cli.hashing.config import BiowordConfig
from wv_cli.text.config import VocabConfig


@click.command("bioword", short_help="Learn binary codes of words from a text.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help="NAME.txt, NAME.tsv and - are text for people, any other ending is binary.",
)  # fmt: skip
@click.option("-m", "--method", type=click.Choice(["bioword"]), default="bioword", hidden=True)
@click.option("--hasher", metavar="FILE", help="Train nothing: code the words of INPUT in their contexts.")
@click.option("--save-hasher", metavar="FILE", help="Keep the trained hasher for --hasher.")
@field_options(
    BiowordConfig,
    {
        "cells": "Kenyon cells: bits of a code.",
        "window": "Words of context on each side.",
        "length": "Active cells of a code.",
        "normalize_cells": "Codes from weights divided by their cell's norm.",
        "lr": "Learning rate of the first epoch; it falls linearly to 0.",
        "batch": "Windows per update.",
        "epochs": "Passes over the text.",
        "seed": "Random seed; the same seed gives the same file with any number of threads.",
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
@click.option("--vocab", metavar="FILE", help="Use this vocabulary and its counts.")
@saved_run_options
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Learn codes of words from the text INPUT (as for `wv train`; - is standard input), as the fruit fly learns
    smells: Kenyon cells compete for windows of words, and the most active ones are a word's code.

    \b
    wv hash --method bioword text.txt -o words.codes --save-hasher fly.hasher
    echo 'he sat on the bank of the river' | wv bioword - --hasher fly.hasher -o -
    """
    from wv_cli.commands.shared.bar import reading_bar
    from wv_cli.commands.shared.display import observer, say, stopped
    from wv_cli.jobs.bioword import BiowordSession

    del options["method"]
    session = BiowordSession(
        config=take(BiowordConfig, options),
        vocab_config=take(VocabConfig, options),
        argv=("wv", *sys.argv[1:]),
        **options,
    )

    def tell(message: str, **facts: object) -> None:
        say(message, quiet, as_json, **facts)

    with reading_bar(quiet or as_json) as reading:
        outcome, facts = session.run(tell, observer(quiet, as_json), reading)
    if outcome is not None and not outcome.finished:
        raise stopped(outcome, session.checkpoint_path is not None, session.resume)
    written = [*session.outputs, *([session.save_hasher] if session.save_hasher else [])]
    if as_json and "-" not in written:
        click.echo(json.dumps({"outputs": written, **facts}))
    tell(f"wrote {', '.join(written)}: {facts['words']:,} words, {facts['active']} of {facts['bits']} bits")
