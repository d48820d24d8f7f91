"""Looking up typed words, and near spellings."""

import pytest

from wv_cli.vectors.spelling import find_words, near_spelling
from wv_cli.words import WordList, decode

WORDS = WordList.of(
    ["the", "london", "London", "PARIS", "new", "york", "new york", "naïve", "北京", b"caf\xe9", "londen"]
)


@pytest.mark.parametrize(
    ("typed", "rows"),
    [("the", [0]), ("London", [2]), ("new  york", [4, 5]), ("new york", [6]), (" the\tthe ", [0, 0]), ("北京", [8])],
)
def test_found(typed, rows):
    assert find_words(WORDS, typed, "v.vec") == (rows, "")


def test_not_found():
    assert find_words(WORDS, "the lodnon", "v.vec") == ([], "'lodnon' is not in v.vec; did you mean 'london'?")
    assert find_words(WORDS, "zebra", "v.vec") == ([], "'zebra' is not in v.vec")
    assert find_words(WORDS, "new york", "v.vec", whole=False) == ([4, 5], "")


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("LONDON", "london"),
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
    assert find_words(WORDS, decode(b"caf\xe9"), "v.vec") == ([9], "")
    assert near_spelling(WORDS, decode(b"caf\xe9e")) == decode(b"caf\xe9")
