"""`wv drift`: the words that changed most between two vector files."""

import json
import sys
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, json_option, quiet_option, take
from wv_cli.commands.shared.reading import from_option
from wv_cli.transforms.config import DriftConfig


@click.command("drift", cls=Command)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@field_options(DriftConfig)
@from_option(True)
@quiet_option
@json_option
def command(a: str, b: str, from_format: str | None, quiet: bool, as_json: bool, **options: Any) -> None:
    """Show which of the words that A and B both have changed most: vectors of two times, or of two kinds of text.

    Each is a line `word TAB neighbours TAB cosine`. neighbours is the share of the word's nearest words, among those in
    both files, that are the same in A and B; cosine that of its two vectors after A has been turned into the space of B
    by all words in both. Rare words change by chance, and most: --restrict-vocab leaves them out.
    """
    from wv_cli.commands.shared.reading import load_vectors, require_one_use
    from wv_cli.jobs.align import Named, drift
    from wv_cli.words import encode

    config = take(DriftConfig, options)
    config.validate()
    require_one_use(a, a == b)
    first, second = (Named(load_vectors(path, from_format, None, quiet), path) for path in (a, b))
    found = drift(first, second, config)
    rows = list(zip(found.words, found.shared.tolist(), found.cosine.tolist(), strict=True))
    if as_json:
        words = [{"word": word, "neighbours": shared, "cosine": cosine} for word, shared, cosine in rows]
        click.echo(json.dumps({"compared": found.compared, "words": words}))
        return
    stream = sys.stdout.buffer
    for word, shared, cosine in rows:
        stream.write(encode(word) + f"\t{shared:.4f}\t{cosine:.4f}\n".encode())
    stream.flush()
    if not quiet:
        click.echo(f"{found.compared:,} words compared", err=True)
