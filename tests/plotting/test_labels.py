"""Labels of points lie beside them, inside the canvas, and never on one another."""

import numpy as np
import pytest

from wv_cli.plotting.labels import SIZE, places, width_of

CANVAS = (0.0, 0.0, 1000.0, 720.0)


@pytest.mark.parametrize("spread", [300.0, 60.0, 5.0])
def test_no_label_lies_on_another(spread):
    random = np.random.default_rng(3)
    points = np.clip(random.normal((500, 360), spread, (100, 2)), 30, (970, 690))
    labels = ["x" * int(length) for length in random.integers(2, 12, 100)]
    found = places(points, labels, CANVAS)
    boxes = [
        (x, y - SIZE, x + width_of(label), y) for label, at in zip(labels, found, strict=True) if at for x, y, _ in [at]
    ]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= CANVAS[2] and bottom <= CANVAS[3]
        assert not any(x < right and left < X and y < bottom and top < Y for x, y, X, Y in boxes[:i])
    assert len(boxes) >= {300.0: 100, 60.0: 55, 5.0: 5}[spread]
    for point, label, at in zip(points, labels, found, strict=True):
        if at is not None:
            low, high = np.array([at.x, at.y - SIZE]), np.array([at.x + width_of(label), at.y])
            away = np.linalg.norm(point - np.clip(point, low, high))
            assert 14 < away < 50 if at.line_end else away < 16, "a label away from its point has a line"
            assert at.line_end is None or np.linalg.norm(np.clip(at.line_end, low, high) - at.line_end) < 4


def test_the_first_labels_choose_first_and_every_point_may_have_one():
    grid = np.array([[x, y] for y in range(20, 700, 40) for x in range(20, 700, 60)], float)
    assert len(grid) > 150 and all(places(grid, ["word"] * len(grid), CANVAS))
    crowd = np.full((400, 2), 300.0)
    placed = [bool(each) for each in places(crowd, ["word"] * 400, CANVAS)]
    assert placed == sorted(placed, reverse=True), "a later label takes no place of an earlier one"


def test_a_crowd_is_not_covered_with_labels():
    crowd = np.random.default_rng(5).uniform((400, 300), (500, 400), (3000, 2))
    labels = ["word"] * len(crowd)
    for at, label in zip(places(crowd, labels, CANVAS), labels, strict=True):
        if at is not None:
            inside = (crowd > (at.x, at.y - SIZE)) & (crowd < (at.x + width_of(label), at.y))
            assert np.count_nonzero(inside.all(axis=1)) <= 2


def test_a_lone_label_stands_right_of_its_point_and_left_at_the_edge():
    (inside,), (outside,) = (places(np.array([[x, 300.0]]), ["word"], CANVAS) for x in (100.0, 990.0))
    assert inside.x == 105 and outside.x == 985 - width_of("word")
    assert inside.line_end is None and outside.line_end is None
    assert width_of("\N{CJK UNIFIED IDEOGRAPH-8A9E}") == SIZE
