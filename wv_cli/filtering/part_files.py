"""Part files: outputs of a filter run while they grow, beside the file whose name they get in the end.

A part belongs to one process: its name holds a random number, and it is made anew or is the one that the journal names.
So a worker that outlives its run writes a file of its own, which the next run in that folder removes.
"""

import contextlib
import glob
import os
import secrets
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from wv_cli.errors import BadFile, MissingFile, WvError, reason
from wv_cli.io import host
from wv_cli.io.compression import Compressor, compression_of
from wv_cli.io.remote import files_in, name_elsewhere, path_below, remove_later, size_of
from wv_cli.io.temporary import keep_mode, temporary_prefix

_ENDING = ".wv-part"
_PIECE = 1 << 24


class Saved(NamedTuple):
    """A part file, how many of its bytes are on the disk, and their CRC-32 where the file is read again."""

    part: str
    size: int
    crc: int = 0


class PartFile:
    """What becomes the file `path`, in pieces that can be compressed each for itself. It is new or, where it was
    `saved`, goes on behind its bytes. Until then it stands `beside` that file, or another one. One that is `read_again`
    has a checksum. Raises WvError when it cannot be written, BadFile when it lacks bytes."""

    def __init__(
        self, path: Path, saved: Saved | None = None, beside: Path | None = None, *, read_again: bool = False
    ) -> None:
        self._read_again = read_again
        self.path, self._crc, self.resumed = path, saved.crc if saved is not None else 0, saved is not None
        self._compressor: Compressor | None = None
        if saved is None:
            place = beside or path
            self.part = place.with_name(f"{temporary_prefix(place)}{secrets.token_hex(8)}{_ENDING}")
            flags, size = os.O_CREAT | os.O_EXCL, 0
        else:
            self.part, flags, size = Path(saved.part), 0, saved.size
        with self._errors():
            try:
                descriptor = os.open(self.part, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o666)
            except FileNotFoundError as error:
                if saved is None:
                    raise
                problem = f"expected {size:,} bytes, found no such file; --overwrite begins anew"
                raise BadFile(self.part, problem) from error
            self._file: BinaryIO = os.fdopen(descriptor, "r+b", buffering=1 << 20)
            keep_mode(descriptor, path)
            there = self._file.seek(0, os.SEEK_END)
            if there < size:
                self._file.close()
                raise BadFile(self.part, f"expected {size:,} bytes, found {there:,}; --overwrite begins anew")
            self._file.truncate(size)
            self._file.seek(size)

    def read_saved(self) -> Iterator[bytes]:
        """What had been saved of a file that is read again, which is not compressed, in pieces. Raises BadFile for
        other bytes, behind the last one."""
        crc = 0
        with self._errors():
            self._file.seek(0)
            while piece := self._file.read(_PIECE):
                crc = zlib.crc32(piece, crc)
                yield piece
        if crc != self._crc:
            raise BadFile(self.part, "expected the bytes that were written, found others; --overwrite begins anew")

    def fileno(self) -> int:
        return self._file.fileno()

    def tell(self) -> int:
        """Where the next byte goes, in a file that is not compressed."""
        return self._file.tell()

    def write(self, data: Any) -> int:
        if self._read_again:
            self._crc = zlib.crc32(data, self._crc)
        with self._errors():
            if compression_of(self.path):
                self._compressor = self._compressor or Compressor(self._file, os.fspath(self.path))
                return self._compressor.write(data)
            return self._file.write(data)

    def flush(self) -> None:
        with self._errors():
            self._file.flush()

    def finish(self) -> None:
        """Nothing more comes: a file that is compressed has a member even where it is empty."""
        if self._file.tell() == 0:
            self.write(b"")

    def save(self) -> Saved:
        """Ends what is compressed, and brings everything to the disk."""
        with self._errors():
            if self._compressor is not None:
                self._compressor.finish()
                self._compressor = None
            self._file.flush()
            host.sync(self._file.fileno())
            return Saved(os.fspath(self.part), self._file.tell(), self._crc)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"{self.path}: cannot write: {reason(error)}"
            raise WvError(message) from error


def require_part(path: Path, saved: Saved) -> None:
    """Raises WvError unless the part file of the output `path`, which a worker may have written, is here."""
    try:
        size = Path(saved.part).stat().st_size
    except OSError as error:
        problem = f"expected its part file {saved.part}, found {str(error.strerror).lower()}"
        way = "its folder is gone or has been emptied, or workers do not share it; run the command again"
        raise WvError(f"{path}: {problem}; {way}") from error
    if size != saved.size:
        raise BadFile(saved.part, f"expected the {saved.size:,} bytes of a worker, found {size:,}; run this again")


def require_outputs(outputs: Mapping[str, int], run: str) -> None:
    """Raises BadFile unless these files are here and have so many bytes, as when a `run`, "stopped" or "finished",
    wrote them."""
    for path, size in outputs.items():
        try:
            found = f"{_size_of(path):,}"
        except FileNotFoundError:
            found = "no such file"
        except OSError as error:
            found = reason(error)
        if found != f"{size:,}":
            problem = f"expected the {size:,} bytes that the {run} run wrote, found {found}; --overwrite begins anew"
            raise BadFile(path, problem)


def _size_of(path: str) -> int:
    """Of a file here or, of an output that was uploaded, there. Raises OSError."""
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        if (name := name_elsewhere(path)) is None:
            raise
        return size_of(name) or 0


def files_there(folder: Path, names: Collection[str], *, in_labels: bool) -> Iterator[Path]:
    """The files of these names that are in `folder` or, with `in_labels`, in the folders there."""
    if (elsewhere := name_elsewhere(folder)) is None:
        places = [each for each in folder.iterdir() if each.is_dir()] if in_labels else [folder]
        yield from (place / name for place in places for name in names if (place / name).exists())
        return
    with contextlib.suppress(MissingFile):  # nothing is there
        wanted = {*names}
        for each in files_in(f"{elsewhere}/") or ():
            below = path_below(each, elsewhere)
            if (below.partition("/")[2] if in_labels else below) in wanted:
                yield folder / below


def publish(path: Path, saved: Saved) -> None:
    """Gives a whole part file its name; nothing where that has been done. Raises WvError."""
    try:
        with contextlib.suppress(FileNotFoundError):
            Path(saved.part).replace(path)
    except OSError as error:
        message = f"{path}: cannot write: {reason(error)}"
        raise WvError(message) from error


def remove_parts(folders: Iterable[Path], outputs: Iterable[Path], but: Collection[str] = ()) -> None:
    """Removes what killed runs, and workers that outlived theirs, have left: in `folders` all of it, elsewhere what
    would have become one of the `outputs`."""
    left = {path for folder in folders for path in folder.glob(f".*{_ENDING}")}
    for output in outputs:
        left |= {*output.parent.glob(f"{glob.escape(temporary_prefix(output))}*{_ENDING}")}
    for path in left:
        if os.fspath(path) not in but and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)


def remove_others(folder: Path, paths: Iterable[str]) -> None:
    """Removes outputs of an earlier run in `folder` that this one does not write, and folders that are empty then."""
    root = Path(os.path.realpath(folder))
    for path in map(Path, paths):
        if path.is_relative_to(root):
            path.unlink(missing_ok=True)
            if (name := name_elsewhere(path)) is not None:
                remove_later(name)
            for parent in [each for each in path.parents if each.is_relative_to(root) and each != root]:
                with contextlib.suppress(OSError):
                    parent.rmdir()
