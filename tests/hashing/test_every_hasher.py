"""What every hashing method owes, run over the table, and what each claims for itself."""

import importlib
from dataclasses import fields

import numpy as np
import pytest

from tests.conftest import ROOT
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.hashing import HASHERS
from wv_cli.hashing.biohash import BioHash, kmeans_centers
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.fit import fit, load_hasher
from wv_cli.hashing.principal import principal_axes, rotation
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load
from wv_cli.vectors.formats.codes import save as save_codes
from wv_cli.vectors.neighbors.codes import unpack_bits
from wv_cli.words import WordList

GLOVE = ROOT / "data" / "hashing" / "glove50_4k.txt.xz"
METHODS = [name for name, row in HASHERS.items() if row.learns_from == "vectors"]
EVERY = pytest.mark.parametrize("method", METHODS)
SPARSE = pytest.mark.parametrize("method", [name for name in METHODS if HASHERS[name].sparse])


@pytest.fixture(scope="module")
def glove():
    vectors = load(GLOVE)
    assert (len(vectors), vectors.dim) == (4196, 50)
    return vectors


def first(vectors, n):
    return Embeddings(vectors.words[:n], vectors.matrix[:n])


@pytest.mark.parametrize("method", HASHERS)
def test_rows_of_the_table_are_true(method):
    """Every option is a field of the config, every field is some method's, and modules have what rows promise."""
    row = HASHERS[method]
    assert set(row.options) <= {field.name for field in fields(row.config)} - {"threads"}
    module, _, name = row.learner.partition(":")
    loader = importlib.import_module(row.loader)
    assert callable(getattr(importlib.import_module(module), name))
    assert callable(loader.read_hasher if row.learns_from == "vectors" else loader.load_hasher)
    if row.learns_from == "vectors":
        assert row.sparse == (row.expansion is not None) and row.length(300) >= 32
    described = row.config.options()
    assert row.center == "none" or method in described["center"].help, (
        "--center auto: the help of HashConfig says which"
    )
    assert row.expansion is None or method in described["expansion"].help, "the same of --expansion 0"
    used = {option for other in HASHERS.values() if other.config is row.config for option in other.options}
    assert used == {field.name for field in fields(row.config)} - {"threads"}


@EVERY
def test_only_its_options_change_a_method(method, glove):
    """Another value of an option that the row does not name gives the same codes."""
    vectors, row = first(glove, 700), HASHERS[method]
    changes = {"orthogonal": True, "sampling": 0.5, "iterations": 3, "rule": "sgd", "p": 3.0, "rank": 3, "delta": 0.3}
    changes |= {"lr": 0.01, "epochs": 2, "batch": 7, "normalize_weights": True}
    assert set(changes) == {field.name for field in fields(HashConfig)} - {
        "length", "expansion", "normalize", "center", "threshold", "seed", "threads"
    }  # fmt: skip
    others = HashConfig(**{name: value for name, value in changes.items() if name not in row.options})
    codes = [fit(vectors, method, config).encode(vectors).data for config in (HashConfig(), others)]
    np.testing.assert_array_equal(*codes)


@EVERY
def test_codes_repeat_and_follow_the_seed(method, glove, tmp_path):
    vectors = first(glove, 700)
    hasher = fit(vectors, method, HashConfig(iterations=5))
    codes = hasher.encode(vectors)
    assert len(codes) == 700 and codes.method == method and codes.words == vectors.words
    assert codes.bits == hasher.units and codes.active == (32 if HASHERS[method].sparse else 0)
    again = fit(vectors, method, HashConfig(iterations=5, threads=3)).encode(vectors, threads=3)
    np.testing.assert_array_equal(codes.data, again.data)
    if "seed" in HASHERS[method].effective_options:
        other = fit(vectors, method, HashConfig(iterations=5, seed=2)).encode(vectors)
        assert not np.array_equal(codes.data, other.data), "without an effect of the seed its row has idle=('seed',)"
    hasher.save(tmp_path / "h")
    read = load_hasher(tmp_path / "h")
    assert read.parameters == hasher.parameters and read.parameters["fitted_on"] == 700
    new = Embeddings(glove.words[700:900], glove.matrix[700:900])
    np.testing.assert_array_equal(read.encode(new).data, hasher.encode(new).data)


@SPARSE
def test_exactly_so_many_are_active(method, glove):
    """Also for rows of zeros, equal rows and integers, where activations tie."""
    random = np.random.default_rng(1)
    matrix = random.integers(-1, 2, (400, 12)).astype(np.float32)
    matrix[:5] = 0
    vectors = Embeddings(WordList.from_words([str(i) for i in range(400)]), matrix)
    for length in (1, 7, 32):
        codes = fit(vectors, method, HashConfig(length=length, expansion=200)).encode(vectors)
        assert codes.data.shape == (400, length)
        assert (np.diff(codes.data, axis=1) > 0).all() and codes.data.min() >= 0 and codes.data.max() < 200
    assert (unpack_bits(codes.pack_codes(), 200).sum(axis=1) == 32).all()


