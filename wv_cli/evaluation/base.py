"""What the evaluation tasks share: the vectors they are given, the protocol, the table of results.

No NumPy is imported here, so that `wv eval --help` is fast.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, TypeVar

from wv_cli.config import Options
from wv_cli.evaluation.config import EvalConfig, WicConfig

if TYPE_CHECKING:
    from wv_cli.vectors.embeddings import Embeddings


def _load(path: str) -> "Embeddings":
    from wv_cli.vectors.formats import load

    return load(path)


@dataclass(frozen=True)
class Vectors:
    """A vector file to score. `load` reads it afresh: files are held in memory one at a time, and a task may overwrite
    what it was given. `load_beside` reads another file that it is scored with."""

    name: str
    load: "Callable[[], Embeddings]"
    load_beside: "Callable[[str], Embeddings]" = _load


Found = TypeVar("Found")
# How a function of one vector file is applied to several: in order, and like `map` here unless on other machines.
Each = Callable[[Callable[[Vectors], Found], Sequence[Vectors]], Iterable[Found]]

Cell = str | int | float | None
Row = dict[str, Cell]  # figures by column key


@dataclass(frozen=True)
class Column:
    """A figure of a report. `key` is its name in TSV and JSON, `title` in the table for people; "" leaves it out there.
    A `label` says what a row is about."""

    key: str
    title: str
    show: Callable[[Cell], str] = str
    label: bool = False


@dataclass
class Report:
    """Rows of figures by column key. `scores` are the numbers a gate looks at: (what, value); value is NaN when there
    is none, and `unscored` says why. `protocol` says how the numbers were measured, `notes` what the user should know
    besides."""

    task: str
    measure: str
    config: Options
    columns: list[Column]
    rows: list[Row] = field(default_factory=list)
    scores: list[tuple[str, float]] = field(default_factory=list)
    protocol: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unscored: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """What JSON has of it."""
        return {
            "task": self.task,
            "measure": self.measure,
            "config": asdict(self.config),
            "results": self.rows,
            "notes": self.notes,
            "unscored": self.unscored,
        }

    def scores_below(self, bar: float) -> list[str]:
        """A line for every score that is not at least `bar`."""
        missed = []
        for what, value in self.scores:
            if not value >= bar:
                found = "cannot be computed" if math.isnan(value) else f"is {value:.4f}"
                missed.append(f"{what}: {self.measure} {found}, below --min-score {bar:g}")
        return missed


def protocol(config: "EvalConfig | WicConfig") -> list[str]:
    """The part of a report's protocol that every task shares."""
    case = {
        "fold-first": "case is ignored: of words that differ in case alone, the first one counts",
        "lower": "words of the data are looked up in lower case",
        "none": "words of the data are looked up as written",
    }[config.case]
    pool = f"the first {config.restrict_vocab:,} words of the" if config.restrict_vocab else "the whole"
    return [f"{pool} vocabulary", case]


def number(decimals: int, *, signed: bool = False) -> Callable[[Cell], str]:
    """Shows a float with so many decimals, `-` when there is none."""
    sign = "+" if signed else ""

    def show(value: Cell) -> str:
        known = isinstance(value, int | float) and not math.isnan(value)
        return f"{value:{sign}.{decimals}f}" if known else "-"

    return show


def count(value: Cell) -> str:
    """Shows a whole number, `-` when there is none."""
    return "-" if value is None else f"{value:,}"


def p_value(value: Cell) -> str:
    return "<0.0001" if isinstance(value, int | float) and value < 0.0001 else number(4)(value)
