"""`wv phrases`: joins words that belong together, as word2phrase does."""

import json
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    Size,
    conflict,
    dask_option,
    field_options,
    json_option,
    quiet_option,
    refuse_meaningless,
)
from wv_cli.system.places import require_one_use
from wv_cli.text.config import PhrasesConfig, ReadingConfig, all_thresholds

# How phrases are found, and the file for those that were.
_FINDING = ("threshold", "passes", "score", "min_count", "delimiter", "across_lines", "save_phrases")


@click.command("phrases", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", default="-", metavar="FILE", show_default=True, help="Where to write the joined text.")
@click.option(
    "--threshold", type=float, multiple=True, metavar="SCORE",
    help="Join pairs that score higher; given several times: one pass each.  [default: 100; npmi: 0.5]",
)  # fmt: skip
@click.option(
    "--passes", type=click.IntRange(1, 100), metavar="N",
    help="N passes, --threshold being the last; the ones before are higher: 400, 200, 100; npmi: 0.875, 0.75, 0.5.",
)  # fmt: skip
@field_options(PhrasesConfig)
@click.option("--save-phrases", metavar="FILE", help="Also write the phrases: phrase, score, pass and words, by tabs.")
@click.option("--apply", metavar="FILE", help="Find none: join the phrases that --save-phrases kept from another text.")
@click.option(
    "--memory", type=Size(), default="2G", show_default=True, metavar="SIZE",
    help="Half for the encoded text (the rest goes to a file), half for pair counts (less costs time, not exactness).",
)  # fmt: skip
@field_options(ReadingConfig)
@dask_option
@quiet_option
@json_option
def command(
    inputs: tuple[str, ...], output: str, threshold: tuple[float, ...], passes: int | None,
    save_phrases: str | None, apply: str | None, force_text: bool, dask: str | None, quiet: bool, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Join phrases in INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are unpacked.

    A pair of neighbours in a line becomes one word when it occurs much more often than its words would by chance. Each
    further pass works on the joined text, so longer phrases grow: --threshold 200 --threshold 100, or --passes 2.
    --apply joins the same phrases in another text, in the same order. With --dask workers read a part each, to the
    file that one process writes.
    """
    from wv_cli.commands.shared.bar import reading_bar
    from wv_cli.commands.shared.display import say
    from wv_cli.jobs.facts import number_of
    from wv_cli.jobs.joined_text import JoiningRun
    from wv_cli.system.places import is_stdout

    refuse_meaningless(**dict.fromkeys(_FINDING, "not apply"))
    if passes is not None and len(threshold) > 1:
        error = conflict("--passes", "several --threshold", "each --threshold is a pass already")
        raise error
    config = PhrasesConfig(thresholds=all_thresholds(threshold, passes, options["score"]), **options)
    run = JoiningRun(
        inputs=inputs,
        output=output,
        config=config,
        save_phrases=save_phrases,
        apply=apply,
        force_text=force_text,
        dask=dask,
    )
    config.validate()
    require_one_use(apply or "", "-" in inputs)

    def tell(message: str, **facts: object) -> None:
        say(message, quiet, as_json, **facts)

    with reading_bar(quiet or as_json, inputs) as reading:
        facts = run.run(tell, lambda message: say(message, quiet or as_json, as_json), reading)
    if as_json:
        click.echo(json.dumps(facts), err=any(map(is_stdout, run.outputs)))
    elif not quiet:
        told = f"{facts['tokens_read']:,} words in, {facts['tokens']:,} out, {number_of(facts['lines'], 'line')}"
        click.echo(f"{told}; {facts['seconds']:.1f} s", err=True)
