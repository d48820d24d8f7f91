"""`wv build-vocab`: counts words, or sums counts made elsewhere, and writes a vocabulary file."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import Size, dask_option, field_options, json_option, quiet_option
from wv_cli.text.config import VocabConfig
from wv_cli.text.reading_config import ReadingConfig


@click.command("build-vocab", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", default="-", metavar="FILE", show_default=True, help="File for the `word count` lines.")
@field_options(VocabConfig)
@click.option(
    "--merge",
    is_flag=True,
    help="Sum the counts of INPUTs, which are vocabulary files.",
)
@click.option(
    "--sentence-end/--no-sentence-end",
    default=True,
    show_default=True,
    help="Write the number of lines as a first row `</s> N`, as word2vec does.",
)
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Memory of the whole process; words that exceed it are counted on disk.  [default: no limit]",
)  # fmt: skip
@field_options(ReadingConfig)
@dask_option
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Count the words of INPUT: text files, folders, or - for standard input, plain or compressed.

    The most frequent word comes first; words of equal count keep their order of first sight. `wv train --vocab`,
    word2vec (-read-vocab) and GloVe read the file.

    To count a large text in parts, count each part with --min-count 1 and sum the files with --merge. Words of equal
    sums usually stand as in one pass over all texts. --memory must hold Python (60 MB) and a table of words (16 MB);
    a small value gives the same result.

    With --dask, workers process parts of INPUT; the result is the same. Every worker needs this version of wv and
    the same files at the same paths.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.metadata import number_of
    from wv_cli.jobs.vocabulary import VocabularyJob

    job = job_of(VocabularyJob, options)

    def summarize(metadata: dict[str, Any]) -> str:
        seconds, rate = metadata["seconds"], ""
        if not (job.source.merge or job.source.dask):
            rate = f" ({metadata['bytes_read'] / 1e6 / seconds:,.0f} MB/s)"
        return (
            f"{metadata['tokens']:,} words in {number_of(metadata['lines'], 'line')}, {metadata['words']:,} different "
            f"ones; kept {metadata['kept_words']:,}, which cover {metadata['coverage']:.2%} of the text; "
            f"{seconds:.1f} s{rate}"
        )

    run_job(job, quiet, as_json, summarize, only_told=("bytes_read",), bar=("B", "reading"))
