"""Text inputs as one stream of bytes: files, folders, standard input, plain or compressed.

Not a tokenizer: what comes out is chunks of about a megabyte, cut anywhere, in which every input ends with a newline,
so that neither a word nor a line runs from one file into the next. Decisions:
  - the compression is told by the first bytes, never by the name; what cannot be read as text (zip, UTF-16) is refused;
  - inputs are looked at before the first is read, so a wrong name fails at once and the total size is known; where
    they must be running text (inputs.Texts) that goes for their first bytes too.
"""

import os
import select
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO

from wv_cli._text import SEPARATORS
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.system.compression import CHUNK, unpacked
from wv_cli.system.kinds import HEAD_BYTES
from wv_cli.system.output import reason
from wv_cli.text.inputs import UTF16, Texts, binary

Inputs = Sequence[str] | Texts
Progress = Callable[[int, int | None], None]


class Source:
    """The inputs, in order, as chunks of bytes: iterate once.

    `inputs` are paths of files, of folders (all regular files inside, at any depth, in sorted order; names that begin
    with a dot are skipped) and `-` for standard input; Texts are held to what they must be, and `inputs` are then their
    names. With `lowercase` words are lowercased by Unicode's rules.
    `progress` is called after each chunk with the bytes consumed (compressed ones of compressed files) and their total,
    None when it cannot be known, and once at the end with two equal numbers.

    Raises WvError for an input that is missing, unreadable or empty of files, BadFile for one that is not the text it
    must be, UsageError when there is none; while iterating BadFile for damaged or truncated compressed data.
    """

    def __init__(self, inputs: Inputs, *, lowercase: bool = False, progress: Progress | None = None) -> None:
        self._texts = inputs if isinstance(inputs, Texts) else None
        self.inputs = inputs.inputs if isinstance(inputs, Texts) else inputs
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
            text: Iterator[bytes] = unpacked(self._counted(_blocks(raw, name, CHUNK)), name)
            if self._texts is not None:  # a pipe has not been looked at before
                text = _judged(self._texts, text, name)
            first = next(text, b"")
            if self._texts is None and binary(first[:2]):
                raise BadFile(name, UTF16)
            if first := first.removeprefix(b"\xef\xbb\xbf"):
                yield first
            yield from text

    def _counted(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self.consumed += len(block)
            yield block


def _blocks(raw: BinaryIO, name: str, size: int) -> Iterator[bytes]:
    while True:
        try:
            block: bytes | None = raw.read(size)
        except OSError as error:
            message = f"{name}: cannot read: {reason(error)}"
            raise WvError(message) from error
        if block is None:  # a pipe somebody has made non-blocking has nothing to give yet
            select.select([raw], [], [])
            continue
        if not block:
            return
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


def expand_inputs(inputs: Inputs) -> list[str]:
    """The files that `inputs` name, folders replaced by the files in them. Raises what Source raises at once."""
    texts = inputs if isinstance(inputs, Texts) else None
    names = inputs.inputs if isinstance(inputs, Texts) else inputs
    if not names:
        message = "no input; name files or folders, or - for standard input"
        raise UsageError(message)
    if list(names).count("-") > 1:
        message = "- (standard input) is given twice; it can be read only once"
        raise UsageError(message)
    paths: list[str] = []
    for name in map(os.fspath, names):
        if name == "-":
            paths.append(name)
        elif Path(name).is_dir():
            paths += _files_of(name, texts)
        else:
            _check_readable(name)
            if texts is not None and (problem := _problem(name, texts)):
                raise _not_text(name, problem)
            paths.append(name)
    return paths


def _files_of(folder: str, texts: Texts | None) -> list[str]:
    found: list[tuple[str, ...]] = []

    def fail(error: OSError) -> None:
        message = f"{error.filename}: cannot read: {reason(error)}"
        raise WvError(message) from error

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inner = Path(parent).relative_to(folder).parts
        found += [(*inner, name) for name in names if not name.startswith(".")]
    paths = [str(path) for path in (Path(folder, *parts) for parts in sorted(found)) if path.is_file()]
    for path in paths:
        _check_readable(path)
    left_out = _left_out(paths, texts) if texts is not None else {}
    paths = [path for path in paths if path not in left_out]
    skipped = _skipped(left_out)
    if not paths:
        message = f"{folder}: no files in this folder (names that begin with a dot are skipped)"
        if skipped:
            message = f"{folder}: no text in this folder: {skipped}"
        raise WvError(message)
    if skipped and texts is not None:
        texts.note(f"{folder}: {skipped}")
    return paths


def _left_out(paths: list[str], texts: Texts) -> dict[str, str]:
    """The files of a folder that are not read as text, and what each is instead."""
    written = [status for status in map(_status, texts.written) if status is not None]
    found = {}
    for path in paths:
        what: str | None
        status = _status(path)
        if status is not None and any(os.path.samestat(status, other) for other in written):
            what = "an output of this run"
        elif texts.is_sidecar(path):
            what = "written beside another file"
        else:
            what = _problem(path, texts)
        if what:
            found[path] = what
    return found


def _skipped(left_out: dict[str, str]) -> str:
    if not left_out:
        return ""
    path, what = next(iter(left_out.items()))
    files = "1 file that is no text is" if len(left_out) == 1 else f"{len(left_out):,} files that are no text are"
    return f"{files} left out, {'' if len(left_out) == 1 else 'such as '}{path}: {what}"


def _problem(path: str, texts: Texts) -> str | None:
    """What a file is instead of text; None for text, and for a pipe or device, of which nothing may be lost."""
    if texts.force or not Path(path).is_file():
        return None
    with _open(path) as raw:
        blocks = _blocks(raw, path, HEAD_BYTES)
        with closing(unpacked(blocks, path)) as text:
            return texts.problem(next(text, b""))


def _judged(texts: Texts, chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The chunks as they come, however small a pipe makes them. Raises BadFile once they are seen to be no text."""
    head, judged = b"", 0
    for chunk in chunks:
        if len(head) < HEAD_BYTES:
            head += chunk[: HEAD_BYTES - len(head)]
            if len(head) >= min(2 * judged, HEAD_BYTES):
                judged = len(head)
                _require_text(texts, head, name)
        yield chunk
    if judged < len(head):
        _require_text(texts, head, name)


def _require_text(texts: Texts, head: bytes, name: str) -> None:
    if problem := texts.problem(head):
        raise _not_text(name, problem)


def _not_text(name: str, what: str) -> BadFile:
    if what == UTF16:
        return BadFile(name, UTF16)
    return BadFile(name, f"{what}, not text; give a text, or --force-text if you mean it")


def _status(path: str) -> os.stat_result | None:
    """Of a file, `-` being what standard output has been redirected to; None when it has none."""
    try:
        status = os.fstat(1) if path == "-" else Path(path).stat()
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


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
    target = _status(output)
    if target is None:
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
