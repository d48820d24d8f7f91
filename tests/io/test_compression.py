"""Decompression in pieces of bounded size, whatever the data promise."""

import bz2
import contextlib
import gzip
import itertools
import lzma
import random
import threading
import time
import tracemalloc

import pytest

from tests import zstd
from tests.processes import PATIENCE
from wv_cli.errors import BadFile
from wv_cli.io import threads
from wv_cli.io.compression import CHUNK, decompress


def rle_blocks(count, single=False):
    """A zstd frame of blocks of four bytes, each of which unpacks to 128 KiB of x."""
    head = b"\x28\xb5\x2f\xfd" + (b"\xa0" + (count << 17).to_bytes(4, "little") if single else b"\x00\x70")
    blocks = [((131072 << 3) | 2 | (i == count - 1)).to_bytes(3, "little") + b"x" for i in range(count)]
    return head + b"".join(blocks)


ZEROS = bytes(100 << 20)
BOMBS = {
    "gzip": lambda: gzip.compress(ZEROS),
    "bzip2": lambda: bz2.compress(ZEROS),
    "xz": lambda: lzma.compress(ZEROS, preset=1),
    "zstd": lambda: zstd.pack(ZEROS),
    "zstd, repeated bytes": lambda: rle_blocks(800),
    "zstd, known size": lambda: rle_blocks(800, single=True),
}


@pytest.mark.parametrize("name", BOMBS)
def test_pieces_are_bounded(name):
    data = BOMBS[name]()
    assert len(data) < 200_000
    tracemalloc.start()
    try:
        sizes = [len(piece) for piece in decompress(iter([data]), "bomb")]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(sizes) == 100 << 20 and max(sizes) <= 2 * CHUNK
    assert peak < 24 << 20


def frames():
    text = random.Random(1).randbytes(300_000) + b"words " * 100_000
    for level, checksum, size in itertools.product([1, 19], [False, True], [False, True]):
        yield zstd.pack(text, level, checksum, size), text
    for size in (0, 1, 255, 256, 65791, 65792):
        yield zstd.pack(text[:size]), text[:size]
        stream = zstd.zstd.ZstdCompressor()
        yield stream.compress(text[:size]) + stream.flush(), text[:size]
    yield b"\x5f\x2a\x4d\x18\x00\x00\x00\x00", b""
    yield rle_blocks(3), b"x" * (3 << 17)


@pytest.mark.parametrize("step", [1, 7, 4096, 1 << 20])
def test_every_kind_of_frame_in_every_cut(step):
    """Frames behind each other, cut anywhere, with padding between."""
    packed = [(data, text) for data, text in frames() if step > 1 or len(data) < 2000]
    whole = bytes(5).join(data for data, _ in packed)
    blocks = (whole[i : i + step] for i in range(0, len(whole), step))
    assert b"".join(decompress(blocks, "x")) == b"".join(text for _, text in packed)


def test_damaged_blocks_are_found():
    good = zstd.pack(b"words " * 100_000)
    random_ = random.Random(2)
    for _ in range(300):
        data = bytearray(good * 2)
        data[random_.randrange(5, len(data))] ^= 1 << random_.randrange(8)
        with contextlib.suppress(BadFile):
            assert len(b"".join(decompress(iter([bytes(data)]), "x"))) <= 64 << 20


def test_nothing_is_read_after_the_end(slice_xz, monkeypatch):
    """The reader in the background is gone when the generator is closed: what it read later it would take from another
    file, which may have the number of this one by then."""
    monkeypatch.setattr(threads, "_PATIENCE", PATIENCE)
    reads = []

    def blocks():
        with slice_xz.open("rb") as file:
            while block := file.read(1 << 16):
                time.sleep(0.02)
                reads.append(len(block))
                yield block

    text = decompress(blocks(), "text")
    next(text)
    text.close()
    before = len(reads)
    time.sleep(0.2)
    assert len(reads) == before
    assert not [thread for thread in threading.enumerate() if thread.name == "decompress"]
