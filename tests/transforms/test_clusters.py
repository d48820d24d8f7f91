"""Word classes and the k-means below them, against the plain definitions."""

import numpy as np
import pytest

from wv_cli.errors import UsageError
from wv_cli.transforms import clusters
from wv_cli.transforms.clusters import nearest, spherical_kmeans, sums_of_classes, word_classes
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList


def word2vec_classes(vectors, classes):
    """word2vec.c's, as it is written there."""
    assigned = np.arange(len(vectors)) % classes
    for _ in range(10):
        centroids = np.zeros((classes, vectors.shape[1]))
        np.add.at(centroids, assigned, vectors)
        centroids /= (np.bincount(assigned, minlength=classes) + 1)[:, None]
        lengths = np.linalg.norm(centroids, axis=1, keepdims=True)
        centroids /= np.where(lengths == 0, 1, lengths)
        assigned = np.argmax(vectors @ centroids.T, axis=1)
    return assigned


@pytest.mark.parametrize("classes", [1, 2, 17, 90, 300])
def test_word_classes_are_word2vecs(classes):
    vectors = np.random.default_rng(classes).standard_normal((300, 9)).astype(np.float32)
    vectors[100:110] = vectors[0]
    made = word_classes(Embeddings(WordList.from_words(map(str, range(300))), vectors), classes)
    np.testing.assert_array_equal(made, word2vec_classes(vectors, classes))


@pytest.mark.parametrize("classes", [0, 4])
def test_as_many_classes_as_words_at_most(classes):
    with pytest.raises(UsageError, match="between 1 and the number of words, 3"):
        word_classes(Embeddings(WordList.from_words("abc"), np.ones((3, 2), np.float32)), classes)


@pytest.mark.parametrize("at_once", [1, 7, 1 << 16])
def test_sums_do_not_depend_on_how_many_rows_are_copied(monkeypatch, at_once):
    random = np.random.default_rng(1)
    x, owner = random.standard_normal((500, 6)).astype(np.float32), random.integers(0, 40, 500) // 2 * 2
    whole, counts = sums_of_classes(x, owner, 41)
    monkeypatch.setattr(clusters, "_SUMMED_ROWS", at_once)
    np.testing.assert_array_equal(sums_of_classes(x, owner, 41)[0], whole)
    np.testing.assert_array_equal(counts, np.bincount(owner, minlength=41))
    np.testing.assert_allclose(whole[4], x[owner == 4].sum(axis=0, dtype=float), rtol=1e-12)
    assert not whole[1::2].any()


def test_it_stops_when_nothing_moves():
    x = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], np.float32)
    rounds = []

    def centers_of(owner):
        rounds.append(owner.tolist())
        sums = sums_of_classes(x, owner, 2)[0]
        return (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)

    owner = spherical_kmeans(np.array([0, 1, 1, 1]), 50, centers_of, lambda centers: nearest(x, centers))
    assert owner.tolist() == [0, 0, 1, 1] and len(rounds) < 5
