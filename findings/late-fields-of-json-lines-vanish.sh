#!/bin/sh
# polars 2.1.0 and duckdb 2.0.1: JSON lines in which a field comes late, or is null for long.
# Guess: a reader that meets a field or a value its sample did not have adds it, or stops.
# Seen: polars reads the fields of the first 100 records, DuckDB those of the first 20,480; both drop all others, without
# a word. A field that is null in DuckDB's sample has the type "NULL", and each string that comes later is read as null.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'duckdb==2.0.1' 'polars==2.1.0'
cd "$place"
"$place/venv/bin/python" - <<'PYTHON'
import sys

import duckdb
import polars

with open("late.jsonl", "w") as stream:
    stream.write('{"text":"a"}\n' * 30_000 + '{"text":"b","score":1}\n')
with open("null.jsonl", "w") as stream:
    stream.write('{"text":"a","license":null}\n' * 30_000 + '{"text":"b","license":"CC0"}\n')
fields = {"polars": polars.read_ndjson("late.jsonl").columns, "DuckDB": duckdb.sql("from 'late.jsonl'").columns}
for program, names in fields.items():
    print(f"{program}: fields text and score are read as {names}")
kind, value, rows = duckdb.sql("select any_value(typeof(license)), max(license), count(*) from 'null.jsonl'").fetchall()[0]
print(f"DuckDB: license of {rows:,} records has the type {kind}; CC0 is read as {value}")
right = fields == {"polars": ["text"], "DuckDB": ["text"]} and value is None and rows == 30_001
sys.exit(0 if right else "the behaviour has changed")
PYTHON
