"""Verdicts on batches in every form in which a program holds texts."""

import sys

import numpy as np
import pyarrow
import pytest

from wv_cli.filtering import verdicts
from wv_cli.filtering.judge import Judge
from wv_cli.filtering.parsing import parse_rule
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.verdicts import NO_TEXT, NOT_UTF8, judge_texts, text_blocks

TEXTS = ["one two", "", None, "é b\nc", "x" * 20, "two words"]
BYTES = [None if text is None else text.encode() for text in TEXTS]


@pytest.fixture(scope="module")
def judge():
    return Judge([parse_rule("words", "1.."), parse_rule("heuristic", "characters=..10")], ScorerOptions())


class Stream:
    """A column of another program: it has Arrow's interface, and is no array of pyarrow."""

    def __init__(self, column):
        self._column = column

    def __arrow_c_stream__(self, requested_schema=None):
        return self._column.__arrow_c_stream__(requested_schema)

    def __iter__(self):
        raise AssertionError("a text was made a Python string")


def arrow(kind):
    return pyarrow.array(TEXTS, kind)


FORMS = {
    "list of str": lambda: TEXTS,
    "tuple": lambda: tuple(TEXTS),
    "iterator": lambda: iter(TEXTS),
    "list of bytes": lambda: BYTES,
    "objects": lambda: np.array(TEXTS, object),
    "objects with nan": lambda: np.array([float("nan") if text is None else text for text in TEXTS], object),
    "string": lambda: arrow(pyarrow.string()),
    "large_string": lambda: arrow(pyarrow.large_string()),
    "string_view": lambda: arrow(pyarrow.string_view()),
    "binary": lambda: pyarrow.array(BYTES, pyarrow.binary()),
    "dictionary": lambda: arrow(pyarrow.string()).dictionary_encode(),
    "sliced": lambda: pyarrow.array(["before", *TEXTS, "behind"]).slice(1, len(TEXTS)),
    "chunked": lambda: pyarrow.chunked_array([arrow(None)[:2], arrow(None)[2:2], arrow(None)[2:]]),
    "dictionaries": lambda: pyarrow.chunked_array([arrow(None)[:2], arrow(None)[2:]]).dictionary_encode(),
    "another program's": lambda: Stream(pyarrow.chunked_array([arrow(None)])),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 4, 1024])
def test_every_form_of_texts(judge, form, rows, monkeypatch):
    monkeypatch.setattr(verdicts, "_ROWS", rows)
    keep, reason, scores = judge_texts(judge, FORMS[form]())
    assert keep.dtype == np.bool_ and keep.tolist() == [True, False, False, True, False, True]
    assert reason.tolist() == [None, "words", NO_TEXT, None, "characters", None]
    np.testing.assert_array_equal(scores["words"], [2, 0, np.nan, 3, 1, 2])
    np.testing.assert_array_equal(scores["characters"], [7, 0, np.nan, 5, 20, 9])


def test_strings_of_numpy(judge):
    texts = ["one two", "", "é b\nc"]
    for given in (np.array(texts), np.array([text.encode() for text in texts])):
        assert judge_texts(judge, given).keep.tolist() == [True, False, True]
    with pytest.raises(TypeError, match="expected one dimension, found 2"):
        judge_texts(judge, np.array([texts]))


@pytest.mark.parametrize("none", [[], np.array([], object), pyarrow.array([], pyarrow.string())], ids=type)
def test_no_texts(judge, none):
    keep, reason, scores = judge_texts(judge, none)
    assert len(keep) == len(reason) == 0 and {name: len(each) for name, each in scores.items()} == {
        "words": 0,
        "characters": 0,
    }


def test_a_batch_without_any_text(judge):
    for none in ([None, None], pyarrow.nulls(2), pyarrow.nulls(2, pyarrow.string())):
        found = judge_texts(judge, none)
        assert found.reason.tolist() == [NO_TEXT] * 2 and not found.keep.any() and np.isnan(found.scores["words"]).all()


def test_bytes_that_are_no_text(judge):
    """`wv filter` skips such records; half a character of UTF-16 becomes U+FFFD, as in its JSON."""
    found = judge_texts(judge, [b"caf\xe9", "half \ud83d", b"caf\xc3\xa9"])
    assert found.reason.tolist() == [NOT_UTF8, None, None]
    assert [*text_blocks(["a\ud83d\udc00"])] == [["a\ufffd\ufffd".encode()]]


def test_arrow_without_pyarrow_is_read_as_objects(judge, monkeypatch):
    class Column(list):
        __arrow_c_stream__ = None

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert judge_texts(judge, Column(TEXTS)).keep.tolist() == [True, False, False, True, False, True]


def test_missing_values_of_pandas(judge):
    pandas = pytest.importorskip("pandas")
    for kind in (object, "string", "str", pandas.ArrowDtype(pyarrow.string())):
        series = pandas.Series(TEXTS, dtype=kind)
        assert judge_texts(judge, series).keep.tolist() == [True, False, False, True, False, True]
    assert not judge_texts(judge, pandas.Series([pandas.NA, None, float("nan")], dtype=object)).keep.any()


def test_series_of_polars(judge):
    polars = pytest.importorskip("polars")
    for kind in (polars.String, polars.Categorical):
        series = polars.Series(TEXTS, dtype=kind)
        assert judge_texts(judge, series).keep.tolist() == [True, False, False, True, False, True]
