#!/bin/sh
# scikit-learn 1.9.1: errors of ratings from 1 to 5 that are held in uint8, the true ones and the predicted ones.
# Guess: predictions that are off by one have a mean, median and maximum error of 1.
# Seen: `max_error` and `median_absolute_error` subtract in uint8, where 1 - 2 is 255, one of them from the other side. So
# the maximum is 255 if the predictions are too high, and the median is 255 if they are too low. Nothing is said.
# `mean_absolute_error`, `mean_squared_error` and the others convert before, and are right.
# Output:
#   too high: mean 1, median 1, maximum 255
#   too low: mean 1, median 255, maximum 1
#   too low, as int64: mean 1, median 1, maximum 1
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'scikit-learn==1.9.1' 'numpy==2.4.6'
"$place/venv/bin/python" -W error - <<'PYTHON'
import sys

import numpy as np
from sklearn.metrics import max_error, mean_absolute_error, median_absolute_error

METRICS = {"mean": mean_absolute_error, "median": median_absolute_error, "maximum": max_error}
low, high = np.array([1, 2, 3, 4], "uint8"), np.array([2, 3, 4, 5], "uint8")
CASES = {
    "too high": (low, high),
    "too low": (high, low),
    "too low, as int64": (high.astype("int64"), low.astype("int64")),
}
found = {}
for name, (true, predicted) in CASES.items():
    found[name] = [float(metric(true, predicted)) for metric in METRICS.values()]
    print(f"{name}: " + ", ".join(f"{metric} {value:g}" for metric, value in zip(METRICS, found[name])))
right = list(found.values()) == [[1, 1, 255], [1, 255, 1], [1, 1, 1]]
sys.exit(0 if right else "the behaviour has changed")
PYTHON
