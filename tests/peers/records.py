"""What programs that write records make of a text, a list, a time and a missing number."""

import datetime
import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.peers import Answers, package

NAN = float("nan")
ROWS: list[dict[str, Any]] = [
    {"text": "a/b \u00fc", "vector": [0.5, 1.5], "at": datetime.datetime(2026, 11, 27, 1, 2, 3), "score": NAN},
    {"text": "c", "vector": [2.5, 3.5], "at": datetime.datetime(2026, 11, 27), "score": None},
]
Write = Callable[[Any, Path], None]  # an Arrow table, to a file


def _file_facts(path: Path) -> dict[str, str]:
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    schema, column = file.schema_arrow, file.metadata.row_group(0).column(0)
    return {
        "Parquet: a text, as pyarrow reads it": f"`{schema.field('text').type}`",
        "Parquet: a list": f"`{schema.field('vector').type}`",
        "Parquet: a time": f"`{schema.field('at').type}`",
        "Parquet: codec": column.compression,
        "Parquet: page index": "yes" if column.has_column_index else "no",
    }


def _line_facts(lines: list[str]) -> dict[str, str]:
    first, second = lines[0], lines[1]
    nan = next((each for each in ("null", "NaN") if f'"score":{each}' in first.replace(" ", "")), "left out")
    return {
        "JSON: `/`": "`\\/`" if "\\/" in first else "`/`",
        "JSON: \u00fc": "`\\u00fc`" if "\\u00fc" in first else "\u00fc",
        "JSON: a time": f"`{json.loads(second)['at']}`",
        "JSON: a missing number": "`null`" if "score" in json.loads(second) else "left out",
        "JSON: NaN": f"`{nan}`" if nan != "left out" else nan,
    }


def answers(write_parquet: Write, write_lines: Write | None) -> Callable[[str], str]:
    @functools.cache
    def facts() -> dict[str, str]:
        import pyarrow

        table = pyarrow.Table.from_pylist(ROWS)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "written"
            write_parquet(table, path.with_suffix(".parquet"))
            found = _file_facts(path.with_suffix(".parquet"))
            if write_lines is not None:
                write_lines(table, path.with_suffix(".json"))
                written = path.with_suffix(".json")
                if written.is_dir():
                    written = next(iter(sorted(written.glob("*.json"))))
                found |= _line_facts(written.read_text(encoding="utf-8").splitlines())
        return found

    return lambda question: facts().get(question, "-")


def _pyarrow(table: Any, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path)


def _polars(table: Any, path: Path) -> None:
    import polars

    frame = polars.DataFrame(table)
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_ndjson(path)


def _duckdb(table: Any, path: Path) -> None:
    import duckdb

    duckdb.from_arrow(table).query("t", f"COPY t TO '{path}'")


def _datafusion(table: Any, path: Path) -> None:
    from datafusion import SessionContext

    frame = SessionContext().from_arrow(table)
    if path.suffix == ".parquet":
        folder = path.with_name("parts")
        frame.write_parquet(str(folder))
        next(iter(folder.glob("*.parquet"))).rename(path)
    else:
        frame.write_json(str(path))


def _datasets(table: Any, path: Path) -> None:
    from datasets import Dataset

    rows = Dataset(table)
    rows.to_parquet(path) if path.suffix == ".parquet" else rows.to_json(path)


TABLE = Answers(
    "written",
    [
        "Parquet: a text, as pyarrow reads it", "Parquet: a list", "Parquet: a time", "Parquet: codec",
        "Parquet: page index", "JSON: `/`", "JSON: \u00fc", "JSON: a time", "JSON: a missing number",
        "JSON: NaN",
    ],
    [
        package("pyarrow==26.0.1", answers(_pyarrow, None)),
        package("polars==2.1.0", answers(_polars, _polars)),
        package("duckdb==2.0.1", answers(_duckdb, _duckdb)),
        package("datafusion==55.0.0", answers(_datafusion, _datafusion)),
        package("datasets==5.2.0", answers(_datasets, _datasets)),
    ],
)  # fmt: skip
