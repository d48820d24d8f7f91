"""Points with labels as a picture: a PNG (or what else matplotlib writes), or an HTML page that needs nothing else.

The page is self-contained: an SVG with a title on every point, which browsers show when the mouse is over it, and a
few lines of script for a search box. Words are escaped: a vector file cannot put markup into the page.
"""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.system.compression import inner_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT, _MARGIN = 1000, 720, 60
# Labels beyond this would be a black cloud; points without one show it under the mouse.
_LABELS = 150

_PAGE = """<!doctype html>
<html><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px sans-serif; margin: 1em; }}
svg {{ border: 1px solid #ccc; max-width: 100%; height: auto; }}
circle {{ fill: #36c; fill-opacity: .6; }} circle:hover {{ fill: #c30; }}
text {{ font-size: 12px; fill: #222; pointer-events: none; }} text.axis {{ fill: #777; }}
.off {{ opacity: .08; }}
</style></head><body>
<p><b>{title}</b> &nbsp; <input id="q" type="search" placeholder="find a word"> <span id="n">{count}</span></p>
<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}">
{body}
</svg>
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


def write_page(
    stream: BinaryIO, points: NDArray[np.float64], labels: Sequence[str], axes: Sequence[str], title: str
) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    scaled = _MARGIN + (points - low) / np.where(high > low, high - low, 1) * size
    scaled[:, 1] = _HEIGHT - scaled[:, 1]
    lines = []
    for i, ((x, y), label) in enumerate(zip(scaled.tolist(), labels, strict=True)):
        word = _escape(label)
        text = f'<text x="{x + 5:.1f}" y="{y + 4:.1f}">{word}</text>' if i < _LABELS else ""
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{word}</title></circle>'
        lines.append(f'<g class="p" data-w="{word}">{circle}{text}</g>')
    lines.append(
        f'<text class="axis" x="{_WIDTH / 2}" y="{_HEIGHT - 12}" text-anchor="middle">{_escape(axes[0])}</text>'
    )
    turn = f'transform="rotate(-90 16 {_HEIGHT / 2})"'
    lines.append(f'<text class="axis" x="16" y="{_HEIGHT / 2}" text-anchor="middle" {turn}>{_escape(axes[1])}</text>')
    page = _PAGE.format(title=_escape(title), count=len(labels), width=_WIDTH, height=_HEIGHT, body="\n".join(lines))
    stream.write(page.encode())


def _escape(text: str) -> str:
    """A word for a page: bytes that are not UTF-8 become the replacement character."""
    return html.escape(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def write_figure(
    stream: BinaryIO, kind: str, points: NDArray[np.float64], labels: Sequence[str], axes: Sequence[str], title: str
) -> None:
    """With matplotlib. Raises WvError when it is not installed."""
    figure = require_matplotlib()(figsize=(10, 7.2), layout="constrained")
    plot = figure.add_subplot()
    plot.scatter(points[:, 0], points[:, 1], s=12, alpha=0.6)
    for point, label in list(zip(points, labels, strict=True))[:_LABELS]:
        # parse_math: a word with two dollar signs is no formula.
        shown = label.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        plot.annotate(shown, point, xytext=(3, 2), textcoords="offset points", fontsize=8, parse_math=False)
    plot.set_xlabel(axes[0])
    plot.set_ylabel(axes[1])
    plot.set_title(title, parse_math=False)
    figure.savefig(stream, format=kind, dpi=150)
