#!/bin/sh
# pyarrow 26.0.1: whole numbers of 64 bits without a sign, as hashes and ids are, in JSON lines and in CSV.
# Guess: they are uint64, or the reader stops; polars 2.1.0, duckdb 2.0.1 and pandas 3.1.1 keep every digit.
# Seen: one number above 9,223,372,036,854,775,807 makes the whole column float64, in silence. Neighbors become one
# number, and a join by id matches wrong rows. engine="pyarrow" of pandas does the same. A schema with uint64 helps.
# Output:
#   JSON: pyarrow double, 1 different; polars Int128, 3; duckdb HUGEINT, 3; pandas uint64, 3
#   CSV: pyarrow double, 1 different; polars Int128, 3; duckdb HUGEINT, 3; pandas uint64, 3
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'pyarrow==26.0.1' 'polars==2.1.0' 'duckdb==2.0.1' 'pandas==3.1.1'
cd "$place"
"$place/venv/bin/python" - <<'PYTHON'
import sys
from functools import partial

import duckdb
import pandas
import polars
import pyarrow.csv
import pyarrow.json

IDS = [18446744073709551615, 18446744073709551614, 18446744073709551613]
with open("ids.jsonl", "w") as lines, open("ids.csv", "w") as table:
    lines.writelines(f'{{"id":{number}}}\n' for number in IDS)
    table.writelines(f"{line},\n" for line in ["id", *IDS])
right = True
for name, path, readers in (
    ("JSON", "ids.jsonl", (pyarrow.json.read_json, polars.read_ndjson, partial(pandas.read_json, lines=True))),
    ("CSV", "ids.csv", (pyarrow.csv.read_csv, polars.read_csv, pandas.read_csv)),
):
    arrow, frame, panda = (reader(path)["id"] for reader in readers)
    duck = duckdb.sql(f"select any_value(typeof(id)), count(distinct id) from '{path}'").fetchall()[0]
    counts = (len(set(arrow.to_pylist())), frame.n_unique(), duck[1], panda.nunique())
    print(
        f"{name}: pyarrow {arrow.type}, {counts[0]} different; polars {frame.dtype}, {counts[1]}; "
        f"duckdb {duck[0]}, {counts[2]}; pandas {panda.dtype}, {counts[3]}"
    )
    right &= str(arrow.type) == "double" and counts == (1, 3, 3, 3)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
