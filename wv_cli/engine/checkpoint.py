"""Checkpoints: one file that holds where a run stands, exactly.

A container (wv_cli.system.container) with the header {"identity": {...}, "state": {...}} and the arrays that training
changes. `identity` is what must be the same for the run to go on (options, corpus); a difference is named.
"""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError, shown
from wv_cli.system import container
from wv_cli.system.input import open_input
from wv_cli.system.output import apart

_KIND = "checkpoint"
_MOST_STEPS = 1 << 53


def save(
    path: str | os.PathLike[str],
    identity: Mapping[str, object],
    state: Mapping[str, object],
    arrays: Mapping[str, NDArray[np.generic]],
) -> None:
    """Writes a checkpoint whole or not at all. Raises WvError."""
    with apart():
        container.save(path, _KIND, {"identity": identity, "state": state}, arrays)


def load(
    path: str | os.PathLike[str],
    identity: Mapping[str, object],
    arrays: Mapping[str, NDArray[np.generic]],
    *,
    steps: int = _MOST_STEPS,
) -> dict[str, Any]:
    """Fills `arrays` in place from a checkpoint and returns its state, of which `next_step` is from 0 to `steps`.

    Raises WvError when the checkpoint belongs to another run (the difference is named), BadFile when it is damaged.
    """
    with open_input(path, "a checkpoint") as source:
        reader = container.Reader(source, _KIND, advice="delete it to start anew")
        _require_same(path, reader.fact("identity", dict), identity)
        layout = {name: (array.dtype.newbyteorder("<").str, array.shape) for name, array in arrays.items()}
        reader.expect(layout, "this run")
        state = reader.fact("state", dict)
        step = state.get("next_step")
        if type(step) is not int or not 0 <= step <= steps:
            found = shown(repr(step).encode())
            reader.refuse(f"expected `next_step` to be a whole number from 0 to {steps:,}, found {found}")
        reader.read(arrays)
        reader.require_finite(arrays)  # type: ignore[arg-type]
        return dict(state)


def _require_same(path: object, found: Mapping[str, object], wanted: Mapping[str, object]) -> None:
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
