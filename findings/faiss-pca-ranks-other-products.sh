#!/bin/sh
# faiss-cpu 1.15.1: index_factory("PCA16,Flat") with inner products, where PCA keeps all 16 of 16 dimensions.
# Guess: with all dimensions PCA is a rotation, so the ranking stays; with fewer it stays nearly.
# Seen: PCA also takes the mean away from rows and queries, which inner products do not survive. Most queries get
# another best row, of a product well below the best, and nothing is said. Distances (L2) stay.
# Output:
#   L2: the best row is the same for 100 of 100 queries
#   IP: the best row is the same for 18 of 100 queries, its product is 0.80 instead of 0.86
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'faiss-cpu==1.15.1' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import faiss
import numpy as np

generator = np.random.default_rng(1)
rows = generator.normal(1, 1, (1000, 16)).astype(np.float32)
queries = generator.normal(1, 1, (100, 16)).astype(np.float32)
faiss.normalize_L2(rows)
faiss.normalize_L2(queries)
same = {}
for name, metric in (("L2", faiss.METRIC_L2), ("IP", faiss.METRIC_INNER_PRODUCT)):
    best = []
    for factory in ("Flat", "PCA16,Flat"):
        index = faiss.index_factory(16, factory, metric)
        index.train(rows)
        index.add(rows)
        best.append(index.search(queries, 1)[1][:, 0])
    same[name] = int((best[0] == best[1]).sum())
    exact, reduced = (float((rows[numbers] * queries).sum(1).mean()) for numbers in best)
    said = f", its product is {reduced:.2f} instead of {exact:.2f}" * (name == "IP")
    print(f"{name}: the best row is the same for {same[name]} of 100 queries{said}")
sys.exit(0 if same["L2"] == 100 and same["IP"] < 50 and reduced < exact - 0.05 else "the behaviour has changed")
PYTHON
