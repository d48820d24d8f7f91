"""Golden files of our own formats hold what is computed again from the vectors that they were made of."""

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.hashing.bioword import load_hasher as load_bioword
from wv_cli.hashing.fit import load_hasher
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import Transform, fit
from wv_cli.vectors.formats import load

OWN = GOLDEN / "own"


@pytest.fixture
def vectors():
    return load(OWN / "vectors.vec")


def test_moments(vectors):
    kept, made = Moments.load(OWN / "vectors.moments"), Moments.none(8).with_rows(vectors.matrix)
    assert (kept.rows, kept.weight) == (made.rows, made.weight) == (len(vectors), len(vectors))
    np.testing.assert_allclose(kept.mean, made.mean, rtol=1e-12)
    np.testing.assert_allclose(kept.scatter, made.scatter, rtol=1e-9)


def test_transform(vectors):
    kept = Transform.load(OWN / "zca.transform")
    assert kept.facts["method"] == "zca" and kept.facts["rows"] == len(vectors)
    np.testing.assert_allclose(kept.apply(vectors.matrix), load(OWN / "white.vec").matrix, atol=1e-5)
    made = fit(Moments.load(OWN / "vectors.moments"), WhitenConfig(method="zca"), "vectors.vec")
    np.testing.assert_allclose(kept.matrix, made.matrix, rtol=1e-8, atol=1e-8)
    assert kept.facts == made.facts and kept.rank == made.rank


@pytest.mark.parametrize(
    ("method", "codes"), [("itq", "dense"), ("fly", "sparse"), ("pq", "product")], ids=lambda name: name
)
def test_hashers_and_codes(method, codes, vectors):
    kept = load(OWN / f"{codes}.codes").codes
    made = load_hasher(OWN / f"{method}.hasher").encode(vectors)
    assert kept.method == method and kept.words == vectors.words and kept.parameters == made.parameters
    np.testing.assert_array_equal(kept.data, made.data)


def test_bioword_hasher():
    kept, made = load(OWN / "bioword.codes").codes, load_bioword(str(OWN / "bioword.hasher")).static()
    assert kept.words == made.words and kept.parameters == made.parameters
    np.testing.assert_array_equal(kept.data, made.data)
