"""Vector files read in blocks, by whatever way their bytes come."""

import io
from typing import Any

import numpy as np
import pytest

from wv_cli._floattext import PADDING
from wv_cli.io.input import Input
from wv_cli.vectors.formats import word2vec_binary


class Held(io.BytesIO):
    """Its views are held on to, as those in the frames of another thread are by a sampling profiler (of which every
    Dask worker has one)."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.views: list[Any] = []

    def readinto(self, view: Any, /) -> int:
        self.views.append(view)
        return super().readinto(view)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 1 << 16])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_lines_are_those_of_the_file(size: int, end: bytes) -> None:
    """Also while others hold what they are read to; every last line ends with a newline."""
    text = b"a\nlonger line\n\n" + b"x" * 40 + b"\nthe last" + end
    source = Input("x", Held(text), None)
    found = b""
    for block, length in source.line_blocks(size):
        assert len(block) >= length + PADDING and block[length - 1] == 10
        found += block[:length]
    assert found == text.removesuffix(b"\n") + b"\n"
    assert source.newline_missing == (not end) and source.position == len(text)


def test_rows_longer_than_the_buffer_while_it_is_held() -> None:
    dim = word2vec_binary._BLOCK_BYTES // 4
    row = np.arange(dim, dtype="<f4")
    source = Input("x", Held(b"word " + row.tobytes() + b"\n"), None)
    matrix, lengths = np.zeros((1, dim), np.float32), np.zeros(1, np.int64)
    (run, *_) = word2vec_binary.RecordReader(source, dim, 1).runs(lambda first: (matrix, lengths))
    assert run.words == b"word" and np.array_equal(matrix[0], row)
