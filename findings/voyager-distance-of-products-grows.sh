#!/bin/sh
# voyager 2.2.3: `get_distance` of two vectors in an index of inner products, beside the distances of `query`.
# Guess: the distance is 1 - product, as `query` gives it, and depends on the two vectors only.
# Seen: that holds until a longer vector is in the index. Then the distance of the same two vectors is smaller by about
# the square of the longest length, in silence: 0 becomes -196, and unequal pairs look nearer than the query's best hit.
# Cosine and Euclidean distances stay as they are.
# Output:
#   Euclidean [1.0, 1.0] then [1.0, 1.0]
#   InnerProduct [0.0, 0.0] then [-196.0, 0.0]
#   Cosine [0.293, 0.293] then [0.293, 0.293]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'voyager==2.2.3' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import voyager

one, two, long = np.array([[1, 0], [1, 1], [10, 10]], np.float32)
seen = {}
for space in (voyager.Space.Euclidean, voyager.Space.InnerProduct, voyager.Space.Cosine):
    index = voyager.Index(space, num_dimensions=2)
    index.add_items(np.stack([one, two]))

    def distances():
        keys, found = index.query(one, len(index))
        return [round(index.get_distance(one, two), 3), round(float(found[list(keys).index(1)]), 3)]

    before = distances()
    index.add_item(long)
    seen[space.name] = (before, distances())
    print(space.name, seen[space.name][0], "then", seen[space.name][1])
right = seen["InnerProduct"] == ([0.0, 0.0], [-196.0, 0.0])
right = right and all(before == after for name, (before, after) in seen.items() if name != "InnerProduct")
sys.exit(0 if right else "the behaviour has changed")
PYTHON
