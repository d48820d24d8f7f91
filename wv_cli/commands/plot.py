"""`wv plot`: words as points in the plane, as a picture or a page."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import quiet_option, refuse_options
from wv_cli.commands.shared.reading import from_option, load_vectors

if TYPE_CHECKING:
    from wv_cli.vectors.file_options import BadRowsName


@click.command("plot", cls=Command)
@click.argument("vectors", metavar="VECTORS")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Picture (.png .svg .pdf) or page (.html) to write."
)
@click.option("--top", type=click.IntRange(3), metavar="N", help="Also draw the first N words of VECTORS.")
@click.option("--neighbors", type=click.IntRange(1), metavar="N", help="Also draw the N nearest words of each WORD.")
@click.option(
    "--beside", multiple=True, metavar="FILE",
    help="Other vectors, drawn beside the first with the same words; may be repeated.",
)  # fmt: skip
@click.option(
    "--method", type=click.Choice(["pca", "tsne"]), default="pca", show_default=True,
    help="Projection: directions of largest variance (pca), or neighborhoods kept together (tsne).",
)  # fmt: skip
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
    vectors: str, words: tuple[str, ...], output: str, top: int | None, neighbors: int | None,
    beside: tuple[str, ...], to_kind: str | None, title: str | None, from_format: str | None,
    bad_rows: "BadRowsName", quiet: bool, **projection: Any,
) -> None:  # fmt: skip
    """Draw each WORD, or the --top N words, as a point with its name. Vectors are scaled to unit length first.

    Each file has a projection of its own: compare which words lie together, not where. Labels of points that lie close
    move apart; one without a free place is left out.

    A page (.html) needs only a browser and shows words under the mouse. Pictures need matplotlib; tsne needs
    scikit-learn (pip install scikit-learn).
    """
    refuse_options(perplexity="method=tsne", seed="method=tsne", title="not beside")
    from wv_cli.plotting import picture
    from wv_cli.plotting.panels import Drawing
    from wv_cli.system.output import check_writable, open_output
    from wv_cli.system.places import refuse_reading

    refuse_reading([output], [vectors, *beside])
    check_writable(output)
    kind = to_kind or picture.kind_of(output)
    if kind != "html":
        picture.require_matplotlib()
    if not words and top is None:
        error = click.UsageError("give WORDs, or --top N")
        raise error
    if neighbors is not None and not words:
        error = click.UsageError("--neighbors draws the nearest words of WORDs; give some")
        raise error

    drawing = Drawing(words=words, top=top, neighbors=neighbors, **projection)
    read = partial(load_vectors, from_format=from_format, quiet=quiet, bad_rows=bad_rows)
    panel, shown = drawing.first_panel(read(vectors, limit=None if words else top), vectors, title)
    panels = [panel]
    for file in beside:
        panel, count = drawing.beside(read(file, limit=None), file, shown)
        if count < len(shown):
            click.echo(f"wv plot: note: {file} has {count:,} of the {len(shown):,} words", err=True)
        panels.append(panel)
    with open_output(output) as stream:
        if kind == "html":
            picture.write_page(stream, panels)
        else:
            picture.write_figure(stream, kind, panels)
    if not quiet:
        click.echo(f"{output}: {', '.join(f'{len(panel.labels)} words' for panel in panels)}", err=True)
