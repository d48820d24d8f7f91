#!/bin/sh
# duckdb 2.0.1 and polars 2.1.0: JSON lines whose numbers begin with whole ones, such as scores of 0.
# Guess: a number of JSON is a number; a reader widens the column when it meets 0.958, or stops.
# Seen: DuckDB types the column by a sample of 20,480 records as BIGINT and reads 0.958 as 1, without a word; polars
# types it by the first 100 and stops. A writer of scores has to write 0.0.
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

with open("scores.jsonl", "w") as stream:
    stream.write('{"score":0}\n' * 30_000 + '{"score":0.958}\n')
kind, largest = duckdb.sql("select any_value(typeof(score)), max(score) from 'scores.jsonl'").fetchall()[0]
print("DuckDB:", kind, largest)
try:
    said = f"reads {polars.read_ndjson('scores.jsonl')['score'].max()}"
except Exception as error:
    said = type(error).__name__
print("polars:", said)
right = kind == "BIGINT" and largest == 1 and said == "ComputeError"
sys.exit(0 if right else "the behaviour has changed")
PYTHON
