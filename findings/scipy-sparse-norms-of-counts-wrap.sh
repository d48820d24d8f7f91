#!/bin/sh
# scipy 1.17.1: lengths of the rows of a sparse matrix of counts, `scipy.sparse.linalg.norm(counts, axis=1)`.
# Guess: they are what `numpy.linalg.norm` says of the same rows; the norm of the whole matrix is.
# Seen: with an axis the counts are squared in their own type. In uint8, which holds a text's counts, 16 * 16 is 0, so the
# length of a row of one count of 16 is 0, and of a count of 20 it is 12. In int32 it begins at 46,341. Nothing is said.
# Rows that are divided by such lengths do not have length 1, and their products are no cosines.
# Output:
#   uint8: rows [0.0, 12.0, 5.0], numpy [16.0, 20.0, 5.0], whole 26.1 and 26.1
#   int32: rows [0.0, 7624.0, 5.0], numpy [65536.0, 65978.0, 5.0], whole 92995.0 and 92995.0
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'scipy==1.17.1' 'numpy==2.4.6'
"$place/venv/bin/python" -W error - <<'PYTHON'
import sys

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import norm

COUNTS = {
    "uint8": [[16, 0, 0], [0, 20, 0], [0, 3, 4]],
    "int32": [[65_536, 0, 0], [0, 65_978, 0], [0, 3, 4]],
}
found = {}
for kind, counts in COUNTS.items():
    dense = np.array(counts, kind)
    sparse = csr_array(dense)
    rows, true = norm(sparse, axis=1), np.linalg.norm(dense, axis=1)
    whole = norm(sparse), np.linalg.norm(dense)
    found[kind] = (rows.round().tolist(), true.round().tolist(), bool(np.isclose(*whole)))
    print(f"{kind}: rows {found[kind][0]}, numpy {found[kind][1]}, whole {whole[0]:.1f} and {whole[1]:.1f}")
right = found["uint8"] == ([0, 12, 5], [16, 20, 5], True)
right &= found["int32"][0][0] == 0 and found["int32"][1][0] == 65_536 and found["int32"][2]
sys.exit(0 if right else "the behaviour has changed")
PYTHON
