#!/bin/sh
# datasets 5.2.0: whole numbers of 64 bits in `with_format("numpy")`, where one row of the column has none.
# Guess: they stay what they are, or at worst become float64, as in pandas and in pyarrow's `to_numpy`.
# Seen: they become float32, since NaN takes the place of the missing one and the format makes float32 of all floats. Ids
# above 16,777,216 are rounded, and three of them are one. Only the batch in which a number is missing changes, so the
# same row has its id in one batch and not in another. Nothing is said. Without a format the ids are right.
# Output:
#   all rows: float32, 1 different id beside nan: [40000000.0, 40000000.0, 40000000.0, nan]
#   rows without a null: int64, ids [40000000, 40000001, 40000002]
#   pyarrow: float64, ids [40000000.0, 40000001.0, 40000002.0, nan]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'datasets==5.2.0' 'pyarrow==26.0.1' 'numpy==2.4.6' 'pandas==3.1.1'
HF_HOME="$place" "$place/venv/bin/python" -W error::RuntimeWarning - <<'PYTHON'
import sys

import numpy as np
from datasets import Dataset

IDS = [40_000_000, 40_000_001, 40_000_002, None]
table = Dataset.from_dict({"id": IDS})
arrays = table.with_format("numpy")
whole, part = arrays[:]["id"], arrays[:3]["id"]
arrow = table.with_format("arrow")[:]["id"].to_numpy()
different = len(np.unique(whole[:3]))
print(f"all rows: {whole.dtype}, {different} different id beside nan: {whole.tolist()}")
print(f"rows without a null: {part.dtype}, ids {part.tolist()}")
print(f"pyarrow: {arrow.dtype}, ids {arrow.tolist()}")
right = whole.dtype == np.float32 and different == 1 and part.dtype == np.int64
right &= part.tolist() == arrow[:3].tolist() == table[:]["id"][:3] == IDS[:3]
sys.exit(0 if right else "the behaviour has changed")
PYTHON
