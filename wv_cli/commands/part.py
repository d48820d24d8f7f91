"""A part of a job: the options of one subject, with the files they read and write.

No part knows another. What two of them must know is checked by the job that has both (wv_cli.commands.job).
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import Any, ClassVar

from wv_cli.config import Options, frozen, option


def internal(default: Any = None) -> Any:
    """A field that is no option of the command: a fact about the run, or a setting of the compatible command lines."""
    return field(default=default, metadata={"internal": True})


@frozen
class Part(Options):
    """Base of all parts. Methods say nothing where a part has nothing to say. CONDITIONS tells when options of other
    parts have an effect, as wv_cli.config.conditions.holds understands it."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def conditions(cls) -> list[tuple[str, str]]:
        return [*super().conditions(), *cls.CONDITIONS.items()]

    def begins_with(self) -> list[str]:
        """The files whose rows a training begins with."""
        return []

    def learnt(self) -> Sequence[str]:
        """The digests of the texts that were learnt before, one for each time."""
        return ()

    def claim(self, beside: str | None, *, anew: bool) -> AbstractContextManager[object]:
        """Keeps other runs from what this one alone may write, while it lasts. `anew`: what an earlier run has left on
        the way may go. Raises WvError where another run has it."""
        return nullcontext()


@frozen
class Invocation(Part):
    """How a run was asked for: `argv` is the command line, `explicit` the options that the user gave, whatever their
    values. Without `meta` results have no sidecars."""

    argv: tuple[str, ...] = internal(())
    explicit: tuple[str, ...] = internal(())
    meta: bool = internal(True)


@frozen
class SidecarOption(Invocation):
    """The same for a command whose results have sidecars."""

    meta: bool = option(True, "Write NAME.meta.json beside each output.", group="Output")
