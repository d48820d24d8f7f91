"""`wv tokenize`: makes running text of raw text, for the commands that train."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, json_option, quiet_option
from wv_cli.text.reading_config import RawConfig, TokenizeConfig


@click.command("tokenize", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", default="-", metavar="FILE", show_default=True, help="File for the words.")
@field_options(TokenizeConfig)
@field_options(RawConfig)
@click.option("--meta/--no-meta", default=True, help="Write FILE.meta.json with the settings.")
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Cut INPUT into words with blanks between them: text files, folders, or - for standard input, plain or compressed.

    Each line gives a line. Words are those of Unicode's standard annex 29: punctuation marks are words of their own,
    can't and 3.14 stay whole, and Han, Hiragana and Thai are cut into characters. jieba, fugashi and pythainlp find
    the words of Chinese, Japanese and Thai; each is a package to install.

    The same options give the same words of a text, today and for the texts that a model is asked about later.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.metadata import number_of
    from wv_cli.jobs.tokenize import TokenizeJob

    def summarize(metadata: dict[str, Any]) -> str:
        speed = metadata["bytes_read"] / 1e6 / max(metadata["seconds"], 1e-9)
        return f"{number_of(metadata['lines'], 'line')}; {metadata['seconds']:.1f} s ({speed:.0f} MB/s)"

    run_job(job_of(TokenizeJob, options), quiet, as_json, summarize, bar=("B", "reading"))
