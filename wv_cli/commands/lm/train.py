"""`wv lm train`: text in, a model of n-grams out."""

import json
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.options import field_options, given_options, json_option, quiet_option, take
from wv_cli.lm.config import LmConfig
from wv_cli.text.config import ReadingConfig

if TYPE_CHECKING:
    from wv_cli.lm.counts import NgramCounts
    from wv_cli.lm.estimate import Estimate

to_option = click.option("--to", metavar="FORMAT", help="arpa or binary; by default the ending of the name tells.")


@click.command("train")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o", "--output", default="-", show_default=True, metavar="MODEL",
    help="NAME.arpa and NAME.arpa.gz are ARPA, NAME.lm wv's binary, - is ARPA on standard output.",
)  # fmt: skip
@to_option
@field_options(LmConfig)
@field_options(ReadingConfig)
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...], output: str, to: str | None, force_text: bool, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Train a model of n-grams on INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are
    unpacked. Each line is a sentence, a blank one too.

    With --smoothing kneser-ney the model is that of KenLM's lmplz.
    """
    from wv_cli.commands.shared.bar import reading_bar
    from wv_cli.commands.shared.display import say
    from wv_cli.formats.recognise import texts
    from wv_cli.lm.counts import count
    from wv_cli.lm.estimate import estimate
    from wv_cli.lm.files import format_for_output, save
    from wv_cli.lm.words import read_words
    from wv_cli.system.output import check_writable
    from wv_cli.text.input_files import refuse_overwriting

    config = take(LmConfig, options)
    config.validate()
    config.refuse_idle(given_options())
    format_for_output(output, to)
    refuse_overwriting(inputs, output)
    check_writable(output)
    started = time.perf_counter()
    vocabulary = read_words(config.limit_vocab) if config.limit_vocab is not None else None
    asked = texts(inputs, note=partial(say, quiet=quiet, as_json=as_json), written=[output], force=force_text)
    with reading_bar(quiet or as_json) as progress:
        counts = count(asked, config, progress=progress)
    made = estimate(counts, config, vocabulary)
    save(output, made.model, format=to)
    if as_json:
        click.echo(json.dumps(_facts(output, counts, made, time.perf_counter() - started)), err=output == "-")
    elif not quiet:
        click.echo(_told(counts, made, time.perf_counter() - started), err=True)


def _facts(output: str, counts: "NgramCounts", made: "Estimate", seconds: float) -> dict[str, object]:
    return {
        "output": output,
        "tokens": counts.tokens,
        "sentences": counts.sentences,
        "ngrams": made.counted,
        "kept": made.model.trie.sizes,
        "discounts": made.discounts,
        "seconds": seconds,
    }


def _told(counts: "NgramCounts", made: "Estimate", seconds: float) -> str:
    lines = [f"{counts.tokens:,} words in {counts.sentences:,} sentences; {seconds:.1f} s"]
    for length, (counted, kept) in enumerate(zip(made.counted, made.model.trie.sizes, strict=True), 1):
        found = made.discounts[length - 1]
        discounts = f"; discounts {' '.join(f'{each:.6g}' for each in found)}" if found else ""
        pruned = f", kept {kept:,}" if kept < counted else ""
        lines.append(f"{length}-grams: {counted:,}{pruned}{discounts}")
    return "\n".join(lines)
