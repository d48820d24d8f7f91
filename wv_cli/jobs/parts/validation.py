"""The options of scoring a model after every epoch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from wv_cli.errors import UsageError
from wv_cli.jobs.part import Part


@dataclass(frozen=True, kw_only=True)
class Validation(Part):
    """Validation during training. The vectors are scored after every epoch on the file `validation` of pairs or
    analogies, and those of the best epoch are kept. After `patience` epochs without a better score the run ends
    (wv_cli.jobs.validation)."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {"patience": "validation"}

    validation: str | None = None
    patience: int | None = None

    def check(self) -> None:
        if self.patience is not None and self.patience < 1:
            raise UsageError(f"--patience must be at least 1, not {self.patience}")

    def reads(self) -> list[str]:
        return [self.validation] if self.validation else []
