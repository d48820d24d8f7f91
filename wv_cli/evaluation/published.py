"""What papers report for the data sets of `wv eval sts`, as rows beside ours. Which set a file is its name tells.

The figures are in published.tsv, with their sources. They are of other vectors than ours, so nothing is tested against
them, and no gate looks at them. STS 2012 to 2016 are papers' `wmean`; a table of another protocol differs by points.
"""

import re
from pathlib import Path

from wv_cli.evaluation.base import Report, Row

_TABLES = Path(__file__).with_name("published.tsv")
# A folder's and a file's name, in small letters -> the column of the set; of STS 2012 to 2016 the year is. Of the
# benchmark and of SICK papers report the test set.
_SETS = (
    (re.compile(r"[^:]*(?:sts[-_]?b|stsbenchmark)[^:]*test[^:]*"), "sts-b"),
    (re.compile(r"[^:]*sick[^:]*test[^:]*"), "sick"),
    (re.compile(r"(?:.*/)?sts[-_]?(?:20)?1([2-6])(?![0-9])[^/]*: wmean"), ""),
)


def set_of(data: str) -> str | None:
    """The column of published.tsv for what a report calls a data set (a file, or `FOLDER: wmean`); None: there is
    none."""
    name = "/".join(data.lower().split("/")[-2:])
    for pattern, column in _SETS:
        if found := pattern.fullmatch(name):
            return column or f"201{found[1]}"
    return None


def with_published(report: Report) -> None:
    """Puts the published rows of each data set behind ours, or says in a note that there are none."""
    tables = _read()
    rows: list[Row] = []
    known = False
    for index, row in enumerate(report.rows):
        rows.append({**row, "source": None})
        following = report.rows[index + 1]["data"] if index + 1 < len(report.rows) else None
        column = set_of(str(row["data"])) if following != row["data"] else None
        for each in tables if column is not None else ():
            if each[str(column)]:
                known = True
                rows.append(_row(report, str(row["data"]), each, float(each[str(column)])))
    report.rows[:] = rows
    if not known:
        report.notes.append("--published: no table has these data; they are told by names such as sts-b-test, STS2012")


def _row(report: Report, data: str, published: dict[str, str], value: float) -> Row:
    year = re.search(r"\d{4}", published["source"])
    assert year is not None, "every source has a year"
    return {
        **{column.key: None for column in report.columns},
        "data": data,
        "vectors": f"{published['vectors']} [{year[0]}]",
        **{key: published[key] for key in ("stop_words", "pooling", "after", "source")},
        "spearman": value,
    }


def _read() -> list[dict[str, str]]:
    lines = [line for line in _TABLES.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names, *rows = (line.split("\t") for line in lines)
    return [dict(zip(names, row, strict=True)) for row in rows]
