"""What the name of an output means: a descriptor that is open already, a pipe or device, a folder, or a file.

`-`, /dev/stdout and /dev/fd/N, which is what a shell makes of >(command), are descriptors: opened by name, a file
behind one would be cut to nothing, or replaced under the shell that goes on writing to it.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from wv_cli.errors import UsageError, WvError, reason
from wv_cli.io.folders import files_of_model
from wv_cli.io.host import DESCRIPTOR
from wv_cli.io.remote import place_of

_MOST_LINKS = 40
_STDOUT = 1


def descriptor_of(path: str | os.PathLike[str]) -> int | None:
    """The descriptor that `path` or what it links to names; None for other names."""
    if os.fspath(path) == "-":
        return _STDOUT
    name = Path(path)
    for _ in range(_MOST_LINKS):
        if found := DESCRIPTOR.fullmatch(str(name)):
            return int(found[1] or found[2])
        if not name.is_symlink():
            break
        name = name.parent / name.readlink()
    return None


def is_stdout(path: str | os.PathLike[str]) -> bool:
    return descriptor_of(path) == _STDOUT


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether what is written to `path` is gone at once: a descriptor, a pipe, a device. Nothing stands beside it."""
    if descriptor_of(path) is not None:
        return True
    target = Path(path)
    return target.exists() and not target.is_file() and not target.is_dir()


def identity(path: str | os.PathLike[str]) -> object:
    """Equal for outputs that are the same file, links included, and for those to standard output; None for other pipes
    and devices, which take many writers."""
    if (elsewhere := place_of(path)) is not None:
        return elsewhere
    descriptor = descriptor_of(path)
    try:
        status = Path(path).stat() if descriptor is None else os.fstat(descriptor)
    except (OSError, ValueError):
        return os.path.realpath(path)
    if stat.S_ISREG(status.st_mode):
        return status.st_dev, status.st_ino
    return "-" if descriptor == _STDOUT else None


def is_below(path: str, folder: str) -> bool:
    """Whether a file or folder lies in `folder`, links included."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def require_different(outputs: Iterable[str]) -> None:
    """Raises UsageError for two outputs that are one file, however it is spelt or linked."""
    seen: dict[object, str] = {}
    for path in outputs:
        file = identity(path)
        if file in seen:
            same = f"is the same file as {seen[file]}" if seen[file] != path else "two outputs have this name"
            raise UsageError(f"{path}: {same}; give each its own")
        if file is not None:
            seen[file] = path


def refuse_reading(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Raises UsageError for an output that is one of the `inputs`, or a file of a model's folder among them, however it
    is spelt or linked."""
    sources = {identity(file) for path in inputs if path != "-" for file in [path, *map(str, files_of_model(path))]} - {
        None
    }
    for path in outputs:
        if path != "-" and identity(path) in sources:
            message = f"{path}: is both read and written; choose another output"
            raise UsageError(message)


def require_one_use(path: str, piped: bool) -> None:
    """Raises UsageError when `path` is standard input and, `piped`, something else is read from there, too."""
    if path == "-" and piped:
        message = "- (standard input) is named twice and can be read only once; name a file for one of them"
        raise UsageError(message)


def refuse_folder(path: str | os.PathLike[str]) -> None:
    """Raises WvError for a folder where a file should be written, and for a name that ends as one."""
    if Path(os.path.realpath(path)).is_dir() or os.fspath(path).endswith(os.sep):
        message = f"{path}: cannot write: is a folder; name a file in it"
        raise WvError(message)


def refuse_file(path: str | os.PathLike[str]) -> None:
    """Raises WvError for a file, or a link to nothing, where a folder should be made, and for standard output."""
    if os.fspath(path) in ("", "-"):
        message = f"{os.fspath(path) or 'the output'}: expected the name of a folder, which standard output is not"
        raise WvError(message)
    if os.path.lexists(path) and not Path(path).is_dir():
        message = f"{path}: cannot make the folder: a file of this name is there; remove it or choose another name"
        raise WvError(message)


def make_folder(path: str | os.PathLike[str], *, parents: bool = False) -> None:
    """Makes a folder, with `parents` those it stands in, too, unless it is there. Raises WvError."""
    refuse_file(path)
    try:
        Path(path).mkdir(parents=parents, exist_ok=True)
    except OSError as error:
        message = f"{path}: cannot make the folder: {reason(error)}"
        raise WvError(message) from error


def require_open(path: str | os.PathLike[str]) -> None:
    """Raises WvError for the name of a descriptor that nobody has opened."""
    descriptor = descriptor_of(path)
    if descriptor is not None:
        try:
            os.fstat(descriptor)
        except OSError as error:
            message = f"{path}: cannot write: no such descriptor is open; name a file, or - for standard output"
            raise WvError(message) from error
