#!/bin/sh
# faiss-cpu 1.15.1: exact search in IndexFlatIP, where several rows have the same vector, as copies of a text do.
# Guess: ties go to the row that was added first, as in IndexFlatL2 over the same rows; k only cuts the list.
# Seen: rows of the same product come in the opposite order, and only the first k of them are candidates. So the best
# hit is row 0 for k=1, row 1 for k=2, row 9 for k=10, and the longer list does not begin with the shorter one.
# Output:
#   IndexFlatIP {1: [0], 2: [1, 0], 3: [2, 1, 0], 10: [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]}
#   IndexFlatL2 {1: [0], 2: [0, 1], 3: [0, 1, 2], 10: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'faiss-cpu==1.15.1' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import faiss
import numpy as np

copies = np.tile(np.array([[1, 0, 0, 0]], np.float32), (50, 1))
found = {}
for name in ("IndexFlatIP", "IndexFlatL2"):
    index = getattr(faiss, name)(4)
    index.add(copies)
    found[name] = {k: index.search(copies[:1], k)[1][0].tolist() for k in (1, 2, 3, 10)}
    print(name, found[name])
right = all(
    found["IndexFlatIP"][k] == list(range(k))[::-1] and found["IndexFlatL2"][k] == list(range(k)) for k in (1, 2, 3, 10)
)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
