"""Files that appear whole or not at all, one by one or several together.

A file is written as `.NAME.wv-tmp` beside its target, flushed, fsynced and renamed. The name is fixed, so what a
`kill -9` leaves behind is overwritten and gone after the next success; a lock on it keeps two runs from writing the
same target at once. (click's `atomic=True` is not safe: it renames the half-written file when the block raises.)

Several files of one run stand in commit_together(): no rename before all of them are complete and on the disk. A name
that ends like a compression (.gz, .bz2, .xz, .zst) is written compressed.
"""

import contextlib
import errno
import io
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from wv_cli.errors import WvError, reason
from wv_cli.system import host
from wv_cli.system.compression import Compressor, compression_of, require_compressor
from wv_cli.system.interrupts import defer_signals
from wv_cli.system.lock import take
from wv_cli.system.places import descriptor_of, is_stdout, is_stream, refuse_folder, require_open

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def temporary_path(target: Path) -> Path:
    return target.with_name(f".{target.name}.wv-tmp")


class _Output:
    """A file on its way: its temporary, open and locked, and the place it is for."""

    def __init__(self, path: str | os.PathLike[str], target: Path) -> None:
        self.path, self.target, self.temporary = path, target, temporary_path(target)
        self.stream: BinaryIO | None = None
        self.complete = False
        self._descriptor = -1

    def create(self) -> BinaryIO:
        """Raises WvError when another process writes the same file, OSError."""
        with defer_signals():
            self._descriptor = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if not self._lock():
            message = f"{self.path}: another process is writing this file; wait for it or choose another name"
            raise WvError(message)
        os.ftruncate(self._descriptor, 0)
        if self.target.exists():
            shutil.copymode(self.target, self.temporary)
        # Not os.fdopen(), which closes the descriptor, and with it gives up the lock, when there is no memory left.
        self.stream = io.BufferedWriter(io.FileIO(self._descriptor, "wb", closefd=False), 1 << 20)
        return self.stream

    def _lock(self) -> bool:
        """Whether the temporary is ours alone, as far as the file system has locks. What another process has renamed
        between our opening and our lock is its finished file, which we must not touch."""
        try:
            take(self._descriptor)
            return os.path.samestat(os.fstat(self._descriptor), self.temporary.stat())
        except (BlockingIOError, FileNotFoundError):
            return False

    def finish(self) -> None:
        """All of it is on the disk. Raises OSError."""
        assert self.stream is not None
        self.stream.flush()
        host.sync(self.stream.fileno())
        self.complete = True

    def rename(self) -> None:
        self.temporary.replace(self.target)

    def close(self) -> None:
        """Gives up the lock. A temporary that was not renamed is removed."""
        if self._descriptor < 0:
            return
        with defer_signals():
            with contextlib.suppress(OSError):
                if self._lock():
                    self.temporary.unlink()
            with contextlib.suppress(OSError):
                if self.stream is not None:
                    self.stream.close()
            os.close(self._descriptor)
            self._descriptor = -1


class _Set(threading.local):
    """The outputs of the commit_together() that this thread is in, in the order of their opening; None outside of one.
    `streamed`: the last of all is written to standard output or a device."""

    outputs: list[_Output] | None = None
    streamed = False


_set = _Set()


@contextlib.contextmanager
def commit_together() -> Iterator[None]:
    """What open_output() writes in this block, in this thread, appears when the block ends without an exception, all of
    it or none: every file is complete and on the disk before the first is renamed, in the order of their opening.

    What goes to `-` or a device cannot wait: write it last, as write_together does. When its reader has closed the
    pipe, the files before it appear all the same, and BrokenPipeError goes on. A block inside another one is a part of
    it. Raises WvError; when the system refuses a rename after others it says which files are new.
    """
    if _set.outputs is not None:
        yield
        return
    outputs = _set.outputs = []
    _set.streamed = False
    try:
        try:
            yield
        except BrokenPipeError:
            if _set.streamed:
                _publish(outputs)
            raise
        _publish(outputs)
    finally:
        _set.outputs = None
        with defer_signals():
            for output in outputs:
                output.close()


@contextlib.contextmanager
def commit_separately() -> Iterator[None]:
    """Inside commit_together(): what open_output() writes in this block does not wait for the others, such as a
    checkpoint."""
    outputs, _set.outputs = _set.outputs, None
    try:
        yield
    finally:
        _set.outputs = outputs


