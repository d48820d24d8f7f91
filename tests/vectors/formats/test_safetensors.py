"""Safetensors: what other programs wrote, every way a header can lie, and what is written here."""

import io
import json

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile
from wv_cli.vectors.formats.safetensors import Tensors, sniff, write

FILE = GOLDEN / "encoders" / "tiny-bert" / "model.safetensors"


def packed(header, numbers=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def opened(tmp_path, content):
    (tmp_path / "x.safetensors").write_bytes(content)
    return Tensors.open(tmp_path / "x.safetensors")


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_a_published_layout():
    tensors = Tensors.open(FILE)
    words = tensors.floats("embeddings.word_embeddings.weight", (None, 16))
    assert words.shape == (200, 16) and "pooler.dense.bias" in tensors and sniff(FILE.read_bytes()[:100])
    offsets = json.loads(FILE.read_bytes()[8 : 8 + int.from_bytes(FILE.read_bytes()[:8], "little")])
    begin, end = offsets["embeddings.word_embeddings.weight"]["data_offsets"]
    data = FILE.read_bytes()[8 + int.from_bytes(FILE.read_bytes()[:8], "little") :]
    assert words.tobytes() == data[begin:end]


@pytest.mark.parametrize(
    ("dtype", "raw"),
    [
        ("F16", np.array([1.5, -2], "<f2").tobytes()),
        ("F64", np.array([1.5, -2]).tobytes()),
        ("BF16", b"\xc0\x3f\0\xc0"),
    ],
)
def test_other_floats(dtype, raw, tmp_path):
    tensors = opened(tmp_path, packed({"x": entry(dtype, [2], 0, len(raw))}, raw))
    found = tensors.floats("x", (2,))
    assert found.tolist() == [1.5, -2] and found.dtype == np.float32


def test_int8_where_it_is_asked_for(tmp_path):
    tensors = opened(tmp_path, packed({"x": entry("I8", [2], 0, 2)}, b"\x7f\xfe"))
    assert tensors.floats("x", (2,), or_int8=True).tolist() == [127, -2]
    with pytest.raises(BadFile, match="x: expected floats, 2, found I8, 2"):
        tensors.floats("x", (2,))


@pytest.mark.parametrize("dtype", [[], {}, 1, None, ["F32"]])
def test_a_type_that_is_no_name(dtype, tmp_path):
    with pytest.raises(BadFile, match="'x': expected type, shape and the two offsets"):
        opened(tmp_path, packed({"x": entry(dtype, [2], 0, 8)}, bytes(8)))


def test_numbers_that_do_not_stand_at_multiples_of_four(tmp_path):
    raw = np.array([1.5, -2], "<f4").tobytes()
    header = (
        b'{"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}'
    )
    assert opened(tmp_path, packed(header, b"\1" + raw)).floats("x", (2,)).tolist() == [1.5, -2]


def test_what_is_written_is_read(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([0.5], np.float32)}
    stream = io.BytesIO()
    write(stream, arrays, {"made": "here"})
    tensors = opened(tmp_path, stream.getvalue())
    assert tensors.names == ["a", "b"]
    assert all(np.array_equal(tensors.floats(name, array.shape), array) for name, array in arrays.items())
    assert int.from_bytes(stream.getvalue()[:8], "little") % 8 == 0


FOUR = bytes(4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x07", "first 8 bytes are the length"),
        (packed({}, b"")[:9], "first 8 bytes are the length"),
        ((1 << 62).to_bytes(8, "little") + b"{}", "first 8 bytes are the length"),
        (packed(b"[1, 2]"), "expected a header in JSON"),
        (packed(b"{nonsense"), "expected a header in JSON"),
        (packed(b"[" * 100_000), "expected a header in JSON"),
        (packed({"x": entry("F32", [1], 0, 8)}, FOUR * 2), "'x': expected type, shape and the two offsets"),
        (packed({"x": entry("F32", [-1], 0, 4)}, FOUR), "'x': expected type, shape"),
        (packed({"x": entry("F33", [1], 0, 4)}, FOUR), "'x': expected type, shape"),
        (packed({"x": entry("F32", [1.0], 0, 4)}, FOUR), "'x': expected type, shape"),
        (packed({"x": entry("F32", [2**61, 8], 0, 0)}), "'x': expected type, shape"),
        (packed({"x": entry("F32", [True], 0, 4)}, FOUR), "'x': expected type, shape"),
        (packed({"x": entry("F32", [1], 4, 0)}, FOUR), "'x': expected type, shape"),
        (packed({"x": 5}), "'x': expected type, shape"),
        (packed({"x": entry("F32", [1], 0, 4)}), "expected 4 bytes of numbers, found 0"),
        (packed({"x": entry("F32", [1], 0, 4)}, FOUR * 2), "expected 4 bytes of numbers, found 8"),
        (packed({"x": entry("F32", [1], 0, 4), "y": entry("F32", [1], 0, 4)}, FOUR), "the numbers of 'y' at offset 4"),
        (packed({"x": entry("F32", [1], 4, 8)}, FOUR * 2), "the numbers of 'x' at offset 0, found offset 4"),
    ],
)
def test_what_is_refused(content, message, tmp_path):
    with pytest.raises(BadFile, match=message):
        opened(tmp_path, content)


def test_arrays_that_are_not_what_is_asked_for(tmp_path):
    raw = np.array([1, np.nan], "<f4").tobytes() + bytes(8)
    tensors = opened(tmp_path, packed({"x": entry("F32", [2], 0, 8), "i": entry("I64", [1], 8, 16)}, raw))
    for name, shape, message in [
        ("none", (2,), "expected an array 'none', found x, i"),
        ("x", (3,), "x: expected floats, 3, found F32, 2"),
        ("x", (2, None), "expected floats, 2 x any"),
        ("i", (1,), "i: expected floats, 1, found I64, 1"),
        ("x", (2,), "x: expected finite numbers"),
    ]:
        with pytest.raises(BadFile, match=message):
            tensors.floats(name, shape)
    assert tensors.integers("i", 1).tolist() == [0]
    with pytest.raises(BadFile, match="expected 2 whole numbers, found F32"):
        tensors.integers("x", 2)
