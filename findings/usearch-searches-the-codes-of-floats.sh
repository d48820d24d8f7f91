#!/bin/sh
# usearch 2.26.6: search with a vector that the index returned, `index.search(index.get(key))`, for "more like this".
# Guess: the row itself is the nearest, as with dtype f32, f16, bf16 and i8.
# Seen: with the floats of 8 and 6 bits, `get` returns their codes as uint8, and `search` takes these for numbers: -1 is
# 188, so that the signs and most of the order are lost, and the nearest is another row. Nothing is said. A dtype helps:
# get(key, "f32"), or search(..., dtype="e5m2").
# Output:
#   f32: get [-1.0, 0.0], nearest [0, 1, 2, 3, 4]
#   bf16: get [-1.0, 0.0], nearest [0, 1, 2, 3, 4]
#   i8: get [-127, 0], nearest [0, 1, 2, 3, 4]
#   e5m2: get [188, 0], nearest [4, 4, 4, 0, 0], with dtypes [0, 1, 2, 3, 4] and [0, 1, 2, 3, 4]
#   e4m3: get [184, 0], nearest [4, 4, 4, 0, 0], with dtypes [0, 1, 2, 3, 4] and [0, 1, 2, 3, 4]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'usearch==2.26.6' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from usearch.index import Index

rows = np.array([[1, 0], [0.8, 0.6], [0, 1], [-0.6, 0.8], [-1, 0]], "float32")
keys = np.arange(len(rows))
found = {}
for kind in ("f32", "bf16", "i8", "e5m2", "e4m3"):
    index = Index(ndim=2, metric="cos", dtype=kind)
    index.add(keys, rows)
    nearest = [int(index.search(index.get(key), 1).keys[0]) for key in keys]
    ways = [
        [int(index.search(index.get(key, "f32"), 1).keys[0]) for key in keys],
        [int(index.search(index.get(key), 1, dtype=kind).keys[0]) for key in keys],
    ]
    found[kind] = nearest, ways
    helped = f", with dtypes {ways[0]} and {ways[1]}" if kind.startswith("e") else ""
    print(f"{kind}: get {index.get(4).tolist()}, nearest {nearest}{helped}")
same = keys.tolist()
right = all(found[kind][1] == [same, same] for kind in ("e5m2", "e4m3"))
right &= all((nearest == same) == (kind in ("f32", "bf16", "i8")) for kind, (nearest, _) in found.items())
sys.exit(0 if right else "the behaviour has changed")
PYTHON
