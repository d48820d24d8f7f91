"""Memory as the kernels need it."""

import numpy as np
import pytest

from wv_cli.system import memory, threads


@pytest.mark.parametrize("shape", [(1,), (7, 3), (2, 5, 16), (0, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.uint64])
def test_aligned_arrays_begin_on_a_cache_line(shape, dtype):
    for _ in range(20):
        array = memory.aligned(shape, dtype)
        assert array.shape == shape and array.dtype == dtype and array.flags.c_contiguous
        assert not array.size or array.ctypes.data % 64 == 0
        array[...] = 1


@pytest.mark.parametrize(("rows", "dim"), [(1, 1), (3, 100), (1000, 17)])
def test_matrices_are_zero_and_their_rows_padded(rows, dim):
    matrix = memory.zeros(rows, memory.padded(dim))
    assert matrix.shape == (rows, -(-dim // 16) * 16) and not matrix.any()
    assert matrix.ctypes.data % 64 == 0 and matrix.strides[0] % 64 == 0


def test_there_is_a_processor_for_this_process():
    assert threads.processors() >= 1
