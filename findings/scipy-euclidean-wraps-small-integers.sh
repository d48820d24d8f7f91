#!/bin/sh
# scipy 1.17.1: `euclidean` and other distances of vectors quantized to 8 bits.
# Guess: they are the numbers that `cdist` gives, and `euclidean` is the square root of `sqeuclidean`.
# Seen: `euclidean`, `minkowski`, `cityblock` and `chebyshev` subtract in the type of the vectors, so that differences wrap
# at 8 bits: opposite rows of int8 are neighbors, near rows of uint8 are far. Nothing is said. `sqeuclidean` and `cdist`
# convert before, and are right.
# Output:
#   int8, opposite: euclidean 17.0 (cdist 345.1), minkowski 17.0 (345.1), cityblock 24.0 (488.0), chebyshev 12.0 (244.0)
#   uint8, near: euclidean 255.0 (cdist 2.2), minkowski 255.0 (2.2), cityblock 257.0 (3.0), chebyshev 255.0 (2.0)
#   the root of sqeuclidean: 345.1 and 2.2
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'scipy==1.17.1' 'numpy==2.4.6'
"$place/venv/bin/python" -W error - <<'PYTHON'
import math
import sys

import numpy as np
from scipy.spatial import distance

PAIRS = {
    "int8, opposite": (np.array([122, -122], "int8"), np.array([-122, 122], "int8")),
    "uint8, near": (np.array([100, 200], "uint8"), np.array([101, 198], "uint8")),
}
METRICS = ("euclidean", "minkowski", "cityblock", "chebyshev")
right, roots = True, []
for name, (left, other) in PAIRS.items():
    texts = []
    for metric in METRICS:
        value = float(getattr(distance, metric)(left, other))
        true = float(distance.cdist([left], [other], metric)[0, 0])
        right &= abs(value - true) > 100
        texts.append(f"{metric} {value:.1f} ({'' if texts else 'cdist '}{true:.1f})")
    print(f"{name}: {', '.join(texts)}")
    root = math.sqrt(distance.sqeuclidean(left, other))
    right &= math.isclose(root, distance.cdist([left], [other])[0, 0])
    roots.append(f"{root:.1f}")
print(f"the root of sqeuclidean: {' and '.join(roots)}")
sys.exit(0 if right else "the behaviour has changed")
PYTHON
