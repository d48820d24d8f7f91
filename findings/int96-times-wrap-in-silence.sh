#!/bin/sh
# pyarrow 26.0.1, polars 2.1.0, datafusion 55.0.0, duckdb 2.0.1: times of 1582 in Parquet's INT96, Spark's default.
# Guess: INT96 holds days and nanoseconds of a day, so that every reader gives the day back, or refuses it.
# Seen: only DuckDB reads 1582-01-01. pyarrow and DataFusion count nanoseconds since 1970 in 64 bits, which wrap: the
# same file says 2166-07-21. polars stops at the largest time, 2262-04-11. No reader warns.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'pyarrow==26.0.1' 'polars==2.1.0' 'datafusion==55.0.0' 'duckdb==2.0.1'
cd "$place"
"$place/venv/bin/python" - <<'PYTHON'
import datetime
import sys

import datafusion
import duckdb
import polars
import pyarrow
import pyarrow.parquet

times = pyarrow.array([datetime.datetime(1582, 1, 1)], pyarrow.timestamp("us"))
table = pyarrow.table({"time": times})
pyarrow.parquet.write_table(table, "t.parquet", use_deprecated_int96_timestamps=True, store_schema=False)


def day(value):
    return str(value)[:10]


found = {
    "DuckDB": day(duckdb.sql("select time::varchar from 't.parquet'").fetchall()[0][0]),
    "pyarrow": day(pyarrow.parquet.read_table("t.parquet")["time"].cast(pyarrow.string())[0].as_py()),
    "polars": day(polars.read_parquet("t.parquet")["time"].cast(polars.String)[0]),
    "DataFusion": day(
        datafusion.SessionContext().read_parquet("t.parquet").to_arrow_table()["time"].cast(pyarrow.string())[0].as_py()
    ),
}
print(found)
expected = {"DuckDB": "1582-01-01", "pyarrow": "2166-07-21", "polars": "2262-04-11", "DataFusion": "2166-07-21"}
sys.exit(0 if found == expected else "the behaviour has changed")
PYTHON
