"""Files that appear whole or not at all, one by one or several together.

A file is written under another name beside its target (wv_cli.io.temporary), flushed, fsynced and renamed. What a
`kill -9` leaves behind is gone after the next success. (click's `atomic=True` is not safe: it renames the half-written
file when the block raises.)

Several files of one run stand in commit_together(): no rename before all of them are complete and on the disk. What
stands alone is written by write_each(): a file that fails keeps none of the others back. A name that ends like a
compression (.gz, .bz2, .xz, .zst) is written compressed.
"""

import contextlib
import errno
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from wv_cli.errors import Interrupted, WvError, reason
from wv_cli.io import host
from wv_cli.io.compression import Compressor, compression_of, require_compressor
from wv_cli.io.interrupts import defer_signals
from wv_cli.io.places import descriptor_of, is_stdout, is_stream, refuse_folder, require_open
from wv_cli.io.temporary import Temporary, remove_strays

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_UNCHANGED = "nothing that was there has been changed"


class _Set(threading.local):
    """The outputs of the commit_together() that this thread is in, in the order of their opening; None outside of one.
    `streamed`: the last of all is written to standard output or a device. `failed`: the errors of write_each()."""

    outputs: list[Temporary] | None = None
    streamed = False
    failed: tuple[WvError, ...] = ()


_set = _Set()


@contextlib.contextmanager
def commit_together(last: str | None = None) -> Iterator[None]:
    """What open_output() writes in this block, in this thread, appears when the block ends without an exception, all of
    it or none: every file is complete and on the disk before the first is renamed, in the order of their opening; the
    file `last` comes after all others.

    What goes to `-` or a device cannot wait: write it last, as write_together does. When its reader has closed the
    pipe, the files before it appear all the same, and BrokenPipeError goes on. A block inside another one is a part of
    it. Raises WvError, in the end also for what write_each() could not write. When the system refuses a rename after
    others the error says which files are new.
    """
    if _set.outputs is not None:
        yield
        return
    outputs = _set.outputs = []
    _set.streamed, _set.failed = False, ()
    try:
        try:
            yield
        except BrokenPipeError:
            if _set.streamed:
                _publish(outputs, last)
            raise
        _publish(outputs, last)
        if _set.failed:
            raise _summary(_set.failed, outputs)
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


def write_each(writers: Iterable[tuple[str, Callable[[str], object]]]) -> list[str]:
    """Like write_together(), in commit_together(), for files that each stand alone: one that raises WvError keeps none
    of the others back. Returns the paths of those that failed; their error comes when commit_together() ends."""
    assert _set.outputs is not None, "stands in commit_together()"
    missing = []
    for path, write in sorted(writers, key=lambda one: is_stream(one[0])):
        try:
            with withdraw_on_failure():
                write(path)
        except Interrupted:
            raise
        except WvError as error:
            _set.failed = (*_set.failed, error)
            missing.append(path)
    return missing


