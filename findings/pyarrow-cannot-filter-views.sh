#!/bin/sh
# pyarrow 26.0.1: columns of strings as views, which DataFusion writes into Parquet by default.
# Guess: a type that can be read from Parquet and written to it can be filtered in between.
# Seen: Table.filter has no kernel for string_view. Slices work, but an object that holds a view cannot be written once
# it was sliced.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'pyarrow==26.0.1'
cd "$place"
"$place/venv/bin/python" - <<'PYTHON'
import sys

import pyarrow as pa
import pyarrow.parquet as pq

view = pa.string_view()
texts = pa.array(["one", None, "two", "three"], view)
objects = [{"word": text} for text in ("one", "two", None, "three")]
nested = pa.array(objects, pa.struct([("word", view)]))
pq.write_table(pa.table({"text": texts, "nested": nested}), "views.parquet")
table = pq.read_table("views.parquet")
print("read:", table.schema.field("text").type, table.schema.field("nested").type)


def outcome(name, action):
    try:
        action()
        said = "works"
    except pa.ArrowNotImplementedError as error:
        said = f"ArrowNotImplementedError: {error}"
    print(f"{name}: {said[:110]}")
    return said


rows = pa.array([True, True, False, True])
seen = [
    outcome("filter", lambda: table.select(["text"]).filter(rows)),
    outcome("write a slice of views", lambda: pq.write_table(table.select(["text"]).slice(1, 2), "a")),
    outcome("write a slice of objects with views", lambda: pq.write_table(table.select(["nested"]).slice(1, 2), "b")),
]
sys.exit(0 if [said == "works" for said in seen] == [False, True, False] else "the behaviour has changed")
PYTHON
