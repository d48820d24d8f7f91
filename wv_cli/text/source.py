"""Text inputs as one stream of bytes: files, folders, standard input, plain or compressed.

Not a tokenizer: what comes out is chunks of about a megabyte, cut anywhere, in which every input ends with a newline,
so that neither a word nor a line runs from one file into the next. Decisions:
  - the compression is told by the first bytes, never by the name; what cannot be read as text (zip, UTF-16) is refused;
  - decompression runs in a thread of its own, a few chunks ahead of the reader;
  - inputs are looked at before the first is read, so a wrong name fails at once and the total size is known.
"""

import bz2
import lzma
import os
import queue
import stat
import threading
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.text.output import reason

Progress = Callable[[int, int | None], None]

CHUNK = 1 << 20
_BLOCK = 1 << 16  # compressed bytes handed to a decompressor at once


class Source:
    """The inputs, in order, as chunks of bytes: iterate once.

    `inputs` are paths of files, of folders (all regular files inside, at any depth, in sorted order; names that begin
    with a dot are skipped) and `-` for standard input. With `lowercase` words are lowercased by Unicode's rules.
    `progress` is called after each chunk with the bytes consumed (compressed ones of compressed files) and their total,
    None when it cannot be known, and once at the end with two equal numbers.

    Raises WvError for an input that is missing, unreadable or empty of files, UsageError when there is none; while
    iterating BadFile for damaged or truncated compressed data.
    """

    def __init__(self, inputs: Sequence[str], *, lowercase: bool = False, progress: Progress | None = None) -> None:
        self.paths = expand_inputs(inputs)
        self.lowercase = lowercase
        self.consumed = 0
        self.total = _total_size(self.paths)
        self._progress = progress

    def __iter__(self) -> Iterator[bytes]:
        chunks: Iterable[bytes] = self._all_files()
        if self.lowercase:
            chunks = lowercased(chunks)
        for chunk in chunks:
            yield chunk
            if self._progress is not None:
                self._progress(self.consumed, self.total)
        if self._progress is not None:
            self._progress(self.consumed, self.consumed)

    def _all_files(self) -> Iterator[bytes]:
        for path in self.paths:
            last = b"\n"
            for chunk in self._file(path):
                last = chunk[-1:]
                yield chunk
            if last != b"\n":
                yield b"\n"

    def _file(self, path: str) -> Iterator[bytes]:
        """The text of one file; empty chunks never."""
        name = _shown(path)
        with _open(path) as raw:
            text = unpacked(self._blocks(raw, name), name)
            first = next(text, b"")
            _refuse_utf16(first, name)
            if first := first.removeprefix(b"\xef\xbb\xbf"):
                yield first
            yield from text

    def _blocks(self, raw: BinaryIO, name: str) -> Iterator[bytes]:
        while True:
            try:
                block = raw.read(CHUNK)
            except OSError as error:
                message = f"{name}: cannot read: {reason(error)}"
                raise WvError(message) from error
            if not block:
                return
            self.consumed += len(block)
            yield block


