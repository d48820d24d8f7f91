"""WordList: looking words up, whatever bytes they are made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wv_cli.words import WordList, decode, encode

words = st.binary(max_size=20)
plain = st.binary(min_size=1, max_size=20).filter(lambda word: b"\0" not in word)


@given(st.lists(st.one_of(words, st.sampled_from([b"", b"a", b"a\0", b"\0"]))), st.lists(words))
def test_find_is_the_first_place(listed, asked):
    made = WordList.from_words(listed)
    for word in [*listed, *asked, b"a", b"a\0", b""]:
        expected = listed.index(word) if word in listed else -1
        assert made.find(word) == made.find(decode(word)) == expected
    expected = [listed.index(word) if word in listed else -1 for word in asked]
    assert made.find_all(WordList.from_words(asked)).tolist() == expected


@given(st.lists(plain, min_size=1), st.lists(words))
def test_lists_of_plain_words_are_asked_for_odd_ones(listed, asked):
    """Such lists have another kind of index, which takes no empty words and no NUL."""
    made, all_asked = WordList.from_words(listed), [*asked, b"", *listed, b"\0"]
    expected = [listed.index(word) if word in listed else -1 for word in all_asked]
    assert made.find_all(WordList.from_words(all_asked)).tolist() == expected
    assert [made.find(word) for word in all_asked] == expected


@given(st.lists(words))
def test_words_in_order(listed):
    assert list(WordList.from_words(listed)) == [decode(word) for word in listed]


def test_the_first_few_words_are_found_without_a_table():
    made = WordList.from_words([f"w{i % 90}" for i in range(100)])
    found = [made.find(word) for word in ("w0", "w89", "w", "w9", "x1")]
    assert found == [0, 89, -1, 9, -1] and made._index is None
    assert made.find_all(WordList.from_words([f"w{i}" for i in range(90)])).tolist() == list(range(90))
    assert made._index is not None


indices = st.none() | st.integers(-25, 25)
steps = st.none() | st.integers(-3, 3).filter(bool)


@given(st.lists(words, max_size=20), indices, indices, steps)
def test_slices_are_those_of_a_list(listed, first, last, step):
    part = WordList.from_words(listed)[first:last:step]
    assert [part.bytes_at(i) for i in range(len(part))] == listed[first:last:step]
    assert part == WordList.from_words(listed[first:last:step])


@given(st.lists(words, min_size=1, max_size=20), st.lists(st.integers(0, 1000)))
def test_taken_words(listed, numbers):
    chosen = [number % len(listed) for number in numbers]
    for kind in (np.int32, np.int64):
        assert WordList.from_words(listed).take(np.array(chosen, kind)) == WordList.from_words(
            listed[i] for i in chosen
        )


def test_taking_what_is_not_there():
    made = WordList.from_words(["one", "two"])
    for wrong in (2, -1):
        with pytest.raises(IndexError, match=f"word index {wrong} out of range for 2 words"):
            made.take(np.array([0, wrong]))


def test_a_part_of_a_list():
    made = WordList.from_words(["one", "two", "three", "two"])
    assert made[1:].find("two") == 0 and made[1:].find("one") == -1
    assert "two" in made and "four" not in made and 2 not in made


def test_words_that_begin_alike():
    words = WordList.from_words(["king", "kin", "", "ki", "queen", "kingdom", "k\u00e9"])
    assert words.beginning_with(b"kin").tolist() == [0, 1, 5]
    assert words.beginning_with(b"k\xc3").tolist() == [6]
    assert words.beginning_with(b"").tolist() == list(range(7)) and words.beginning_with(b"x").tolist() == []
    assert WordList.from_words([]).beginning_with(b"k").tolist() == []


def test_long_words_are_compared_at_once():
    """Letter by letter, each of these would take many seconds."""
    long = "x" * 3_000_000
    words = WordList.from_words([long, f"{long}y", "x" * 64, f"{long[1:]}y", "x" * 65])
    assert [words.find(each) for each in (long, f"{long[1:]}z", f"{long[1:]}y", "x" * 64, "x" * 65)] == [0, -1, 3, 2, 4]
    assert words.beginning_with(long.encode()).tolist() == [0, 1]
    assert words._index is None


def test_lone_surrogates():
    """That of a byte is the byte, and others are what JSON makes of them."""
    assert encode("a\udcff") == b"a\xff" and encode("\ud800\udcff\udfff") == b"\xef\xbf\xbd\xff\xef\xbf\xbd"
    assert WordList.from_words(["a"]).find("\ud800") == -1
