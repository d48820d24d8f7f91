"""What `wv filter` shows in the end."""

from collections.abc import Mapping
from typing import Any

import click

_LONGEST = 1_000_000  # a whole number of fewer digits is shown whole


def explanation(metadata: Mapping[str, Any]) -> None:
    """The scores of one record, on standard output."""
    found = metadata.get("explained")
    if found is None:
        return
    click.echo(f"record {found['record']} of {found['file']}: {found['text']}")
    for rule in found["rules"]:
        verdict = "keeps" if rule["keeps"] else "rejects"
        click.echo(f"{rule['rule']}\t{rule['score']:.6g}\t{verdict}\t({rule['range']})")


def table(metadata: Mapping[str, Any]) -> str:
    """How many records each rule saw and rejected, and percentiles of its scores."""
    if "explained" in metadata:
        return ""
    rows = [["rule", "records", "rejected", "p1", "p10", "median", "p90", "p99"]]
    for name, rule in metadata["rules"].items():
        points = rule["percentiles"]
        shown = [_number(points[at]) for at in (1, 10, 50, 90, 99)] if points else ["-"] * 5
        rows.append([name, f"{rule['seen']:,}", f"{rule['rejected']:,}", *shown])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    kept, records = metadata["kept"], metadata["records"]
    share = f" ({kept / records:.1%})" if records else ""
    shortened = f", {metadata['shortened']:,} of them without some paragraphs" if metadata["shortened"] else ""
    return "\n".join([*lines, f"kept {kept:,} of {records:,} records{share}{shortened}"])


def _number(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() and abs(value) < _LONGEST else f"{value:.4g}"
