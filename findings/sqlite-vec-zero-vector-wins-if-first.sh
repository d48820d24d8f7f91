#!/bin/sh
# sqlite-vec 0.1.9: nearest rows by cosine in a table that holds a vector of zeros, such as that of an empty text.
# Guess: the zero vector, whose distance is NULL, comes last or is left out, wherever it was inserted.
# Seen: it keeps the place at which it was inserted. Inserted first, it is the only answer for k=1, in front of a row at
# distance 0; inserted last, it comes last. The same rows, in another order, give another neighbor, without a word.
# Output:
#   zeros inserted first, k=1: [('zero', None)]
#   zeros inserted first, k=2: [('zero', None), ('same', 0.0)]
#   zeros inserted second, k=1: [('same', 0.0)]
#   zeros inserted second, k=2: [('same', 0.0), ('zero', None)]
#   zeros inserted last, k=1: [('same', 0.0)]
#   zeros inserted last, k=2: [('same', 0.0), ('near', 0.2928932309150696)]
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

ROWS = {"zero": "[0,0]", "same": "[1,0]", "near": "[1,1]", "far": "[0,1]"}
found = {}
for name, order in (
    ("first", ("zero", "same", "near", "far")),
    ("second", ("same", "zero", "near", "far")),
    ("last", ("same", "near", "far", "zero")),
):
    connection.execute(f"create virtual table {name} using vec0(v float[2] distance_metric=cosine, +word text)")
    for word in order:
        connection.execute(f"insert into {name}(v, word) values (?, ?)", (ROWS[word], word))
    for k in (1, 2):
        rows = connection.execute(f"select word, distance from {name} where v match '[1,0]' and k = {k}")
        found[name, k] = list(rows)
        print(f"zeros inserted {name}, k={k}:", found[name, k])
right = (
    found["first", 1] == [("zero", None)]
    and found["second", 2] == [("same", 0.0), ("zero", None)]
    and [word for word, _ in found["last", 2]] == ["same", "near"]
)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