@EVERY
def test_bad_vectors(method, glove, tmp_path):
    vectors = first(glove, 700)
    hasher = fit(vectors, method, HashConfig(iterations=1))
    with pytest.raises(WvError, match=r"expected vectors of 50 numbers, as the hasher was made for, found 49"):
        hasher.encode(Embeddings(vectors.words, vectors.matrix[:, :49]), name="x.vec")
    for value in (np.nan, np.inf, 1e30):
        bad = vectors.matrix.copy()
        bad[3, 7] = value
        damaged = Embeddings(vectors.words, bad)
        for work in (lambda d=damaged: fit(d, method, HashConfig(), name="x.vec"), lambda d=damaged: hasher.encode(d)):
            with pytest.raises(WvError, match=r"row 4, the word .*: expected finite numbers"):
                work()


@SPARSE
def test_more_active_than_units(method, glove):
    with pytest.raises(UsageError, match=r"--length 40 active bits of --expansion 40"):
        fit(first(glove, 700), method, HashConfig(length=40, expansion=40))


@pytest.mark.parametrize(
    ("method", "config", "what"),
    [
        ("itq", HashConfig(length=51), r"a bit per direction .* 50 of 50"),
        ("pcah", HashConfig(length=60), r"a bit per direction"),
        ("sign", HashConfig(length=64), r"a bit per coordinate, 50 here"),
        ("lsh", HashConfig(expansion=64), r"--expansion is for sparse codes \(fly, randexp, biohash\)"),
        ("fly", HashConfig(threshold="median"), r"--threshold median is for dense codes"),
        ("pq", HashConfig(length=128), r"the nearest it has: 104 and 136"),
        ("pq", HashConfig(length=500), r"the 50 coordinates .* --length 500; the nearest it has: 200 and 400"),
        ("pq", HashConfig(center="mean"), r"--center and --threshold are for codes of bits"),
        ("pq", HashConfig(threshold="median"), r"--center and --threshold are for codes of bits"),
        ("pq", HashConfig(expansion=64), r"--expansion is for sparse codes"),
        ("biohash", HashConfig(expansion=5000), r"needs at least 5,000 vectors"),
        ("biohash", HashConfig(length=60_000), r"1,200,000 bits; expected at most 1,048,576; lower --length"),
    ],
)
def test_lengths_a_method_does_not_have(method, config, what, glove):
    with pytest.raises(UsageError, match=what):
        fit(glove, method, config)


def test_directions_without_variance_are_no_bits():
    random = np.random.default_rng(0)
    flat = random.standard_normal((100, 3)) @ random.standard_normal((3, 9))
    vectors = Embeddings(WordList.from_words([str(i) for i in range(100)]), flat.astype(np.float32))
    with pytest.raises(UsageError, match=r"3 of 9 here, not 4"):
        fit(vectors, "itq", HashConfig(length=4, normalize=False))


@pytest.mark.parametrize("orthogonal", [False, True])
def test_lsh_collides_by_the_angle(orthogonal):
    """P(equal bits) = 1 - angle / pi (Charikar 2002), within 3 standard errors over 20,000 projections."""
    bits = 20_000
    for angle in (0.1, 0.8, np.pi / 2, 2.5, np.pi):
        rows = np.zeros((2, 40), np.float32)
        rows[:, 0] = 1
        rows[1, :2] = np.cos(angle), np.sin(angle)
        vectors = Embeddings(WordList.from_words("ab"), rows)
        hasher = fit(vectors, "lsh", HashConfig(length=bits, orthogonal=orthogonal))
        a, b = unpack_bits(hasher.encode(vectors).data, bits)
        expected = 1 - angle / np.pi
        error = np.sqrt(expected * (1 - expected) / bits)
        assert abs((a == b).mean() - expected) <= 3 * error + 1e-3 * (angle == np.pi)


def test_median_thresholds_halve_the_rows(glove):
    codes = fit(glove, "lsh", HashConfig(length=64, threshold="median")).encode(glove)
    share = unpack_bits(codes.data, 64).mean(axis=0)
    assert np.abs(share - 0.5).max() < 0.01


def test_itq_never_loses(glove):
    x = glove.matrix - glove.matrix.mean(axis=0)
    axes = principal_axes(x, 24, "itq")
    np.testing.assert_allclose(axes.T @ axes, np.eye(24), atol=1e-10)
    turn, errors = rotation(x, axes, 50, 1)
    np.testing.assert_allclose(turn.T @ turn, np.eye(24), atol=1e-10)
    assert len(errors) == 51 and (np.diff(errors) <= 1e-12).all() and errors[-1] < 0.9 * errors[0]


def test_kmeans_never_loses_and_uses_every_center(glove):
    x = glove.matrix / np.linalg.norm(glove.matrix, axis=1, keepdims=True)
    centers, scores = kmeans_centers(x, 100, 15, seed=1)
    assert (np.diff(scores) > -1e-6).all()
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1, rtol=1e-5)
    assert len(np.unique((x @ centers.T).argmax(axis=1))) > 95
    duplicates = np.repeat(x[:10], 50, axis=0)
    assert np.isfinite(kmeans_centers(duplicates, 40, 5, seed=1)[0]).all()


