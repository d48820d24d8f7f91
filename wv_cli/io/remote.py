"""Files of other machines, such as s3://bucket/corpus.jsonl.gz, through fsspec.

Here are names, folders and versions; remote_reading.py has what reads, remote_copies.py whole copies.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from wv_cli.errors import MissingFile, WvError
from wv_cli.io.extra import require

Value = TypeVar("Value")
_NAME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://")
_PAUSES = (0.5, 1.0, 2.0)  # seconds before what failed is tried again
_VERSION = ("ETag", "etag", "md5Hash", "md5", "sha256", "blob_id", "generation", "Content-MD5")
_TIME = ("LastModified", "Last-Modified", "last_modified", "mtime", "updated", "created")
WEB = {"http", "https"}
# What fsspec needs for a protocol.
_PACKAGES = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "hf": "huggingface_hub",
    "https": "aiohttp",
    "http": "aiohttp",
    "abfs": "adlfs",
}


class Status(NamedTuple):
    """What a name stands for: its bytes (None: the server does not say), what changes with its content ("" where that
    is not known), and whether it can be read from any byte on (None: to be tried)."""

    size: int | None
    version: str
    seekable: bool | None


class _Known:
    """What was asked of servers for this run, the names of files that stand here for others, what uploads outputs,
    which files elsewhere go after that, and the name and content of those that were fetched to an output's folder."""

    status: dict[str, Status] = {}  # noqa: RUF012
    names: dict[str, str] = {}  # noqa: RUF012
    outputs: list[Callable[[], None]] = []  # noqa: RUF012
    removed: list[str] = []  # noqa: RUF012
    fetched: dict[str, tuple[str, bytes]] = {}  # noqa: RUF012


def is_remote(name: str | os.PathLike[str]) -> bool:
    return bool(_NAME.match(os.fspath(name)))


def forget() -> None:
    """Files are looked at anew, and outputs of an earlier run stay here."""
    _Known.status.clear()
    _Known.outputs.clear()
    _Known.removed.clear()
    _Known.fetched.clear()


def local_name(name: str) -> str:
    """A name that begins with file:// as a path, any other one as it is."""
    from urllib.parse import unquote

    return unquote(name.removeprefix("file://").removeprefix("localhost")) if name.startswith("file://") else name


def stand_for(path: str, name: str) -> None:
    """Messages call the file `path` by its `name` elsewhere."""
    _Known.names[path] = name


def upload_later(upload: Callable[[], None]) -> None:
    """Keeps what uploads an output until upload_outputs()."""
    _Known.outputs.append(upload)


def know(name: str, found: Status) -> None:
    """What status() says from now on."""
    _Known.status[name] = found


def upload_outputs() -> None:
    """Uploads the outputs of a run that has written all of them. Raises WvError."""
    while _Known.outputs:
        _Known.outputs.pop(0)()
    while _Known.removed:
        system, key = open_place(name := _Known.removed.pop())
        with explain_failure(name, "cannot remove"):
            system.invalidate_cache()
            if system.exists(key):
                system.rm_file(key)


def name_elsewhere(path: str | os.PathLike[str]) -> str | None:
    """The name of what stands here at `path` until it is uploaded, in a folder that does; None for other paths."""
    for local, name in _Known.names.items():
        below = os.path.relpath(os.path.realpath(path), os.path.realpath(local))
        if below.partition(os.sep)[0] != os.pardir:
            return f"{name}/{below}" if below != os.curdir else name
    return None


def place_of(path: str | os.PathLike[str]) -> object:
    """Equal for names of one file elsewhere, and for the paths that stand here for it; None for other paths."""
    name = os.fspath(path) if is_remote(path) else name_elsewhere(path)
    if name is None:
        return None
    system, key = open_place(name)
    return frozenset(protocols_of(system)), key


def note_fetched(path: Path, name: str) -> None:
    """The file `path`, in the folder of an output, is a copy of `name`."""
    _Known.fetched[str(path)] = (name, path.read_bytes())


def is_fetched(path: Path) -> bool:
    """Whether a file is as it was fetched."""
    return str(path) in _Known.fetched and _Known.fetched[str(path)][1] == path.read_bytes()


def drop_fetched(folder: Path) -> None:
    """Removes elsewhere, once the outputs are uploaded, what was fetched to `folder` and is not there any more."""
    for path, (name, _) in [*_Known.fetched.items()]:
        if Path(path).parent == folder:
            if not Path(path).exists():
                remove_later(name)
            del _Known.fetched[path]


def remove_later(name: str) -> None:
    """Removes a file elsewhere once the outputs are uploaded. Nothing where it is not there."""
    _Known.removed.append(name)


def show_names(text: str) -> str:
    """A text in which files that stand here for others have the names of these."""
    for local, name in _Known.names.items():
        text = text.replace(local, name)
    return text


def show_names_in(value: Any) -> Any:
    """The same for all text of a value as JSON has it."""
    if isinstance(value, str):
        return show_names(value)
    if isinstance(value, dict):
        return {key: show_names_in(each) for key, each in value.items()}
    return [*map(show_names_in, value)] if isinstance(value, list | tuple) else value


