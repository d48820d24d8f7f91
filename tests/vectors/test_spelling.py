"""Looking up typed words, and near spellings."""

import pytest

from wv_cli.vectors.spelling import find_queries, near_spelling
from wv_cli.words import WordList, decode

WORDS = WordList.from_words(
    ["the", "london", "London", "PARIS", "new", "york", "new york", "naïve", "北京", b"caf\xe9", "londen"]
)


@pytest.mark.parametrize(
    ("typed", "rows"),
    [("the", [0]), ("London", [2]), ("new  york", [4, 5]), ("new york", [6]), (" the\tthe ", [0, 0]), ("北京", [8])],
)
def test_found(typed, rows):
    assert find_queries(WORDS, [typed], "v.vec")[0] == (rows, "")


def test_not_found():
    assert find_queries(WORDS, ["the lodnon"], "v.vec")[0] == ([], "'lodnon' is not in v.vec; did you mean 'london'?")
    assert find_queries(WORDS, ["zebra"], "v.vec")[0] == ([], "'zebra' is not in v.vec")
    assert find_queries(WORDS, ["new york"], "v.vec", whole=False)[0] == ([4, 5], "")


def test_a_phrase_that_is_one_word_here():
    words = WordList.from_words(["a", "new_york", "york"])
    problem = "'new' is not in v.vec; did you mean 'new_york'?"
    assert find_queries(words, ["new york"], "v.vec")[0] == ([], problem)


def test_several_queries_at_once():
    queries = ["the zebra", "new york", "", "london the", "lodnon"]
    assert find_queries(WORDS, queries, "v.vec") == [find_queries(WORDS, [query], "v.vec")[0] for query in queries]
    assert find_queries(WORDS, [], "v.vec") == []


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("LONDON", "london"),
        ("Londoners", "london"),
        ("thesis", ""),
        ("paris", "PARIS"),
        ("Lodnon", "london"),
        ("londn", "london"),
        ("londxon", "london"),
        ("londin", "london"),  # before `londen`, which is as near but less frequent
        ("naive", ""),
        ("北", "北京"[:0]),
        ("x" * 10_000, ""),
        ("", ""),
    ],
)
def test_near_spelling(typed, near):
    assert near_spelling(WORDS, typed) == near


def test_bytes_that_are_no_text():
    assert find_queries(WORDS, [decode(b"caf\xe9")], "v.vec")[0] == ([9], "")
    assert near_spelling(WORDS, decode(b"caf\xe9e")) == decode(b"caf\xe9")
