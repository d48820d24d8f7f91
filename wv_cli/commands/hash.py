"""`wv hash`: vectors in, binary codes out."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, json_option, quiet_option, saved_run_options
from wv_cli.commands.shared.reading import from_option
from wv_cli.hashing import HASHERS
from wv_cli.hashing.config import HashConfig


def _methods(kind: str) -> str:
    return ", ".join(name for name, row in HASHERS.items() if row.kind == kind and row.learns_from == "vectors")


_HELP = f"""Turn VECTORS into binary codes, which take less memory and are compared faster.

Dense codes ({_methods("dense")}) are the signs of projections. Sparse codes ({_methods("sparse")}) are
the few most active of many units. Both are compared by counting bits. Codes of {_methods("product")} are bytes that
name centroids; they are compared by the vectors that they stand for.

`wv bioword` learns codes of words from a text.
"""


@click.command("hash", cls=Command, help=_HELP)
@click.argument("vectors", metavar="VECTORS")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help="Output file: NAME.txt, NAME.tsv and - are text, other endings binary.",
)  # fmt: skip
@click.option(
    "-m", "--method", type=click.Choice(list(HASHERS)),
    help="Hasher to fit on VECTORS; for text see wv bioword.",
)  # fmt: skip
@click.option("--hasher", metavar="FILE", help="Apply this saved hasher instead of fitting one.")
@click.option("--save-hasher", metavar="FILE", help="Save the fitted hasher, for --hasher.")
@field_options(HashConfig)
@from_option(True)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Read only the first N words of VECTORS.")
@saved_run_options
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    from wv_cli.commands.shared.running import job_of
    from wv_cli.commands.shared.training_run import run_training
    from wv_cli.jobs.hash import HashJob

    written = [*options["outputs"], *filter(None, [options["save_hasher"]])]
    job = job_of(HashJob, options)
    run_training(job, written, quiet, as_json, _figures, progress=False, unit="rows", desc="encoding")


def _figures(facts: dict[str, Any]) -> str:
    kind = f"{facts['active']} of {facts['bits']} bits" if facts["active"] else f"{facts['bits']} bits"
    return f": {facts['words']:,} words, {facts['method']}, {kind}"
