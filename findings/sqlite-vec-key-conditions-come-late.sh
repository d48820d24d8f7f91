#!/bin/sh
# sqlite-vec 0.1.9: conditions beside `match` and `k`, on the primary key and on a metadata column.
# Guess: a condition chooses the rows among which the k nearest are sought, as `year >= 2005` does; if not, it is
# refused, as LIKE on that column is.
# Seen: `id >= 5`, even `id = 5`, and `year not in (...)` are applied to the k nearest of all rows, so the answer is
# empty although there are matching rows. `id in (5, 6)` and `distance > 2` are applied before.
# Output:
#   k = 3 and year >= 2005: [5, 6, 7]
#   k = 3 and id in (5, 6): [5, 6]
#   k = 3 and distance > 2: [3, 4, 5]
#   k = 3 and id >= 5: []
#   k = 3 and id = 5: []
#   k = 3 and year not in (2000, 2001, 2002): []
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'sqlite-vec==0.1.9' 'apsw==3.54.1.0'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import apsw
import sqlite_vec

connection = apsw.Connection(":memory:")
connection.enable_load_extension(True)
connection.load_extension(sqlite_vec.loadable_path())

connection.execute("create virtual table t using vec0(id integer primary key, v float[2], year integer)")
for number in range(10):
    connection.execute("insert into t values (?, ?, ?)", (number, f"[{number},0]", 2000 + number))
EXPECTED = {
    "year >= 2005": [5, 6, 7],
    "id in (5, 6)": [5, 6],
    "distance > 2": [3, 4, 5],
    "id >= 5": [],
    "id = 5": [],
    "year not in (2000, 2001, 2002)": [],
}
failed = False
for condition, expected in EXPECTED.items():
    rows = connection.execute(f"select id from t where v match '[0,0]' and k = 3 and {condition}")
    found = [number for (number,) in rows]
    print(f"k = 3 and {condition}: {found}")
    failed |= found != expected
sys.exit("the behaviour has changed" if failed else 0)
PYTHON
