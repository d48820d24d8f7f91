#!/bin/sh
# pynndescent 0.7.0: neighbors by `metric="dot"`, beside "cosine" and "inner_product".
# Guess: "dot" finds the rows of the largest products, as the metric of that name does in LanceDB, Qdrant and annoy.
# Seen: "dot" first scales rows and queries to length 1, so its answer is that of "cosine", number for number. The row
# of the largest product comes last, and nothing is said. "inner_product" gives it.
# Output:
#   products: {'same': 1.0, 'near': 0.9, 'long': 60.0}
#   dot: ['same', 'near', 'long'] [0.0, 0.1, 0.4]
#   cosine: ['same', 'near', 'long'] [0.0, 0.1, 0.4]
#   inner_product: ['long', 'same', 'near'] [-60.0, -1.0, -0.9]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'pynndescent==0.7.0' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from pynndescent import NNDescent

# The three rows that are named, and others that point away from the query.
ROWS = {"same": [1.0, 0.0], "near": [0.9, 0.19**0.5], "long": [60.0, 80.0]}
angles = np.linspace(1.8, 4.4, 57)
rows = np.vstack([list(ROWS.values()), np.stack([np.cos(angles), np.sin(angles)], axis=1)]).astype(np.float32)
query = rows[:1].copy()
print("products:", {word: round(float(row @ query[0]), 2) for word, row in zip(ROWS, rows, strict=False)})
found = {}
for metric in ("dot", "cosine", "inner_product"):
    index = NNDescent(rows.copy(), metric=metric, n_neighbors=15, random_state=0)
    numbers, distances = index.query(query, k=3, epsilon=0.5)
    found[metric] = [list(ROWS)[number] for number in numbers[0]]
    print(f"{metric}:", found[metric], distances[0].round(2).tolist())
right = found == {
    "dot": ["same", "near", "long"],
    "cosine": ["same", "near", "long"],
    "inner_product": ["long", "same", "near"],
}
sys.exit(0 if right else "the behaviour has changed")
PYTHON
