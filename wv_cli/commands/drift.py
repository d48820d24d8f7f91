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
    """Show which words of both A and B changed most between the two files: vectors of two times, or of two kinds of
    text.

    A word is printed as `word TAB neighbors TAB cosine`, below a header of these names. neighbors is the fraction
    of the nearest words that A and B share. cosine compares the two vectors of the word after A was aligned to B by
    all common words. Rare words change most, by chance; --restrict-vocab leaves them out.
    """
    from wv_cli.commands.shared.reading import ignore_format_warnings
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.drift import DriftJob

    def summarize(metadata: dict[str, Any]) -> str:
        return f"{metadata['compared']:,} words compared"

    ignore_format_warnings(quiet)
    run_job(job_of(DriftJob, options), quiet, as_json, summarize, show=_show)


def _show(metadata: dict[str, Any]) -> None:
    from wv_cli.words import encode

    stream = sys.stdout.buffer
    stream.write(b"word\tneighbors\tcosine\n")
    for each in metadata["words"]:
        stream.write(encode(each["word"]) + f"\t{each['neighbors']:.4f}\t{each['cosine']:.4f}\n".encode())
    stream.flush()