def lowercased(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lowercases UTF-8 text by Unicode's rules; bytes that are not UTF-8 stay as they are.

    Chunks are cut anew between words: a capital sigma becomes another letter at a word's end than inside it.
    """
    unfinished: list[bytes] = []
    for chunk in chunks:
        cut = max(map(chunk.rfind, _SEPARATORS)) + 1
        if cut == 0:
            unfinished.append(chunk)
            continue
        yield _lower(b"".join([*unfinished, chunk[:cut]]))
        unfinished = [chunk[cut:]] if cut < len(chunk) else []
    if unfinished:
        yield _lower(b"".join(unfinished))


_SEPARATORS = [b" ", b"\t", b"\n", b"\v", b"\f", b"\r", b"\0"]


def _lower(text: bytes) -> bytes:
    if text.isascii():
        return text.lower()
    return text.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")


# ---------------------------------------------------------------- names


def _shown(path: str) -> str:
    return "standard input" if path == "-" else path


def expand_inputs(inputs: Sequence[str]) -> list[str]:
    """The files that `inputs` name, folders replaced by the files in them. Raises what Source raises at once."""
    if not inputs:
        message = "no input; name files or folders, or - for standard input"
        raise UsageError(message)
    if list(inputs).count("-") > 1:
        message = "- (standard input) is given twice; it can be read only once"
        raise UsageError(message)
    paths: list[str] = []
    for name in map(os.fspath, inputs):
        if name == "-":
            paths.append(name)
        elif Path(name).is_dir():
            paths += _files_of(name)
        else:
            _check_readable(name)
            paths.append(name)
    return paths


def _files_of(folder: str) -> list[str]:
    found: list[tuple[str, ...]] = []

    def fail(error: OSError) -> None:
        message = f"{error.filename}: cannot read: {reason(error)}"
        raise WvError(message) from error

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inner = Path(parent).relative_to(folder).parts
        found += [(*inner, name) for name in names if not name.startswith(".")]
    paths = [str(path) for path in (Path(folder, *parts) for parts in sorted(found)) if path.is_file()]
    if not paths:
        message = f"{folder}: no files in this folder (names that begin with a dot are skipped)"
        raise WvError(message)
    for path in paths:
        _check_readable(path)
    return paths


def _check_readable(path: str) -> None:
    try:
        Path(path).stat()
        if not os.access(path, os.R_OK):
            raise PermissionError(13, os.strerror(13), path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = reason(error) if isinstance(error, OSError) else str(error)
        message = f"{path}: cannot read: {why}"
        raise WvError(message) from error


def _total_size(paths: list[str]) -> int | None:
    """Bytes of all inputs, None when one has no size (a pipe)."""
    total = 0
    for path in paths:
        try:
            status = os.fstat(0) if path == "-" else Path(path).stat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total


def refuse_overwriting(inputs: Sequence[str], output: str) -> None:
    """Raises UsageError when `output` (`-`: whatever standard output has been redirected to) is one of the inputs."""
    try:
        target = os.fstat(1) if output == "-" else Path(output).stat()
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(target.st_mode):
        return
    for path in expand_inputs(inputs):
        with suppress(OSError):
            if os.path.samestat(os.fstat(0) if path == "-" else Path(path).stat(), target):
                name = "standard output" if output == "-" else output
                message = f"{name} is also an input ({_shown(path)}); write to another file"
                raise UsageError(message)


def _open(path: str) -> BinaryIO:
    # Standard input by its descriptor: a thread may hang in a read of it when the interpreter ends, and the lock of
    # sys.stdin would then be fatal.
    try:
        return open(0 if path == "-" else path, "rb", buffering=0, closefd=path != "-")
    except OSError as error:
        message = f"{_shown(path)}: cannot read: {reason(error)}"
        raise WvError(message) from error


# ---------------------------------------------------------------- compression


@dataclass(frozen=True)
class _Codec:
    """A compression: its name, how its files begin, and a maker of decoders in the manner of bz2.BZ2Decompressor."""

    name: str
    magic: tuple[bytes, ...]
    new_decoder: Callable[[str], Any]


def _new_zstd_decoder(name: str) -> Any:
    try:
        import zstandard
    except ImportError:
        message = f"{name}: is compressed with zstd; install what reads it with: pip install 'wv-cli[zstd]'"
        raise WvError(message) from None

    class Decoder:
        """zstandard's decoder takes no output limit; it is fed little at a time instead."""

        def __init__(self) -> None:
            # 2^31: what `zstd --long=31` writes.
            self._decoder = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
            self.unconsumed_tail = b""

        @property
        def eof(self) -> bool:
            return bool(self._decoder.eof)

        @property
        def unused_data(self) -> bytes:
            return bytes(self._decoder.unused_data) + self.unconsumed_tail

        def decompress(self, data: bytes, limit: int) -> bytes:
            piece, self.unconsumed_tail = data[:8192], data[8192:]
            return self._decoder.decompress(piece) if piece else b""

    return Decoder()


_CODECS = [
    _Codec("gzip", (b"\x1f\x8b\x08",), lambda name: zlib.decompressobj(wbits=31)),
    # BZh1 to BZh9, then the mark of a block or, in an empty file, of the end: text may begin with "BZh9" too.
    _Codec(
        "bzip2",
        tuple(b"BZh%d" % level + mark for level in range(1, 10) for mark in (b"1AY&SY", b"\x17rE8P\x90")),
        lambda name: bz2.BZ2Decompressor(),
    ),
    _Codec("xz", (b"\xfd7zXZ\0",), lambda name: lzma.LZMADecompressor(lzma.FORMAT_XZ)),
    # Frames, and the skippable frames that some writers put first.
    _Codec(
        "zstd",
        (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16))),
        _new_zstd_decoder,
    ),
]
_HEAD = 16  # bytes that tell a codec

