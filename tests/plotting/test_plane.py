"""Words as points in the plane."""

import io

import numpy as np
import pytest

from wv_cli.errors import WvError
from wv_cli.plotting.picture import Panel, write_page
from wv_cli.plotting.plane import points


def test_points_are_principal_components_of_unit_vectors():
    matrix = np.random.default_rng(2).standard_normal((30, 6)).astype(np.float32) * np.arange(1, 31)[:, None]
    matrix = matrix.astype(np.float32)
    flat, axes = points(matrix)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    left, values, _ = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)
    assert np.allclose(np.abs(flat), np.abs(left[:, :2] * values[:2]), atol=1e-5)
    assert axes[0] == f"PC 1 ({values[0] ** 2 / (values**2).sum():.0%} of the variance)"


def test_odd_points():
    assert points(np.ones((4, 3), np.float32))[0].shape == (4, 2)
    assert points(np.arange(5, dtype=np.float32)[:, None])[0].shape == (5, 2)
    with pytest.raises(WvError, match="at least 3"):
        points(np.ones((2, 3), np.float32))


def test_a_title_of_a_file_whose_name_is_no_utf_8():
    panel = Panel("\udcff.vec", np.zeros((1, 2)), ["\udcff"], ["", ""])
    page = io.BytesIO()
    write_page(page, [panel, panel])
    assert page.getvalue().decode().count("<text") and "\ufffd.vec, \ufffd.vec" in page.getvalue().decode()
