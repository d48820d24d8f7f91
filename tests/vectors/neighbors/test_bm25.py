"""BM25: bm25s' scores and tokens, and the index against the formulas written as they read."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from tests.reference.bm25 import plain_score
from wv_cli.retrieval.bm25 import Bm25, Bm25Options, Counts
from wv_cli.text.search_tokens import STOP_WORDS, TokenReader

EXPECTED = json.loads((GOLDEN / "search" / "bm25.json").read_text())


def build(texts, options=None):
    return Bm25.build(Counts.count(texts), options)


VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25+")


@pytest.mark.parametrize("setting", EXPECTED["scores"])
def test_scores_are_those_of_bm25s(setting):
    variant, k1, b = setting.split()
    options = Bm25Options(variant, float(k1.removeprefix("k1=")), float(b.removeprefix("b=")))
    index = build([text.split() for text in EXPECTED["documents"]], options)
    for query, golden in zip(EXPECTED["queries"], EXPECTED["scores"][setting], strict=True):
        np.testing.assert_allclose(index.scores(query.split()), golden, rtol=1e-12, atol=1e-12)


def test_tokens_are_those_of_bm25s():
    """But for words of one letter, words with marks inside, and letters without blanks between words."""
    more = {"cat's", "3.14", "c", "x", "y", "e"}
    for stem, golden in (("none", "default"), ("english", "stemmed")):
        reader = TokenReader(stem, "drop")
        for text, tokens in zip(EXPECTED["tokenized"]["texts"], EXPECTED["tokenized"][golden], strict=True):
            without = [token for token in reader.tokens(text.replace("日本語", " ")) if token not in more]
            assert without == [token for token in tokens if token != "日本語"]
    assert len(STOP_WORDS) == 33
    assert TokenReader("none", "keep").tokens("The cats") == ["the", "cats"]


TOKENS = st.lists(st.sampled_from("abcde"), max_size=6)


@given(
    st.lists(TOKENS, min_size=1, max_size=8), TOKENS, st.sampled_from(VARIANTS), st.floats(0.1, 3), st.floats(0, 0.99),
    st.floats(0.1, 2), st.integers(1, 9),
)  # fmt: skip
def test_the_index_is_the_formulas(documents, query, variant, k1, b, delta, k):
    index = build(documents, Bm25Options(variant, k1, b, delta))
    expected = [plain_score(variant, query, documents, row, k1, b, delta) for row in range(len(documents))]
    scores = index.scores(query)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)
    rows, found = index.top(query, k)
    assert len(rows) <= k and len(set(rows.tolist())) == len(rows)
    np.testing.assert_allclose(found, scores[rows], rtol=1e-9)
    assert (np.diff(found) <= 1e-12).all()
    shared = [row for row, text in enumerate(documents) if set(text) & set(query)]
    assert set(rows.tolist()) <= set(shared)
    if variant == "lucene":
        assert len(rows) == min(k, len(shared))
        if len(rows):
            assert max(scores) <= found[0] + 1e-12


def test_ties_go_to_the_lowest_row():
    index = build([["x"], ["a", "b"], ["b", "a"], ["a", "b"], ["x"]])
    assert index.top(["a"], 2)[0].tolist() == [1, 2]


def test_nothing_answers_unknown_tokens():
    index = build([["a"], []], Bm25Options("bm25+"))
    assert len(index.top(["zzz"], 5)[0]) == 0 and len(index.top([], 5)[0]) == 0
    assert not index.scores(["zzz"]).any()


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_documents_and_empty_ones(variant):
    assert len(build([], Bm25Options(variant)).scores(["a"])) == 0
    assert not build([[], []], Bm25Options(variant)).scores(["a"]).any()
