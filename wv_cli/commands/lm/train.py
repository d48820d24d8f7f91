"""`wv lm train`: text in, a model of n-grams out."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import Size, field_options, json_option, quiet_option
from wv_cli.lm.config import LmConfig
from wv_cli.text.reading_config import ReadingConfig

to_option = click.option("--to", metavar="FORMAT", help="Output format: arpa or binary; by default the ending chooses.")
quantize_option = click.option(
    "--quantize", type=click.IntRange(2, 16), metavar="BITS",
    help="Bits per probability and back-off weight of a binary (8 hardly changes scores).",
)  # fmt: skip


@click.command("train", cls=Command, short_help="Train a model of n-grams on a text.")
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "-o", "--output", default="-", show_default=True, metavar="MODEL",
    help="Output file: NAME.arpa, NAME.arpa.gz, NAME.lm (binary), or - (ARPA on standard output).",
)  # fmt: skip
@to_option
@quantize_option
@field_options(LmConfig)
@click.option(
    "--counts", "count_files", multiple=True, metavar="FILE",
    help="Sum these --counts-only files instead of reading INPUT; --order may be lower.",
)  # fmt: skip
@click.option("--counts-only", is_flag=True, help="Write the counts of all n-grams to OUTPUT instead of a model.")
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Working memory (1G); what exceeds it goes to the output's disk.  [default: 2G]",
)  # fmt: skip
@click.option("--meta/--no-meta", default=True, help="Write NAME.meta.json beside the output.")
@field_options(ReadingConfig)
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Train an n-gram model on INPUT: text files, folders, or - for standard input, plain or compressed.

    Each line is a sentence, also a blank one. A large text can be counted in parts with --counts-only; --counts then
    trains on the sum.

    \b
    Smoothing methods:
      kneser-ney   modified and interpolated (Chen & Goodman 1998), equal to KenLM's lmplz
      absolute     one discount per order, interpolated
      katz         Good-Turing discounts with back-off
      witten-bell  interpolated; for little text
      add-k        --add-k more of every n-gram, with back-off
      mle          relative frequencies without smoothing
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.ngrams import NgramJob

    run_job(job_of(NgramJob, options), quiet, as_json, _summarize, bar=("B", "reading"))


def _summarize(metadata: dict[str, Any]) -> str:
    lines = [f"{metadata['tokens']:,} words in {metadata['sentences']:,} sentences; {metadata['seconds']:.1f} s"]
    sizes = metadata["ngrams"]
    for length, (counted, kept) in enumerate(zip(sizes, metadata.get("kept", sizes), strict=True), 1):
        found = metadata["discounts"][length - 1] if "discounts" in metadata else ()
        discounts = f"; discounts {' '.join(f'{each:.6g}' for each in found)}" if found else ""
        pruned = f", kept {kept:,}" if kept < counted else ""
        lines.append(f"{length}-grams: {counted:,}{pruned}{discounts}")
    return "\n".join(lines)
