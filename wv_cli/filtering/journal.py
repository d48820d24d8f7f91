"""The journal of a filter run: how far it is, so that a killed run goes on from its last point to the same bytes.

Outputs grow in files of their own, `.NAME.wv-part` beside NAME. From time to time all that was written is brought to
the disk, and then the journal says so, in a file that is replaced as a whole. What was written after that is cut off
again by the run that goes on. A shard is finished in two steps, the journal's word and the renames: both may be
repeated.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from wv_cli.errors import BadFile, WvError, reason
from wv_cli.system import host
from wv_cli.system.compression import Compressor, compression_of
from wv_cli.system.output import open_output, remove_output

_NAME = ".wv-filter.json"
_VERSION = 1


@dataclass
class Point:
    """Where a run is: the shards that are `done`, the one `at` work with the blocks of it that are judged, the bytes of
    its outputs and of the keys of duplicates, and the totals. `closing`: its outputs are whole, and get their names."""

    done: list[str] = field(default_factory=list)
    at: str = ""
    blocks: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    closing: bool = False
    totals: dict[str, Any] = field(default_factory=dict)


class Journal:
    """The journal in the folder of a run's output. `identity` is what must be the same for a run to go on."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self.path = folder / _NAME
        self._identity = json.loads(json.dumps(identity))

    def read(self) -> Point | None:
        """The last point; None when there is no journal. Raises WvError for that of another run."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            message = f"{self.path}: cannot read: {reason(error)}"
            raise WvError(message) from error
        try:
            saved = json.loads(text)
            point, identity, version = Point(**saved["point"]), saved["identity"], saved["version"]
        except (ValueError, TypeError, KeyError) as error:
            raise BadFile(self.path, "expected a journal of wv filter; remove it to begin anew") from error
        if version != _VERSION or identity != self._identity:
            differs = [name for name, value in self._identity.items() if identity.get(name) != value] or ["version"]
            message = (
                f"{self.path}: belongs to a run with other {', '.join(differs)}; give the same ones to go on, "
                "or --overwrite to begin anew"
            )
            raise WvError(message)
        return point

    def write(self, point: Point) -> None:
        """Brings the point to the disk. Raises WvError."""
        saved = {"version": _VERSION, "identity": self._identity, "point": asdict(point)}
        with open_output(self.path) as file:
            file.write(json.dumps(saved).encode())

    def remove(self) -> None:
        remove_output(self.path)


class PartFile:
    """An output that grows, in pieces that can be compressed each for itself; `path` gets its name in the end. Raises
    WvError when it cannot be written."""

    def __init__(self, path: Path, size: int) -> None:
        """Goes on behind the first `size` bytes."""
        self.path = path
        self._part = path.with_name(f".{path.name}.wv-part")
        self._compressor: Compressor | None = None
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = os.fdopen(os.open(self._part, flags, 0o666), "r+b", buffering=1 << 20)
            there = self._file.seek(0, os.SEEK_END)
            if there < size:
                self._file.close()
                raise BadFile(self._part, f"expected {size:,} bytes, found {there:,}; --overwrite begins anew")
            self._file.truncate(size)
            self._file.seek(size)

    def read(self, size: int) -> bytes:
        """The first `size` bytes."""
        with self._errors():
            self._file.seek(0)
            data = self._file.read(size)
            self._file.seek(0, os.SEEK_END)
            return data

    def write(self, data: Any) -> int:
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

    def save(self) -> int:
        """Ends what is compressed, and brings everything to the disk. Returns the bytes of the file."""
        with self._errors():
            if self._compressor is not None:
                self._compressor.finish()
                self._compressor = None
            self._file.flush()
            host.sync(self._file.fileno())
            return self._file.tell()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()

    @property
    def closed(self) -> bool:
        return self._file.closed

    @contextlib.contextmanager
    def _errors(self) -> Any:
        try:
            yield
        except OSError as error:
            message = f"{self.path}: cannot write: {reason(error)}"
            raise WvError(message) from error


def publish(path: Path) -> None:
    """Gives a whole part file its name; nothing where that has been done. Raises WvError."""
    part = path.with_name(f".{path.name}.wv-part")
    try:
        with contextlib.suppress(FileNotFoundError):
            part.replace(path)
    except OSError as error:
        message = f"{path}: cannot write: {reason(error)}"
        raise WvError(message) from error


def drop(path: Path) -> None:
    """Removes the part file of an output, if there is one."""
    path.with_name(f".{path.name}.wv-part").unlink(missing_ok=True)
