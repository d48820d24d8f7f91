#!/bin/sh
# ranx 0.3.21: `fuse` of two runs by a sum of scores, with its default norm "min-max", where one run has a single hit.
# Guess: the only hit of a run is its best, and gets 1, as the best of longer runs does; such a hit is often exact.
# Seen: it gets 0, as do all hits of a run whose scores are equal, and with norm="sum" too. It then comes after every
# document but the last ones of the other run: to find it or not to find it is the same. A second hit that is worse
# lifts it to 1. Nothing is said. With norm="max" and norm="rank" it gets 1.
# Output:
#   exact alone: {'min-max': 0.0, 'sum': 0.0, 'max': 1.0, 'rank': 1.0}
#   exact before other: {'min-max': 1.0, 'sum': 1.0, 'max': 1.0, 'rank': 1.0}
#   exact beside equal: {'min-max': 0.0, 'sum': 0.0, 'max': 1.0, 'rank': 1.0}
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'ranx==0.3.21' 'numpy==2.4.6' 'numba==0.68.1'
"$place/venv/bin/python" -W ignore - <<'PYTHON'
import sys

from ranx import Run, fuse

WORDS = {
    "exact alone": {"exact": 9.0},
    "exact before other": {"exact": 9.0, "other": 1.0},
    "exact beside equal": {"exact": 9.0, "equal": 9.0},
}
vectors = {"near": 0.9, "middle": 0.8, "far": 0.1}
found = {}
for name, words in WORDS.items():
    found[name] = {}
    for norm in ("min-max", "sum", "max", "rank"):
        fused = fuse([Run({"query": words}), Run({"query": vectors})], norm=norm, method="sum")
        found[name][norm] = round(float(fused["query"]["exact"]), 3)
    print(f"{name}: {found[name]}")
right = (
    all(value == 1 for value in found["exact before other"].values())
    and found["exact alone"] == {"min-max": 0, "sum": 0, "max": 1, "rank": 1}
    and found["exact beside equal"] == {"min-max": 0, "sum": 0, "max": 1, "rank": 1}
)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
