"""How work tells its caller what happens: a log of events and a progress callback."""

from collections.abc import Callable
from typing import Protocol


class Log(Protocol):
    """Is told about events: a line for people, and the same as facts for programs."""

    def __call__(self, message: str, **facts: object) -> None: ...


def unheard(message: str, **facts: object) -> None:
    """A Log that nobody reads."""


# Is told how much is done, and how much there is to do (None: not known yet).
OnProgress = Callable[[int, int | None], None]
