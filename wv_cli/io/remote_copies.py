"""Whole copies of files of other machines (remote.py), and the uploading of what was written for them.

What must be mapped, such as vectors and models, is copied once to a folder of this machine, and again when it has
changed there. What is written for a name elsewhere is made here first, and uploaded when all of it is whole.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wv_cli.errors import MissingFile, WvError, reason
from wv_cli.io.compression import inner_name
from wv_cli.io.remote import (
    WEB,
    Status,
    drop_fetched,
    explain_failure,
    files_in,
    is_fetched,
    note_fetched,
    open_place,
    path_below,
    protocols_of,
    stand_for,
    status,
    try_again,
    upload_later,
)
from wv_cli.io.remote_reading import copy_file

REPORTS = ".report"  # of wv filter
# Where an object appears when it is complete. Elsewhere a file is written under another name and renamed.
_WHOLE = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "hf", "memory"}


def cache_folder() -> Path:
    """Where copies are kept: $WV_CACHE, else a folder of the user."""
    named, shared = os.environ.get("WV_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else (Path(shared) if shared else Path.home() / ".cache") / "wv").absolute()


def _digest(*words: str) -> str:
    return hashlib.blake2b("\0".join(words).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _last_name(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2].partition("?")[0] or "file"


def local_copy(name: str, ending: str = "") -> str:
    """The path of a copy of a file or folder on this machine, made where there is none of this version. What stands
    beside a file, its words and its sidecar, is copied, too. Of a folder the files with that `ending` are. Raises
    WvError."""
    found_files = files_in(name)
    listed = [each for each in found_files or () if each.endswith(ending)]
    if found_files is None:
        listed = [name, *filter(is_there, _names_beside(name))]
        places = [each.rpartition("/")[2].partition("?")[0] for each in listed]
    else:
        places = [f"{_last_name(name)}/{path_below(each, name)}" for each in listed]
    if outside := next((each for each, place in zip(listed, places, strict=True) if ".." in Path(place).parts), None):
        raise WvError(f"{outside}: cannot be copied: its name leads out of the folder")
    found = [status(each) for each in listed]
    parent = cache_folder() / _digest(name)
    versions = [f"{each.size} {each.version or time.time_ns()}" for each in found]
    folder = parent / _digest(*listed, *versions)
    with _explain_cache(folder):
        (folder / _last_name(name) if found_files is not None else folder).mkdir(parents=True, exist_ok=True)
        for each, state, place in zip(listed, found, places, strict=True):
            if not (folder / place).is_file():
                _make_copy(each, state, folder / place)
        _remove_older(parent, folder)
    path = str(folder / _last_name(name))
    stand_for(path, name.rstrip("/"))
    return path


def _names_beside(name: str) -> list[str]:
    """The names of the words and of the sidecar of a file."""
    if "?" in name:
        return []
    folder, _, last = inner_name(name).rpartition("/")
    return [f"{folder}/{last.rpartition('.')[0] or last}.words.txt", f"{name}.meta.json"]


def _make_copy(name: str, found: Status, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if found.size is not None and found.size > free:
        needed = f"needs {found.size / 1e6:,.0f} MB in {cache_folder()}, which has {free / 1e6:,.0f} MB free"
        raise WvError(f"{name}: {needed}; free some space, or set WV_CACHE to another folder")
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=".")
    os.close(descriptor)
    try:
        copy_file(name, found, Path(made))
        Path(made).replace(path)
    finally:
        Path(made).unlink(missing_ok=True)


def _remove_older(parent: Path, folder: Path) -> None:
    for each in parent.iterdir():
        if each != folder:
            shutil.rmtree(each, ignore_errors=True)


@contextlib.contextmanager
def _explain_cache(folder: Path) -> Iterator[None]:
    try:
        yield
    except WvError:
        raise
    except OSError as error:
        message = f"{folder}: cannot keep a copy: {reason(error)}; or set WV_CACHE to another folder"
        raise WvError(message) from error


def stage(name: str, part: str = "") -> str:
    """The path on this machine of what is written for `name`, in a folder of its own that stays until it is uploaded. A
    run that was stopped finds there what it left; each `part` of a run has its own. Raises WvError where nothing can be
    written to `name`."""
    if name.partition("://")[0].lower() in WEB:
        raise WvError(f"{name}: cannot write: a web server is only read; name a file here, or one in s3:// or gs://")
    system, key = open_place(name)
    if protocols_of(system) & _WHOLE and "memory" not in protocols_of(system):
        with explain_failure(name, "cannot write"), contextlib.suppress(PermissionError):  # to list may be forbidden
            try_again(lambda: system.info(key.strip("/").partition("/")[0]))
    folder = cache_folder() / "outputs" / _digest(name, *([part] if part else []))
    with _explain_cache(folder):
        folder.mkdir(parents=True, exist_ok=True)
    path = str(folder / _last_name(name))
    stand_for(path, name.rstrip("/"))
    upload_later(functools.partial(_upload, path, name))
    return path


def fetch_beside(name: str, path: str, ending: str, own: str) -> None:
    """Copies the files in the folder `name` that have this `ending` to its stage `path`, so that a run sees what others
    have finished there. The file called `own` stays where it waits for its upload with others. Raises WvError."""
    here = Path(path)
    here.mkdir(exist_ok=True)
    waits = any(each.suffix != ending for each in _plain_files(here))
    for before in here.glob(f"*{ending}"):
        if before.name != own or not waits:
            before.unlink()
    try:
        found = files_in(f"{name.rstrip('/')}/") or []
    except MissingFile:  # there is no such folder yet
        return
    for each in found:
        place = here / path_below(each, name)
        if each.endswith(ending) and place.parent == here and not place.exists():
            _make_copy(each, status(each), place)
            note_fetched(place, each)


def is_there(name: str) -> bool:
    try:
        status(name)
    except WvError:
        return False
    return True


def _upload(path: str, name: str) -> None:
    """Uploads what stands in the folder of stage(name): the file `path` and what belongs to it, or all of a folder.
    Each appears as a whole. Removes the folder. Raises WvError, and keeps it."""
    local = Path(path)
    if local.is_dir():
        files = {each: f"{name.rstrip('/')}/{each.relative_to(local).as_posix()}" for each in _plain_files(local)}
    else:
        files = {each: name[: len(name) - len(local.name)] + each.name for each in _plain_files(local.parent)}
    for each, target in sorted(files.items(), key=lambda file: file[0].suffix == REPORTS):  # which say all is there
        if is_fetched(each):
            continue
        system, key = open_place(target)
        with explain_failure(target, f"cannot write (what was made is in {local.parent})"):
            try_again(functools.partial(_put, system, each, key))
    drop_fetched(local)
    shutil.rmtree(local.parent, ignore_errors=True)


def _plain_files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if each.is_file() and not each.name.startswith("."))


def _put(system: Any, path: Path, key: str) -> None:
    protocols = protocols_of(system)
    is_whole = bool(protocols & _WHOLE)
    target = key if is_whole else f"{key}.wv-tmp"
    if not is_whole or "memory" in protocols:
        system.makedirs(key.rpartition("/")[0], exist_ok=True)
    system.put_file(str(path), target)
    system.invalidate_cache()
    size, expected = system.info(target)["size"], path.stat().st_size
    if size != expected:
        raise OSError(f"expected {expected:,} bytes there, found {size:,}; run it again")
    if not is_whole:
        system.mv(target, key)
