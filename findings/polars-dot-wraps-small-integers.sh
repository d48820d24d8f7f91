#!/bin/sh
# polars 2.1.0: products of vectors of int8, as quantized embeddings are stored.
# Guess: `sum` of int8 is int64 and right, so `dot`, whose type in the schema is int64 too, adds up in int64.
# Seen: each product is first cut to 8 bits, and only then added. Nothing is said, and the type of the result hides it:
# the row that is nearest by the true product becomes the last one. A cast to a wider type before the product helps.
# Output:
#   same {'sum': 200, 'dot': 32, 'wide': 20000} type of dot: Int64
#   weak {'sum': 1, 'dot': 100, 'wide': 100} type of dot: Int64
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'polars==2.1.0'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import polars as pl

vectors = {"same": [100, 100], "weak": [1, 0]}
query = pl.Series(vectors["same"], dtype=pl.Int8)
seen = {}
for word, vector in vectors.items():
    row = pl.DataFrame({"row": pl.Series(vector, dtype=pl.Int8), "query": query})
    found = row.select(
        sum=pl.col.row.sum(),
        dot=pl.col.row.dot("query"),
        wide=pl.col.row.cast(pl.Int64).dot(pl.col.query.cast(pl.Int64)),
    )
    print(word, found.to_dicts()[0], "type of dot:", found.schema["dot"])
    seen[word] = (*found.row(0), str(found.schema["dot"]))
right = seen == {"same": (200, 32, 20000, "Int64"), "weak": (1, 100, 100, "Int64")}
sys.exit(0 if right else "the behaviour has changed")
PYTHON
