"""`wv lm train`: text in, a model of n-grams out."""

import json
import time
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    Size,
    conflict,
    field_options,
    given_options,
    json_option,
    quiet_option,
    take,
)
from wv_cli.config import flag_of
from wv_cli.errors import UsageError
from wv_cli.lm.config import CountConfig, LmConfig
from wv_cli.text.config import ReadingConfig

if TYPE_CHECKING:
    from wv_cli.lm.counts import NgramCounts
    from wv_cli.lm.estimate import Estimate

# The options that make a model of counts.
_OF_MODELS = tuple(name for name in LmConfig.options() if name not in CountConfig.options())
to_option = click.option("--to", metavar="FORMAT", help="arpa or binary; by default the ending of the name tells.")
quantise_option = click.option(
    "--quantise", type=click.IntRange(2, 16), metavar="BITS",
    help="Of a binary: so many bits for each probability and back-off instead of all (8 hardly changes scores).",
)  # fmt: skip


@click.command("train", cls=Command, short_help="Train a model of n-grams on a text.")
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "-o", "--output", default="-", show_default=True, metavar="MODEL",
    help="NAME.arpa and NAME.arpa.gz are ARPA, NAME.lm wv's binary, - is ARPA on standard output.",
)  # fmt: skip
@to_option
@quantise_option
@field_options(LmConfig)
@click.option(
    "--counts", "count_files", multiple=True, metavar="FILE",
    help="Instead of INPUT: the sum of these counts, from --counts-only; --order may shorten them.",
)  # fmt: skip
@click.option("--counts-only", is_flag=True, help="Write the counts of all n-grams to OUTPUT instead of a model.")
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Memory to work in (1G); what does not fit waits on the disk of the output.  [default: 2G]",
)  # fmt: skip
@click.option("--meta/--no-meta", default=True, help="Write NAME.meta.json beside the output.")
@field_options(ReadingConfig)
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...], output: str, to: str | None, quantise: int | None, count_files: tuple[str, ...],
    counts_only: bool, memory: int | None, meta: bool, force_text: bool, quiet: bool, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Train a model of n-grams on INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are
    unpacked. Each line is a sentence, a blank one too.

    With --smoothing kneser-ney the model is that of KenLM's lmplz. A large text can be counted in parts, each with
    --counts-only, and trained on with --counts.
    """
    from wv_cli.commands.shared.bar import reading_bar
    from wv_cli.commands.shared.display import say
    from wv_cli.commands.shared.running import command_line
    from wv_cli.formats.recognise import texts
    from wv_cli.lm.count_files import save as save_counts
    from wv_cli.lm.counts import count
    from wv_cli.lm.estimate import estimate
    from wv_cli.lm.files import format_for_output, save
    from wv_cli.lm.words import read_words
    from wv_cli.system.meta import write as write_sidecar
    from wv_cli.system.output import check_writable, together
    from wv_cli.text.input_files import refuse_overwriting

    config = take(LmConfig, options)
    if not count_files:  # --order is known later
        config.validate()
    _refuse_idle(config, bool(count_files), counts_only)
    if bool(inputs) == bool(count_files):
        message = "give either INPUT to count or --counts that were made earlier"
        raise UsageError(message)
    if not counts_only:
        format_for_output(output, to).require_quantise(quantise)
    refuse_overwriting([*inputs, *count_files], output)
    check_writable(output)
    started = time.perf_counter()
    vocabulary = read_words(config.limit_vocab) if config.limit_vocab is not None else None
    if count_files:
        counts = _summed(count_files, config, memory, output)
        config = replace(config, order=counts.trie.order)
        config.validate()
    else:
        asked = texts(inputs, note=partial(say, quiet=quiet, as_json=as_json), written=[output], force=force_text)
        with reading_bar(quiet or as_json) as progress:
            counts = count(asked, config, memory=memory, spool_beside=output, progress=progress)
    made = estimate(counts, config, vocabulary) if not counts_only else None
    with together():
        if made is None:
            save_counts(output, counts)
        else:
            save(output, made.model, format=to, quantise=quantise)
        facts = _facts(output, counts, made, time.perf_counter() - started)
        if meta and output != "-":
            write_sidecar(output, list(command_line()), {"config": asdict(config), **facts})
    if as_json:
        click.echo(json.dumps(facts), err=output == "-")
    elif not quiet:
        click.echo(_told(counts, made, time.perf_counter() - started), err=True)


def _summed(paths: tuple[str, ...], config: LmConfig, memory: int | None, output: str) -> "NgramCounts":
    """The counts of files, of n-grams as long as --order says, or else as they have them."""
    from wv_cli.lm.count_files import load, summed
    from wv_cli.system.host import processors

    order = config.order if "order" in given_options() else None
    threads = config.threads or processors()
    return summed([load(path) for path in paths], order, memory=memory, spool_beside=output, threads=threads)


def _refuse_idle(config: LmConfig, from_counts: bool, counts_only: bool) -> None:
    """Raises UsageError for options on the command line that mean nothing beside the others."""
    given = given_options()
    config.refuse_idle(given)
    for name in given:
        if from_counts and name in ("lowercase", "skip_symbols", "force_text"):
            raise conflict("--counts", flag_of(name), "the words are counted already")
        if counts_only and name in (*_OF_MODELS, "to", "quantise"):
            raise conflict("--counts-only", flag_of(name), "it concerns the model, which is made with --counts later")


def _facts(output: str, counts: "NgramCounts", made: "Estimate | None", seconds: float) -> dict[str, object]:
    facts: dict[str, object] = {"output": output, "tokens": counts.tokens, "sentences": counts.sentences}
    facts["ngrams"] = counts.trie.sizes
    if made is not None:
        facts |= {"kept": made.model.trie.sizes, "discounts": made.discounts}
    return {**facts, "seconds": seconds}


def _told(counts: "NgramCounts", made: "Estimate | None", seconds: float) -> str:
    lines = [f"{counts.tokens:,} words in {counts.sentences:,} sentences; {seconds:.1f} s"]
    for length, counted in enumerate(counts.trie.sizes, 1):
        kept = made.model.trie.sizes[length - 1] if made is not None else counted
        found = made.discounts[length - 1] if made is not None else ()
        discounts = f"; discounts {' '.join(f'{each:.6g}' for each in found)}" if found else ""
        pruned = f", kept {kept:,}" if kept < counted else ""
        lines.append(f"{length}-grams: {counted:,}{pruned}{discounts}")
    return "\n".join(lines)
