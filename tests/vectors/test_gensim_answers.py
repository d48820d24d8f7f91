"""What gensim answers with the same vectors: neighbors of sums, similarities, odd ones, word mover's distances."""

import json

import pytest

from tests.conftest import GOLDEN
from wv_cli.vectors.formats import load

ANSWERS = json.loads((GOLDEN / "gensim-answers.json").read_text())


@pytest.fixture(scope="module")
def vectors():
    return load(GOLDEN / "w2v-sg-ns.bin")


@pytest.mark.parametrize("case", ANSWERS["most_similar"], ids=lambda case: " ".join(case["positive"]))
def test_most_similar(case, vectors):
    found = vectors.neighbors(case["positive"], case["negative"], k=10)
    assert [word for word, _ in found] == [word for word, _ in case["answers"]]
    assert [score for _, score in found] == pytest.approx([score for _, score in case["answers"]], abs=1e-5)


@pytest.mark.parametrize(("a", "b", "expected"), ANSWERS["similarity"] + ANSWERS["n_similarity"])
def test_similarity(a, b, expected, vectors):
    assert vectors.similarity(a, b) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("case", ANSWERS["doesnt_match"], ids=lambda case: case["answer"])
def test_the_odd_one_out(case, vectors):
    assert vectors.odd_one_out(case["words"]) == case["answer"]


def test_movers_distance(vectors):
    texts = [[word for word in text.split() if word in vectors] for text in ANSWERS["texts"]]
    for first, second, expected, _ in ANSWERS["wmdistance"]:
        assert vectors.movers_distance(texts[first], texts[second]) == pytest.approx(expected, abs=1e-4)
    assert len(ANSWERS["wmdistance"]) > 30
