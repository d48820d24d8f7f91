"""`wv drift`: the words that changed most between two vector files."""

import sys
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, json_option, quiet_option
from wv_cli.commands.shared.reading import from_option
from wv_cli.transforms.config import DriftConfig


@click.command("drift", cls=Command)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@field_options(DriftConfig)
@from_option(True)
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Show which of the words that A and B both have changed most: vectors of two times, or of two kinds of text.

    Each is a line `word TAB neighbours TAB cosine`. neighbours is the share of the word's nearest words, among those in
    both files, that are the same in A and B; cosine that of its two vectors after A has been turned into the space of B
    by all words in both. Rare words change by chance, and most: --restrict-vocab leaves them out.
    """
    from wv_cli.commands.shared.reading import ignore_format_warnings
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.drift import DriftJob

    def told(metadata: dict[str, Any]) -> str:
        return f"{metadata['compared']:,} words compared"

    ignore_format_warnings(quiet)
    run_job(job_of(DriftJob, options), quiet, as_json, told, show=_show)


def _show(metadata: dict[str, Any]) -> None:
    from wv_cli.words import encode

    stream = sys.stdout.buffer
    for each in metadata["words"]:
        stream.write(encode(each["word"]) + f"\t{each['neighbours']:.4f}\t{each['cosine']:.4f}\n".encode())
    stream.flush()
