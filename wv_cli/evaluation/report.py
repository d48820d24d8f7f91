"""A report as text: an aligned table for people, TSV and JSON for programs."""

import math
import textwrap
from dataclasses import asdict

from wv_cli.evaluation.base import Report
from wv_cli.io.json_text import to_json
from wv_cli.text.reading_config import ReadingConfig


def as_table(report: Report) -> str:
    """Columns side by side, numbers to the right. A label that all rows share stands above, one that repeats the row
    before is left blank; the protocol stands below."""
    columns = [column for column in report.columns if column.title]
    shared = [column for column in columns if len(report.rows) > 1 and column.label and _constant(report, column.key)]
    columns = [column for column in columns if column not in shared]
    cells = [[column.show(row[column.key]) for column in columns] for row in report.rows]
    widths = [max(len(column.title), *(len(texts[i]) for texts in cells)) for i, column in enumerate(columns)]

    def line(texts: list[str]) -> str:
        fields = zip(texts, widths, columns, strict=True)
        return "  ".join(
            text.ljust(width) if column.label else text.rjust(width) for text, width, column in fields
        ).rstrip()

    lines = [f"{column.title}: {report.rows[0][column.key]}" for column in shared]
    lines += (
        ["", line([column.title for column in columns])] if shared else [line([column.title for column in columns])]
    )
    above: list[str] = []
    for texts in cells:
        shown, same = list(texts), bool(above)
        for i, column in enumerate(columns):
            same = same and column.label and above[i] == texts[i]
            shown[i] = "" if same else texts[i]
        lines.append(line(shown))
        above = texts
    return "\n".join([*lines, "", textwrap.fill(f"({'; '.join(report.protocol)})", 100), ""])


def _constant(report: Report, key: str) -> bool:
    return all(row[key] == report.rows[0][key] for row in report.rows)


def as_tsv(report: Report) -> str:
    """A line of column names and a line per row; numbers in full, an empty field where there is none. The protocol is
    in columns too, so that a row says by itself how it was measured."""
    config = asdict(report.config)
    keys = [column.key for column in report.columns]
    protocol = [key for key in config if key not in ("strict", "threads", *ReadingConfig.options(), *keys)]
    lines = ["\t".join(["task", *keys, *protocol])]
    for row in report.rows:
        values = [report.task, *(row[key] for key in keys), *(config[key] for key in protocol)]
        lines.append("\t".join(_field(value) for value in values))
    return "\n".join([*lines, ""])


def _field(value: object) -> str:
    if _finite(value) is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    if isinstance(value, tuple):
        text = ",".join(map(str, value))
    return text.replace("\t", " ").replace("\n", " ")


def as_json(report: Report) -> str:
    """One object on one line; a number that could not be computed is null."""
    return to_json(report.to_dict()) + "\n"


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
