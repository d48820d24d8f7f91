"""What Python callers give: any iterable, read once; a wrong type is a TypeError that names the argument."""

import re

import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN
from tests.walk import for_each
from wv_cli import Embeddings
from wv_cli.errors import UsageError

VECTORS = Embeddings(["cat", "dog", "sun"], [[1, 0], [0.9, 0.1], [0, 1]])
CLASSIFIER = wv_cli.load_classifier(GOLDEN / "ft-labels.bin")
LINES = ["how do i bake bread ?", "a knife"]

KINDS = [list, tuple, iter, np.array, lambda each: (x for x in each), lambda each: map(str, each), dict.fromkeys]


@for_each("kind", KINDS)
def test_every_call_takes_any_iterable_once(kind):
    assert (
        CLASSIFIER.predict(kind(LINES), k=2) == CLASSIFIER.predict(LINES, k=2) and len(CLASSIFIER.predict(LINES)) == 2
    )
    words = ["cat", "dog", "sun"]
    assert VECTORS.odd_one_out(kind(words)) == "sun"
    assert VECTORS.similarity(kind(words[:2]), kind(words[2:])) == VECTORS.similarity(["cat", "dog"], "sun")
    assert VECTORS.movers_distance(kind(words[:2]), kind(words)) == VECTORS.movers_distance(["cat", "dog"], words)
    assert VECTORS.neighbors(kind(["cat"]), kind(["sun"])) == VECTORS.neighbors("cat", "sun")
    made = Embeddings(kind(words), kind([1.0, 2, 3]).reshape(3, 1) if kind is np.array else [[1], [2], [3]])
    assert list(made) == words and made.matrix.dtype == np.float32 and made["dog"].tolist() == [2]


def test_vectors_are_iterated_by_word():
    assert list(VECTORS) == ["cat", "dog", "sun"] and {word: VECTORS[word].tolist() for word in VECTORS}["sun"] == [
        0,
        1,
    ]
    assert np.array_equal(np.asarray(VECTORS), VECTORS.matrix)
    assert VECTORS.odd_one_out("cat") == "cat"


TYPES = [
    (lambda: CLASSIFIER.predict(b"alpha"), "lines: expected a line as str, found bytes b'alpha'; decode it"),
    (lambda: CLASSIFIER.predict(None), "lines: expected a line as str, or several, found None"),
    (lambda: CLASSIFIER.predict(["alpha", None]), "lines: expected each line as str, found None"),
    (lambda: CLASSIFIER.predict([["a", "b"]]), "lines: expected each line as str, found list ['a', 'b']"),
    (lambda: CLASSIFIER.predict("a", k="2"), "k: expected a whole number, found str '2'"),
    (lambda: CLASSIFIER.predict("a", k=1.5), "k: expected a whole number, found float 1.5"),
    (lambda: CLASSIFIER.predict("a", threshold="x"), "threshold: expected a number, found str 'x'"),
    (lambda: VECTORS[5], "word: expected a word as str, or several, found int 5"),
    (lambda: VECTORS[["cat", 5]], "word: expected each word as str, found int 5"),
    (lambda: VECTORS.similarity("cat", b"dog"), "w2: expected a word as str, found bytes b'dog'; decode it"),
    (lambda: VECTORS.odd_one_out(["cat", 3]), "words: expected each word as str, found int 3"),
    (lambda: VECTORS.movers_distance(None, "cat"), "a: expected a word as str, or several, found None"),
    (lambda: VECTORS.neighbors(["cat"], None), "negative: expected a word as str, or several, found None"),
    (lambda: VECTORS.neighbors("cat", k=True), "k: expected a whole number, found bool True"),
    (lambda: Embeddings("ab", np.ones((2, 2))), "words: expected several words, found the str 'ab'"),
    (lambda: Embeddings(["a", 5], np.ones((2, 2))), "words: expected each word as str, found int 5"),
    (lambda: Embeddings(["a"], "x"), "matrix: expected an array of numbers (words, dim), found str of <U1"),
    (lambda: wv_cli.load(None), "path: expected a path as str or os.PathLike, found None"),
    (
        lambda: wv_cli.save(b"x.vec", VECTORS),
        "path: expected a path as str or os.PathLike, found bytes b'x.vec'; decode it",
    ),
    (lambda: wv_cli.load_classifier(5), "path: expected a path as str or os.PathLike, found int 5"),
    (lambda: wv_cli.load("x", limit="5"), "limit: expected a whole number, found str '5'"),
    (lambda: wv_cli.load("x", threads=1.5), "threads: expected a whole number, found float 1.5"),
    (lambda: wv_cli.load("x", format=3), "format: expected a name as str, found 3"),
    (lambda: wv_cli.save("x.vec", {"a": [1]}), "embeddings: expected Embeddings, found dict {'a': [1]}"),
    (lambda: wv_cli.save("x.vec", VECTORS, precision="6"), "precision: expected a whole number, found str '6'"),
    (lambda: wv_cli.train(None, "o"), "train: expected inputs or sentences, found neither"),
    (lambda: wv_cli.train([5], "o"), "inputs: expected each path as str, found int 5"),
    (lambda: wv_cli.train("x", 5), "output: expected a path as str, or several, found int 5"),
    (lambda: wv_cli.train("x", "o", model=1), "model: expected a name as str, found int 1"),
    (lambda: wv_cli.train("x", "o", dim="100"), "dim: expected a whole number, found str '100'"),
    (lambda: wv_cli.train("x", "o", lr="x"), "lr: expected a number, found str 'x'"),
    (lambda: wv_cli.train("x", "o", lowercase="yes"), "lowercase: expected True or False, found str 'yes'"),
    (lambda: wv_cli.train("x", "o", memory=2.5), "memory: expected a whole number, found float 2.5"),
    (lambda: wv_cli.train("x", "o", vocab=3), "vocab: expected a path as str or os.PathLike, found int 3"),
    (lambda: wv_cli.train("x", "o", log=3), "log: expected a function, found int"),
]


@for_each("call, message", TYPES, ids=str)
def test_a_wrong_type_is_named(call, message):
    with pytest.raises(TypeError, match=re.escape(message) + "$"):
        call()


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="2 words do not fit a matrix of shape"):
        Embeddings(["a", "b"], np.ones((3, 2)))
    with pytest.raises(ValueError, match="matrix: expected rows of one length"):
        Embeddings(["a", "b"], [[1, 2], [3]])
    for k in (0, -1):
        with pytest.raises(UsageError, match=f"k must be at least 1, not {k}"):
            VECTORS.neighbors("cat", k=k)
