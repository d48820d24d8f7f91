#!/bin/sh
# polars 2.1.0: sums of Float16, the type of half-precision scores and embeddings, in the ways that polars has.
# Guess: `sum` and `dot` add up in a wider type, as `select` shows: 4,000 ones are 4,000, which Float16 can hold.
# Seen: per group, in SQL with GROUP BY, and within lists and arrays, they add up in Float16, where 2,048 + 1 is 2,048. A
# group of 4,000 has the sum of one of 2,048, but its mean is right. Nothing is said; cast to Float32 before helps.
# Output:
#   4000.0: select, select dot, over, group mean * 4000, group cast
#   2048.0: group, group dot, SQL, list, array
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'polars==2.1.0'
POLARS_MAX_THREADS=1 "$place/venv/bin/python" - <<'PYTHON'
import sys

import polars as pl

COUNT = 4000
half = pl.col("score")
table = pl.DataFrame({"word": ["a"] * COUNT, "score": pl.Series([1.0] * COUNT, dtype=pl.Float16)})
lists = table.group_by("word").agg(half)


def group(expression):
    return table.group_by("word").agg(value=expression)["value"].item()


RIGHT = {
    "select": table.select(half.sum()).item(),
    "select dot": table.select(half.dot(half)).item(),
    "over": table.select(half.sum().over("word"))["score"][0],
    "group mean * 4000": group(half.mean()) * COUNT,
    "group cast": group(half.cast(pl.Float32).sum()),
}
WRONG = {
    "group": group(half.sum()),
    "group dot": group(half.dot(half)),
    "SQL": table.sql("select sum(score) as value from self group by word")["value"].item(),
    "list": lists.select(half.list.sum()).item(),
    "array": lists.select(half.list.to_array(COUNT).arr.sum()).item(),
}
for value in sorted({*RIGHT.values(), *WRONG.values()}, reverse=True):
    print(f"{value}:", ", ".join(name for name, found in {**RIGHT, **WRONG}.items() if found == value))
right = set(RIGHT.values()) == {4000.0} and set(WRONG.values()) == {2048.0}
sys.exit(0 if right else "the behaviour has changed")
PYTHON
