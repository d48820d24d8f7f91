"""Stems: those of Snowball's English stemmer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from wv_cli.text.stemming import stem_english

EXPECTED = dict(line.split() for line in (GOLDEN / "search" / "stems.txt").read_text().splitlines())
PARTS = st.sampled_from(["y", "a", "e", "ing", "ed", "eed", "past", "li", "s", "ies", "'s", "at", "bb", "ative", "é"])


def test_stems_are_snowballs():
    assert len(EXPECTED) > 250
    assert {word: stem_english(word) for word in EXPECTED} == EXPECTED


@pytest.mark.parametrize(
    ("word", "stem"), [("", ""), ("ss", "ss"), ("日本語", "日本語"), ("naïve", "naïv"), ("'tis", "tis")]
)
def test_words_of_other_kinds(word, stem):
    assert stem_english(word) == stem


@given(st.lists(PARTS, max_size=6).map("".join))
def test_a_stem_is_no_longer_than_the_word(word):
    assert len(stem_english(word)) <= len(word) + 1
