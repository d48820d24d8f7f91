"""Whitening and its relatives: the algebra, what is refused, transforms through their files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.io.test_container import sealed
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import Transform, directions, fit


def of(matrix):
    return Moments.none(matrix.shape[1]).with_rows(matrix)


def cloud(rows=4000, dim=24, offset=3.0, seed=1, dtype=np.float64):
    random = np.random.default_rng(seed)
    return (random.standard_normal((rows, dim)) @ random.standard_normal((dim, dim)) + offset).astype(dtype)


def covariance(matrix):
    matrix = matrix.astype(np.float64)
    return np.cov(matrix.T, bias=True)


def cosines(matrix):
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["whiten", "zca"])
def test_covariance_of_whitened_rows_is_the_identity(method, dtype):
    matrix = cloud(dtype=dtype)
    result = fit(of(matrix), WhitenConfig(method=method)).apply(matrix)
    assert result.dtype == np.float32 and result.shape == matrix.shape
    assert np.abs(covariance(result) - np.eye(24)).max() < 1e-6
    assert np.abs(result.astype(np.float64).mean(axis=0)).max() < 1e-6


def test_a_mean_of_a_thousand_standard_deviations_in_float32():
    random = np.random.default_rng(2)
    matrix = (random.standard_normal((5000, 12)) + 1000 * random.uniform(0.5, 2, 12)).astype(np.float32)
    result = fit(of(matrix), WhitenConfig()).apply(matrix)
    assert np.abs(covariance(result) - np.eye(12)).max() < 1e-6


def test_eigenvalues_far_apart():
    """Five orders of magnitude between variances: the product is made in float64."""
    matrix = (cloud(dim=6, offset=0) * 10.0 ** np.array([0, 0, -1, -1, -2, -2.3])).astype(np.float32)
    transform = fit(of(matrix), WhitenConfig(tolerance=1e-9))
    assert transform.eigenvalues[0] > 1e4 * transform.eigenvalues[-1]
    assert np.abs(covariance(transform.apply(matrix)) - np.eye(6)).max() < 1e-6


def test_streamed_and_sharded_and_in_memory_make_the_same_transform():
    matrix = cloud(dtype=np.float32)
    whole = fit(of(matrix), WhitenConfig(method="zca"))
    sharded = fit(of(matrix[:999]).merge(of(matrix[999:])), WhitenConfig(method="zca"))
    assert np.abs(whole.matrix - sharded.matrix).max() < 1e-9 * np.abs(whole.matrix).max()
    assert np.abs(whole.mean - sharded.mean).max() < 1e-9


def test_pca_turns_only():
    """Distances and cosines of centered rows stay; coordinates are uncorrelated, in order of falling variance."""
    matrix = cloud(300)
    centered = matrix - matrix.mean(axis=0)
    result = fit(of(matrix), WhitenConfig(method="pca")).apply(matrix)
    assert np.abs(cosines(result) - cosines(centered)).max() < 1e-5
    spread = covariance(result)
    assert np.abs(spread - np.diag(np.diag(spread))).max() < 1e-4
    assert (np.diff(np.diag(spread)) < 1e-4).all()


def test_zca_has_the_cosines_of_whitening_and_moves_rows_less():
    matrix = cloud(500)
    white, zca = (fit(of(matrix), WhitenConfig(method=method)).apply(matrix) for method in ("whiten", "zca"))
    assert np.abs(cosines(white) - cosines(zca)).max() < 1e-5
    centered = matrix - matrix.mean(axis=0)
    assert np.linalg.norm(zca - centered) < np.linalg.norm(white - centered)
    matrix = fit(of(matrix), WhitenConfig(method="zca")).matrix
    assert np.allclose(matrix, matrix.T)


@given(angle=st.integers(0, 1000))
@settings(max_examples=25)
def test_turned_data_whiten_to_the_same_cosines(angle):
    matrix = cloud(200, 8)
    turn, _ = np.linalg.qr(np.random.default_rng(angle).standard_normal((8, 8)))
    first, second = (fit(of(x), WhitenConfig()).apply(x) for x in (matrix, matrix @ turn))
    assert np.abs(cosines(first) - cosines(second)).max() < 1e-5


def test_soft_lies_between_pca_and_whiten():
    matrix = cloud()
    by_beta = [fit(of(matrix), WhitenConfig(method="soft", beta=beta)) for beta in (0, 0.5, 1)]
    assert np.allclose(by_beta[0].matrix, fit(of(matrix), WhitenConfig(method="pca")).matrix)
    assert np.allclose(by_beta[2].matrix, fit(of(matrix), WhitenConfig(method="whiten")).matrix)
    spread = np.diag(covariance(by_beta[1].apply(matrix)))
    assert np.allclose(spread, np.sqrt(by_beta[1].eigenvalues), rtol=1e-4)


@pytest.mark.parametrize("removed", [1, 3])
def test_all_but_the_top(removed):
    matrix = cloud()
    transform = fit(of(matrix), WhitenConfig(method="abtt", remove=removed))
    _, vectors = directions(of(matrix))
    result = transform.apply(matrix)
    assert np.abs(result @ vectors[:, :removed]).max() < 1e-3
    rest = vectors[:, removed:]
    assert np.abs(result @ rest - (matrix - matrix.mean(axis=0)) @ rest).max() < 1e-4
    assert transform.facts["removed"] == removed


def test_all_but_the_top_takes_one_in_a_hundred():
    assert fit(of(cloud(500, 24)), WhitenConfig(method="abtt")).facts["removed"] == 1
    assert fit(of(cloud(500, 220)), WhitenConfig(method="abtt")).facts["removed"] == 2


def test_fewer_dimensions_are_the_first_ones():
    matrix = cloud()
    whole, part = (fit(of(matrix), WhitenConfig(dim=dim)) for dim in (0, 5))
    assert part.new_dim == 5 and np.array_equal(part.matrix, whole.matrix[:, :5])
    assert np.abs(covariance(part.apply(matrix)) - np.eye(5)).max() < 1e-6


def test_signs_are_fixed():
    _, vectors = directions(of(cloud()))
    _, mirrored = directions(of(-cloud()))
    assert np.allclose(vectors, mirrored)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(24)] > 0).all()


@pytest.mark.parametrize("method", ["whiten", "zca", "soft"])
@pytest.mark.parametrize("rows", [2, 23, 24])
def test_no_more_rows_than_dimensions_is_refused(method, rows):
    with pytest.raises(WvError, match=f"x: {rows} rows of 24 numbers cannot be whitened.*same cosine.*--fit"):
        fit(of(cloud(rows)), WhitenConfig(method=method), "x")


def test_what_that_error_is_about():
    """The claim of the message: fitted without the guard, all cosines are -1 / (N - 1)."""
    matrix = cloud(10, 24)
    values, vectors = directions(of(matrix))
    result = (matrix - matrix.mean(axis=0)) @ (vectors[:, :9] / np.sqrt(values[:9]))
    off = cosines(result)[~np.eye(10, dtype=bool)]
    assert np.allclose(off, -1 / 9, atol=1e-9)


def test_random_projections_keep_inner_products_on_average():
    """By a law of large numbers over seeds; one row is enough, the mean stays, the seed decides."""
    matrix = cloud(40, 24)
    gram = matrix @ matrix.T
    made = [fit(of(matrix), WhitenConfig(method="project", dim=64, seed=seed)) for seed in range(200)]
    each = np.array([(matrix @ transform.matrix) @ (matrix @ transform.matrix).T for transform in made])
    assert np.abs(each.mean(axis=0) - gram).max() < 0.08 * np.abs(gram).max()
    assert each.std(axis=0).max() > 0.1 * np.abs(gram).min()
    result = made[1].apply(matrix)
    assert np.allclose(result, matrix @ made[1].matrix, rtol=1e-4, atol=1e-4) and result.shape == (40, 64)
    again = fit(of(matrix[:1]), WhitenConfig(method="project", dim=64))
    assert np.array_equal(again.matrix, made[1].matrix) and not np.array_equal(again.matrix, made[2].matrix)
    assert fit(of(matrix), WhitenConfig(method="project")).new_dim == 24


def test_pca_and_abtt_work_with_few_rows():
    for method in ("pca", "abtt"):
        assert fit(of(cloud(10)), WhitenConfig(method=method)).rank == 9
    with pytest.raises(WvError, match="at least 2 rows, found 1"):
        fit(of(cloud(1)), WhitenConfig(method="pca"))


@pytest.mark.parametrize("constant", [0.0, 1.0, 1e6, 1e-6])
def test_constant_columns_are_cut(constant):
    matrix = cloud()
    matrix[:, [3, 7]] = constant
    transform = fit(of(matrix), WhitenConfig())
    assert transform.rank == transform.new_dim == 22
    assert np.abs(covariance(transform.apply(matrix)) - np.eye(22)).max() < 1e-6
    assert fit(of(matrix), WhitenConfig(method="zca")).new_dim == 24
    with pytest.raises(WvError, match=r"--dim 23 is more than the data have.*only 22 of 24.*at most --dim 22"):
        fit(of(matrix), WhitenConfig(dim=23))


def test_what_float32_rounds_is_no_variance():
    """A column that is another one times 0.3, as far as float32 can say that, far from zero."""
    matrix = cloud(offset=1000, dtype=np.float32)
    matrix[:, 5] = matrix[:, 4] * np.float32(0.3)
    assert fit(of(matrix), WhitenConfig(tolerance=0)).rank == 23


def test_equal_rows():
    with pytest.raises(WvError, match="all 50 rows are equal"):
        fit(of(np.tile(np.random.default_rng(1).standard_normal(5) * 1000, (50, 1))), WhitenConfig())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (WhitenConfig(dim=-1), "--dim"),
        (WhitenConfig(method="soft", beta=1.5), "--beta"),
        (WhitenConfig(method="abtt", remove=-1), "--remove"),
        (WhitenConfig(remove=2), "--remove goes with --method abtt"),
        (WhitenConfig(method="abtt", remove=24), "would leave nothing"),
        (WhitenConfig(method="zca", dim=3), "--method zca keeps every axis"),
        (WhitenConfig(tolerance=1.0), "--tolerance"),
        (WhitenConfig(tolerance=float("nan")), "--tolerance"),
    ],
)
def test_configs_that_make_no_sense(config, message):
    with pytest.raises(UsageError, match=message):
        fit(of(cloud(500)), config)


@pytest.mark.parametrize("method", ["whiten", "zca", "pca", "soft", "abtt", "project"])
def test_there_and_back_through_a_file(method, tmp_path):
    matrix = cloud(dtype=np.float32)
    transform = fit(of(matrix), WhitenConfig(method=method), "some rows")
    transform.save(tmp_path / "t")
    again = Transform.load(tmp_path / "t")
    assert np.array_equal(again.apply(matrix), transform.apply(matrix))
    assert again.facts == transform.facts and again.rank == transform.rank
    assert again.facts["source"] == "some rows" and again.facts["rows"] == 4000


def test_other_dimensions_are_refused():
    with pytest.raises(WvError, match="for vectors of 24 numbers, these have 23"):
        fit(of(cloud()), WhitenConfig()).apply(np.ones((3, 23)))


def test_moments_are_no_transform(tmp_path):
    of(cloud()).save(tmp_path / "m")
    with pytest.raises(BadFile, match=r"expected a transform file .*found a moments file"):
        Transform.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [(b'"rank": 5', b'"rank": 6', "int from 0 to 5"), (b"[5, 5]", b"[25, 1]", "do not fit a transform"),
     (b'"rank": 5', b'"rink": 5', "`rank`")],
)  # fmt: skip
def test_damaged_transforms(old, new, message, tmp_path):
    path = tmp_path / "t"
    fit(of(cloud(100, 5)), WhitenConfig()).save(path)
    path.write_bytes(sealed(path.read_bytes(), lambda data: data.replace(old, new, 1)))
    with pytest.raises(BadFile, match=message):
        Transform.load(path)
