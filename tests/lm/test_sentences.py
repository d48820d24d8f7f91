"""Streams of ids cut into sentences, and the sums of their scores (csrc/wv_cli/_sentences.pyx)."""

import math

import numpy as np
import pytest

from wv_cli import _sentences

UNKNOWN = 0


def stream(*ids: int) -> np.ndarray:
    return np.array(ids, np.int32)


@pytest.mark.parametrize(("ids", "end"), [((), 0), ((3, 4), 0), ((3, -1), 2), ((-1, 3, -1, 4, 5), 3)])
def test_the_last_end(ids: tuple[int, ...], end: int) -> None:
    assert _sentences.last_end(stream(*ids)) == end == max(_sentences.ends(stream(*ids)), default=0)


def test_ids_are_exchanged_and_ends_stay() -> None:
    assert _sentences.exchange(stream(1, -1, 0, 7), stream(5, 6), UNKNOWN).tolist() == [6, -1, 5, UNKNOWN]
    assert _sentences.exchange(stream(), stream(5, 6), UNKNOWN).tolist() == []


def test_totals_are_exact() -> None:
    """Sums that float64 rounds are those of math.fsum all the same."""
    random = np.random.default_rng(1)
    sentences = [-random.exponential(3, n).astype(np.float32) for n in (1, 2, 7, 100, 1000)]
    sentences.append(np.array([-1e30, -1, 1e30, -1e-30, 0], np.float32))
    scores = np.concatenate(sentences)
    ids = np.concatenate([[*random.integers(0, 3, len(each) - 1), -1] for each in sentences]).astype(np.int32)
    sums, unknown = _sentences.totals(ids, scores, UNKNOWN)
    assert sums == [math.fsum(each.tolist()) for each in sentences]
    ends = np.cumsum([len(each) for each in sentences])
    assert unknown == [int((part == UNKNOWN).sum()) for part in np.split(ids, ends[:-1])]
    assert _sentences.totals(stream(3, 4), np.zeros(2, np.float32), UNKNOWN) == ([], [])
    with pytest.raises(ValueError, match="do not fit"):
        _sentences.totals(stream(3, -1), np.zeros(1, np.float32), UNKNOWN)