@contextlib.contextmanager
def names_in_errors() -> Iterator[None]:
    """The same for the messages of errors that leave the block."""
    try:
        yield
    except WvError as error:
        error.args = tuple(show_names(each) if isinstance(each, str) else each for each in error.args)
        raise


@contextlib.contextmanager
def explain_failure(name: str, what: str = "cannot read") -> Iterator[None]:
    """What a file system raises as a WvError about `name`."""
    try:
        yield
    except (WvError, MemoryError):
        raise
    except FileNotFoundError as error:
        why = "no such file there, or no such bucket, or its server does not answer; check the name and the connection"
        raise MissingFile(f"{name}: {what}: {why}") from error
    except Exception as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        step = "; `wv help remote` says how to sign in" if "credential" in first.lower() else ""
        raise WvError(f"{name}: {what}: {first}{step}") from error


def open_place(name: str) -> tuple[Any, str]:
    """The file system of fsspec for `name`, and how that calls it. Raises WvError with the package to install."""
    scheme = name.partition("://")[0].lower()
    packages = " ".join(["fsspec", *filter(None, [_PACKAGES.get(scheme)])])
    fsspec = require("fsspec", f"{name}: a name with {scheme}://", packages)
    try:
        system = fsspec.filesystem(scheme)
        return system, str(system._strip_protocol(name))
    except ImportError as error:
        way = f"pip install {packages}" if scheme in _PACKAGES else str(error).strip()
        raise WvError(f"{name}: {scheme}:// needs another package; {way}") from error
    except ValueError:
        message = f"{name}: unknown protocol {scheme}; expected s3, gs, hf, https or another one of fsspec"
        raise WvError(message) from None
    except Exception as error:
        raise WvError(f"{name}: cannot be opened: {error}") from error


def try_again(work: Callable[[], Value], *final: type[Exception]) -> Value:
    """What `work` returns; it is done again when it fails, but for the errors that are `final`."""
    for pause in _PAUSES:
        try:
            return work()
        except Exception as error:
            if isinstance(error, (FileNotFoundError, PermissionError, MemoryError, *final)):
                raise
            time.sleep(pause)
    return work()


def _status_of(system: Any, info: dict[str, Any]) -> Status:
    version = next((f"{key} {_plain_time(info[key])}" for key in (*_VERSION, *_TIME) if info.get(key)), "")
    is_web = bool(protocols_of(system) & WEB)
    return Status(info.get("size"), version, (None if info.get("partial", True) else False) if is_web else True)


def _plain_time(value: Any) -> Any:
    """A time in seconds: a listing and an answer about one file may have it in two forms."""
    return value.timestamp() if hasattr(value, "timestamp") else value


def protocols_of(system: Any) -> set[str]:
    """What may stand in front of :// for a file system of fsspec."""
    return {system.protocol} if isinstance(system.protocol, str) else {*system.protocol}


def status(name: str) -> Status:
    """Asks once a run. Raises WvError for what is no file, or cannot be read."""
    if name not in _Known.status:
        system, key = open_place(name)
        with explain_failure(name):
            info = try_again(lambda: system.info(key))
        if info["type"] == "directory":
            raise WvError(f"{name}: cannot read: is a folder; name a file in it")
        _Known.status[name] = _status_of(system, info)
    return _Known.status[name]


def size_of(name: str) -> int | None:
    return status(name).size


def files_in(name: str) -> list[str] | None:
    """The files of a folder, at any depth, or those that a pattern with * stands for, in the order of their names; None
    for the name of a file. Raises WvError where there are none."""
    system, key = open_place(name)
    pattern = "*" in name
    if not pattern and not name.endswith("/"):
        with explain_failure(name):
            system.invalidate_cache()
            info = try_again(lambda: system.info(key))
        if info["type"] != "directory":
            _Known.status[name] = _status_of(system, info)
            return None
    with explain_failure(name):
        list_files = system.glob if pattern else system.find
        found = try_again(lambda: list_files(key, detail=True))
    files = {path: info for path, info in found.items() if info["type"] == "file"}
    if not files:
        what = "no file has a name like this" if pattern else "no files in this folder"
        raise MissingFile(f"{name}: {what}; check the name")
    names = {path: _full_name(name, system, path) for path in sorted(files)}
    for path, full in names.items():
        if (found_status := _status_of(system, files[path])).size is not None:
            _Known.status[full] = found_status
    return list(names.values())


def _full_name(asked: str, system: Any, path: str) -> str:
    """The name of what a listing calls `path`, with the protocol as it was asked for."""
    return path if is_remote(path) else f"{asked.partition('://')[0]}://{path.lstrip('/')}"


def path_below(name: str, folder: str) -> str:
    """The path of a file below a folder, or below the folders that a pattern names; "" for one that is not there."""
    pattern = "*" in folder
    root = folder.partition("*")[0].rpartition("/")[0] if pattern else folder.rstrip("/")
    return name[len(root) + 1 :] if name.startswith(f"{root}/") else ""


def require_unchanged(name: str, read: Status) -> None:
    """Raises WvError where the file is another one than when its reading began."""
    system, key = open_place(name)
    with explain_failure(name):
        system.invalidate_cache()
        now = _status_of(system, try_again(lambda: system.info(key)))
    if now.size != read.size or (now.version and read.version and now.version != read.version):
        raise WvError(f"{name}: was changed while it was read: the results may be wrong; run it again")
