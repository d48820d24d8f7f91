"""`wv build-vocab`: counts words, or sums counts made elsewhere, and writes a vocabulary file."""

import json
from functools import partial
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import Size, conflict, dask_option, field_options, json_option, quiet_option
from wv_cli.config import flag_of
from wv_cli.text.config import ReadingConfig, VocabConfig


@click.command("build-vocab", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o", "--output", default="-", metavar="FILE", show_default=True, help="Where to write `word count` lines."
)
@field_options(VocabConfig)
@click.option(
    "--merge",
    is_flag=True,
    help="INPUTs are vocabulary files: sum their counts. Words of equal sums stand as in one pass over the texts, "
    "unless the first file that has them counts them differently: then the one with more there comes first.",
)
@click.option(
    "--sentence-end/--no-sentence-end",
    default=True,
    show_default=True,
    help="Write the number of lines as a first row `</s> N`, as word2vec does (GloVe does not).",
)
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Memory of the whole process, of which Python needs some 60 MB and a table of words 16; a text with more "
    "different words is counted on disk, to the same result.  [default: no limit]",
)  # fmt: skip
@field_options(ReadingConfig)
@dask_option
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...], output: str, merge: bool, sentence_end: bool, memory: int | None, force_text: bool,
    dask: str | None, quiet: bool, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Count the words of INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are unpacked.

    The most frequent word comes first, words of equal count in order of first sight. `wv train --vocab` reads the file,
    word2vec (-read-vocab) and GloVe do. To count a large text in parts, count each part with --min-count 1 and sum the
    files with --merge, where --min-count and --max-vocab cut the sums. With --dask workers
    count a part each, to the file that one process writes.
    """
    from wv_cli.commands.shared.bar import reading_bar
    from wv_cli.commands.shared.display import say
    from wv_cli.jobs.facts import number_of
    from wv_cli.jobs.vocabulary import VocabularyRun
    from wv_cli.system.places import is_stdout

    run = VocabularyRun(
        inputs=inputs, output=output, config=VocabConfig(**options), merge=merge, sentence_end=sentence_end,
        memory=memory, force_text=force_text, dask=dask,
    )  # fmt: skip
    run.config.validate()
    for name in ("lowercase", "dedup", "min_line"):
        if merge and getattr(run.config, name):
            raise conflict("--merge", flag_of(name), "the words are counted already; give it when counting")
    if merge and memory is not None:
        raise conflict("--merge", "--memory", "vocabularies are summed in memory")

    bytes_read = 0
    with reading_bar(quiet or as_json, inputs) as show:

        def progress(consumed: int, total: int | None) -> None:
            nonlocal bytes_read
            bytes_read = consumed
            if show:
                show(consumed, total)

        facts = run.run(partial(say, quiet=quiet, as_json=as_json), progress)
    if as_json:
        click.echo(json.dumps(facts), err=is_stdout(output))
    elif not quiet:
        rate = "" if merge or dask else f" ({bytes_read / 1e6 / facts['seconds']:,.0f} MB/s)"
        click.echo(
            f"{facts['tokens']:,} words in {number_of(facts['lines'], 'line')}, {facts['words']:,} different ones; "
            f"kept {facts['kept_words']:,}, which cover {facts['coverage']:.2%} of the text; "
            f"{facts['seconds']:.1f} s{rate}",
            err=True,
        )
