"""`wv plot`: words as points in the plane, as a picture or a page."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, require
from wv_cli.errors import UsageError
from wv_cli.vectors.file_options import BadRowsName, bad_rows_option

if TYPE_CHECKING:
    from wv_cli.plotting.panels import Drawing
    from wv_cli.vectors.embeddings import Embeddings


@frozen
class PlottedWords(Part):
    """The words that are drawn, of the file `vectors` and of those `beside` it."""

    vectors: str = argument("VECTORS", role="read")
    words: tuple[str, ...] = argument("[WORD]...", ())
    top: int | None = option(None, "Also draw the first N words of VECTORS.", low=3)
    neighbors: int | None = option(None, "Also draw the N nearest words of each WORD.", low=1)
    beside: tuple[str, ...] = option(
        (), "Other vectors, drawn beside the first: same words, own --neighbors; may be repeated.", role="read"
    )
    from_format: str | None = option(
        None, "Format of VECTORS; by default its content tells.", metavar="FORMAT", group="Input"
    )
    bad_rows: BadRowsName = bad_rows_option()

    def check(self) -> None:
        require(bool(self.words) or self.top is not None, "give WORDs, or --top N")
        if self.words and Path(self.words[0]).is_file() and Path(self.vectors).is_file():
            raise UsageError(f"{self.words[0]} is a file, not a word; name other vectors by --beside")
        some = bool(self.words) or self.neighbors is None
        require(some, "--neighbors draws the nearest words of WORDs; give some")

    def load(self, path: str, limit: int | None = None) -> "Embeddings":
        from wv_cli.vectors import formats

        return formats.load(path, format=self.from_format, limit=limit, bad_rows=self.bad_rows)


@frozen
class Projection(Part):
    """How the vectors come into the plane."""

    group: ClassVar[str] = "Method"

    method: Literal["pca", "tsne"] = option(
        "pca", "Projection: directions of largest variance (pca), or neighborhoods kept together (tsne)."
    )
    perplexity: float = option(30.0, "Of tsne.", low=1, only="method=tsne")
    seed: int = option(1, "Of tsne.", low=0, high=2**32 - 1, only="method=tsne")


@frozen
class PictureOutput(Part):
    """The picture or page."""

    group: ClassVar[str] = "Output"

    output: str = option(help="Picture (.png .svg .pdf) or page (.html) to write.", short="o", role="result")
    to_format: Literal["png", "svg", "pdf", "html"] | None = option(
        None, "Output format; by default the ending chooses."
    )
    title: str | None = option(None, "Title above the picture.", metavar="TEXT", shown="VECTORS", only="not beside")

    @property
    def kind(self) -> str:
        """Raises UsageError for an output without a format."""
        from wv_cli.plotting import picture

        return self.to_format or picture.kind_of(self.output)


@frozen
class PlotJob(Job):
    """Draw each WORD, or the --top N words, as a point with its name. Vectors are scaled to unit length first.

    Each file has a projection of its own: compare which words lie together, not where. The first words choose the
    places of their labels first. A label that must move away has a line to its point; one without a free place is
    left out.

    A page (.html) needs only a browser, shows every word under the mouse, and has letters of all scripts. Pictures
    need matplotlib, which takes installed fonts for letters such as Chinese; tsne needs scikit-learn
    (pip install scikit-learn).
    """

    FUNCTION_ARGUMENTS: ClassVar[tuple[str, ...]] = ("vectors", "output", "words")

    output: PictureOutput
    words: PlottedWords
    projection: Projection = field(default_factory=Projection)

    def check(self) -> None:
        """Raises WvError for a picture that cannot be drawn here."""
        from wv_cli.plotting import picture

        if self.output.kind != "html":
            picture.require_matplotlib()

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Draws the words. The metadata are how many each panel shows."""
        from wv_cli.io.output import open_output
        from wv_cli.plotting import picture

        asked, drawing = self.words, self._new_drawing()
        read = asked.load(asked.vectors, None if asked.words else asked.top)
        panel, shown = drawing.first_panel(read, asked.vectors, self.output.title)
        panels = [panel]
        for file in asked.beside:
            panel, count = drawing.beside(asked.load(file), file, shown)
            if count < len(shown):
                run.log(f"note: {file} has {count:,} of the {len(shown):,} words")
            panels.append(panel)
        kind, missing = self.output.kind, ""
        with open_output(self.output.output) as stream:
            if kind == "html":
                picture.write_page(stream, panels)
            else:
                missing = picture.write_figure(stream, kind, panels)
        if missing:
            run.log(
                f"note: no installed font has {len(missing)} of the letters, such as {missing[0]}; write .html, which "
                "uses the browser's fonts, or install one, such as Noto Sans CJK for Chinese"
            )
        return None, {"output": self.output.output, "words": [len(panel.labels) for panel in panels]}

    def _new_drawing(self) -> "Drawing":
        from wv_cli.plotting.panels import Drawing

        asked, how = self.words, self.projection
        return Drawing(
            words=asked.words, top=asked.top, neighbors=asked.neighbors,
            method=how.method, perplexity=how.perplexity, seed=how.seed,
        )  # fmt: skip

    def report(self, metadata: Mapping[str, Any]) -> str:
        return f"{metadata['output']}: {', '.join(f'{count} words' for count in metadata['words'])}"