@contextlib.contextmanager
def withdraw_on_failure() -> Iterator[None]:
    """When this block fails, what open_output() wrote in it is gone at once, not only when commit_together() ends."""
    outputs = _set.outputs if _set.outputs is not None else []
    before = len(outputs)
    try:
        yield
    except BaseException:
        with defer_signals():
            for output in outputs[before:]:
                output.close()
            del outputs[before:]
        raise


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the block ends without an exception, in commit_together() when that one
    ends; `-` is standard output.

    Raises WvError when the folder is missing or not writable, the disk is full, or another process is writing `path`.
    A symbolic link is followed, a descriptor, device or pipe (/dev/stdout, /dev/null, a FIFO) is written directly.
    """
    if is_stream(path):
        _set.streamed = True
        with _open_stream(path) as stream, _compress(path, stream) as inner:
            yield inner
        return
    refuse_folder(path)
    target = Path(os.path.realpath(path))
    outputs = _set.outputs
    _set.streamed = False
    _require_new(path, target)
    output = Temporary(path, target)
    try:
        with _explain_errors(path, f"; {_UNCHANGED}"):
            stream = output.create()
            if outputs is not None:
                outputs.append(output)
            with _compress(path, stream) as inner:
                yield inner
            output.finish()
        if outputs is None:
            _publish([output])
    finally:
        if outputs is None or not output.complete:
            output.close()


@contextlib.contextmanager
def _open_stream(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
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
def _compress(path: str | os.PathLike[str], stream: BinaryIO) -> Iterator[BinaryIO]:
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


def _publish(outputs: list[Temporary], last: str | None = None) -> None:
    """Renames what is complete. Raises WvError."""
    new: list[Temporary] = []
    waiting = [output for output in outputs if output.complete]
    if last is not None:
        target = Path(os.path.realpath(last))
        waiting.sort(key=lambda output: output.target == target)
    with defer_signals():
        try:
            for output in waiting:
                output.rename()
                new.append(output)
        except OSError as error:
            problem = f"{_problem(output.path, error)}; {_list_outputs(new, waiting[len(new) :])}"
            message = f"{output.path}: cannot write: {problem}"
            raise WvError(message) from error
        finally:
            for folder in dict.fromkeys(output.target.parent for output in new):
                _sync_folder(folder)


def _summary(failed: tuple[WvError, ...], outputs: list[Temporary]) -> WvError:
    """One error for all files that could not be written, which says what was written all the same."""
    names = ", ".join(os.fspath(output.path) for output in outputs if output.complete)
    if not names:
        return failed[0]
    problems = "; ".join(str(error).removesuffix(f"; {_UNCHANGED}") for error in failed)
    return WvError(f"{problems}; written all the same: {names}")


def _list_outputs(new: list[Temporary], old: list[Temporary]) -> str:
    if not new:
        return _UNCHANGED
    names = [", ".join(os.fspath(output.path) for output in some) for some in (new, old)]
    return f"already new: {names[0]}; still as before: {names[1]}; they do not belong together, run it again"


@contextlib.contextmanager
def _explain_errors(path: str | os.PathLike[str], kept: str = "") -> Iterator[None]:
    """Turns an OSError that does not name another file into a WvError about `path`, for a full disk with `kept`."""
    try:
        yield
    except (BrokenPipeError, WvError):  # a MissingFile is an OSError, too
        raise
    except OSError as error:
        message = f"{path}: cannot write: {_problem(path, error)}{kept if error.errno in _NO_SPACE else ''}"
        raise WvError(message) from error


def _problem(path: str | os.PathLike[str], error: OSError) -> str:
    """Why `path` cannot be written: its folder, which was there at the start, may be gone."""
    is_gone = error.errno == errno.ENOENT and not Path(path).parent.is_dir()
    return _describe_no_folder(path) if is_gone else reason(error)


def _describe_no_folder(path: str | os.PathLike[str]) -> str:
    folder = Path(path).parent
    problem = "is a file; write elsewhere" if folder.exists() else "does not exist; create it first"
    return f"the folder {folder} {problem}"


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
    remove_strays(target)


def check_name(path: str | os.PathLike[str], advice: str = "choose a shorter name") -> None:
    """Raises WvError for a name that is longer than the file system allows, with the `advice`."""
    target = Path(os.path.realpath(path))
    with contextlib.suppress(OSError, ValueError):
        length, most = len(os.fsencode(target.name)), os.pathconf(target.parent, "PC_NAME_MAX")
        if 0 < most < length:
            message = f"{path}: cannot write: a name of {length} bytes, where {most} are allowed; {advice}"
            raise WvError(message)


def check_writable(
    path: str | os.PathLike[str],
    expected_bytes: int = 0,
    read_only: str = "make it writable (chmod u+w) or write to another file",
) -> None:
    """Raises WvError now, before hours of work, when `path` could not be written later. `read_only` is what to do about
    a file that its owner has made read-only; where it is "", such a file may be replaced.

    `expected_bytes` is compared with the free space of the folder's file system, except for what gets compressed.
    """
    require_compressor(path)
    if is_stream(path):
        require_open(path)
        return
    refuse_folder(path)
    target = Path(os.path.realpath(path))
    folder = target.parent
    if target.is_symlink():  # what realpath() could not follow
        message = f"{path}: cannot write: a symbolic link that leads to itself; remove it or choose another name"
        raise WvError(message)
    if read_only and target.is_file() and not (mode := target.stat().st_mode) & 0o222:
        message = f"{path}: cannot write: the file is read-only (mode {mode & 0o777:o}); {read_only}"
        raise WvError(message)
    if not folder.is_dir():
        raise WvError(f"{path}: cannot write: {_describe_no_folder(path)}")
    if not os.access(folder, os.W_OK | os.X_OK):
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            message = f"{path}: cannot write: {folder} is on a read-only file system; write elsewhere, or to -"
            raise WvError(message)
        message = f"{path}: cannot write: no permission to write in the folder {folder}"
        raise WvError(message)
    check_name(path)
    import shutil

    free = shutil.disk_usage(folder).free
    if expected_bytes > free and not compression_of(path):
        message = (
            f"{path}: needs about {expected_bytes / 1e6:,.0f} MB, but {folder} has {free / 1e6:,.0f} MB free; "
            "free some space or write to another disk"
        )
        raise WvError(message)
