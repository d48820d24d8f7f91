"""Labels of points lie beside them, inside the canvas, and never on one another."""

import numpy as np
import pytest

from wv_cli.plotting.labels import SIZE, places, width_of

CANVAS = (1000.0, 720.0)


@pytest.mark.parametrize("spread", [300.0, 60.0, 5.0])
def test_no_label_lies_on_another(spread):
    random = np.random.default_rng(3)
    points = np.clip(random.normal((500, 360), spread, (100, 2)), 30, (970, 690))
    labels = ["x" * int(length) for length in random.integers(2, 12, 100)]
    found = places(points, labels, CANVAS)
    boxes = [
        (x, y - SIZE, x + width_of(label), y) for label, at in zip(labels, found, strict=True) if at for x, y in [at]
    ]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= CANVAS[0] and bottom <= CANVAS[1]
        assert not any(x < right and left < X and y < bottom and top < Y for x, y, X, Y in boxes[:i])
    assert len(boxes) >= {300.0: 100, 60.0: 70, 5.0: 5}[spread]
    near = [np.hypot(x - px, y - py) for (px, py), at in zip(points, found, strict=True) if at for x, y in [at]]
    assert max(near) < 8 * 8 + width_of("x" * 12)


def test_a_lone_label_stands_right_of_its_point_and_left_at_the_edge():
    (inside,), (outside,) = (places(np.array([[x, 300.0]]), ["word"], CANVAS) for x in (100.0, 990.0))
    assert inside[0] == 105 and outside[0] == 985 - width_of("word")
    assert width_of("\N{CJK UNIFIED IDEOGRAPH-8A9E}") == SIZE
