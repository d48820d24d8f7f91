"""Sentence vectors: words found in sentences, the three poolings against slow definitions, the common component."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.text.stop_words import ENGLISH, read_stop_words
from wv_cli.text.vocab import Vocab
from wv_cli.transforms.sentences import POOLINGS, common_component, sentence_vectors, word_rows
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.lookup import Lookup
from wv_cli.words import WordList

WORDS = ["a", "woman", "s", "plays", "guitar", "don't", "new-york", "york", "new", "the", "u.s.", "."]
FIND = {word: row for row, word in enumerate(WORDS)}


class Parts:
    """Composes words of one letter, the letter's number five times."""

    def oov_vector(self, word):
        return np.full(5, ord(word), np.float32) if len(word) == 1 else None


def find_in(subwords=None):
    return Lookup(Embeddings(WordList.from_words(WORDS), np.zeros((12, 5), np.float32), subwords), "lower")


find = find_in()


@pytest.fixture
def vectors():
    return Embeddings(WordList.from_words(WORDS), np.random.default_rng(1).standard_normal((12, 5)).astype(np.float32))


def vocab(counts, lines=0):
    return Vocab(WordList.from_words(counts), np.array(list(counts.values()), np.int64), lines)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("A woman plays the guitar.", ["a", "woman", "plays", "the", "guitar"]),
        ("A woman's guitar", ["a", "woman", "s", "guitar"]),
        ('"Guitar!" (the)', ["guitar", "the"]),
        ("I don't play", ["don't"]),
        ("New-York, new_york York-new", ["new-york", "york", "new"]),
        ("in the U.S.", ["the", "u.s."]),
        ("the .", ["the", "."]),
        ("... -- !", []),
        ("", []),
        ("guitar guitar", ["guitar", "guitar"]),
        ("the\tguitar\u00a0plays", ["the", "guitar", "plays"]),
    ],
)
def test_words_of_a_sentence(sentence, words):
    assert [WORDS[row] for row in word_rows(sentence, find)] == words


def test_composed_words(vectors):
    """What is listed goes first, then punctuation goes, then parts are composed."""
    find = find_in(Parts())
    found, empty = sentence_vectors(["the guitar.", "x!", "x-y's guitar", "unknown"], vectors, find)
    matrix = vectors.matrix.astype(float)
    assert np.allclose(found[0], (matrix[FIND["the"]] + matrix[FIND["guitar"]]) / 2)
    assert np.allclose(found[1], ord("x"))
    assert np.allclose(found[2], (ord("x") + ord("y") + matrix[FIND["s"]] + matrix[FIND["guitar"]]) / 4)
    assert empty.tolist() == [False, False, False, True]
    assert sentence_vectors(["x the", "a"], vectors, find, "sif", vocab=vocab({"the": 3}))[0].shape == (2, 5)


def test_stop_words():
    stop = frozenset(["a", "the", "s"])
    assert [WORDS[row] for row in word_rows("A woman's THE guitar, the", find, stop)] == ["woman", "guitar"]
    assert {"the", "and", "is", "not", "of", "t"} <= ENGLISH and not ENGLISH & {"woman", "guitar", "good", "run"}
    assert all(word == word.lower() for word in ENGLISH)


def test_files_of_stop_words(tmp_path):
    path = tmp_path / "stop"
    path.write_text("The\nof and\n")
    assert read_stop_words(str(path)) == {"the", "of", "and"}
    path.write_text(" \n")
    with pytest.raises(BadFile, match="found none"):
        read_stop_words(str(path))
    with pytest.raises(WvError, match="no such file"):
        read_stop_words(str(tmp_path / "none"))


texts = st.lists(st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=6).map(" ".join), min_size=1, max_size=6)


