"""`wv plot`: words as points in the plane, as a picture or a page."""

from typing import TYPE_CHECKING

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import quiet_option, refuse_options
from wv_cli.commands.shared.reading import from_option, load_vectors
from wv_cli.errors import WvError

if TYPE_CHECKING:
    from wv_cli.formats.base import BadRowsName


@click.command("plot", cls=Command)
@click.argument("vectors", metavar="VECTORS")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Picture (.png .svg .pdf) or page (.html) to write."
)
@click.option("--top", type=click.IntRange(3), metavar="N", help="Also draw the first N words of VECTORS.")
@click.option(
    "--method",
    type=click.Choice(["pca", "tsne"]),
    default="pca",
    show_default=True,
    help="Projection: directions of largest variance (pca), or neighbourhoods kept together (tsne).",
)
@click.option("--perplexity", type=click.FloatRange(1), default=30.0, show_default=True, help="Of tsne.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Of tsne.")
@click.option(
    "--to",
    "to_kind",
    type=click.Choice(["png", "svg", "pdf", "html"]),
    help="Output format; by default the ending chooses.",
)
@click.option("--title", metavar="TEXT", help="Title above the picture.  [default: VECTORS]")
@from_option(True, "VECTORS; by default its")
@quiet_option
def command(
    vectors: str,
    words: tuple[str, ...],
    output: str,
    top: int | None,
    method: str,
    perplexity: float,
    seed: int,
    to_kind: str | None,
    title: str | None,
    from_format: str | None,
    bad_rows: "BadRowsName",
    quiet: bool,
) -> None:
    """Draw each WORD, or the --top N words, as a point with its name. Vectors are scaled to unit length first.

    A page (.html) needs only a browser and shows words under the mouse. Pictures need matplotlib; tsne needs
    scikit-learn (pip install scikit-learn).
    """
    refuse_options(perplexity="method=tsne", seed="method=tsne")
    import numpy as np

    from wv_cli.plotting import picture
    from wv_cli.plotting.plane import points
    from wv_cli.system.output import check_writable, open_output
    from wv_cli.vectors.spelling import find_queries

    check_writable(output)
    kind = to_kind or picture.kind_of(output)
    if kind != "html":
        picture.require_matplotlib()
    if not words and top is None:
        error = click.UsageError("give WORDs, or --top N")
        raise error
    read = load_vectors(vectors, from_format, None if words else top, quiet, bad_rows=bad_rows)
    rows = list(range(min(top or 0, len(read))))
    for found, problem in find_queries(read.words, words, vectors):
        if problem:
            raise WvError(problem)
        rows += found
    chosen = list(dict.fromkeys(rows))
    placed, axes = points(read.matrix[np.array(chosen, np.int64)], method, perplexity=perplexity, seed=seed)
    labels = [read.words[row] for row in chosen]
    name = title if title is not None else vectors
    with open_output(output) as stream:
        if kind == "html":
            picture.write_page(stream, placed, labels, axes, name)
        else:
            picture.write_figure(stream, kind, placed, labels, axes, name)
    if not quiet:
        click.echo(f"{output}: {len(labels)} words", err=True)
