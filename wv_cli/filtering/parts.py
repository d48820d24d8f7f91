"""The parts of a run that several processes filter, and the names of what each run or part writes for itself.

A part has whole files, and slices of large ones. The largest is dealt first, each to the part that has the fewest
bytes, so that every process deals in the same way without asking another one.
"""

import hashlib
import heapq
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.errors import UsageError, WvError

if TYPE_CHECKING:
    from wv_cli.filtering.slices import Slice

JOURNAL = ".wv-filter.json"
ENDING = ".report"
REPORT = "_filter.report"  # programs that read a folder of JSON leave it out
SLURM = "slurm"
_ID, _COUNT, _FIRST, _LAST = (f"SLURM_ARRAY_TASK_{name}" for name in ("ID", "COUNT", "MIN", "MAX"))
_FILE = re.compile(r"(?:_filter\.(?:part-(\d+)-of-(\d+)\.)?report|\.wv-filter\.(?:part-(\d+)-of-(\d+)\.)?json)")


@dataclass(frozen=True)
class Part:
    """Part `number` of `count`, the first being 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def journal(self) -> str:
        return f".wv-filter.part-{self.number}-of-{self.count}.json"

    @property
    def report(self) -> str:
        return f"_filter.part-{self.number}-of-{self.count}.report"

    def deal(self, sizes: Mapping[str, int]) -> list[str]:
        """The names of this part's shards among those with these `sizes`, in their order."""
        waiting = [(0, 0, number) for number in range(1, self.count + 1)]
        mine = set()
        for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
            load, shards, number = heapq.heappop(waiting)
            heapq.heappush(waiting, (load + sizes[name], shards + 1, number))
            if number == self.number:
                mine.add(name)
        return [name for name in sizes if name in mine]


def parse_part(text: str, environment: Mapping[str, str] = os.environ) -> Part:
    """The part that --part names: I/N, or that of a task of a Slurm array. Raises UsageError."""
    if text == SLURM:
        return _part_of_task(environment)
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, re.ASCII)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--part: expected I/N, such as 1/16 to 16/16, or {SLURM}, found {text!r}")
    return Part(int(found[1]), int(found[2]))


def _part_of_task(environment: Mapping[str, str]) -> Part:
    """Tasks may have any numbers with equal steps, such as 0-15 or 1-31:2."""
    for name in (_ID, _COUNT, _FIRST, _LAST):
        if not environment.get(name, "").isdecimal():
            message = f"--part {SLURM}: {name} is not set; start wv in a task of sbatch --array, or give --part I/N"
            raise UsageError(message)
    task, count, first, last = (int(environment[name]) for name in (_ID, _COUNT, _FIRST, _LAST))
    step, gap = divmod(last - first, max(count - 1, 1))
    number, rest = divmod(task - first, max(step, 1))
    if gap or rest or not 0 <= number < count:
        problem = f"expected {count:,} tasks with equal steps from {first} to {last}, found task {task}"
        raise UsageError(f"--part {SLURM}: {problem}; give --part I/N, with the N of the first run")
    return Part(number + 1, count)


def deal_slices(slices: "Sequence[Slice]", part: Part) -> "tuple[list[Slice], str]":
    """(those of this part, and the digest of all)."""
    sizes = {each.name: each.size for each in slices}
    mine = {*part.deal(sizes)}
    return [each for each in slices if each.name in mine], corpus_digest(sizes.items())


def corpus_digest(sizes: Iterable[tuple[str, int]]) -> str:
    """The digest of all shards' names and sizes, which is the same for all parts."""
    return hashlib.blake2b(json.dumps(sorted(sizes)).encode(), digest_size=16).hexdigest()


def files_of_runs(folder: Path) -> dict[Path, Part | None]:
    """The journals and reports in a folder, each with the part that it belongs to, None for that of a whole run."""
    found: dict[Path, Part | None] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if (name := _FILE.fullmatch(path.name)) is not None:
            numbers = [int(each) for each in name.groups() if each is not None]
            found[path] = Part(*numbers) if numbers else None
    return found


def files_of_other_deals(folder: Path, part: Part | None) -> list[Path]:
    """The journals and reports in a folder that belong to a run in another number of parts."""
    return [path for path, other in files_of_runs(folder).items() if _count(other) != _count(part)]


def refuse_other_deals(folder: Path, part: Part | None) -> None:
    """Raises WvError where the folder has those of a run in another number of parts, which have other shards."""
    for path in files_of_other_deals(folder, part):
        other = files_of_runs(folder)[path]
        found = f"expected those of {_describe(part)}, found those of {_describe(other)}"
        step = f"give --part I/{other.count} for a part of that run" if other is not None else "name another folder"
        raise WvError(f"{path}: {found}; {step}, or --overwrite to begin anew")


def _count(part: Part | None) -> int:
    return part.count if part is not None else 0


def _describe(part: Part | None) -> str:
    return f"a run in {part.count:,} parts" if part is not None else "a run without --part"
