#!/bin/sh
# usearch 2.26.6: a batch of queries that asks for more neighbors than there are, or than are left after `remove`.
# Guess: a row of `keys` that is not full ends in a mark, such as -1 in faiss; one query gives fewer keys.
# Seen: one query gives fewer keys, but rows of a batch are filled with key 0, though 0 is an ordinary key, or one that
# was removed. `words[matches.keys]` then names the first word. Distances there are NaN; `counts` is right.
# Output:
#   one query: ['dog', 'cat']
#   a batch: [['dog', 'cat', 'the'], ['cat', 'dog', 'the']]
#   distances: [[0.2930000126361847, 1.0, nan], [0.0, 0.2930000126361847, nan]] counts: [2, 2] 0 in index: False
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'usearch==2.26.6' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from usearch.index import Index

words = np.array(["the", "cat", "dog"])
vectors = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
index = Index(ndim=2, metric="cos")
index.add(np.arange(3), vectors)
index.remove(0)
one = index.search(vectors[0], 3)
batch = index.search(vectors[:2], 3)
print("one query:", words[one.keys].tolist())
print("a batch:", words[batch.keys].tolist())
print("distances:", batch.distances.round(3).tolist(), "counts:", batch.counts.tolist(), "0 in index:", 0 in index)
right = (
    words[one.keys].tolist() == ["dog", "cat"]
    and words[batch.keys].tolist() == [["dog", "cat", "the"], ["cat", "dog", "the"]]
    and np.isnan(batch.distances[:, 2]).all()
    and 0 not in index
)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
