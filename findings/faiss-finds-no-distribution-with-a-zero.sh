#!/bin/sh
# faiss-cpu 1.15.1: nearest rows by METRIC_JensenShannon, the distance of distributions, such as topics of texts.
# Guess: it is the square of the distance of scipy 1.17.1, for which a part of 0 adds nothing, since 0 * log(0) is 0.
# Seen: for faiss 0 * log(0) is NaN, and a row at distance NaN is never found. One topic that is 0 in the row or in the
# query is enough: the answer to a query that is in the index is -1, and rows without a zero take the places of nearer
# ones. METRIC_Canberra does so for a topic that is 0 in both. Nothing is said.
# Output:
#   row 0: faiss [-1, -1, -1] [nan, nan, nan, nan], scipy [0, 1, 2] [0.0, 0.03, 0.16, 0.69]
#   row 2: faiss [2, -1, -1] [nan, nan, 0.0, nan], scipy [2, 0, 1] [0.16, 0.19, 0.0, 0.27]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'faiss-cpu==1.15.1' 'numpy==2.4.6' 'scipy==1.17.1'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import faiss
import numpy as np
from scipy.spatial.distance import cdist

rows = np.array([[0.5, 0.5, 0], [0.25, 0.75, 0], [0.3, 0.3, 0.4], [0, 0, 1]], "float32")
index = faiss.IndexFlat(3, faiss.METRIC_JensenShannon)
index.add(rows)
_, found = index.search(rows, 3)
distances = faiss.pairwise_distances(rows, rows, faiss.METRIC_JensenShannon)
true = cdist(rows, rows, "jensenshannon") ** 2
for row in (0, 2):
    print(
        f"row {row}: faiss {found[row].tolist()} {[round(float(x), 2) for x in distances[row]]}, "
        f"scipy {np.argsort(true[row], kind='stable')[:3].tolist()} {[round(float(x), 2) for x in true[row]]}"
    )
right = (found[[0, 1, 3]] == -1).all() and found[2].tolist() == [2, -1, -1] and np.isfinite(true).all()
canberra = faiss.IndexFlat(3, faiss.METRIC_Canberra)
canberra.add(rows)
right &= canberra.search(rows[:1], 3)[1].tolist() == [[2, 3, -1]]
sys.exit(0 if right else "the behaviour has changed")
PYTHON
