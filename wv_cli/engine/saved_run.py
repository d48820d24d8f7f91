"""A training run that can stop and go on: what every session does with its checkpoint.

The checkpoint lies in one file beside the output (or where the user says), belongs to one identity of the model, and is
removed when the run has written its results.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.engine import checkpoint
from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Diverged, Outcome, Trainable, Worker, train
from wv_cli.errors import WvError


class Say(Protocol):
    """Is told about events: a line for people, and the same as facts for programs."""

    def __call__(self, message: str, **facts: object) -> None: ...


class Savable(Trainable[Worker], Protocol[Worker]):
    """A model whose training can stop and go on."""

    def identity(self) -> Mapping[str, object]:
        """What must be the same for a checkpoint to be continued."""
        ...

    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """Everything that training changes."""
        ...


def resume(path: str, model: Savable[Worker], say: Say) -> int:
    """Fills the model from the checkpoint at `path` and returns the step to go on with; 0 when there is none. Raises
    WvError for a checkpoint of another run or a damaged one."""
    if not Path(path).exists():
        say(f"{path}: no checkpoint yet; starting from the beginning")
        return 0
    state = checkpoint.load(path, model.identity(), model.arrays(), steps=model.steps)
    say(f"{path}: going on at {state['next_step'] / model.steps:.1%}", step=state["next_step"])
    return int(state["next_step"])


def train_saving(
    path: str | None,
    model: Savable[Worker],
    *,
    first_step: int,
    threads: int,
    save_every: float | None,
    max_seconds: float | None,
    observe: Callable[[Progress], None] | None,
    advice: str,
) -> Outcome:
    """Trains, saving to `path` (None: nowhere). A divergence is a WvError that ends with `advice`; it leaves the last
    checkpoint as it was."""

    def save(next_step: int) -> None:
        assert path is not None, "only called when there is a path"
        checkpoint.save(path, model.identity(), {"next_step": next_step}, model.arrays())

    try:
        return train(
            model,
            threads=threads,
            first_step=first_step,
            save=save if path else None,
            save_every=save_every,
            max_seconds=max_seconds,
            observe=observe,
        )
    except Diverged as error:
        kept = f"the last checkpoint, {path}, is intact; " if path and Path(path).exists() else ""
        raise WvError(f"{error}; {kept}nothing was written; {advice}") from error