_NOT_TEXT = [
    (b"PK\x03\x04", "a zip archive", "unzip it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (b"\x04\x22\x4d\x18", "lz4-compressed", "run `lz4 -d` first"),
    (b"\x1f\x9d", "compressed with `compress`", "run `uncompress` first"),
]


def _codec(head: bytes, name: str) -> _Codec | None:
    for magic, what, step in _NOT_TEXT:
        if head.startswith(magic):
            problem = f"is {what}, which cannot be read as text; {step}"
            raise BadFile(name, problem)
    return next((codec for codec in _CODECS if head.startswith(codec.magic)), None)


def _refuse_utf16(text: bytes, name: str) -> None:
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        problem = "expected UTF-8 text, found UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE"
        raise BadFile(name, problem)


def is_compressed(head: bytes, name: str) -> bool:
    """Whether a file that begins with `head` is compressed. Raises BadFile for compressions and archives that cannot be
    unpacked here."""
    return _codec(head, name) is not None


def unpacked(blocks: Iterator[bytes], name: str) -> Generator[bytes, None, None]:
    """One file's bytes, decompressed when its first bytes say that it is compressed, otherwise as they come; chunks are
    never empty. Raises BadFile for damaged or truncated compressed data."""
    head = b""
    while len(head) < _HEAD and (block := next(blocks, b"")):
        head += block
    codec = _codec(head, name)
    if codec is None:
        yield from _chain(head, blocks)
    else:
        yield from _ahead(_joined(_decompressed(_chain(head, blocks), codec, name)))


def _decompressed(blocks: Iterator[bytes], codec: _Codec, name: str) -> Iterator[bytes]:
    """The members (gzip), streams or frames of a compressed file one after the other."""
    decoder: Any = None
    place = 0
    for block in blocks:
        for start in range(0, len(block), _BLOCK):
            data = block[start : start + _BLOCK]
            place += len(data)
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
                    raise BadFile(name, problem, byte=place) from error
                pending = len(piece) >= CHUNK and not decoder.eof
                if decoder.eof:
                    data, decoder = decoder.unused_data, None
                else:
                    data = getattr(decoder, "unconsumed_tail", b"")
                if piece:
                    yield piece
    if decoder is not None:
        problem = f"expected more {codec.name} data, found the end of the file: it is incomplete; get the file again"
        raise BadFile(name, problem, byte=place)


# ---------------------------------------------------------------- iterators


def _chain(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from blocks


def _joined(pieces: Iterator[bytes]) -> Iterator[bytes]:
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


def _ahead(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """`chunks`, made by a background thread up to three chunks ahead. Its exceptions are raised here."""
    ready: queue.Queue[bytes | BaseException | None] = queue.Queue(maxsize=2)
    stop = threading.Event()

    def put(item: bytes | BaseException | None) -> None:
        while not stop.is_set():
            with suppress(queue.Full):
                ready.put(item, timeout=0.1)
                return

    def work() -> None:
        try:
            for chunk in chunks:
                put(chunk)
                if stop.is_set():
                    return
            put(None)
        except BaseException as error:
            put(error)

    threading.Thread(target=work, name="decompress", daemon=True).start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
