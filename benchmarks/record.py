"""What the suites record alike: inputs by digest, every single run, medians over the rounds, and their table."""

import hashlib
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from measure import HERE, measure, medians

Run = dict[str, Any]
RESULTS = HERE / "results"
# What tells runs apart and is no figure.
_LABELS = ("task", "program")


@cache
def newest() -> dict[str, Run]:
    """The newest record of each name, in order of the names. A line of a file of results/ is a record."""
    found: dict[str, Run] = {}
    for path in sorted(RESULTS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            name = result["name"]
            if name not in found or result["date"] >= found[name]["date"]:
                found[name] = result
    return dict(sorted(found.items()))


def append(result: Run) -> Path:
    """Adds a record to the file of its suite, and returns the file."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{result['suite']}.jsonl"
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(result) + "\n")
    return path


def inputs(*paths: Path) -> list[dict[str, Any]]:
    """Name, size and SHA-256 of every file."""
    found = []
    for path in paths:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        found.append({"name": path.name, "bytes": path.stat().st_size, "sha256": digest})
    return found


def used(argv: Sequence[object]) -> tuple[Run, str]:
    """({"cpu_seconds", "wall_seconds", "peak_mb"}, standard output) of a child process."""
    found = measure([str(word) for word in argv])
    figures = {name: round(getattr(found, name), 3) for name in ("cpu_seconds", "wall_seconds", "peak_mb")}
    return figures, found.stdout


def rounds(options: Any) -> list[tuple[int, int]]:
    """(round, seed): seeds go up with the rounds, so that the runs tell the spread of the scores."""
    return [(number, options.seed + number - 1) for number in range(1, options.rounds + 1)]


def data(options: Any, *parts: str) -> Path:
    """The one file of --data whose name has `parts`."""
    found = [path for path in options.data if all(part in path.name for part in parts)]
    if len(found) != 1:
        sys.exit(f"--suite {options.suite} needs one --data FILE with {' and '.join(parts)} in its name")
    return Path(found[0])


def summary(runs: Sequence[Run]) -> list[Run]:
    """One row per (task, program): medians of all figures over the rounds."""
    return medians(list(runs), *_LABELS)


def table(result: Run) -> list[str]:
    """Markdown: every figure of the summary, blank where a row has none."""
    columns = list(dict.fromkeys(name for row in result["summary"] for name in row))
    return markdown(columns, [[cell(row.get(name)) for name in columns] for row in result["summary"]])


def cell(value: object) -> str:
    """A number with three digits that count, none cut off before the point."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else f"{value}"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]], labels: int = 2) -> list[str]:
    """A table whose first `labels` columns are words."""
    lines = ["| " + " | ".join(columns).replace("_", " ") + " |"]
    lines.append("|" + "---|" * labels + "--:|" * (len(columns) - labels))
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows)]
