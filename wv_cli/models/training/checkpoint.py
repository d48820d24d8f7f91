"""Checkpoints: one file that stores the exact state of a run.

A container (wv_cli.io.container) with the arrays that training changes and the header {"identity": {...},
"schedule": {...}, "state": {...}, "wv": version}. `identity` is what must be the same for the run to go on (options,
corpus), `schedule` what decides which step does what (how many there are, the sizes of blocks, their order); a
difference is named.
"""

import os
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from wv_cli import __version__
from wv_cli.errors import BadFile, WvError, show_bytes, show_value
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.io.output import commit_separately

_KIND = "checkpoint"
_MOST_STEPS = 1 << 53
_ADVICE = "begin anew with --overwrite"
Facts = Mapping[str, object]


def save(
    path: str | os.PathLike[str],
    identity: Facts,
    state: Facts,
    arrays: Mapping[str, NDArray[np.generic]],
    schedule: Facts | None = None,
) -> None:
    """Writes a checkpoint whole or not at all. Raises WvError."""
    header = {"identity": identity, "schedule": schedule or {}, "state": state, "wv": __version__}
    with commit_separately():
        container.save(path, _KIND, header, arrays)


def load(
    path: str | os.PathLike[str],
    identity: Facts,
    arrays: Mapping[str, NDArray[np.generic]],
    schedule: Facts | None = None,
    steps: int = _MOST_STEPS,
) -> dict[str, Any]:
    """Fills `arrays` in place from a checkpoint and returns its state: `next_step`, from 0 to `steps`, and `isa`, the
    instruction set that came so far.

    Raises WvError when the checkpoint belongs to another run or its steps are others (the difference is named), BadFile
    when it is damaged or says what cannot be.
    """
    with open_input(path, "a checkpoint") as source:
        reader = container.Reader(source, _KIND, advice=_ADVICE)
        found = reader.fact("schedule", dict)
        _require_same(path, reader.fact("identity", dict), identity)
        _require_schedule(path, reader, found, schedule or {})
        state = {**reader.fact("state", dict), "next_step": _next_step(reader, steps)}
        if not isinstance(state.get("isa"), str):
            reader.refuse(f"expected `isa` to be a str, found {show_value(state.get('isa', 'nothing'))}")
        layout = {name: (array.dtype.newbyteorder("<").str, array.shape) for name, array in arrays.items()}
        reader.expect(layout, "this run")
        reader.read(arrays)
        reader.require_finite(arrays)
        for name, array in arrays.items():
            # Whole numbers are those of steps, by which kernels find their places.
            if array.dtype.kind == "i" and array.size and not 0 <= array.min() <= array.max() <= state["next_step"]:
                reader.refuse(
                    f"expected numbers of steps, 0 to {state['next_step']}, in the array {name}, found others"
                )
        return state


def describe_progress(path: str | os.PathLike[str]) -> str:
    """In words, how far the run is whose checkpoint lies at `path`, as far as the file says."""
    try:
        with open_input(path, "a checkpoint") as source:
            reader = container.Reader(source, _KIND)
            schedule: dict[str, object] = reader.header.get("schedule") or {}  # type: ignore[assignment]
            steps = schedule.get("steps") if isinstance(schedule, dict) else None
            step = _next_step(reader, steps if _is_whole(steps) else _MOST_STEPS)
    except BadFile as error:
        return f"a file that is no checkpoint, or a damaged one ({error.problem.partition(';')[0]}), is there"
    if not (_is_whole(steps) and steps > 0):
        return f"the checkpoint of an earlier run is there, at step {step:,}"
    epochs = schedule.get("epochs")
    of = f" of {epochs} epoch{'s' * (epochs != 1)}" if _is_whole(epochs) else ""
    return f"the checkpoint of an earlier run is there, at {100 * step / steps:.1f} %{of}"


def text_of(path: str | os.PathLike[str]) -> tuple[str, int] | None:
    """The digest of the text of a run with a state, and how often the state had learnt it when the run began; None for
    a checkpoint of another run, or no checkpoint."""
    try:
        with open_input(path, "a checkpoint") as source:
            state = container.Reader(source, _KIND).fact("state", dict)
    except WvError:
        return None
    text, times = state.get("text"), state.get("times")
    return (text, times) if isinstance(text, str) and _is_whole(times) else None


def _is_whole(value: object) -> TypeGuard[int]:
    return type(value) is int


def _next_step(reader: container.Reader, steps: int) -> int:
    found = reader.fact("state", dict).get("next_step", "nothing")
    if not (_is_whole(found) and 0 <= found <= steps):
        limit = f"from 0 to {steps}" if steps < _MOST_STEPS else "from 0 on"
        reader.refuse(f"expected `next_step` to be a whole number {limit}, found {show_value(found)}")
    return found


def _require_schedule(path: object, reader: container.Reader, found: Facts, now: Facts) -> None:
    differences = _differences(found, now)
    if differences:
        version = show_bytes(reader.fact("wv", str).encode())
        message = (
            f"{path}: the steps of this run are not those of the checkpoint, made by wv {version} "
            f"({differences}); finish it with that version, or {_ADVICE}"
        )
        raise WvError(message)


def _require_same(path: object, found: Facts, wanted: Facts) -> None:
    differences = _differences(found, wanted)
    if differences:
        other_text = not _equal(found.get("corpus"), wanted.get("corpus"))
        read = "the text or what is read of it has changed: run on that of then"
        way = read if other_text else "run with its options"
        message = f"{path}: this checkpoint belongs to another run ({differences}); {way}, or {_ADVICE}"
        raise WvError(message)


def _differences(found: Facts, wanted: Facts) -> str:
    return "; ".join(
        f"{key}: {show_value(found.get(key))} in the checkpoint, {show_value(wanted.get(key))} now"
        for key in sorted({*found, *wanted})
        if not _equal(found.get(key), wanted.get(key))
    )


def _equal(one: object, other: object) -> bool:
    """As JSON knows them: 1 and 1.0 are the same number, true is none."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other
