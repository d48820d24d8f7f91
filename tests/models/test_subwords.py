"""fastText's hash and n-grams, against known values, a plain Python reference and what fastText itself answers."""

import functools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from tests.reference import fasttext as reference
from wv_cli import _subwords
from wv_cli.words import WordList, encode

words = st.one_of(st.binary(max_size=30), st.text(max_size=12).map(encode))


def test_known_hashes():
    """FNV-1a's published values for ASCII; a byte above 127 is taken as negative."""
    assert _subwords.word_hash(b"") == 0x811C9DC5
    assert _subwords.word_hash(b"a") == 0xE40C292C
    assert _subwords.word_hash(b"foobar") == 0xBF9CF968
    assert _subwords.word_hash(b"\xe9") == (0x811C9DC5 ^ 0xFFFFFFE9) * 16777619 % 2**32


@given(words)
def test_hash_is_the_references(word):
    assert _subwords.word_hash(word) == reference.signed_hash(word)


def test_ngrams_of_a_word():
    assert [ngram for ngram, _ in _subwords.ngrams(b"where", 3, 3, 100)] == [b"<wh", b"whe", b"her", b"ere", b"re>"]
    # One-character n-grams leave out the brackets; characters are code points.
    assert [ngram.decode() for ngram, _ in _subwords.ngrams("日本".encode(), 1, 2, 100)] == [
        "<日", "日", "日本", "本", "本>",
    ]  # fmt: skip
    assert _subwords.ngrams(b"", 1, 6, 100) == [(b"<>", reference.signed_hash(b"<>") % 100)]
    assert _subwords.ngrams(b"where", 3, 6, 0) == [] and _subwords.ngrams(b"where", 0, 0, 10) == []


@given(words, st.integers(0, 8), st.integers(0, 8), st.integers(1, 2**31 - 1))
def test_ngrams_are_the_references(word, minn, maxn, buckets):
    expected = [(ngram, reference.signed_hash(ngram) % buckets) for ngram in reference.char_ngrams(word, minn, maxn)]
    assert _subwords.ngrams(word, minn, maxn, buckets) == expected


def test_ngrams_are_fasttexts():
    """`get_subwords` of fastText itself; the rows of buckets stand behind those of the 225 words."""
    for line in (GOLDEN / "ft-words.ngrams.txt").read_text(encoding="utf-8").splitlines():
        word, ngram, row = line.split()
        assert (ngram.encode(), int(row) - 225) in _subwords.ngrams(word.encode(), 3, 6, 500)


@given(st.lists(words, max_size=8), st.integers(0, 5), st.integers(0, 7), st.integers(0, 1000))
def test_a_whole_list_at_once(listed, minn, maxn, buckets):
    blob, starts = (made := WordList.from_words(listed)).blob, made.starts
    first, found = _subwords.of_words(blob, starts, minn, maxn, buckets)
    for i, word in enumerate(listed):
        expected = [bucket for _, bucket in _subwords.ngrams(word, minn, maxn, buckets)]
        assert found[first[i] : first[i + 1]].tolist() == expected
    assert _subwords.word_hashes(blob, starts).tolist() == [reference.signed_hash(word) for word in listed]


@given(st.lists(st.integers(0, 2**32 - 1), max_size=9), st.integers(0, 6), st.integers(1, 2**31 - 1))
def test_line_ngrams_are_the_references(hashes, n, buckets):
    found = _subwords.line_ngrams(np.array(hashes, np.uint32), n, buckets)
    assert found.tolist() == reference.line_ngrams(hashes, n, buckets)


def test_means_of_rows():
    values = np.random.default_rng(1).normal(size=(20, 7)).astype(np.float32)
    groups = [[3, 3, 5], [], [19], list(range(20))]
    starts = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    rows = np.array(functools.reduce(operator.iadd, groups, []), np.int64)
    out = np.empty((4, 7), np.float32)
    _subwords.mean_rows(values.view(np.uint8), starts, rows, out)
    expected = [values[group].astype(float).mean(axis=0) if group else np.zeros(7) for group in groups]
    np.testing.assert_allclose(out, expected, atol=1e-6)
    # A matrix may begin at any byte.
    loose = np.frombuffer(b"x" + values.tobytes(), np.float32, 140, 1).reshape(20, 7)
    again = np.empty_like(out)
    _subwords.mean_rows(loose.view(np.uint8), starts, rows, again)
    assert np.array_equal(again, out)
    _subwords.mean_rows(values.view(np.uint8), np.array([0, 2, 2, 20, 20], np.int64), None, out)
    np.testing.assert_allclose(out[[0, 2]], [values[:2].mean(axis=0), values[2:].mean(axis=0)], atol=1e-6)


@pytest.mark.parametrize(
    ("starts", "rows"), [([0, 2], [0, 20]), ([0, 2], [0, -1]), ([0, 3], [0, 1]), ([1, 0], [0, 1]), ([0], [0])]
)
def test_means_of_rows_that_do_not_exist(starts, rows):
    with pytest.raises(ValueError, match=r"out of range|do not fit"):
        _subwords.mean_rows(
            np.zeros((20, 28), np.uint8),
            np.array(starts, np.int64),
            np.array(rows, np.int64),
            np.empty((1, 7), np.float32),
        )
