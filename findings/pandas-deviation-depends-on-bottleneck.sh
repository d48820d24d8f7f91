#!/bin/sh
# pandas 3.1.1 with and without bottleneck 1.6.0, which it uses where it is installed: `std` of a float32 column.
# Guess: an optional package for speed changes the last digits at most.
# Seen: with bottleneck, squares are added up in float32, one after the other. A million numbers around 1,000 with a
# deviation of 1 get 9. NumPy, `groupby` and pandas without bottleneck say 1.0; to install an unrelated package that
# needs bottleneck changes the answer. pandas.set_option("compute.use_bottleneck", False) helps.
# Output:
#   pandas 3.1.1: column 1.001, of one group 1.001, numpy 1.001
#   with bottleneck 1.6.0: column 8.956, of one group 1.001, numpy 1.001
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
cat >"$place/deviate.py" <<'PYTHON'
import sys

import numpy as np
import pandas

values = np.random.default_rng(0).normal(1000, 1, 1_000_000).astype(np.float32)
table = pandas.DataFrame({"group": 0, "value": values})
column, group = table["value"].std(), table.groupby("group")["value"].std()[0]
print(f"{sys.argv[2]}: column {column:.3f}, of one group {group:.3f}, numpy {values.std():.3f}")
right = abs(group - 1) < 0.01 and abs(values.std() - 1) < 0.01 and (column > 5) == (sys.argv[1] == "wrong")
sys.exit(0 if right and (column > 5 or abs(column - 1) < 0.01) else "the behaviour has changed")
PYTHON
cd "$place"
venv/bin/pip install --quiet 'pandas==3.1.1' 'numpy==2.4.6'
venv/bin/python deviate.py right 'pandas 3.1.1'
venv/bin/pip install --quiet 'bottleneck==1.6.0'
venv/bin/python deviate.py wrong 'with bottleneck 1.6.0'
