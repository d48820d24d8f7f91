"""The container of our own files: exact round trips, and a refusal of everything that is not one, before it takes
memory."""

import io
import json
import zlib
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wv_cli.errors import BadFile
from wv_cli.io import container
from wv_cli.io.input import Input, open_input

LAYOUT = {"a": ("<f4", ("n", "dim")), "b": ("<i8 <u4", ("n",)), "none": ("|u1", (0,))}


def arrays(order="C"):
    random = np.random.default_rng(1)
    a = np.asarray(random.standard_normal((5, 3)), np.float32, order=order)
    return {"a": a, "b": np.arange(5) * 10**12, "none": np.empty(0, np.uint8)}


def sealed(data, change):
    """A container with its bytes before the check sum changed, and a check sum that fits unless nothing is left."""
    body = change(data[:-8])
    return body and body + zlib.crc32(body).to_bytes(4, "little") + b"DONE"


def written(kind="codes", header=None, **changes):
    stream = io.BytesIO()
    container.write(stream, kind, {"answer": 42} if header is None else header, {**arrays(), **changes})
    return stream.getvalue()


def reader(data, kind="codes", size=True):
    return container.Reader(Input("x", io.BytesIO(data), len(data) if size else None), kind)


@contextmanager
def refused(message, byte=None):
    with pytest.raises(BadFile, match=message) as caught:
        yield
    assert str(caught.value).startswith("x: byte ")
    assert byte is None or caught.value.byte == byte


@pytest.mark.parametrize("size", [True, False], ids=["file", "pipe"])
def test_what_is_written_comes_back(size):
    read = reader(written(), size=size)
    assert read.header == {"answer": 42} and read.fact("answer", int) == 42
    assert read.fact("answer", float) == 42.0
    assert read.expect(LAYOUT, "a test") == {"n": 5, "dim": 3}
    for name, array in read.read().items():
        assert array.dtype == arrays()[name].dtype and array.flags.writeable
        np.testing.assert_array_equal(array, arrays()[name])


@pytest.mark.parametrize(
    "turn",
    [np.asfortranarray, lambda a: a[::-1].copy()[::-1], lambda a: a.astype(">f4"), lambda a: a.repeat(2, 1)[:, ::2]],
    ids=["columns", "reversed", "big-endian", "strides"],
)
def test_memory_may_lie_anyhow(turn, monkeypatch):
    """The bytes are the same, also when a copy holds a row at a time; arrays are filled where they lie."""
    monkeypatch.setattr(container, "_PIECE_BYTES", 12)
    assert written(a=turn(arrays()["a"])) == written()
    target = turn(np.zeros((5, 3), np.float32))
    read = reader(written())
    assert read.read({"a": target})["a"] is target
    np.testing.assert_array_equal(target, arrays()["a"])


def test_padded_rows_are_filled_in_place():
    padded = np.zeros((5, 16), np.float32)
    reader(written()).read({"a": padded[:, :3]})
    np.testing.assert_array_equal(padded[:, :3], arrays()["a"])
    assert not padded[:, 3:].any()


@pytest.mark.parametrize("size", [True, False], ids=["file", "pipe"])
def test_cut_or_changed_anywhere(size):
    whole = written()
    for length in range(len(whole)):
        with pytest.raises(BadFile):
            reader(whole[:length], size=size).read()
    for position in range(len(whole)):
        broken = bytearray(whole)
        broken[position] ^= 0x10
        with pytest.raises(BadFile):
            reader(bytes(broken), size=size).read()
    with pytest.raises(BadFile):
        reader(whole + b"x", size=size).read()


@settings(max_examples=200)
@given(position=st.integers(0, 10**6), junk=st.binary(min_size=1, max_size=6), size=st.booleans())
def test_bytes_overwritten_anywhere(position, junk, size):
    """Refused or the same; never another exception."""
    whole = written()
    position %= len(whole)
    try:
        read = reader(whole[:position] + junk + whole[position + len(junk) :], size=size).read()
    except BadFile:
        return
    for name, array in read.items():
        np.testing.assert_array_equal(array, arrays()[name])


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"a": ("<f4", ("n", "dim")), "b": ("<i8", ("n",))}, r"the arrays a <f4 \(n, dim\), b <i8 \(n\), found"),
        ({**LAYOUT, "a": ("<f8", ("n", "dim"))}, "do not fit a test: expected the arrays a <f8"),
        ({**LAYOUT, "a": ("<f4", ("n", "n"))}, r"found a <f4 \(5, 3\)"),
        ({**LAYOUT, "a": ("<f4", ("n",))}, "do not fit"),
        ({**LAYOUT, "b": ("<i8", (4,))}, "do not fit"),
        ({**LAYOUT, "b": ("<i8", ("dim",))}, "do not fit"),
    ],
)  # fmt: skip
def test_other_arrays_are_refused(layout, message):
    with refused(message, byte=len(b"wv codes 1\n")):
        reader(written()).expect(layout, "a test")


@pytest.mark.parametrize(
    ("header", "kind", "message"),
    [
        ({}, int, "expected `fact` to be an int, found None"),
        ({"fact": True}, int, "an int, found True"),
        ({"fact": 1.0}, int, "an int"),
        ({"fact": True}, float, "a float"),
        ({"fact": 10**400}, float, "a float"),
        ({"fact": float("inf")}, float, "a float, found inf"),
        ({"fact": [1]}, dict, "a dict"),
    ],
)
def test_other_facts_are_refused(header, kind, message):
    with refused(message):
        reader(written(header=header)).fact("fact", kind)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (["more", "<f8", [10**15, 10**15]], "promises a file of .* bytes, found .*: it is cut short or damaged; make"),
        (["more", "object", [0]], "a line of JSON that names the arrays"),
        (["more", "<f8", [-1]], "a line of JSON"),
        (["more", "<f8", [1.5]], "a line of JSON"),
        (["more", "<f8", [1, 1, 1, 1]], "a line of JSON"),
        (["a", "<f4", [0]], "a line of JSON"),
        (["more", "<f8"], "a line of JSON"),
    ],
)  # fmt: skip
def test_lying_layouts_take_no_memory(entry, message):
    title, line, rest = written().split(b"\n", 2)
    header = json.loads(line)
    header["arrays"].append(entry)
    body = b"\n".join([title, json.dumps(header).encode(), rest])
    with refused(message):
        reader(body)


def test_a_pipe_takes_no_more_memory_than_it_brings():
    title, line, rest = written().split(b"\n", 2)
    header = json.loads(line)
    header["arrays"] = [["a", "<f8", [10**15]]]
    with refused("ends within its a: expected 8,000,000,000,000,000 bytes, found"):
        reader(b"\n".join([title, json.dumps(header).encode(), rest]), size=False).read()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"wv codes 2\n{}\n", r"\(version 1\), found version '2'; update wv"),
        (b"wv hasher 1\n{}\n", "expected a codes file of wv .*, found a hasher file"),
        (b"the of and\n", "found something else"),
        (b"\n", "found something else"),
        (bytes(3000), "found something else"),
    ],
)
def test_other_files_are_named(data, message):
    with refused(message, byte=0):
        reader(data)


def test_damage_is_told_with_what_to_do(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(written()[:-9] + b"x" + written()[-8:])
    with open_input(path) as source, pytest.raises(BadFile, match=r"its check sum differs.*; throw it away"):
        container.Reader(source, "codes", advice="throw it away").read()
