"""The calls of gensim's classes give gensim's answers: golden ones of gensim 4.4 (calls.py)."""

import json

import pytest

from tests.gensim.calls import ALIKE, ANSWERS, SAME, kind, namespace, plain
from tests.walk import for_each

EXPECTED = json.loads(ANSWERS.read_text())


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    return namespace("wv_cli.gensim", str(tmp_path_factory.mktemp("calls")))


def require_same(found, expected):
    """Words and whole numbers are equal, others to 1e-5."""
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for each, other in zip(found, expected, strict=True):
            require_same(each, other)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, other in expected.items():
            require_same(found[key], other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)
    else:
        assert found == expected


def test_the_golden_answers_are_those_of_the_calls():
    assert [call for call, _ in EXPECTED] == [*SAME, *ALIKE] and len(SAME) >= 40


@for_each("call, expected", EXPECTED, ids=lambda each: each if isinstance(each, str) else "")
def test_a_call_answers_as_gensim(call, expected, names):
    answer = eval(call, dict(names))
    require_same(plain(answer) if call in SAME else kind(answer), expected)
