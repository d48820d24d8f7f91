"""Aligned memory: where it begins, what it holds, and a clear error when there is none."""

import subprocess
import sys

import numpy as np
import pytest

from wv_cli.errors import WvError
from wv_cli.io.memory import allocate_aligned, for_buffers, pad_width, require, zeros


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 5, 16), (1000, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.uint64])
def test_aligned_begins_on_a_cache_line(shape, dtype):
    array = allocate_aligned(shape, dtype)
    assert array.shape == shape and array.dtype == dtype and array.flags.c_contiguous and array.flags.writeable
    assert not array.size or array.ctypes.data % 64 == 0


def test_zeros_begin_on_a_huge_page():
    matrix = zeros(5, pad_width(100))
    assert matrix.shape == (5, 112) and matrix.ctypes.data % (1 << 21) == 0 and not matrix.any()
    matrix[:] = 1


def test_more_than_there_is_is_refused():
    with pytest.raises(WvError, match="cannot allocate"):
        zeros(1 << 40, 1 << 10)
    with pytest.raises(WvError, match=r"training needs 1,000,000,000\.00 GB of memory, but .* lower --dim"):
        require(10**18, "training", "lower --dim")


def test_the_limit_of_the_process_counts():
    code = (
        "import resource; from wv_cli.io import memory; limit = 4 << 30\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit)); assert 0 < memory.available() < limit - (16 << 20)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_buffers_get_what_the_process_has_not_taken():
    assert 0.8e12 < for_buffers(10**12) < 10**12
    assert for_buffers(4_000_000) == 1_000_000, "Python takes more: a quarter all the same"
    assert for_buffers(1) == for_buffers(-5) == 1 << 18
