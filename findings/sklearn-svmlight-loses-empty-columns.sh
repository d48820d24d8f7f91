#!/bin/sh
# scikit-learn 1.9.1: dump_svmlight_file, then load_svmlight_file of the same file.
# Guess: the matrix comes back, at most without empty columns at its end, which n_features adds.
# Seen: dump counts columns from 0, load decides by the numbers it meets. If column 0 is empty, as that of a word which
# occurs only in other texts, it counts from 1: all columns move to the left, also with n_features. So the parts of one
# corpus are read with different columns. Nothing is said; zero_based=True helps, and load_svmlight_files of all parts.
# Output:
#   part 1: [[5.0, 0.0, 1.0], [0.0, 2.0, 0.0]] read [[5.0, 0.0, 1.0], [0.0, 2.0, 0.0]]
#   part 2: [[0.0, 3.0, 0.0], [0.0, 0.0, 4.0]] read [[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'scikit-learn==1.9.1' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys
from io import BytesIO

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

PARTS = np.array([[[5.0, 0, 1], [0, 2, 0]], [[0, 3, 0], [0, 0, 4]]])


def read_back(matrix, **options):
    stream = BytesIO()
    dump_svmlight_file(matrix, [0, 1], stream)
    stream.seek(0)
    return load_svmlight_file(stream, n_features=3, **options)[0].toarray()


for number, part in enumerate(PARTS, start=1):
    print(f"part {number}: {part.tolist()} read {read_back(part).tolist()}")
first, second = (read_back(part) for part in PARTS)
right = (first == PARTS[0]).all() and (second == np.roll(PARTS[1], -1, axis=1)).all()
right &= (read_back(PARTS[1], zero_based=True) == PARTS[1]).all()
sys.exit(0 if right else "the behaviour has changed")
PYTHON
