"""Moments: one pass, blocks, shards and exact sums agree; large means, weights, files."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from tests.io.test_container import sealed
from wv_cli.errors import BadFile, WvError
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import fit


def of(matrix, weights=None):
    return Moments.none(matrix.shape[1]).with_rows(matrix, weights)


def exact(matrix, weights=None):
    """(mean, scatter) by fractions."""
    rows = [[Fraction(float(value)) for value in row] for row in matrix]
    weights = [Fraction(1)] * len(rows) if weights is None else [Fraction(float(w)) for w in weights]
    total, dim = sum(weights), len(rows[0])
    mean = [sum(w * row[i] for w, row in zip(weights, rows, strict=True)) / total for i in range(dim)]
    scatter = [
        [
            sum(w * (row[i] - mean[i]) * (row[j] - mean[j]) for w, row in zip(weights, rows, strict=True))
            for j in range(dim)
        ]
        for i in range(dim)
    ]
    return np.array(mean, float), np.array(scatter, float)


def agree(a, b, tolerance=1e-9):
    scale = max(1e-300, np.abs(a.scatter).max())
    assert a.rows == b.rows and a.weight == pytest.approx(b.weight, rel=1e-12)
    assert np.abs(a.mean - b.mean).max() <= tolerance * max(1e-300, np.sqrt(scale / a.weight))
    assert np.abs(a.scatter - b.scatter).max() <= tolerance * scale


matrices = st.integers(1, 4).flatmap(
    lambda dim: st.lists(st.lists(st.floats(-1e3, 1e3, width=32), min_size=dim, max_size=dim), min_size=1, max_size=12)
)


@settings(max_examples=100)
@given(rows=matrices)
def test_against_exact_sums(rows):
    matrix = np.array(rows, np.float32)
    mean, scatter = exact(matrix)
    found = of(matrix)
    size = max(1.0, float(np.abs(matrix).max()))
    assert np.allclose(found.mean, mean, rtol=0, atol=1e-14 * size)
    # A sum of products is as exact as its terms are large, which may cancel: they come to no more than this.
    terms = np.sqrt(np.outer(scatter.diagonal(), scatter.diagonal()))
    assert (np.abs(found.scatter - scatter) <= 1e-12 * terms + 1e-26 * size * size * len(rows)).all()
    assert found.rows == len(rows)


@settings(max_examples=50)
@given(rows=matrices, cuts=st.lists(st.integers(0, 12), max_size=4))
def test_shards_joined_in_any_cut(rows, cuts):
    matrix = np.array(rows, np.float64)
    cuts = sorted(min(cut, len(matrix)) for cut in cuts)
    parts = [of(part) for part in np.split(matrix, cuts)]
    joined = Moments.none(matrix.shape[1])
    for part in parts:
        joined = joined.merge(part)
    whole = of(matrix)
    assert joined.rows == whole.rows
    assert np.allclose(joined.mean, whole.mean, rtol=1e-12, atol=1e-10)
    assert np.allclose(joined.scatter, whole.scatter, rtol=1e-10, atol=1e-7)


def test_streamed_sharded_and_in_memory_agree_to_1e_9():
    random = np.random.default_rng(3)
    matrix = (random.standard_normal((20_000, 30)) @ random.standard_normal((30, 30)) + 7).astype(np.float32)
    whole = of(matrix)
    streamed = Moments.none(30)
    for first in range(0, 20_000, 777):
        streamed = streamed.with_rows(matrix[first : first + 777])
    left, right = of(matrix[:13_000]), of(matrix[13_000:])
    agree(whole, streamed)
    agree(whole, left.merge(right))
    agree(whole, right.merge(left))
    assert np.allclose(whole.covariance, np.cov(matrix.T.astype(np.float64), bias=True), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1000.0, 30_000.0])
def test_a_mean_of_many_standard_deviations(offset):
    """float32 sums, or sum(x x^T) - n m m^T, lose everything here."""
    random = np.random.default_rng(4)
    matrix = (random.standard_normal((5000, 6)) + offset).astype(np.float32)
    covariance = of(matrix).covariance
    double = matrix.astype(np.float64)
    double -= np.array([np.sum(column, dtype=np.longdouble) / len(column) for column in double.T], np.float64)
    assert np.abs(covariance - double.T @ double / 5000).max() < 1e-12
    assert np.abs(covariance - np.eye(6)).max() < 0.1


def test_drifting_rows():
    """Sorted data: every block has another mean."""
    matrix = np.sort(np.random.default_rng(5).standard_normal((30_000, 12)) * 50, axis=0)
    agree(of(matrix), of(np.random.default_rng(6).permutation(matrix)), 1e-11)


@settings(max_examples=60)
@given(rows=matrices, seed=st.integers(0, 1000))
def test_weights_are_repetitions(rows, seed):
    matrix = np.array(rows, np.float64)
    counts = np.random.default_rng(seed).integers(0, 4, len(rows))
    weighted, repeated = of(matrix, counts.astype(np.float64)), of(np.repeat(matrix, counts, axis=0))
    assert weighted.rows == np.count_nonzero(counts) and weighted.weight == counts.sum()
    assert np.allclose(weighted.mean, repeated.mean, atol=1e-10)
    assert np.allclose(weighted.scatter, repeated.scatter, rtol=1e-10, atol=1e-7)


def test_nothing_to_join():
    some, none = of(np.eye(3)), Moments.none(3)
    assert some.merge(none) is some and none.merge(some) is some
    with pytest.raises(WvError, match="of 3 and of 4 dimensions"):
        some.merge(Moments.none(4))


def test_there_and_back_through_a_file(tmp_path):
    moments = of(np.random.default_rng(1).standard_normal((50, 7)))
    moments.save(tmp_path / "m")
    again = Moments.load(tmp_path / "m")
    assert (again.rows, again.weight) == (50, 50.0)
    assert np.array_equal(again.mean, moments.mean) and np.array_equal(again.scatter, moments.scatter)


def damaged():
    """(what, change of the file's bytes, message)."""
    yield "empty", lambda data: b"", "the file is empty; expected moments"
    yield "rubbish", lambda data: bytes(range(256)) * 9, "something else"
    yield (
        "another kind",
        lambda data: data.replace(b" moments", b" transform", 1),
        "expected a moments file .*found a transform file",
    )
    yield (
        "a newer version",
        lambda data: data.replace(b"moments 1\n", b"moments 2\n", 1).replace(b"arrays 1 ", b"arrays 2 ", 1),
        r"version 1\), found version '2'; update wv",
    )
    yield "cut", lambda data: data[:-3], "a file of .* bytes, found"
    yield "too long", lambda data: data + b"x", "a file of .* bytes, found"
    yield "no JSON", lambda data: data.replace(b'{"', b'["', 1), "expected a line of JSON"
    yield "huge", lambda data: data.replace(b"[7, 7]", b"[999999999, 999999999]"), "a file of .* bytes, found"
    yield "negative", lambda data: data.replace(b"[7, 7]", b"[-7, -7]"), "expected a line of JSON"
    yield (
        "other arrays",
        lambda data: data.replace(b'"scatter"', b'"scutter"'),
        "the arrays mean .*, scatter .*, found .*scutter",
    )
    yield "rows as text", lambda data: data.replace(b'"rows": 50', b'"rows": "50"'), "expected `rows` to be an int"
    yield "shapes", lambda data: data.replace(b"[7, 7]", b"[49, 1]"), "do not fit"
    yield "nan", lambda data: data[:-8] + np.float64(np.nan).tobytes(), "NaN or infinity"
    yield "not a scatter", lambda data: data[:-16] + np.float64([5, 1]).tobytes(), "a scatter that is none"
    yield "no weight", lambda data: data.replace(b'"weight": 50.0', b'"weight": -5.0'), "`weight` to be a float from 0"


@pytest.mark.parametrize(("change", "message"), [row[1:] for row in damaged()], ids=[row[0] for row in damaged()])
def test_damaged_files(change, message, tmp_path):
    """With a check sum that fits what was changed."""
    path = tmp_path / "m"
    of(np.random.default_rng(1).standard_normal((50, 7))).save(path)
    path.write_bytes(sealed(path.read_bytes(), change))
    with pytest.raises(BadFile, match=message) as caught:
        Moments.load(path)
    assert str(caught.value).startswith(str(path))


def test_files_that_cannot_be_read(tmp_path):
    for path, message in [(tmp_path / "none", "no such file"), (tmp_path, "directory")]:
        with pytest.raises(WvError, match=message):
            Moments.load(path)


@settings(max_examples=80)
@given(place=st.integers(0, 10**6), junk=st.binary(min_size=1, max_size=6))
def test_bytes_overwritten_anywhere(place, junk, tmp_path_factory):
    """Refused or the same; never another exception."""
    path = tmp_path_factory.mktemp("m") / "m"
    moments = Moments(3, 3.0, np.ones(2), np.eye(2))
    moments.save(path)
    data = path.read_bytes()
    place %= len(data)
    path.write_bytes(data[:place] + junk + data[place + len(junk) :])
    try:
        read = Moments.load(path)
    except BadFile:
        return
    assert np.isfinite(read.mean).all() and np.isfinite(read.scatter).all()
    assert (read.rows, read.weight) == (3, 3.0) and np.array_equal(read.scatter, np.eye(2))


def test_a_file_is_written_again_as_it_was(tmp_path):
    path = tmp_path / "m"
    Moments.load(GOLDEN / "own" / "vectors.moments").save(path)
    assert path.read_bytes() == (GOLDEN / "own" / "vectors.moments").read_bytes()


@pytest.mark.parametrize(
    ("rows", "weight", "scatter", "message"),
    [
        (0, 3.0, np.zeros((2, 2)), "0 rows of 2 numbers and weight 3 do not fit"),
        (3, 0.0, np.eye(2), "3 rows of 2 numbers and weight 0 do not fit"),
        (3, 1e-300, np.eye(2) * 1e300, r"the array scatter: expected numbers up to 4\.63168e-223, found 1e\+300"),
        (3, 3.0, -np.eye(2), "a scatter that is none"),
    ],
)
def test_odd_moments_are_refused(tmp_path, rows, weight, scatter, message):
    Moments(rows, weight, np.zeros(2), scatter).save(tmp_path / "x")
    with pytest.raises(BadFile, match=message):
        Moments.load(tmp_path / "x")


@pytest.mark.parametrize(
    ("scatter", "message"),
    [
        (np.array([[1.0, 5.0], [5.0, 1.0]]), "negative variance, -1.33: the moments are damaged"),
        (np.full((2, 2), np.nan), "the covariance has no eigenvalues"),
    ],
)
def test_a_covariance_that_is_none(scatter, message):
    with pytest.raises(WvError, match=message):
        fit(Moments(3, 3.0, np.zeros(2), scatter), WhitenConfig(method="pca"))
