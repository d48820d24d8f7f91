"""The calls of gensim's KeyedVectors give gensim's answers: golden ones of gensim 4.4 for the same files."""

import json
import math

import numpy as np
import pytest

from tests.conftest import GOLDEN, ROOT
from tests.walk import for_each
from wv_cli.errors import WvError
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load

ANSWERS = json.loads((GOLDEN / "gensim-keyed.json").read_text())
VECTORS = Embeddings(["cat", "dog", "sun", "void"], [[1, 0], [0.9, 0.1], [0, 1], [0, 0]])


@pytest.fixture(scope="module")
def names():
    return {
        "kv": load(GOLDEN / "w2v-sg-ns.bin"),
        "ft": load(GOLDEN / "ft-words.bin"),
        "np": np,
        "PAIRS": ROOT / "data" / "similarity" / "EN-WS-353-ALL.txt",
        "QUESTIONS": str(ROOT / "data" / "analogy" / "questions-words.txt"),
    }


def require_same(found, expected):
    """Words and whole numbers are equal, others to 1e-5."""
    if isinstance(expected, list):
        found = list(found)
        assert len(found) == len(expected)
        for each, other in zip(found, expected, strict=True):
            require_same(each, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=1e-5)
    else:
        assert found == expected


@for_each("call, expected", ANSWERS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_call_answers_as_gensim(call, expected, names):
    require_same(eval(call, names), expected)


def test_codes_are_asked_by_words():
    codes = load(GOLDEN / "sign.codes")
    word = codes.words[3]
    assert codes.most_similar(word, topn=4) == codes.neighbors(word, k=4)
    assert len(codes.most_similar(word, topn=2, restrict_vocab=10)) == 2
    with pytest.raises(TypeError, match="codes are searched by words, not by vectors"):
        codes.similar_by_vector(codes[word])


def test_iterables_are_read_once():
    assert VECTORS.most_similar(iter(["cat", "sun"]), topn=1) == VECTORS.most_similar(np.array(["cat", "sun"]), topn=1)
    assert VECTORS[iter(["cat", "sun"])].tolist() == [[1, 0], [0, 1]] and VECTORS[[]].shape == (0, 2)
    assert VECTORS.n_similarity(iter(["cat"]), iter(["sun"])) == 0
    assert VECTORS.wmdistance(iter(["cat"]), iter(["sun"])) == pytest.approx(math.sqrt(2))
    assert VECTORS.doesnt_match(iter(["cat", "dog", "sun"])) == "sun"
    assert VECTORS.get_mean_vector(np.eye(2)).tolist() == [0.5, 0.5]


def test_a_zero_vector_has_cosine_zero():
    assert VECTORS.distances("void").tolist() == [1, 1, 1, 1] and VECTORS.distance("void", "cat") == 1
    assert VECTORS.most_similar("cat", topn=None)[3] == 0 and VECTORS.get_vector("void", norm=True).tolist() == [0, 0]
    assert VECTORS.most_similar("void", topn=1) == [("cat", 0)]


def test_a_word_that_is_listed_twice_is_the_first():
    twice = Embeddings(["a", "b", "a"], [[1, 0], [0, 1], [1, 1]])
    assert twice.key_to_index == {"a": 0, "b": 1} and twice.index_to_key == ["a", "b", "a"]


@for_each(
    "call, error, message",
    [
        (lambda: VECTORS.most_similar(), ValueError, "name at least one word"),
        (lambda: VECTORS.most_similar("kat"), KeyError, "'kat' is not in the vectors; did you mean 'cat'"),
        (lambda: VECTORS.most_similar("kat", topn=None), KeyError, "did you mean 'cat'"),
        (lambda: VECTORS.most_similar(3), TypeError, "positive: expected a word as str, or several, found int 3"),
        (lambda: VECTORS.most_similar([3]), TypeError, "positive: expected a word as str, or a vector, found int 3"),
        (lambda: VECTORS.most_similar([("cat", "x")]), TypeError, "positive: expected a number, found str 'x'"),
        (lambda: VECTORS.most_similar("cat", topn="5"), TypeError, "topn: expected a whole number, found str '5'"),
        (lambda: VECTORS.similar_by_vector([1, 2, 3]), ValueError, "expected a vector of 2 numbers, found shape"),
        (lambda: VECTORS.get_mean_vector([]), ValueError, "name at least one word"),
        (lambda: VECTORS.get_mean_vector(["cat"], weights=[1, 2]), ValueError, "weights: expected 1 numbers"),
        (lambda: VECTORS.get_mean_vector(["kat"], ignore_missing=False), KeyError, "did you mean 'cat'"),
        (lambda: VECTORS.get_index("kat"), KeyError, "did you mean 'cat'"),
        (lambda: VECTORS.get_vector(3), TypeError, "key: expected a word as str, found int 3"),
        (lambda: VECTORS.distances("cat", ["kat"]), KeyError, "did you mean 'cat'"),
        (lambda: VECTORS.n_similarity([], ["cat"]), ValueError, "name at least one word"),
        (lambda: VECTORS.doesnt_match(["kat"]), ValueError, "words: expected at least one word with a vector"),
    ],
    ids=lambda each: "",
)
def test_a_wrong_call_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_files_that_cannot_be_scored(tmp_path):
    path = tmp_path / "set.txt"
    path.write_text("# a comment\ncat dog 1\n")
    with pytest.raises(WvError, match=r"set\.txt: expected `word word score` on a line, with '\\t' between"):
        VECTORS.evaluate_word_pairs(path)
    with pytest.raises(WvError, match=r"set\.txt:1: expected a heading `: name` above the first question"):
        VECTORS.evaluate_word_analogies(path)
    path.write_text(": none\n")
    assert VECTORS.evaluate_word_analogies(path)[0] == 0
    with pytest.raises(WvError, match="cannot read"):
        VECTORS.evaluate_word_pairs(tmp_path / "nowhere.txt")


def test_an_answer_in_another_spelling_of_a_word_asked_is_passed_over(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(": all\na b c d\n")
    vectors = Embeddings(["a", "b", "c", "C", "d"], [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1], [0.1, 1, 0.9]])
    assert vectors.evaluate_word_analogies(path)[0] == 1
    assert vectors.evaluate_word_analogies(path, case_insensitive=False)[0] == 0
