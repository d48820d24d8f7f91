"""A report as text: an aligned table for people, TSV and JSON for programs."""

import json
import math
from dataclasses import asdict
from typing import Any

from wv_cli.evaluation.base import Report


def as_table(report: Report) -> str:
    """Columns side by side, numbers to the right; what repeats the row above is left blank. The protocol stands below."""
    columns = [column for column in report.columns if column.title]
    cells = [[column.show(row[column.key]) for column in columns] for row in report.rows]
    numeric = [all(not isinstance(row[column.key], str) for row in report.rows) for column in columns]
    widths = [max(len(column.title), *(len(line[i]) for line in cells)) for i, column in enumerate(columns)]

    def line(texts: list[str]) -> str:
        padded = (
            text.rjust(w) if right else text.ljust(w) for text, w, right in zip(texts, widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip()

    lines = [line([column.title for column in columns])]
    above: list[str] = []
    for texts in cells:
        shown, same = list(texts), True
        for i, text in enumerate(texts):
            same = same and not numeric[i] and i < len(above) and above[i] == text and columns[i].key != "vectors"
            shown[i] = "" if same else text
        lines.append(line(shown))
        above = texts
    return "\n".join([*lines, "", report.protocol, ""])


def as_tsv(report: Report) -> str:
    """A line of column names and a line per row; numbers in full, an empty field where there is none. The protocol is
    in columns too, so that a row says by itself how it was measured."""
    config = asdict(report.config)
    protocol = [key for key in config if key not in ("strict", "threads")]
    keys = [column.key for column in report.columns]
    lines = ["\t".join(["task", *keys, *protocol])]
    for row in report.rows:
        values = [report.task, *(row[key] for key in keys), *(config[key] for key in protocol)]
        lines.append("\t".join(_field(value) for value in values))
    return "\n".join([*lines, ""])


def _field(value: Any) -> str:
    if _finite(value) is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text.replace("\t", " ").replace("\n", " ")


def as_json(report: Report) -> str:
    """One object on one line; a number that could not be computed is null."""
    facts = {
        "task": report.task,
        "measure": report.measure,
        "config": asdict(report.config),
        "results": [{key: _finite(value) for key, value in row.items()} for row in report.rows],
        "notes": report.notes,
    }
    return json.dumps(facts) + "\n"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
