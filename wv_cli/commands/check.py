"""`wv check`: lists what is wrong with a vector file."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option


@frozen
class CheckJob(Job):
    """Look for damage in the vector file FILE (- is standard input; it may be compressed).

    Damage is a header that disagrees with the rows, a wrong number of numbers, nan or infinity, or a duplicate word.
    Bad UTF-8, a truncated file and data after the last row are damage, too. Each problem is listed with its line or
    byte offset. Rows of zeros and other oddities are listed as notes.

    The exit code is 0 without damage, and 1 with damage or if FILE is no vector file.
    """

    JSON_IS_ASCII: ClassVar[bool] = False

    file: str = argument("FILE", role="read")
    from_format: str | None = option(None, "Format of FILE; by default its content tells.", metavar="FORMAT")
    max_problems: int = option(100, "Number of problems to list; all are counted.", low=0)

    @property
    def is_verdict(self) -> bool:
        return True

    def work(self, run: Run) -> tuple[None, Metadata]:
        """The report as a dict: `damaged`, how many problems of each kind, and the first of them one by one."""
        from wv_cli.vectors.formats.checking import check

        report = check(self.file, format=self.from_format, max_problems=self.max_problems)
        found = {name: value for name, value in vars(report).items() if name != "problems"}
        found |= {"counts": dict(report.counts), "notes": dict(report.notes), "damaged": report.is_damaged}
        return None, {**found, "problems": [dataclasses.asdict(problem) for problem in report.problems]}

    def show(self, metadata: Mapping[str, Any]) -> str:
        path, problems = metadata["path"], metadata["problems"]
        lines = [f"{path}{_place(each)}: {'note: ' if each['is_note'] else ''}{each['text']}" for each in problems]
        return "".join(f"{line}\n" for line in [*lines, _summarize(metadata)])

    def judge(self, metadata: Mapping[str, Any]) -> int:
        return 1 if metadata["damaged"] else 0


def _place(problem: Mapping[str, Any]) -> str:
    if problem["line"] is not None:
        return f":{problem['line']}"
    return "" if problem["byte"] is None else f": byte {problem['byte']}"


def _summarize(report: Mapping[str, Any]) -> str:
    counts, notes = Counter(report["counts"]), Counter(report["notes"])
    found = ", ".join(f"{count} x {kind}" for kind, count in counts.most_common())
    noted = ", ".join(f"{count} x {kind}" for kind, count in notes.most_common())
    verdict = f"damaged: {found}" if found else "no damage found"
    listed, total = len(report["problems"]), counts.total() + notes.total()
    return (
        f"{report['path']}: {report['format']}, {report['rows']} rows of {report['dim']} numbers: {verdict}"
        + (f"; notes: {noted}" if noted else "")
        + (f" (the first {listed} of {total} are listed)" if listed < total else "")
    )
