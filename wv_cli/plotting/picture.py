"""Points with labels as a picture: a PNG (or what else matplotlib writes), or an HTML page that needs nothing else.

The page is self-contained: an SVG with a title on every point, which browsers show when the mouse is over it, and a
few lines of script for a search box. Words are escaped: a vector file cannot put markup into the page.
"""

import html
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.io.compression import inner_name
from wv_cli.plotting.labels import SIZE, Place, places

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT, _MARGIN = 1000, 720, 60
_COLUMNS = 2  # of panels
_UNDATED: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}

_PAGE = """<!doctype html>
<html><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px sans-serif; margin: 1em; }}
svg {{ border: 1px solid #ccc; max-width: 100%; height: auto; }}
circle {{ fill: #36c; fill-opacity: .6; }} circle:hover {{ fill: #c30; }}
path {{ stroke: #999; stroke-width: .7; }}
text {{ font-size: {letters:.0f}px; fill: #222; pointer-events: none; }} text.axis {{ fill: #777; }}
.off {{ opacity: .08; }}
</style></head><body>
<p><b>{title}</b> &nbsp; <input id="q" type="search" placeholder="find a word"> <span id="n">{count}</span></p>
{body}
<script>
const q = document.getElementById("q"), points = [...document.querySelectorAll("g.p")];
q.addEventListener("input", () => {{
  const wanted = q.value.toLowerCase();
  let n = 0;
  for (const p of points) {{
    const found = p.dataset.w.toLowerCase().includes(wanted);
    p.classList.toggle("off", !found); n += found;
  }}
  document.getElementById("n").textContent = n;
}});
</script></body></html>
"""


def _to_unicode(text: str) -> str:
    """Bytes that are not UTF-8, of words and names of files, become the replacement character."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@dataclass(frozen=True, eq=False)
class Panel:
    """The words of one file: `points` (n, 2), a label for each, the names of the two axes."""

    title: str
    points: NDArray[np.float64]
    labels: Sequence[str]
    axes: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", _to_unicode(self.title))

    def on_canvas(self) -> NDArray[np.float64]:
        """The points in units of the canvas, y downwards."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        size = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
        scaled: NDArray[np.float64] = _MARGIN + (self.points - low) / np.where(high > low, high - low, 1) * size
        scaled[:, 1] = _HEIGHT - scaled[:, 1]
        return scaled

    def texts(self) -> list[str]:
        """The labels as Unicode."""
        return [_to_unicode(label) for label in self.labels]

    def places(self) -> list[Place | None]:
        """The place of each label on the canvas, None where it is not drawn."""
        edge = _MARGIN / 2  # where the names of axes and the title stand
        return places(self.on_canvas(), self.texts(), (edge, edge, _WIDTH, _HEIGHT - edge))


def kind_of(path: str) -> str:
    """ "html" or the ending matplotlib goes by. Raises UsageError for anything else."""
    ending = Path(inner_name(path)).suffix.lower()
    if ending in (".html", ".htm"):
        return "html"
    if ending in (".png", ".svg", ".pdf"):
        return ending[1:]
    message = f"{path}: expected .png, .svg, .pdf or .html, found {ending or 'no ending'!r}; choose one with --to"
    raise UsageError(message)


def require_matplotlib() -> "type[Figure]":
    """matplotlib's Figure. Raises WvError naming the extra when it is not installed."""
    try:
        from matplotlib import figure
    except ImportError:
        message = "a .png, .svg or .pdf needs matplotlib; pip install matplotlib, or write .html"
        raise WvError(message) from None
    kind: type[Figure] = figure.Figure
    return kind


def write_page(stream: BinaryIO, panels: Sequence[Panel]) -> None:
    """One drawing for each panel, under its title where there are several."""
    title, body = (
        ", ".join(panel.title for panel in panels),
        "\n".join(_new_figure(panel, len(panels) > 1) for panel in panels),
    )
    count = sum(len(panel.labels) for panel in panels)
    stream.write(_PAGE.format(title=html.escape(title), count=count, letters=SIZE, body=body).encode())


def _new_figure(panel: Panel, titled: bool) -> str:
    lines = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}">']
    for (x, y), label, place in zip(panel.on_canvas().tolist(), panel.texts(), panel.places(), strict=True):
        word = html.escape(label)
        text = f'<text x="{place.x:.1f}" y="{place.y:.1f}">{word}</text>' if place else ""
        if place and place.line_end:
            text += f'<path d="M{x:.1f} {y:.1f}L{place.line_end[0]:.1f} {place.line_end[1]:.1f}"/>'
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{word}</title></circle>'
        lines.append(f'<g class="p" data-w="{word}">{circle}{text}</g>')
    across, up = map(html.escape, panel.axes)
    middle, turn = 'text-anchor="middle"', f'transform="rotate(-90 16 {_HEIGHT / 2})"'
    lines.append(f'<text class="axis" x="{_WIDTH / 2}" y="{_HEIGHT - 12}" {middle}>{across}</text>')
    lines.append(f'<text class="axis" x="16" y="{_HEIGHT / 2}" {middle} {turn}>{up}</text>')
    if titled:
        lines.append(f'<text x="{_WIDTH / 2}" y="{SIZE + 8}" {middle}>{html.escape(panel.title)}</text>')
    return "\n".join([*lines, "</svg>"])


def write_figure(stream: BinaryIO, kind: str, panels: Sequence[Panel]) -> str:
    """The same with matplotlib, without date and random names: the same words give the same bytes. Returns the
    characters of labels that no installed font has. Raises WvError when matplotlib is not installed."""
    figure_type = require_matplotlib()
    from matplotlib import rc_context

    from wv_cli.plotting.fonts import choose_fonts

    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    # 100 units of the canvas are an inch, so that labels have their places.
    figure = figure_type(figsize=(columns * _WIDTH / 100, rows * _HEIGHT / 100))
    fonts, missing = choose_fonts("".join(part for panel in panels for part in (panel.title, *panel.texts())))
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        plot = figure.add_axes((column / columns, 1 - (row + 1) / rows, 1 / columns, 1 / rows))
        plot.set(xlim=(0, _WIDTH), ylim=(_HEIGHT, 0), xticks=[], yticks=[])
        points = panel.on_canvas()
        plot.scatter(points[:, 0], points[:, 1], s=12, alpha=0.6)
        # parse_math: a word with two dollar signs is no formula.
        letters: dict[str, Any] = {"fontsize": SIZE * 72 / 100, "parse_math": False, "fontfamily": fonts}
        for (x, y), label, place in zip(points.tolist(), panel.texts(), panel.places(), strict=True):
            if place:
                plot.text(place.x, place.y, label, **letters)
            if place and place.line_end:
                plot.plot((x, place.line_end[0]), (y, place.line_end[1]), color="#999", linewidth=0.5)
        across, up = panel.axes
        plot.text(_WIDTH / 2, _HEIGHT - 12, across, ha="center", color="gray", **letters)
        plot.text(16, _HEIGHT / 2, up, va="center", rotation=90, color="gray", **letters)
        plot.text(_WIDTH / 2, SIZE + 8, panel.title, ha="center", **{**letters, "fontsize": 1.2 * letters["fontsize"]})
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": "wv"}):
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # the caller tells of them
        figure.savefig(stream, format=kind, dpi=150, metadata=_UNDATED.get(kind))
    return missing
