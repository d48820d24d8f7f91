"""Checkpoints: exact round trip, and a clear refusal of everything that is not the checkpoint of this run."""

import numpy as np
import pytest

from wv_cli.errors import BadFile, WvError
from wv_cli.models.training import checkpoint

IDENTITY = {"dim": 3, "corpus": "abc"}
STATE = {"next_step": 7, "isa": "baseline"}


def arrays(fill=0.0):
    return {"input": np.full((4, 16), fill, np.float32), "bias": np.full(5, fill, np.float32)}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "run.checkpoint"
    checkpoint.save(path, IDENTITY, STATE, arrays(1.5))
    return path


def test_round_trip(saved):
    target = arrays()
    assert checkpoint.load(saved, IDENTITY, target) == STATE
    for name, array in arrays(1.5).items():
        np.testing.assert_array_equal(target[name], array)


def test_another_run_is_refused_with_the_difference(saved):
    told = r"corpus: 'abc' in the checkpoint, 'xyz' now\).*the text or what is read of it has changed"
    with pytest.raises(WvError, match=told):
        checkpoint.load(saved, {**IDENTITY, "corpus": "xyz"}, arrays())


def test_other_shapes_are_refused(saved):
    with pytest.raises(BadFile, match="expected the arrays"):
        checkpoint.load(saved, IDENTITY, {"input": np.zeros((4, 32), np.float32)})


def test_truncated_anywhere_is_refused(saved):
    whole = saved.read_bytes()
    for length in range(len(whole)):
        saved.write_bytes(whole[:length])
        with pytest.raises(WvError):
            checkpoint.load(saved, IDENTITY, arrays())


def test_any_flipped_byte_is_refused(saved):
    whole = saved.read_bytes()
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 0x10
        saved.write_bytes(bytes(broken))
        with pytest.raises(WvError):
            checkpoint.load(saved, IDENTITY, arrays())


def test_bytes_after_the_end_are_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"x")
    with pytest.raises(BadFile, match="damaged"):
        checkpoint.load(saved, IDENTITY, arrays())


@pytest.mark.parametrize("step", [-1, 8, 2**31 - 1])
def test_numbers_of_steps_lie_before_the_next(step, tmp_path):
    """Kernels find their places by them."""
    path = tmp_path / "run.checkpoint"
    for last, refused in ((7, False), (step, True)):
        array = {"last": np.array([0, last], np.int32)}
        checkpoint.save(path, IDENTITY, STATE, array)
        if not refused:
            assert checkpoint.load(path, IDENTITY, {"last": np.zeros(2, np.int32)}) == STATE
            continue
        with pytest.raises(BadFile, match="expected numbers of steps, 0 to 7, in the array last, found others"):
            checkpoint.load(path, IDENTITY, {"last": np.zeros(2, np.int32)})
