#!/bin/sh
# ml_dtypes 0.6.0: NumPy's mean of bfloat16, the type of the states of language models in JAX, TensorStore and Zarr.
# Guess: as with float16, NumPy adds up in a wider type, so the mean of 1,000 ones is 1.
# Seen: it adds up in bfloat16, where 256 + 1 is 256. The mean of 1,000 ones is 0.256; along an axis, as when the states
# of a text's words become its vector, the first 256 words alone count, and longer texts come out shorter. Nothing is
# said; `dot` is right, and so is mean(dtype=numpy.float32).
# Output:
#   float16: mean of 1,000 ones 1.0, lengths of the means of 100, 300 and 900 rows [1.4, 1.4, 1.4]
#   bfloat16: mean of 1,000 ones 0.256, lengths of the means of 100, 300 and 900 rows [1.4, 1.2, 0.4]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'ml-dtypes==0.6.0' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import ml_dtypes
import numpy as np

found = {}
for kind in (np.float16, ml_dtypes.bfloat16):
    mean = round(float(np.ones(1000, kind).mean()), 3)
    means = (np.ones((count, 2), kind).mean(axis=0).astype(float) for count in (100, 300, 900))
    lengths = [round(float(np.linalg.norm(row)), 1) for row in means]
    dot = float(np.ones(1000, kind) @ np.ones(1000, kind))
    wide = float(np.ones(1000, kind).mean(dtype=np.float32))
    found[kind] = (mean, lengths, dot, wide)
    print(f"{np.dtype(kind).name}: mean of 1,000 ones {mean}, lengths of the means of 100, 300 and 900 rows {lengths}")
right = found[np.float16] == (1.0, [1.4, 1.4, 1.4], 1000.0, 1.0)
right &= found[ml_dtypes.bfloat16] == (0.256, [1.4, 1.2, 0.4], 1000.0, 1.0)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
