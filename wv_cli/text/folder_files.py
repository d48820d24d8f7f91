"""The files in a folder that are data."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from wv_cli.io.places import is_stream
from wv_cli.io.remote import is_remote, name_elsewhere, path_below

_SETTINGS = ("state.json", "dataset_info.json", "dataset_dict.json")
_REPORTS = "_filter."  # of wv filter, beside the records that it keeps
LEFT_OUT = "names that begin with . or _ are left out"
# What lies in the folder of a table, whose rows a log lists: its files hold older rows, too.
_TABLES = {
    "Delta Lake": r"(?:^|/)_delta_log/",
    "Hudi": r"(?:^|/)\.hoodie/",
    "Iceberg": r"(?:^|/)metadata/[^/]+\.metadata\.json$",
    "Lance": r"(?:^|/)data/[^/]+\.lance$",
}


def is_data(name: str) -> bool:
    """Whether the file or folder of this name, inside a folder, is data. Hadoop and Spark mark what is none with an
    underscore: _SUCCESS, _metadata, _delta_log; _key=value is a part of the data, and __init__.py is text."""
    return not name.startswith(".") and (not name.startswith("_") or "=" in name or name.endswith(".py"))


def is_read_with(path: str, folder: str) -> bool:
    """Whether a reader of all of `folder` would read what is written to `path` inside it, links included."""
    elsewhere = name_elsewhere(path)
    if is_stream(path):
        below = ""
    elif elsewhere is not None or is_remote(folder):
        below = path_below(elsewhere or "", folder) if "*" not in folder else ""
    else:
        below = os.path.relpath(os.path.realpath(path), os.path.realpath(folder)) if Path(folder).is_dir() else ""
    return bool(below) and all(map(is_data, below.split("/")))


def without_settings(names: Sequence[str]) -> list[str]:
    """The names of files but for the settings that Hugging Face datasets write beside files of Arrow."""
    if not any(name.endswith(".arrow") for name in names):
        return list(names)
    return [name for name in names if name.rpartition("/")[2] not in _SETTINGS]


def describe_table(folder: str, paths: Iterable[str]) -> str | None:
    """What is wrong with reading all of `folder`, if its `paths`, with a / behind those of folders, are a table's."""
    for path in paths:
        for program, mark in _TABLES.items():
            if found := re.search(mark, path):
                table = Path(folder, path[: found.start()]) if found.start() else folder
                return (
                    f"{table}: a table of {program}, whose files may hold rows that were deleted or replaced; write "
                    "its rows as Parquet first, or name the files to read"
                )
    return None


def files_below(
    folder: str,
    on_error: Callable[[OSError], None],
    on_table: Callable[[str], None],
    log: Callable[[str], None] | None = None,
) -> list[str]:
    """The files of data in a folder, at any depth, in the order of their names. `on_table` is told of a table of
    describe_table(), `log` of names with an underscore that are left out, but for empty files and reports of wv."""
    found: list[tuple[str, ...]] = []
    marked: list[str] = []
    for parent, folders, names in os.walk(folder, onerror=on_error):
        below = Path(parent).relative_to(folder)
        if problem := describe_table(
            folder, [*(f"{below / name}/" for name in folders), *(str(below / name) for name in names)]
        ):
            on_table(problem)
            folders[:] = [name for name in folders if name != "_delta_log"]
        left_out = [name for name in (*folders, *names) if name.startswith("_") and not is_data(name)]
        marked += [str(Path(parent, name)) for name in left_out if not name.startswith(_REPORTS)]
        folders[:] = filter(is_data, folders)
        found += [(*below.parts, name) for name in names if is_data(name)]
    marked = sorted(path for path in marked if _holds_something(path))
    if marked and log is not None:
        count = "1 name that begins with _ is" if len(marked) == 1 else f"{len(marked):,} names that begin with _ are"
        such = marked[0] if len(marked) == 1 else f"such as {marked[0]}"
        log(f"{folder}: {count} left out, {such}; give its path to read it")
    return without_settings([str(path) for path in (Path(folder, *parts) for parts in sorted(found)) if path.is_file()])


def _holds_something(path: str) -> bool:
    try:
        return Path(path).is_dir() or Path(path).stat().st_size > 0
    except OSError:
        return False