def sgd(**changes):
    return HashConfig(**{"length": 8, "expansion": 100, "rule": "sgd", "epochs": 3, **changes})


def test_sgd_lowers_the_energy_and_goes_to_the_unit_sphere(glove):
    x = glove.matrix / np.linalg.norm(glove.matrix, axis=1, keepdims=True)
    for p in (2.0, 3.0):
        model = BioHash(x, sgd(p=p, epochs=10))
        energies = []
        worker = model.worker()
        for step in range(model.steps):
            energy, rows, _, _ = model.train_step(step, worker)
            energies.append(energy / rows)
        assert energies[-1] < energies[0]
        won = np.unique((x @ model.effective.T).argmax(axis=1))
        np.testing.assert_allclose(np.linalg.norm(model.weights[won], p, axis=1), 1, atol=0.1)


def test_sgd_goes_on_where_it_stopped(glove):
    x = np.ascontiguousarray(glove.matrix)
    whole, part = BioHash(x, sgd()), BioHash(x, sgd())
    assert train(Threads(whole)).is_finished
    for step in range(2):
        part.train_step(step, part.worker())
    resumed = BioHash(x, sgd())
    resumed.arrays()["weights"][:] = part.arrays()["weights"]
    assert train(Threads(resumed, first_step=2)).is_finished
    np.testing.assert_array_equal(resumed.weights, whole.weights)
    assert whole.identity() == part.identity() != BioHash(x, sgd(seed=2)).identity()


@pytest.mark.parametrize("rule", ["kmeans", "sgd"])
@pytest.mark.parametrize("length", [4, 16])
def test_biohash_beats_random_projections(length, rule, glove):
    """The papers' claim for short codes, on GloVe vectors: retrieval of the 100 exact neighbors."""
    task = TASKS["retrieval"]
    config = task.config(queries=200, threads=1)
    found = {}
    for method in ("lsh", "fly", "biohash"):
        codes = fit(glove, method, HashConfig(length=length, rule=rule)).encode(glove)
        found[method] = task.run([Vectors(method, lambda c=codes: CodeVectors(c))], [str(GLOVE)], config).scores[0][1]
    assert found["biohash"] > found["fly"] + 3 and found["biohash"] > found["lsh"] + 3, found


def test_product_codes_stand_for_the_vectors(glove):
    """More bytes come nearer to the unit vectors; what is compared is the reference's nearest centroids put side by
    side."""
    unit = glove.matrix / np.linalg.norm(glove.matrix, axis=1, keepdims=True)
    errors = []
    for length in (8, 40, 104, 200):
        hasher = fit(glove, "pq", HashConfig(length=length))
        codes = hasher.encode(glove)
        assert codes.data.dtype == np.uint8 and codes.data.shape == (len(glove), length // 8)
        assert codes.bits_per_word == codes.bits == length and CodeVectors(codes).dim == 50
        matrix = CodeVectors(codes).matrix
        np.testing.assert_allclose(matrix[:50], decoded(unit[:50], hasher.quantizer), atol=1e-6)
        errors.append(np.square(matrix - unit).sum(axis=1).mean())
    assert (np.diff(errors) < 0).all() and errors[-1] < 0.05, errors
    assert fit(glove, "pq", HashConfig()).units == 104  # the most up to 128 that 50 coordinates make


def decoded(rows, quantizer):
    blocks = [quantizer.block(m).astype(np.float64) for m in range(quantizer.nsub)]
    parts, start = [], 0
    for block in blocks:
        part = rows[:, start : start + block.shape[1]].astype(np.float64)
        parts.append(block[np.square(part[:, None] - block[None]).sum(axis=2).argmin(axis=1)])
        start += block.shape[1]
    return np.concatenate(parts, axis=1)


def test_product_codes_keep_more_than_bits_of_the_same_size(glove):
    task = TASKS["retrieval"]
    found = {}
    for method in ("lsh", "pq"):
        codes = fit(glove, method, HashConfig(length=104)).encode(glove)
        report = task.run([Vectors(method, lambda c=codes: CodeVectors(c))], [str(GLOVE)], task.config(queries=100))
        found[method] = report.scores[0][1]
        assert report.rows[0]["bits"] == 104
    assert found["pq"] > found["lsh"] + 10, found


@pytest.mark.parametrize("method", ["lsh", "pq"])
def test_files_that_are_no_hashers(method, glove, tmp_path):
    codes = fit(first(glove, 50), "lsh", HashConfig()).encode(first(glove, 50))
    save_codes(tmp_path / "codes", codes)
    with pytest.raises(BadFile, match="these are codes, not the hasher that made them"):
        load_hasher(tmp_path / "codes")
    with pytest.raises(BadFile, match="expected a hasher file"):
        load_hasher(GLOVE)
    hasher = fit(first(glove, 50), method, HashConfig())
    hasher.save(tmp_path / "h")
    whole = (tmp_path / "h").read_bytes()
    for size in range(0, len(whole), 997):
        (tmp_path / "h").write_bytes(whole[:size])
        with pytest.raises(BadFile):
            load_hasher(tmp_path / "h")
