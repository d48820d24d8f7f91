"""Places for the labels of points, so that none lies on another: each tries the places around its point, near ones
first. From a label that is not beside its point a line leads there. A label without a free place is left out."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZE = 12.0  # of the letters, in units of the canvas
_WIDTH, _WIDE, _HEIGHT = 0.62, 1.0, 1.2  # of a letter and of a line; East Asian letters are wide
_GAP = 5.0  # between a point and its label
_RINGS = (1.0, 1.6, 3.0, 4.5, 6.5)
_MOST_COVERED = 2  # points of others; more would make a cloud unreadable
_BESIDE = 2  # rings in which a label needs no line to its point
# Directions in the order in which they are tried: right, left, above, below, the diagonals.
_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))
_OFFSETS = np.array([(right * _GAP * ring, down * _GAP * ring) for ring in _RINGS for right, down in _DIRECTIONS])
_ALONG = np.array([0.35, 0.55, 0.75, 0.95])[:, None]  # where a line is kept free of labels

Box = tuple[float, float, float, float]
Boxes = NDArray[np.float64]  # (n, 4): left, top, right, bottom


class Place(NamedTuple):
    """The left end of a label's base line, and where the line from its point ends, if there is one."""

    x: float
    y: float
    line_end: tuple[float, float] | None


def width_of(text: str) -> float:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return SIZE * (_WIDE * wide + _WIDTH * (len(text) - wide))


def _boxes(point: NDArray[np.float64], width: float, height: float) -> Boxes:
    """The places around a point, in the order in which they are tried."""
    size = np.array([width, height])
    corner = point + _OFFSETS - size * (1 - np.sign(_OFFSETS)) / 2
    return np.hstack([corner, corner + size])


def _count_inside(boxes: Boxes, points: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many of the points lie in each box."""
    inside = (points > boxes[:, None, :2]) & (points < boxes[:, None, 2:])
    return np.asarray(np.count_nonzero(inside.all(axis=2), axis=1), np.int64)


def _find_crossing(boxes: Boxes, taken: Boxes) -> NDArray[np.bool_]:
    """Which of the boxes lie on one that is taken."""
    over = (boxes[:, None, :2] < taken[:, 2:]) & (taken[:, :2] < boxes[:, None, 2:])
    return np.asarray(np.count_nonzero(over.all(axis=2), axis=1) > 0, np.bool_)


class _Counts:
    """How many points lie in a box, rounded up to whole units of the canvas: sums over rectangles of its units."""

    def __init__(self, points: NDArray[np.float64], area: Box) -> None:
        self._most = np.ceil(area[2:]).astype(np.int64)
        cells = np.clip(points.astype(np.int64), 0, self._most - 1)
        table = np.zeros(self._most + 1, np.int64)
        np.add.at(table, tuple(cells.T + 1), 1)
        self._table = table.cumsum(axis=0).cumsum(axis=1)

    def count_inside(self, boxes: Boxes) -> NDArray[np.int64]:
        low = np.clip(np.floor(boxes[:, :2]), 0, self._most).astype(np.int64).T
        high = np.clip(np.ceil(boxes[:, 2:]), 0, self._most).astype(np.int64).T
        table = self._table
        counts: NDArray[np.int64] = (
            table[high[0], high[1]] - table[low[0], high[1]] - table[high[0], low[1]] + table[low[0], low[1]]
        )
        return counts


def places(points: NDArray[np.float64], labels: Sequence[str], area: Box) -> list[Place | None]:
    """The place of each label in `area`, or None; `points` (n, 2) and the area in units of the canvas, y downwards. The
    first labels choose first. A label beside its point covers others only if it has to, one far from it none."""
    height = SIZE * _HEIGHT
    counts, taken, lines = _Counts(points, area), np.empty((0, 4)), np.empty((0, 2))
    far = np.arange(len(_OFFSETS)) >= _BESIDE * len(_DIRECTIONS)
    found: list[Place | None] = []
    for point, label in zip(points, labels, strict=True):
        boxes = _boxes(point, width_of(label), height)
        within = (boxes[:, :2] >= area[:2]).all(axis=1) & (boxes[:, 2:] <= area[2:]).all(axis=1)
        covered = counts.count_inside(boxes) + _count_inside(boxes, lines)
        good = within & (covered <= np.where(far, 0, _MOST_COVERED)) & ~_find_crossing(boxes, taken)
        place = None
        for number in sorted(np.flatnonzero(good).tolist(), key=lambda each, of=covered: of[each]):  # type: ignore[misc]
            end = np.clip(point, boxes[number, :2], boxes[number, 2:])
            line = point + _ALONG * (end - point)
            if far[number] and _count_inside(taken, line).any():
                continue
            taken = np.vstack([taken, boxes[number]])
            lines = np.vstack([lines, line]) if far[number] else lines
            base = float(boxes[number, 3]) - (height - SIZE) / 2 - 0.2 * SIZE
            place = Place(float(boxes[number, 0]), base, (float(end[0]), float(end[1])) if far[number] else None)
            break
        found.append(place)
    return found
