#!/bin/sh
# polars-ds 0.13.0 and polars-distance 0.5.3: cosines of two columns and of two lists of words in polars 2.1.0.
# Guess: cosine_sim of polars-ds is at most 1 and does not depend on lengths; dist_list.cosine of polars-distance, "cosine
# distance between two lists", is 0 for equal lists and the same for a, b and for b, a.
# Seen: cosine_sim divides by the root of the lengths. A vector and itself have 5, and a longer row that points elsewhere
# has 17.9. Its weighted_cosine_sim with weights of 1 is right. The distance of equal lists is the number of their words,
# that of a, b is four times that of b, a. Nothing is said.
# Output:
#   cosine_sim: {'same': 5.0, 'long': 17.889} weights of 1: {'same': 1.0, 'long': 0.8}
#   lists: equal 1: 1.0, equal 4: 4.0, none in common: 0.0, 2 of 8: 4.0, turned round: 1.0
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'polars==2.1.0' 'polars-ds==0.13.0' 'polars-distance==0.5.3'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import polars as pl
import polars_distance
import polars_ds

rows = pl.DataFrame({"query": [3.0, 4.0], "same": [3.0, 4.0], "long": [0.0, 100.0], "ones": [1.0, 1.0]})
names = ("same", "long")
plain = rows.select(**{name: polars_ds.cosine_sim("query", name).round(3) for name in names}).row(0, named=True)
weighted = rows.select(
    **{name: polars_ds.weighted_cosine_sim("query", name, "ones").round(3) for name in names},
).row(0, named=True)
print("cosine_sim:", plain, "weights of 1:", weighted)
PAIRS = {
    "equal 1": ("a", "a"),
    "equal 4": ("abcd", "abcd"),
    "none in common": ("ab", "cd"),
    "2 of 8": ("ab", "abcdefgh"),
    "turned round": ("abcdefgh", "ab"),
}
lists = pl.DataFrame([{"a": list(a), "b": list(b)} for a, b in PAIRS.values()])
cosines = lists.select(polars_distance.col("a").dist_list.cosine("b").round(3)).to_series().to_list()
print("lists:", ", ".join(f"{name}: {cosine}" for name, cosine in zip(PAIRS, cosines, strict=True)))
right = plain == {"same": 5.0, "long": 17.889} and weighted == {"same": 1.0, "long": 0.8}
sys.exit(0 if right and cosines == [1.0, 4.0, 0.0, 4.0, 1.0] else "the behaviour has changed")
PYTHON
