"""`wv plot`: words as points in the plane, as a picture or a page."""

from typing import TYPE_CHECKING

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import quiet_option, refuse_options
from wv_cli.commands.shared.reading import from_option, load_vectors
from wv_cli.errors import WvError

if TYPE_CHECKING:
    from wv_cli.formats.base import BadRowsName
    from wv_cli.vectors.embeddings import Embeddings


@click.command("plot", cls=Command)
@click.argument("vectors", metavar="VECTORS")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Picture (.png .svg .pdf) or page (.html) to write."
)
@click.option("--top", type=click.IntRange(3), metavar="N", help="Also draw the first N words of VECTORS.")
@click.option("--neighbours", type=click.IntRange(1), metavar="N", help="Also draw the N nearest words of each WORD.")
@click.option(
    "--beside",
    multiple=True,
    metavar="FILE",
    help="Other vectors, drawn beside the first with the same words; may be repeated.",
)
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
    neighbours: int | None,
    beside: tuple[str, ...],
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

    Each file has a projection of its own: compare which words lie together, not where. Labels of points that lie close
    move apart; one without a free place is left out.

    A page (.html) needs only a browser and shows words under the mouse. Pictures need matplotlib; tsne needs
    scikit-learn (pip install scikit-learn).
    """
    refuse_options(perplexity="method=tsne", seed="method=tsne", title="not beside")
    import numpy as np

    from wv_cli.plotting import picture
    from wv_cli.plotting.plane import points
    from wv_cli.system.output import check_writable, open_output
    from wv_cli.vectors.spelling import find_queries
    from wv_cli.words import WordList

    check_writable(output)
    kind = to_kind or picture.kind_of(output)
    if kind != "html":
        picture.require_matplotlib()
    if not words and top is None:
        error = click.UsageError("give WORDs, or --top N")
        raise error
    if neighbours is not None and not words:
        error = click.UsageError("--neighbours draws the nearest words of WORDs; give some")
        raise error

    def panel(read: "Embeddings", file: str, rows: list[int]) -> picture.Panel:
        if neighbours is not None:
            asked = [read.words[row] for found, _ in find_queries(read.words, words, file) for row in found]
            near = [read.neighbours(word, k=neighbours) for word in asked]
            rows = [*rows, *(read.words.find(word) for each in near for word, _ in each)]
        chosen = list(dict.fromkeys(rows))
        placed, axes = points(read.matrix[np.array(chosen, np.int64)], method, perplexity=perplexity, seed=seed)
        return picture.Panel(file, placed, [read.words[row] for row in chosen], axes)

    first = load_vectors(vectors, from_format, None if words else top, quiet, bad_rows=bad_rows)
    rows = list(range(min(top or 0, len(first))))
    for found, problem in find_queries(first.words, words, vectors):
        if problem:
            raise WvError(problem)
        rows += found
    same = WordList.of(first.words[row] for row in dict.fromkeys(rows))
    panels = [panel(first, vectors if title is None else title, rows)]
    for file in beside:
        read = load_vectors(file, from_format, None, quiet, bad_rows=bad_rows)
        rows = [row for row in read.words.find_all(same).tolist() if row >= 0]
        if len(rows) < len(same):
            click.echo(f"wv plot: note: {file} has {len(rows):,} of the {len(same):,} words", err=True)
        panels.append(panel(read, file, rows))
    with open_output(output) as stream:
        if kind == "html":
            picture.write_page(stream, panels)
        else:
            picture.write_figure(stream, kind, panels)
    if not quiet:
        click.echo(f"{output}: {', '.join(f'{len(panel.labels)} words' for panel in panels)}", err=True)
