"""`wv check`: lists what is wrong with a vector file."""

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import quiet_option
from wv_cli.system.json_text import to_json

if TYPE_CHECKING:
    from wv_cli.formats import Problem, Report


@click.command("check", cls=Command)
@click.argument("file", metavar="FILE")
@click.option("--from", "from_format", metavar="FORMAT", help="Format of FILE; by default its content tells.")
@click.option(
    "--max-problems",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    metavar="N",
    help="Number of problems to list; all are counted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as one JSON object.")
@quiet_option
def command(file: str, from_format: str | None, max_problems: int, as_json: bool, quiet: bool) -> int:
    """Look for damage in the vector file FILE (- is standard input; it may be compressed).

    Damage is a header that disagrees with the rows, a wrong number of numbers, nan or infinity, or a duplicate word.
    Bad UTF-8, a truncated file and data after the last row are damage, too. Each problem is listed with its line or
    byte offset. Rows of zeros and other oddities are listed as notes.

    The exit code is 0 without damage, and 1 with damage or if FILE is no vector file.
    """
    from wv_cli.formats import check

    report = check(file, format=from_format, max_problems=max_problems)
    if as_json:
        click.echo(to_json(_as_json(report), escape=False))
    elif not quiet:
        for problem in report.problems:
            click.echo(f"{report.path}{_place(problem)}: {'note: ' if problem.is_note else ''}{problem.text}")
        click.echo(_summary(report))
    return 1 if report.is_damaged else 0


def _place(problem: "Problem") -> str:
    if problem.line is not None:
        return f":{problem.line}"
    return "" if problem.byte is None else f": byte {problem.byte}"


def _summary(report: "Report") -> str:
    found = ", ".join(f"{count} x {kind}" for kind, count in report.counts.most_common())
    noted = ", ".join(f"{count} x {kind}" for kind, count in report.notes.most_common())
    verdict = f"damaged: {found}" if found else "no damage found"
    listed = len(report.problems)
    total = report.counts.total() + report.notes.total()
    return (
        f"{report.path}: {report.format}, {report.rows} rows of {report.dim} numbers: {verdict}"
        + (f"; notes: {noted}" if noted else "")
        + (f" (the first {listed} of {total} are listed)" if listed < total else "")
    )


def _as_json(report: "Report") -> dict[str, Any]:
    plain = {name: value for name, value in vars(report).items() if name != "problems"}
    return plain | {
        "damaged": report.is_damaged,
        "problems": [dataclasses.asdict(problem) for problem in report.problems],
    }
