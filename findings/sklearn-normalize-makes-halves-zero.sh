#!/bin/sh
# scikit-learn 1.9.1: `normalize` of float16, as the states of large language models are stored.
# Guess: each row that is not zero gets length 1. cosine_similarity and euclidean_distances compute float16 in float64.
# Seen: the squares are added up in float16, which ends at 65,504. A row of length 256 or more is divided by infinity and
# comes out as zeros, without a warning, and all its products are 0. A cast to float32 before helps.
# Output:
#   lengths before: [255.0, 257.0, 1000.0] float16: [1.0, 0.0, 0.0] float32: [1.0, 1.0, 1.0]
#   cosine of the last two rows: 1.0, product of what normalize made of them: 0.0
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'scikit-learn==1.9.1' 'numpy==2.4.6'
"$place/venv/bin/python" -W error - <<'PYTHON'
import sys

import numpy as np
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import normalize

rows = (np.array([[255.0], [257.0], [1000.0]]) / 16 * np.ones((3, 256))).astype(np.float16)


def lengths(matrix):
    return np.linalg.norm(matrix.astype(np.float64), axis=1).round(2).tolist()


halves, singles = normalize(rows), normalize(rows.astype(np.float32))
print("lengths before:", lengths(rows), "float16:", lengths(halves), "float32:", lengths(singles))
cosine = round(float(cosine_similarity(rows)[1, 2]), 3)
product = float(halves[1] @ halves[2])
print(f"cosine of the last two rows: {cosine}, product of what normalize made of them: {product}")
right = lengths(halves) == [1.0, 0.0, 0.0] and lengths(singles) == [1.0, 1.0, 1.0] and (cosine, product) == (1.0, 0.0)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
