"""Errors cross to other processes as they are."""

import copy
import pickle

import pytest

from wv_cli.errors import BadFile, Interrupted, UsageError, show_value

ERRORS = [BadFile("a.vec", "expected 3", line=7), Interrupted("stopped", 15), UsageError("--dim is 0")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_in_another_process(error: Exception) -> None:
    for found in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(found) is type(error)
        assert (found.args, vars(found)) == (error.args, vars(error))


def test_a_value_is_shown_on_one_short_line() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert show_value(deep) == show_value(10**5000) == "what is too large to show"
    assert show_value("a\nb") == r"'a\nb'" and show_value([1] * 99, 10) == "[1, 1, 1, ..."
