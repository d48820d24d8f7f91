"""Embeddings as a Python program uses them: words in, vectors and neighbors out."""

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.reference import search as reference
from wv_cli.vectors.codes import Codes, CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load
from wv_cli.vectors.neighbors.codes import pack_bits
from wv_cli.words import WordList

WORDS = WordList.from_words(["king", "queen", "man", "woman", "zero", "new york"])


@pytest.fixture
def vectors():
    matrix = np.random.default_rng(1).standard_normal((6, 5)).astype(np.float32)
    matrix[4] = 0
    return Embeddings(WORDS, matrix)


def test_words_and_their_vectors(vectors):
    assert "king" in vectors and "new york" in vectors and "new" not in vectors and 3 not in vectors
    found = vectors["queen"]
    assert found.shape == (5,) and found.dtype == np.float32
    np.testing.assert_array_equal(found, vectors.matrix[1])
    found[:] = 0
    assert vectors.matrix[1].any(), "it is a copy"
    with pytest.raises(KeyError, match="'kign' is not in the vectors; did you mean 'king'"):
        vectors["kign"]
    assert list(vectors) == list(WORDS)


def test_similarity_is_the_cosine(vectors):
    x, y = vectors.matrix[:2].astype(float)
    assert vectors.similarity("king", "queen") == pytest.approx(x @ y / np.linalg.norm(x) / np.linalg.norm(y))
    assert vectors.similarity("king", "king") == 1 and vectors.similarity("king", "zero") == 0
    with pytest.raises(KeyError, match="'nobody' is not in the vectors"):
        vectors.similarity("king", "nobody")


def test_neighbors(vectors):
    unit = reference.unit(vectors.matrix)
    before = vectors.matrix.copy()
    for positive, negative in [(["king"], []), (["king", "new york"], []), (["king", "woman"], ["man"]), ([], ["man"])]:
        rows = [WORDS.find(word) for word in (*positive, *negative)]
        query = np.array([1] * len(positive) + [-1] * len(negative)) @ unit[rows]
        hits, scores = reference.top_k(unit, reference.unit(query[None]), 3, [rows])
        found = vectors.neighbors(positive, negative, k=3)
        assert [word for word, _ in found] == [WORDS[row] for row in hits[0]]
        np.testing.assert_allclose([score for _, score in found], scores[0], atol=1e-6)
    assert vectors.neighbors("king", k=2) == vectors.neighbors(["king"], k=2)
    assert vectors.neighbors(["king", "woman"], "man") == vectors.neighbors(["king", "woman"], ["man"])
    assert len(vectors.neighbors("king", k=100)) == 5
    np.testing.assert_array_equal(vectors.matrix, before)
    assert vectors._index is vectors._index, "made once"
    with pytest.raises(KeyError, match="'Kin' is not in the vectors; did you mean 'king'"):
        vectors.neighbors(["queen"], ["Kin"])
    with pytest.raises(ValueError, match="at least one word"):
        vectors.neighbors([])


def test_words_composed_of_subwords():
    model = load(GOLDEN / "ft-words.bin")
    assert model.subwords is not None
    word = "unheardofness"
    assert word not in model.words and word in model and model[word].shape == (model.dim,)
    np.testing.assert_array_equal(model[word], model.subwords.oov_vector(word))
    hits, scores = zip(*model.neighbors(word, k=4), strict=True)
    unit = reference.unit(model.matrix)
    rows, expected = reference.top_k(unit, reference.unit(model[word][None]), 4)
    assert list(hits) == [model.words[row] for row in rows[0]]
    np.testing.assert_allclose(scores, expected[0], atol=2e-6)
    assert model.similarity(word, hits[0]) == pytest.approx(scores[0], abs=1e-6)


def test_codes_answer_by_their_bits():
    bits = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0], [0, 1, 1, 1]], np.bool_)
    dense = CodeVectors(Codes(WordList.from_words("abcd"), "x", 4, 0, pack_bits(bits)))
    assert dense["a"].tolist() == [1, 1, -1, -1] and dense.similarity("a", "c") == 0.5
    assert dense.neighbors("c", k=1) == [("a", 0.75)]
    assert dense.neighbors(["a", "b"], k=1) == [("c", 0.5)]  # 1110, ties on
    assert dense.neighbors(["a"], ["d"], k=1) == [("c", 0.75)]  # 1100 against 0111: ties on, 1100
    sparse = CodeVectors(Codes(WordList.from_words("abc"), "x", 9, 2, np.array([[1, 8], [2, 8], [2, 3]], np.int32)))
    assert sparse["b"].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 1] and sparse.similarity("a", "b") == pytest.approx(0.5)
    assert sparse.neighbors(["a", "c"], k=1) == [("b", 0.5)]  # positions 1 and 2, the lowest of equals
    assert sparse.neighbors(["a", "b"], ["a"], k=1) == [("c", 0.5)]  # positions 2 and 8 again