@settings(max_examples=60)
@given(texts=texts)
def test_poolings_by_their_definitions(texts):
    matrix = np.random.default_rng(1).standard_normal((12, 5)).astype(np.float32)
    embeddings = Embeddings(WordList.from_words(WORDS), matrix)
    counts = {"the": 50, "a": 30, "guitar": 2, "elsewhere": 18}
    known = [[word for word in text.split() if word in FIND] for text in texts]
    weights = {
        "mean": lambda word: 1.0,
        "sif": lambda word: 1e-3 / (1e-3 + counts.get(word, 0) / 100),
        "idf": lambda word: 1 + math.log((1 + len(texts)) / (1 + sum(word in words for words in known))),
        "fasttext": lambda word: 1 / np.linalg.norm(matrix[FIND[word]].astype(float)),
    }
    for pooling in POOLINGS:
        expected = np.zeros((len(texts), 5))
        for i, words in enumerate(known):
            for word in words:
                expected[i] += weights[pooling](word) * matrix[FIND[word]].astype(float) / len(words)
        if pooling == "sif":
            direction = np.linalg.svd(expected)[2][0] if expected.any() else np.zeros(5)
            size = np.abs(expected).max(initial=0)
            expected -= np.outer(expected @ direction, direction)
            if size and np.abs(expected).max() < 1e-9 * size:
                continue  # refused
        files = {"vocab": vocab(counts)} if pooling == "sif" else {}
        found, empty = sentence_vectors(texts, embeddings, find, pooling, **files)
        assert np.allclose(found, expected, atol=1e-6 if pooling == "fasttext" else 1e-12)  # float32, as fastText
        assert empty.tolist() == [not words for words in known]


def test_idf_from_a_file(vectors):
    found, _ = sentence_vectors(["the", "guitar"], vectors, find, "idf", vocab=vocab({"the": 90, "guitar": 4}, 50))
    weights = found[:, 0] / vectors.matrix[[FIND["the"], FIND["guitar"]], 0]
    assert weights.tolist() == pytest.approx([1 + math.log(51 / 51), 1 + math.log(51 / 5)])
    with pytest.raises(WvError, match="</s> N"):
        sentence_vectors(["the"], vectors, find, "idf", vocab=vocab({"the": 90}))


def test_counts_of_several_spellings_are_added(vectors):
    texts = ["the guitar", "the", "a guitar"]
    one, _ = sentence_vectors(texts, vectors, find, "sif", vocab=vocab({"the": 30, "guitar": 3}))
    two, _ = sentence_vectors(texts, vectors, find, "sif", vocab=vocab({"the": 20, "The": 10, "guitar": 3}))
    other, _ = sentence_vectors(texts, vectors, find, "sif", vocab=vocab({"the": 20, "guitar": 3}))
    assert np.array_equal(one, two) and not np.allclose(one, other)


def test_sif_of_a_single_text_is_refused(vectors):
    """Nothing stays of it but rounding, which unit length would make a direction."""
    for texts in (["the guitar"], ["the guitar", "unknown"], ["the the", "the"]):
        with pytest.raises(WvError, match="these share all; give more texts, or take --pooling idf"):
            sentence_vectors(texts, vectors, find, "sif", vocab=vocab({"the": 30, "guitar": 3}))
    assert not sentence_vectors(["unknown"], vectors, find, "sif", vocab=vocab({"the": 30}))[0].any()


def test_sif_needs_frequencies(vectors):
    with pytest.raises(UsageError, match="--counts VOCAB"):
        sentence_vectors(["the"], vectors, find, "sif")


def test_the_common_component_is_gone():
    random = np.random.default_rng(2)
    rows = random.standard_normal((500, 8)) + 3 * random.standard_normal(8)
    component = common_component(rows)
    assert np.linalg.norm(component) == pytest.approx(1)
    assert np.allclose(np.abs(component), np.abs(np.linalg.svd(rows)[2][0]))
    assert component[np.abs(component).argmax()] > 0


def test_more_sentences_than_a_block_holds(vectors):
    texts = ["the woman", "", "guitar plays a"] * 100
    wide = Embeddings(vectors.words, np.tile(vectors.matrix, 2000))
    found, empty = sentence_vectors(texts, wide, find)
    assert np.allclose(found[::3], found[0]) and np.allclose(found[2::3], found[2]) and not found[1::3].any()
    assert empty.sum() == 100
