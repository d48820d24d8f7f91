"""Normalization before perplexity: what CCNet and datatrove made of these texts, and every character of Unicode."""

import json
import sys
import unicodedata

import pytest

from tests.conftest import GOLDEN
from tests.tiers import full
from wv_cli.text.normalize import NORMALIZERS, normalize_ccnet, normalize_datatrove

ROWS = [json.loads(line) for line in (GOLDEN / "lm" / "normalized.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", NORMALIZERS)
def test_golden_texts(name):
    assert [NORMALIZERS[name](row["text"]) for row in ROWS] == [row[name] for row in ROWS]


@pytest.mark.parametrize("step", [11, *full(1)])
def test_characters_by_the_steps_one_after_the_other(step):
    """All of Unicode, but for the punctuation that is written in ASCII, which is among the golden texts."""
    written = set("„”“«»」「《》´’∶：–━►，。、？！（）；．～〈〉【】％—…")
    every = map(chr, range(0, sys.maxunicode + 1, step))
    text = "".join(mark for mark in every if not written & set(unicodedata.normalize("NFD", mark)))
    accents = unicodedata.normalize("NFD", text.strip().lower())
    plain = "".join(mark for mark in accents if unicodedata.category(mark) != "Mn")
    zeros = "".join("0" if unicodedata.category(mark) == "Nd" else mark for mark in plain)
    assert normalize_ccnet(text) == "".join(mark for mark in zeros if unicodedata.category(mark) != "Cc")


def test_blanks_at_the_ends():
    assert normalize_ccnet(" a\u0301 \u0301") == "a "
    assert normalize_datatrove(" \u0301 a\u0301 \u0301 ") == "a"
    assert normalize_datatrove("a \x01é") == "a e"
    assert normalize_datatrove("é \x01") == "e "
    assert normalize_datatrove("\u0301") == ""


def test_surrogates_pass():
    assert normalize_ccnet("É\udcff\ud800") == "e\udcff\ud800"
