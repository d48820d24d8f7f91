"""`wv align`: turns the vectors of one file into the space of another's."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import conflict, field_options, json_option, precision_option, quiet_option
from wv_cli.commands.shared.reading import from_option
from wv_cli.transforms.config import AlignConfig


@click.command("align", cls=Command)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("-o", "--output", required=True, metavar="FILE", help="File for A's vectors in the space of B.")
@field_options(AlignConfig)
@from_option(True)
@click.option(
    "--to", "to_format", metavar="FORMAT", help="Format of the vectors written; by default FILE's ending chooses."
)
@precision_option
@click.option("--escape", is_flag=True, help="Write words the output cannot hold as new%20york.")
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Map the vectors of A into the space of B, so that equal or translated words lie close together.

    A and B are vectors of two languages (--dictionary), or of one language at two times or from two runs. The
    default is the rotation that brings the pairs' unit vectors closest (orthogonal Procrustes), computed in float64.
    A rotation keeps all cosines within A; --method rcsls does not. `wv eval translation` measures the result.
    """
    from wv_cli.commands.shared.reading import ignore_format_warnings
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.align import AlignJob
    from wv_cli.system.places import is_stdout

    if is_stdout(options["output"]) and as_json:
        raise conflict("-o -", "--json", "both write to standard output")
    ignore_format_warnings(quiet)
    run_job(job_of(AlignJob, options), quiet, as_json, _summarize)


def _summarize(metadata: dict[str, Any]) -> str:
    rounds = metadata["refined_pairs"]
    refined = f"; refined by {', '.join(f'{count:,}' for count in rounds)} pairs" if rounds else ""
    cosines = f"mean cosine {metadata['cosine_before']:.3f} -> {metadata['cosine']:.3f}"
    pairs = f"{metadata['words']:,} words; {metadata['pairs']:,} pairs"
    return f"{metadata['output']}: {pairs}, {cosines}{refined}"
