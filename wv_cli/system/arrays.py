"""A small file for named float64 arrays and a few facts about them: moments, transforms.

A line `wv-arrays 1 KIND`, a line of JSON (the facts, and the names and shapes of the arrays), then the arrays as
little-endian float64 in that order. Every size is checked before anything is allocated, and nothing in the file can be
code, which a pickle would be. Not a format of vectors: those are in wv_cli/formats.
"""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, WvError
from wv_cli.system.output import open_output, reason

_MAGIC = b"wv-arrays"
_VERSION = b"1"
_LONGEST_HEAD = 1 << 20


def save_arrays(
    path: str | os.PathLike[str], kind: str, facts: dict[str, Any], arrays: dict[str, NDArray[np.float64]]
) -> None:
    """Writes the file whole or not at all. Raises WvError."""
    head = {"facts": facts, "arrays": [[name, list(array.shape)] for name, array in arrays.items()]}
    with open_output(path) as stream:
        stream.write(b"%s %s %s\n%s\n" % (_MAGIC, _VERSION, kind.encode(), json.dumps(head).encode()))
        for array in arrays.values():
            stream.write(np.ascontiguousarray(array, "<f8").tobytes())


def load_arrays(
    path: str | os.PathLike[str], kind: str, names: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
    """(facts, arrays) of a file written by save_arrays with this `kind` and these arrays. Raises WvError when it cannot
    be read, BadFile when it is something else, damaged, of another kind or version, or holds NaN or infinity."""
    try:
        with Path(path).open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            title = stream.readline(200)
            fields = title.split()
            if fields[:1] != [_MAGIC] or len(fields) != 3:
                found = "an empty file" if not title else f"something else ({title[:20]!r})"
                raise BadFile(path, f"expected {_article(kind)} file that `wv` saved, found {found}", byte=0)
            if fields[1] != _VERSION:
                problem = f"expected version {_VERSION.decode()}, found {fields[1].decode(errors='replace')}; update wv"
                raise BadFile(path, problem, line=1)
            if fields[2] != kind.encode():
                problem = f"expected {_article(kind)} file, found one of {fields[2].decode(errors='replace')}"
                raise BadFile(path, problem, line=1)
            line = stream.readline(_LONGEST_HEAD)
            facts, shapes = _parse_head(path, line)
            if tuple(shapes) != names:
                problem = f"expected the arrays {', '.join(names)}, found {', '.join(shapes) or 'none'}"
                raise BadFile(path, problem, line=2)
            expected = len(title) + len(line) + 8 * sum(math.prod(shape) for shape in shapes.values())
            if size != expected:
                problem = f"expected {expected} bytes, found {size}: the file was cut or damaged; make it again"
                raise BadFile(path, problem, byte=min(size, expected))
            arrays = {}
            for name, shape in shapes.items():
                arrays[name] = np.frombuffer(stream.read(8 * math.prod(shape)), "<f8").reshape(shape).astype(np.float64)
                if not np.isfinite(arrays[name]).all():
                    raise BadFile(path, f"the array {name} holds NaN or infinity: the file is damaged; make it again")
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}"
        raise WvError(message) from error
    return facts, arrays


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _parse_head(path: object, line: bytes) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    try:
        head = json.loads(line)
        facts = dict(head["facts"])
        shapes = {str(name): tuple(int(length) for length in shape) for name, shape in head["arrays"]}
        if any(not 0 <= length < 1 << 31 for shape in shapes.values() for length in shape):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadFile(path, "expected a line of JSON, found something else: the file is damaged", line=2) from None
    return facts, shapes


def fact(path: object, facts: dict[str, Any], name: str, kind: type) -> Any:
    """A fact of that type (an int passes for a float). Raises BadFile."""
    value: Any = facts.get(name)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise BadFile(path, f"expected `{name}` to be {_article(kind.__name__)}, found {value!r}", line=2)
    return value
