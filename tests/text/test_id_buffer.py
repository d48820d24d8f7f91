"""The id stream's own memory (core/idbuffer): from the heap, mapped, grown while it is mapped, given back."""

import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from wv_cli import _encoder

HUGE_PAGE = 1 << 19  # ids
FIRST_MAPPED = 1 << 24
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere ids are always in the heap")


def text_of(ids):
    """Two words of one letter, so that ids come cheap."""
    return np.stack([ids.astype(np.uint8) + ord("a"), np.full(len(ids), ord(" "), np.uint8)], axis=1).tobytes()


def pattern(length):
    ids = np.random.default_rng(length).integers(0, 2, length)
    ids[0] = 0
    return ids


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("length", [1, HUGE_PAGE - 1, HUGE_PAGE + 1, 3 * HUGE_PAGE, FIRST_MAPPED + 5])
def test_every_size_holds_what_was_read(length, pieces):
    ids = pattern(length)
    text = text_of(ids)
    encoder = _encoder.Encoder()
    step = -(-len(text) // pieces)
    for begin in range(0, len(text), step):
        encoder.feed(text[begin : begin + step])
    assert encoder.ids_bytes == 4 * length
    buffer = encoder.take_stream()
    assert encoder.ids_bytes == 0
    found = np.frombuffer(memoryview(buffer), np.int32)
    np.testing.assert_array_equal(found, ids)
    found[-1] = -1  # it is the taker's alone, and the encoder begins another one
    encoder.feed(text[:2])
    assert np.frombuffer(memoryview(encoder.take_stream()), np.int32).tolist() == [0]
    assert found[-1] == -1


@pytest.mark.parametrize("length", [1, HUGE_PAGE // 2, FIRST_MAPPED + 5])
def test_a_drained_stream_goes_on_behind_what_is_in_the_file(tmp_path, length):
    ids = pattern(length)
    encoder = _encoder.Encoder()
    with (tmp_path / "ids").open("wb") as file:
        for _ in range(2):
            encoder.feed(text_of(ids))
            encoder.drain(file.fileno())
    np.testing.assert_array_equal(np.fromfile(tmp_path / "ids", np.int32), np.concatenate([ids, ids]))


def test_nothing_read_is_an_empty_stream():
    encoder = _encoder.Encoder()
    encoder.finish()
    assert len(memoryview(encoder.take_stream())) == 0


def address_space():
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


@LINUX
@pytest.mark.parametrize("end", ["take_stream", "drain"])
def test_what_is_not_used_is_given_back(end):
    encoder = _encoder.Encoder()
    text = text_of(pattern(HUGE_PAGE + 1))
    before = address_space()
    encoder.feed(text)
    assert address_space() - before >= 4 * FIRST_MAPPED
    with Path(os.devnull).open("wb") as nothing:
        kept = encoder.take_stream() if end == "take_stream" else encoder.drain(nothing.fileno())
    assert address_space() - before < 4 * 4 * HUGE_PAGE
    del kept, encoder
    assert address_space() - before < 4 * HUGE_PAGE


@LINUX
def test_no_memory_is_an_error_and_harms_nothing():
    script = f"""\
        import resource
        from wv_cli import _encoder
        encoder = _encoder.Encoder()
        text = b"a b " * {HUGE_PAGE // 4}
        encoder.feed(text)
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        usual = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size + {HUGE_PAGE * 4}, usual[1]))
        try:
            for _ in range(100):
                encoder.feed(text)
        except MemoryError:
            resource.setrlimit(resource.RLIMIT_AS, usual)
            found = memoryview(encoder.take_stream()).tolist()
            assert len(found) >= len(text) // 2
            assert found == ([0, 1] * len(found))[: len(found)]
            print("all there")
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all there\n", "")
