"""`wv build-vocab`: counts words, or sums counts made elsewhere, and writes a vocabulary file."""

import json
import time
from contextlib import ExitStack
from functools import partial
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import Size, conflict, field_options, json_option, quiet_option
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
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...], output: str, merge: bool, sentence_end: bool, memory: int | None, force_text: bool,
    quiet: bool, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Count the words of INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are unpacked.

    The most frequent word comes first, words of equal count in order of first sight. `wv train --vocab` reads the file,
    word2vec (-read-vocab) and GloVe do. To count a large text in parts, count each part with --min-count 1 and sum the
    files with --merge, where --min-count and --max-vocab cut the sums.
    """
    from wv_cli.commands.shared.bar import reading_bar
    from wv_cli.commands.shared.display import say
    from wv_cli.formats.recognise import texts
    from wv_cli.system.output import check_writable
    from wv_cli.system.places import is_stdout
    from wv_cli.text.counting import Counts, counting
    from wv_cli.text.input_files import expand_inputs, refuse_overwriting
    from wv_cli.text.vocab import merge_vocabs, read_vocab, write_pieces

    config = VocabConfig(**options)
    config.validate()
    for name in ("lowercase", "dedup", "min_line"):
        if merge and getattr(config, name):
            raise conflict("--merge", flag_of(name), "the words are counted already; give it when counting")
    if merge and memory is not None:
        raise conflict("--merge", "--memory", "vocabularies are summed in memory")
    refuse_overwriting(inputs, output)
    check_writable(output)

    started, bytes_read = time.perf_counter(), 0
    with reading_bar(quiet or as_json, inputs) as show, ExitStack() as stack:

        def progress(consumed: int, total: int | None) -> None:
            nonlocal bytes_read
            bytes_read = consumed
            if show:
                show(consumed, total)

        if merge:
            every = Counts.of(merge_vocabs([read_vocab(path) for path in expand_inputs(inputs)]), config)
        else:
            asked = texts(inputs, note=partial(say, quiet=quiet, as_json=as_json), written=[output], force=force_text)
            counts = counting(asked, config, memory=memory, spool_beside=output, progress=progress)
            every = stack.enter_context(counts)
        words, tokens = write_pieces(output, every.kept, every.lines, sentence_end=sentence_end)
    seconds = time.perf_counter() - started
    facts = {"output": output, "tokens": every.tokens, "lines": every.lines, "words": every.words}
    facts |= {"kept_words": words, "kept_tokens": tokens, "coverage": tokens / every.tokens, "seconds": seconds}
    if as_json:
        click.echo(json.dumps(facts), err=is_stdout(output))
    elif not quiet:
        rate = "" if merge else f" ({bytes_read / 1e6 / seconds:,.0f} MB/s)"
        click.echo(
            f"{every.tokens:,} words in {every.lines:,} lines, {every.words:,} different ones; kept {words:,}, "
            f"which cover {tokens / every.tokens:.2%} of the text; {seconds:.1f} s{rate}",
            err=True,
        )
