"""Texts by word mover's distance: gensim's distances, and a search that leaves out only what cannot be nearer."""

import json

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.tiers import full
from wv_cli.transforms.text_distance import TextIndex, TextSpace
from wv_cli.vectors.formats import load

ANSWERS = json.loads((GOLDEN / "gensim-answers.json").read_text())


@pytest.fixture(scope="module")
def vectors():
    return load(GOLDEN / "w2v-sg-ns.bin")


@pytest.fixture(scope="module")
def lines(slice_text):
    return slice_text.read_text().splitlines()[:600]


@pytest.mark.parametrize(("normalize", "column"), [(True, 2), (False, 3)])
def test_gensims_distances(vectors, normalize, column):
    space = TextSpace(vectors, "none", normalize=normalize)
    bags = [space.bag(text) for text in ANSWERS["texts"]]
    for case in ANSWERS["wmdistance"]:
        assert space.distance(bags[case[0]], bags[case[1]]) == pytest.approx(case[column], abs=1e-4)


@pytest.mark.parametrize("k", [*full(1), 7])
def test_the_search_is_exact_and_prunes(vectors, lines, k):
    space = TextSpace(vectors)
    index = TextIndex(space, lines)
    bags = [space.bag(line) for line in lines]
    for query in (bags[5], bags[40], space.bag("music of the river")):
        every = [(space.distance(query, bag), number) for number, bag in enumerate(bags) if not bag.is_empty]
        index.solved = 0
        found = index.nearest(query, k)
        expected = sorted((round(distance, 9), number) for distance, number in every)[:k]
        assert [number for number, _ in found] == [number for _, number in expected]
        np.testing.assert_allclose(
            [distance for _, distance in found], [distance for distance, _ in expected], atol=1e-8
        )
        assert k <= index.solved < len(every) / 2


def test_what_has_no_words(vectors):
    space = TextSpace(vectors, stop_words=frozenset({"the"}))
    assert space.bag("The xqzt!").is_empty and not TextSpace(vectors).bag("The xqzt!").is_empty
    index = TextIndex(space, ["the", "", "a river", "the war"])
    assert [number for number, _ in index.nearest(space.bag("army"), 9)] == [3, 2]
    assert TextIndex(space, ["the"]).nearest(space.bag("army"), 9) == []


def test_order_and_number_of_words_count_for_nothing_but_shares(vectors):
    space = TextSpace(vectors)
    a, b = space.bag("king of the sea"), space.bag("Sea, the king of! sea THE of king")
    assert space.distance(a, b) == pytest.approx(0, abs=1e-9)
