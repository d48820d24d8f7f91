"""Text inputs as one stream of bytes: files, folders, standard input, plain or compressed.

Not a tokenizer: what comes out is chunks of about a megabyte, cut anywhere, in which every input ends with a newline,
so that neither a word nor a line runs from one file into the next. Decisions:
  - the compression is told by the first bytes, never by the name; what cannot be read as text (zip, UTF-16) is refused;
  - inputs are looked at before the first is read, so a wrong name fails at once and the total size is known.
"""

import os
import select
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from wv_cli._text import SEPARATORS
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.system.compression import CHUNK, unpacked
from wv_cli.system.output import reason

Progress = Callable[[int, int | None], None]


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
                block: bytes | None = raw.read(CHUNK)
            except OSError as error:
                message = f"{name}: cannot read: {reason(error)}"
                raise WvError(message) from error
            if block is None:  # a pipe somebody has made non-blocking has nothing to give yet
                select.select([raw], [], [])
                continue
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


_SEPARATORS = [bytes([byte]) for byte in SEPARATORS]


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


def _refuse_utf16(text: bytes, name: str) -> None:
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        problem = "expected UTF-8 text, found UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE"
        raise BadFile(name, problem)
