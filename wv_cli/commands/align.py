"""`wv align`: turns the vectors of one file into the space of another's."""

import json
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    conflict,
    field_options,
    given_options,
    json_option,
    precision_option,
    quiet_option,
    take,
)
from wv_cli.commands.shared.reading import from_option
from wv_cli.transforms.config import AlignConfig

if TYPE_CHECKING:
    from wv_cli.formats.base import Precision


@click.command("align", cls=Command)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write A's vectors in the space of B.")
@field_options(AlignConfig)
@from_option(True)
@click.option("--to", "to_format", metavar="FORMAT", help="Format of the vectors written; by default FILE's ending.")
@precision_option
@click.option("--escape", is_flag=True, help="Write words the output cannot hold as new%20york.")
@quiet_option
@json_option
def command(
    a: str, b: str, output: str, from_format: str | None, to_format: str | None, precision: "Precision", escape: bool,
    quiet: bool, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Turn the vectors of A so that words lie where the same words lie in B.

    A and B are vectors of two languages (--dictionary), or of one at two times or from two runs. The rotation that
    brings the pairs' unit vectors nearest together (orthogonal Procrustes) is computed in float64 and applied to all of
    A; what is near to what within A stays as it is, but not with --method rcsls. `wv eval translation` tells how well
    they fit.
    """
    from wv_cli.commands.shared.reading import load_vectors, require_one_use
    from wv_cli.formats import format_for_output, save, words_file
    from wv_cli.jobs.align import Named, align
    from wv_cli.system.output import check_writable
    from wv_cli.system.places import is_stdout, refuse_reading

    config = take(AlignConfig, options)
    config.validate()
    config.refuse_idle(given_options())
    if is_stdout(output) and as_json:
        raise conflict("-o -", "--json", "both write to standard output")
    row = format_for_output(output, to_format)
    if "precision" in given_options():
        row.require_precision(precision)
    read = [a, b, *filter(None, [config.dictionary])]
    require_one_use("-", read.count("-") > 1)
    refuse_reading(filter(None, [words_file(output, row.name)]), read)  # FILE itself may take the place of A
    check_writable(output)
    first, second = (Named(load_vectors(path, from_format, None, quiet), path) for path in (a, b))
    made = align(first, second, config)
    save(output, made.vectors, format=row.name, precision=precision, escape=escape)
    for note in made.notes if not quiet else []:
        click.echo(f"note: {note}", err=True)
    facts = {
        "output": output, "words": len(made.vectors), "dim": made.vectors.dim, "pairs": made.pairs,
        "cosine_before": made.before, "cosine": made.after, "refined_pairs": made.found,
        "losses": made.losses,
    }  # fmt: skip
    if as_json:
        click.echo(json.dumps(facts))
    elif not quiet:
        refined = f"; refined by {', '.join(f'{count:,}' for count in made.found)} pairs" if made.found else ""
        cosines = f"mean cosine {made.before:.3f} -> {made.after:.3f}"
        click.echo(f"{output}: {len(made.vectors):,} words; {made.pairs:,} pairs, {cosines}{refined}", err=True)