def write_together(writers: Iterable[tuple[str, Callable[[str], object]]]) -> None:
    """Calls each writer with its path, in commit_together(): files in the order given, then `-` and devices. Raises
    what they raise, WvError."""
    with commit_together():
        for path, write in sorted(writers, key=lambda one: is_stream(one[0])):
            write(path)


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the block ends without an exception, in commit_together() when that one
    ends; `-` is standard output.

    Raises WvError when the folder is missing or not writable, the disk is full, or another process is writing `path`.
    A symbolic link is followed, a descriptor, device or pipe (/dev/stdout, /dev/null, a FIFO) is written directly.
    """
    if is_stream(path):
        _set.streamed = True
        with _opened(path) as stream, _compressed(path, stream) as inner:
            yield inner
        return
    refuse_folder(path)
    target = Path(os.path.realpath(path))
    outputs = _set.outputs
    _set.streamed = False
    _require_new(path, target)
    output = _Output(path, target)
    try:
        with _explain_errors(path, "; nothing that was there has been changed"):
            stream = output.create()
            if outputs is not None:
                outputs.append(output)
            with _compressed(path, stream) as inner:
                yield inner
            output.finish()
        if outputs is None:
            _publish([output])
    finally:
        if outputs is None or not output.complete:
            output.close()


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """What is no file, written directly; standard output as the program has it, which shields a terminal."""
    with _explain_errors("standard output" if os.fspath(path) == "-" else path):
        if is_stdout(path):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        descriptor = descriptor_of(path)
        with Path(path).open("wb") if descriptor is None else os.fdopen(os.dup(descriptor), "wb") as stream:
            yield stream


@contextlib.contextmanager
def _compressed(path: str | os.PathLike[str], stream: BinaryIO) -> Iterator[BinaryIO]:
    """`stream`, or what compresses into it, as the name asks."""
    if not compression_of(path):
        yield stream
        return
    compressor = Compressor(stream, os.fspath(path))
    yield cast("BinaryIO", compressor)
    compressor.finish()


def _require_new(path: str | os.PathLike[str], target: Path) -> None:
    """In commit_together() a second opening of one file would hit our own lock."""
    if any(output.target == target for output in _set.outputs or []):
        message = f"{path}: is named twice as an output; give each output its own name"
        raise WvError(message)


def _publish(outputs: list[_Output]) -> None:
    """Renames what is complete. Raises WvError."""
    new: list[_Output] = []
    waiting = [output for output in outputs if output.complete]
    with defer_signals():
        try:
            for output in waiting:
                output.rename()
                new.append(output)
        except OSError as error:
            message = f"{output.path}: cannot write: {reason(error)}; {_list_outputs(new, waiting[len(new) :])}"
            raise WvError(message) from error
        finally:
            for folder in dict.fromkeys(output.target.parent for output in new):
                _sync_folder(folder)


def _list_outputs(new: list[_Output], old: list[_Output]) -> str:
    if not new:
        return "nothing that was there has been changed"
    names = [", ".join(os.fspath(output.path) for output in some) for some in (new, old)]
    return f"already new: {names[0]}; still as before: {names[1]}; they do not belong together, run it again"


@contextlib.contextmanager
def _explain_errors(path: str | os.PathLike[str], kept: str = "") -> Iterator[None]:
    """Turns an OSError that does not name another file into a WvError about `path`, for a full disk with `kept`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"{path}: cannot write: {reason(error)}{kept if error.errno in _NO_SPACE else ''}"
        raise WvError(message) from error


def _sync_folder(folder: Path) -> None:
    """Makes the rename itself survive a power cut; file systems that cannot sync a folder are let be."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            host.sync(descriptor)
        finally:
            os.close(descriptor)


def remove_output(path: str | os.PathLike[str]) -> None:
    """Removes a file made by open_output, and what a killed process left of its successor."""
    target = Path(os.path.realpath(path))
    target.unlink(missing_ok=True)
    temporary_path(target).unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str], expected_bytes: int = 0) -> None:
    """Raises WvError now, before hours of work, when `path` could not be written later.

    `expected_bytes` is compared with the free space of the folder's file system, except for what gets compressed.
    """
    require_compressor(path)
    if is_stream(path):
        require_open(path)
        return
    refuse_folder(path)
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        message = f"{path}: cannot write: the folder {folder} does not exist; create it first"
        raise WvError(message)
    if not os.access(folder, os.W_OK | os.X_OK):
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            message = f"{path}: cannot write: {folder} is on a read-only file system; write elsewhere, or to -"
            raise WvError(message)
        message = f"{path}: cannot write: no permission to write in the folder {folder}"
        raise WvError(message)
    free = shutil.disk_usage(folder).free
    if expected_bytes > free and not compression_of(path):
        message = (
            f"{path}: needs about {expected_bytes / 1e6:,.0f} MB, but {folder} has {free / 1e6:,.0f} MB free; "
            "free some space or write to another disk"
        )
        raise WvError(message)
