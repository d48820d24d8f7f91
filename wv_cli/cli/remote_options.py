"""Names of files of other machines (s3://, gs://, hf://, https://) among the options of a command or of a call.

Text stays where it is: its readers know such names. Other inputs are copied to this machine, and outputs are written
here and uploaded when the command has done its work. So no command knows whether its files are here.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from wv_cli.config import Option
from wv_cli.errors import UsageError
from wv_cli.io.remote import files_in, forget, is_remote, local_name, names_in_errors, upload_outputs

_AGAIN = "is written again and again; name a file on this machine"
# What must lie on this machine, and why.
_HERE = {
    "checkpoint": _AGAIN,
    "autotune_log": _AGAIN,
    "keys": "parts share it; name a folder of a disk that all machines see",
}


@contextlib.contextmanager
def open_remote(values: dict[str, Any], options: Mapping[str, Option]) -> Iterator[dict[str, Any]]:
    """The values of options, of which those that name files elsewhere are now names of files here, but for text. When
    the block ends without an exception, what was written is uploaded. Raises UsageError, WvError."""
    given = {name: value for name, value in values.items() if name in options and _names_remote(value, options[name])}
    if not given:
        yield values
        return
    forget()
    with names_in_errors():
        part = values.get("part") if "summary" in options else None  # of wv filter
        here = {name: _open_all(value, options[name], "summary" in options, part) for name, value in given.items()}
        yield {**values, **here}
        upload_outputs()


def _names_remote(value: Any, option: Option) -> bool:
    several = value if isinstance(value, tuple | list) else (value,)
    return option.is_path and any(isinstance(each, str) and is_remote(each) for each in several)


def _open_all(value: Any, option: Option, reports: bool, part: str | None) -> Any:
    if isinstance(value, tuple | list):
        return tuple(_open(each, option, reports, part) for each in value)
    return _open(value, option, reports, part)


def _open(name: Any, option: Option, reports: bool, part: str | None) -> Any:
    """The name of a file here. Beside what is written to a folder are the `reports` of runs that have finished there;
    `part` is that of this run."""
    if not isinstance(name, str) or not is_remote(name):
        return name
    if not is_remote(plain := local_name(name)):
        return plain
    if option.name in _HERE:
        raise UsageError(f"{option.flag} {name}: {_HERE[option.name]}")
    if option.role in ("result", "write"):
        from wv_cli.filtering.parts import REPORT, parse_part
        from wv_cli.io.remote_copies import REPORTS, fetch_beside, is_there, stage

        if option.metavar == "FOLDER" and is_there(name):
            raise UsageError(f"{name}: is a file; name a folder, which gets a file for each input")
        own = parse_part(part) if part is not None else None
        path = stage(name, "" if own is None else str(own))
        if reports and option.metavar == "FOLDER":
            fetch_beside(name, path, REPORTS, REPORT if own is None else own.report)
        return path
    if "INPUT" in option.metavar or (option.name == "index" and files_in(name) is not None):
        return name
    from wv_cli.io.remote_copies import REPORTS, local_copy

    return local_copy(name, ending=REPORTS if option.name == "summary" else "")
