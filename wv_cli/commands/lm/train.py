"""`wv lm train`: text in, a model of n-grams out."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import Size, field_options, json_option, quiet_option
from wv_cli.lm.config import LmConfig
from wv_cli.text.config import ReadingConfig

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
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Train a model of n-grams on INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are
    unpacked. Each line is a sentence, a blank one too.

    With --smoothing kneser-ney the model is that of KenLM's lmplz. A large text can be counted in parts, each with
    --counts-only, and trained on with --counts.
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
