"""Checkpoints: one file that holds where a run stands, exactly.

    wv checkpoint 1\\n
    {"identity": {...}, "state": {...}, "arrays": [[name, dtype, shape], ...]}\\n
    the arrays, raw, little-endian, in that order
    crc32 of everything before, 4 bytes little-endian, and DONE

`identity` is what must be the same for the run to go on (options, corpus); a difference is named. A file without its
last bytes, or with other bytes, is refused.
"""

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from wv_cli.errors import BadFile, WvError
from wv_cli.system.output import open_output

_MAGIC = b"wv checkpoint 1\n"
_DONE = b"DONE"


def save(
    path: str | os.PathLike[str],
    identity: Mapping[str, Any],
    state: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Writes a checkpoint whole or not at all; the arrays are C-contiguous. Raises WvError."""
    layout = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    header = json.dumps({"identity": identity, "state": state, "arrays": layout}).encode() + b"\n"
    with open_output(path) as stream:
        crc = 0
        pieces = [memoryview(_MAGIC), memoryview(header), *(array.data.cast("B") for array in arrays.values())]
        for piece in pieces:
            stream.write(piece)
            crc = zlib.crc32(piece, crc)
        stream.write(crc.to_bytes(4, "little") + _DONE)


def load(
    path: str | os.PathLike[str], identity: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> dict[str, Any]:
    """Fills `arrays` from a checkpoint and returns its state.

    Raises WvError when the checkpoint belongs to another run (the difference is named), BadFile when it is damaged.
    """
    with Path(path).open("rb") as stream:
        magic = stream.readline(len(_MAGIC))
        if magic != _MAGIC:
            raise BadFile(path, f"expected a wv checkpoint (version 1), found {magic[:16]!r}; delete it to start anew")
        line = stream.readline()
        try:
            header = json.loads(line)
            found, state, layout = header["identity"], header["state"], header["arrays"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadFile(path, "the checkpoint's header is damaged; delete it to start anew", line=2) from error
        _require_same(path, found, identity)
        expected = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
        if layout != expected:
            raise BadFile(path, f"expected the arrays {expected}, found {layout}; delete it to start anew", line=2)
        crc = zlib.crc32(line, zlib.crc32(magic))
        for name, array in arrays.items():
            piece = array.data.cast("B")
            if stream.readinto(piece) != piece.nbytes:
                raise BadFile(path, f"the checkpoint is cut off within {name}; delete it to start anew")
            crc = zlib.crc32(piece, crc)
        if stream.read() != crc.to_bytes(4, "little") + _DONE:
            raise BadFile(path, "the checkpoint is damaged (its check sum differs); delete it to start anew")
    return dict(state)


def _require_same(path: object, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    differences = [
        f"{key}: {found.get(key)!r} in the checkpoint, {wanted.get(key)!r} now"
        for key in sorted({*found, *wanted})
        if found.get(key) != wanted.get(key)
    ]
    if differences:
        message = (
            f"{path}: this checkpoint belongs to another run ({'; '.join(differences)}); "
            "run with its options, or delete it to start anew"
        )
        raise WvError(message)
