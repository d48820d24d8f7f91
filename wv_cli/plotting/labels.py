"""Places for the labels of points, so that none lies on another: each tries the places around its point, near ones
first. A label without a free place is left out."""

import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

SIZE = 12.0  # of the letters, in units of the canvas
_WIDTH, _WIDE, _HEIGHT = 0.62, 1.0, 1.2  # of a letter and of a line; East Asian letters are wide
_GAP = 5.0  # between a point and its label
_RINGS = (1.0, 2.5, 4.0, 6.0, 8.0)
# Directions in the order in which they are tried: right, left, above, below, the diagonals.
_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))


def width_of(text: str) -> float:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return SIZE * (_WIDE * wide + _WIDTH * (len(text) - wide))


def _boxes(x: float, y: float, width: float, height: float) -> Iterator[tuple[float, float, float, float]]:
    """(left, top, right, bottom) of the places around a point."""
    for ring in _RINGS:
        for right, down in _DIRECTIONS:
            left = x + right * _GAP * ring - (width if right < 0 else 0 if right > 0 else width / 2)
            top = y + down * _GAP * ring - (height if down < 0 else 0 if down > 0 else height / 2)
            yield left, top, left + width, top + height


def places(
    points: NDArray[np.float64], labels: Sequence[str], size: tuple[float, float]
) -> list[tuple[float, float] | None]:
    """Of each label the left end of its base line, or None; `points` (n, 2) and the canvas of `size` in its units,
    y downwards. The first labels choose first, and no label covers a point if another place is free."""
    height = SIZE * _HEIGHT
    taken = np.empty((len(labels), 4))
    count = 0
    found: list[tuple[float, float] | None] = []
    for (x, y), label in zip(points.tolist(), labels, strict=True):
        best: tuple[int, tuple[float, float, float, float]] | None = None
        for box in _boxes(x, y, width_of(label), height):
            left, top, right, bottom = box
            if left < 0 or top < 0 or right > size[0] or bottom > size[1]:
                continue
            others = taken[:count]
            if np.any((others[:, 0] < right) & (left < others[:, 2]) & (others[:, 1] < bottom) & (top < others[:, 3])):
                continue
            within = (points > (left, top)) & (points < (right, bottom))
            covered = int(np.count_nonzero(within.all(axis=1)))
            if best is None or covered < best[0]:
                best = covered, box
            if not covered:
                break
        if best is None:
            found.append(None)
            continue
        taken[count] = best[1]
        count += 1
        found.append((best[1][0], best[1][3] - (height - SIZE) / 2 - 0.2 * SIZE))
    return found
