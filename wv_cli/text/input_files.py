"""The files that inputs name: folders gone through, what is no text left out or refused, their bytes in blocks.

Standard input is `-`. Inputs are looked at before the first is read, so that a wrong name fails at once.
"""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from wv_cli.errors import UsageError, WvError, cannot_read
from wv_cli.io import remote
from wv_cli.io.compression import decompress
from wv_cli.io.kinds import HEAD_BYTES, ZIP, kind_of
from wv_cli.text.binary import SAMPLE
from wv_cli.text.documents import document_of
from wv_cli.text.inputs import Texts, not_text
from wv_cli.text.raw_files import blocks, is_file, name_of_input, open_raw, size_of_file
from wv_cli.text.web_pages import is_page, recode_page, unreadable_page

Inputs = Sequence[str] | Texts
_EXAMPLES = 3


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
        elif remote.is_remote(name):
            paths += _remote_files(name, texts)
        elif Path(name).is_dir():
            paths += _files_of(name, texts)
        else:
            _check_readable(name)
            if texts is not None and (problem := _problem(name, texts)):
                raise not_text(name, problem)
            paths.append(name)
    return paths


def _files_of(folder: str, texts: Texts | None) -> list[str]:
    def fail(error: OSError) -> None:
        raise cannot_read(error.filename, error) from error

    from wv_cli.text.folder_files import files_below  # queries of words ask for no folder

    paths = files_below(folder, fail, _refuse, texts.log if texts is not None else None)
    for path in paths:
        _check_readable(path)
    return _require_texts(folder, paths, texts)


def _refuse(problem: str) -> None:
    raise UsageError(problem)


def _remote_files(name: str, texts: Texts | None) -> list[str]:
    """The file of that name, or those of a folder or a pattern."""
    from wv_cli.text.folder_files import describe_table, is_data, without_settings

    paths = remote.files_in(name)
    if paths is None:
        if texts is not None and (problem := _problem(name, texts)):
            raise not_text(name, problem)
        return [name]
    if "*" not in name:
        if problem := describe_table(name, [remote.path_below(path, name) for path in paths]):
            raise UsageError(problem)
        data = [path for path in paths if all(map(is_data, remote.path_below(path, name).split("/")))]
        paths = without_settings(data)
    return _require_texts(name, paths, texts)


def _require_texts(folder: str, paths: list[str], texts: Texts | None) -> list[str]:
    """The `paths` in a folder without those that are no text, of which it is told. Raises WvError when none is left."""
    from wv_cli.text.folder_files import LEFT_OUT

    left_out = _left_out(paths, texts) if texts is not None else {}
    paths = [path for path in paths if path not in left_out]
    skipped = describe_left_out(left_out) if left_out else ""
    if not paths:
        message = f"{folder}: no files in this folder ({LEFT_OUT})"
        if skipped:
            message = f"{folder}: no text in this folder: {skipped}"
        raise WvError(message)
    if skipped and texts is not None:
        texts.log(f"{folder}: {skipped}")
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
            what = _archive(path) or _problem(path, texts)
        if what:
            found[path] = what
    return found


def describe_left_out(left_out: Mapping[str, str]) -> str:
    """How many files are left out, and what they are: a file of each kind."""
    first = {what: path for path, what in reversed([*left_out.items()])}
    examples = [f"{path}: {what}" for path, what in left_out.items() if first[what] == path][:_EXAMPLES]
    number = len(left_out)
    files = "1 file that is no text is" if number == 1 else f"{number:,} files that are no text are"
    return f"{files} left out, {'' if number == 1 else 'such as '}{', '.join(examples)}"


def _archive(path: str) -> str | None:
    """What a file is whose beginning is that of a zip archive; None for another one, and for documents."""
    head = _head(path)
    return kind_of(head, certain=True) if re.match(ZIP, head) and document_of(path, head) is None else None


def _head(path: str) -> bytes:
    """What a file begins with as it lies there."""
    if not Path(path).is_file():  # elsewhere each look costs a request
        return b""
    with open_raw(path) as raw:
        return next(blocks(raw, path, HEAD_BYTES), b"")


def _problem(path: str, texts: Texts) -> str | None:
    """What a file is instead of text; None for text, and for a pipe or device, of which nothing may be lost."""
    if texts.reading.force_text or texts.records(path) or not is_file(path):
        return None
    if document := document_of(path, _head(path)):
        return document.problem()
    with open_raw(path) as raw, closing(decompress(blocks(raw, path, HEAD_BYTES), path)) as text:
        begin: list[bytes] = []
        size = 0
        for block in text:
            begin.append(block)
            size += len(block)
            if size >= SAMPLE:
                break
        head = b"".join(begin)
    if not texts.extracts_pages and is_page(path, head):
        return unreadable_page()
    return texts.problem(recode_page(head) if texts.extracts_pages else head)


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
        raise cannot_read(path, error) from error


def refuse_overwriting(inputs: Sequence[str], output: str) -> None:
    """Raises UsageError when `output` (`-`: whatever standard output has been redirected to) is one of the inputs."""
    target, elsewhere = _status(output), remote.place_of(output)
    if target is None and elsewhere is None:
        return
    for path in expand_inputs(inputs):
        if elsewhere is not None and remote.place_of(path) == elsewhere:
            raise UsageError(f"{path}: is both read and written; write to another file")
        if target is None:
            continue
        with suppress(OSError):
            if os.path.samestat(os.fstat(0) if path == "-" else Path(path).stat(), target):
                name = "standard output" if output == "-" else output
                message = f"{name} is also an input ({name_of_input(path)}); write to another file"
                raise UsageError(message)


def shared_file(inputs: Sequence[str], others: Sequence[str]) -> str | None:
    """The name of the first file that `others` and `inputs` name, however it is spelt or linked; None where there is
    none. Folders are gone through. Raises what Source raises at once."""
    known = {*map(_identity, expand_inputs(inputs))}
    return next((name_of_input(path) for path in expand_inputs(others) if _identity(path) in known), None)


def _identity(path: str) -> object:
    """Equal for inputs that are one file; `-` is what standard input has been redirected to."""
    if (elsewhere := remote.place_of(path)) is not None:
        return elsewhere
    try:
        status = os.fstat(0) if path == "-" else Path(path).stat()
    except OSError:  # of standard input that is closed
        return path
    return status.st_dev, status.st_ino


def total_size(paths: list[str]) -> int | None:
    """Bytes of all inputs, None when one has no size (a pipe)."""
    total = 0
    for path in paths:
        if remote.is_remote(path):
            if (size := size_of_file(path)) is None:
                return None
            total += size
            continue
        try:
            status = os.fstat(0) if path == "-" else Path(path).stat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total
