"""gzip, bzip2, xz and zstd. Read: told by their first bytes, decompressed by a background thread; for texts and vector
files. Written: told by the ending of the name.

Concatenated members (gzip), streams and frames are one file, zero bytes between and behind them are skipped. What is
cut or damaged is a BadFile that names the place in the compressed file; so is a kind of file that is certainly no text.
"""

import io
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple

from wv_cli.errors import BadFile, WvError
from wv_cli.io.kinds import PACKED
from wv_cli.io.threads import read_ahead

CHUNK = 1 << 20  # bytes of text in a chunk, at least (but for the last)
_HEAD = 16  # first bytes that tell a codec
_BLOCK = 1 << 16  # compressed bytes handed to a decompressor at once
_XZ = 1  # lzma.FORMAT_XZ: without LZMA's older format


def is_compressed(head: bytes, name: str) -> bool:
    """Whether a file that begins with `head` (16 bytes or more) is compressed. Raises BadFile for compressions and
    archives that cannot be unpacked here."""
    return _codec(head, name) is not None


def decompress(blocks: Iterator[bytes], name: str) -> Generator[bytes, None, None]:
    """One file's bytes, decompressed when its first bytes say that it is compressed, otherwise as they come; chunks are
    never empty. Raises BadFile for damaged or truncated compressed data."""
    head = b""
    # A short line from a pipe is whole: nothing that tells a codec has a newline.
    while len(head) < _HEAD and not head.endswith(b"\n") and (block := next(blocks, b"")):
        head += block
    codec = _codec(head, name)
    if codec is None:
        yield from _chain(head, blocks)
    else:
        yield from read_ahead(join_pieces(_pieces(_chain(head, blocks), codec, name)), "decompress")


def compression_of(path: str | os.PathLike[str]) -> str:
    """The ending of `path` that asks for a compression, such as .gz; "" for a name that asks for none."""
    return next((codec.ending for codec in _CODECS if os.fspath(path).endswith(codec.ending)), "")


def inner_name(path: str | os.PathLike[str]) -> str:
    """`path` without the ending of a compression: what is compressed, by whose ending its format is chosen."""
    return os.fspath(path).removesuffix(compression_of(path))


def require_compressor(path: str | os.PathLike[str]) -> None:
    """Raises WvError when `path` asks for a compression that is not installed."""
    _new_encoder(os.fspath(path))


class Compressor(io.RawIOBase):
    """A file that compresses what is written to it, in the way the ending of `path` asks for, into `stream`: one member
    (stream, frame), in a piece and without a way back. It ends with finish(); `stream` stays open. Raises WvError for a
    compression that is not installed."""

    def __init__(self, stream: BinaryIO, path: str) -> None:
        super().__init__()
        self._stream, self._encoder = stream, _new_encoder(path)

    def write(self, data: Any) -> int:
        self._stream.write(self._encoder.compress(data))
        return memoryview(data).nbytes

    def finish(self) -> None:
        self._stream.write(self._encoder.flush())

    def writable(self) -> bool:
        return True


class _Codec(NamedTuple):
    """A compression: its name, how its files begin, a maker of decoders in the manner of bz2.BZ2Decompressor, the
    ending of its files, and a maker of encoders in the manner of bz2.BZ2Compressor."""

    name: str
    magic: tuple[bytes, ...]
    new_decoder: Callable[[str], Any]
    ending: str
    new_encoder: Callable[[str], Any]


def _new_encoder(path: str) -> Any:
    ending = compression_of(path)
    return next((codec.new_encoder(path) for codec in _CODECS if codec.ending == ending), None)


def _codec(head: bytes, name: str) -> _Codec | None:
    for first, what, step in PACKED:
        if re.match(first, head):
            problem = f"is {what}, which cannot be read as text; {step}"
            raise BadFile(name, problem)
    return next((codec for codec in _CODECS if head.startswith(codec.magic)), None)


def _chain(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from blocks


def _pieces(blocks: Iterator[bytes], codec: _Codec, name: str) -> Iterator[bytes]:
    """The members (gzip), streams or frames of a compressed file one after the other."""
    decoder: Any = None
    position = 0
    for block in blocks:
        for start in range(0, len(block), _BLOCK):
            data = block[start : start + _BLOCK]
            position += len(data)
            pending = False
            while data or pending:
                if decoder is None:
                    data = data.lstrip(b"\0")  # padding is allowed between members
                    if not data:
                        break
                    decoder = codec.new_decoder(name)
                try:
                    piece = decoder.decompress(data, CHUNK)
                except Exception as error:  # each library has its own
                    problem = f"damaged {codec.name} data ({error}); get the file again"
                    raise BadFile(name, problem, byte=position) from error
                pending = len(piece) >= CHUNK and not decoder.eof
                if decoder.eof:
                    data, decoder = decoder.unused_data, None
                else:
                    data = getattr(decoder, "unconsumed_tail", b"")
                if piece:
                    yield piece
    if decoder is not None:
        problem = f"expected more {codec.name} data, found the end of the file: it is incomplete; get the file again"
        raise BadFile(name, problem, byte=position)


def join_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Small pieces put together to chunks of at least CHUNK bytes."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= CHUNK:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _zstd(task: str) -> Any:
    """The zstd module. Raises WvError when it is missing: `task`, a place and a reason, and the remedy."""
    try:
        if sys.version_info >= (3, 14):
            import compression.zstd as zstd
        else:
            import backports.zstd as zstd
    except ImportError:
        newer = sys.version_info >= (3, 14)
        remedy = "use a Python that has compression.zstd" if newer else "pip install backports.zstd"
        message = f"{task}; {remedy}"
        raise WvError(message) from None
    return zstd


def _new_zstd_encoder(path: str) -> Any:
    zstd = _zstd(f"{path}: the ending asks for zstd")
    parameter = zstd.CompressionParameter
    return zstd.ZstdCompressor(options={parameter.compression_level: 3, parameter.checksum_flag: 1})


def _new_zstd_decoder(name: str) -> Any:
    zstd = _zstd(f"{name}: is compressed with zstd")
    # `zstd --long=31` writes windows of 2^31 bytes.
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 31})


# Their modules are imported for a file that needs them: most need none, and all take as long as a short run's work.
_CODECS = [
    # No time stands in what is written: the same vectors make the same file.
    _Codec(
        "gzip",
        (b"\x1f\x8b\x08",),
        lambda name: import_module("zlib").decompressobj(wbits=31),
        ".gz",
        lambda path: import_module("zlib").compressobj(6, wbits=31),
    ),
    # BZh1 to BZh9, then the mark of a block or, in an empty file, of the end: text may begin with "BZh9" too.
    _Codec(
        "bzip2",
        tuple(b"BZh%d" % level + mark for level in range(1, 10) for mark in (b"1AY&SY", b"\x17rE8P\x90")),
        lambda name: import_module("bz2").BZ2Decompressor(),
        ".bz2",
        lambda path: import_module("bz2").BZ2Compressor(9),
    ),
    _Codec(
        "xz",
        (b"\xfd7zXZ\0",),
        lambda name: import_module("lzma").LZMADecompressor(_XZ),
        ".xz",
        lambda path: import_module("lzma").LZMACompressor(preset=6),
    ),
    # Frames, and the skippable frames that some writers put first.
    _Codec(
        "zstd",
        (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16))),
        _new_zstd_decoder,
        ".zst",
        _new_zstd_encoder,
    ),
]
COMPRESSIONS = tuple(codec.ending for codec in _CODECS)
