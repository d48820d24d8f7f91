"""The checkpoint of a training: its place, its times, and the treatment of an existing one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.part import Part, internal
from wv_cli.config import frozen, option
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError

if TYPE_CHECKING:
    from wv_cli.models.training.saved_run import SavedRun


@frozen
class Resume(Part):
    """A training is saved in `checkpoint` every `checkpoint_every` seconds and when it ends early, which it does after
    `max_time` seconds. With `resume` it goes on from there, with `overwrite` it begins anew although a checkpoint is
    there. A training that is not `resumable` is never saved."""

    group: ClassVar[str] = "Run"

    checkpoint: str | None = option(None, "Checkpoint file.", role="own", shown="first OUTPUT.checkpoint")
    checkpoint_every: float | None = option(None, "Interval between checkpoints (90, 15m, 2h).", metavar="TIME")
    resume: bool = option(False, "Resume from the checkpoint if there is one.", off=None, common=True)
    overwrite: bool = option(False, "Start anew and discard the checkpoint of an earlier run.", off=None)
    max_time: float | None = option(None, "Save a checkpoint and stop after this time.", metavar="TIME", common=True)
    resumable: bool = internal(True)

    def check(self) -> None:
        if self.resume and self.overwrite:
            message = "--resume and --overwrite cannot be used together: one continues the checkpoint, one discards it"
            raise UsageError(message)

    @property
    def given_options(self) -> list[str]:
        """The options that only a training has."""
        names = ("resume", "overwrite", "checkpoint", "checkpoint_every")
        return [flag_of(name) for name in names if getattr(self, name)]

    def path(self, beside: str | None) -> str | None:
        """Where the checkpoint lies of a run whose first file is `beside`; None: nowhere."""
        if not self.resumable:
            return None
        return self.checkpoint or (f"{beside}.checkpoint" if beside else None)

    def require_path(self, beside: str | None) -> None:
        """Raises UsageError where a checkpoint is asked for and there is no place for it."""
        flag = "--resume" if self.resume else "--checkpoint-every"
        if (self.resume or self.checkpoint_every) and self.path(beside) is None:
            raise UsageError(f"{flag} needs --checkpoint FILE, since no output is a file")

    def saved_run(self, beside: str | None, *, from_files: bool, learnt: Sequence[str] = ()) -> "SavedRun":
        from wv_cli.models.training.saved_run import SavedRun

        how = {"resume": self.resume, "overwrite": self.overwrite, "from_files": from_files}
        return SavedRun(self.path(beside), **how, learnt=learnt)
