"""What `wv check` finds in a vector file: problems with their positions, counted in full, listed up to a limit."""

from collections import Counter
from dataclasses import dataclass, field, replace

from wv_cli.errors import BadFile


@dataclass(frozen=True)
class Problem:
    """`kind` is one word or two for programs ("ragged row"), `text` is for people. A note is not damage."""

    kind: str
    text: str
    line: int | None = None
    byte: int | None = None
    is_note: bool = False


@dataclass
class Report:
    """Filled by a format's check(). `rows` counts the rows found, good and bad; `counts` counts problems by kind."""

    path: str
    format: str
    max_problems: int = 100
    rows: int = 0
    dim: int = 0
    promised_rows: int | None = None
    counts: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_damaged(self) -> bool:
        return bool(self.counts)

    def add(
        self, kind: str, text: str, *, line: int | None = None, byte: int | None = None, note: bool = False
    ) -> None:
        (self.notes if note else self.counts)[kind] += 1
        if len(self.problems) < self.max_problems:
            self.problems.append(Problem(kind, text, line, byte, note))

    def note_kind(self, kind: str) -> None:
        """Problems of that kind are no damage here."""
        if count := self.counts.pop(kind, 0):
            self.notes[kind] += count
            self.problems = [replace(each, is_note=each.is_note or each.kind == kind) for each in self.problems]

    def add_error(self, kind: str, error: BadFile) -> None:
        """The problem a reader raised, which ended the check."""
        self.add(kind, error.problem, line=error.line, byte=error.byte)
