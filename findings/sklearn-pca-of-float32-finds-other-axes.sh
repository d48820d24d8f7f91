#!/bin/sh
# scikit-learn 1.9.1: PCA with its default solver on float32, where the mean is large beside the spread, as with years,
# coordinates, or embeddings that share a large component.
# Guess: PCA takes the mean away first, so its size does not matter; float32 costs a few digits.
# Seen: with ten times more rows than columns the solver is "covariance_eigh", which takes the mean away from the
# products. In float32 the spread is lost in their rounding: the first variance is several times the true one,
# directions are others, and whitened columns are far from variance 1. Nothing is said. svd_solver="full" is right, as
# is float64.
# Output (the first line varies with the processor):
#   float32, auto (covariance_eigh): variances [20.5, 3.6, 2.9], whitened deviations 0.3 to 9983899
#   float32, full (full): variances [4.0, 3.2, 2.5], whitened deviations 1.0 to 1.0
#   float64, auto (covariance_eigh): variances [4.0, 3.2, 2.5], whitened deviations 1.0 to 1.0
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'scikit-learn==1.9.1' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from sklearn.decomposition import PCA

rows = np.random.default_rng(0).normal(1000, np.linspace(2, 0.5, 8), (10_000, 8))
found = {}
for kind, solver in (("float32", "auto"), ("float32", "full"), ("float64", "auto")):
    model = PCA(svd_solver=solver, whiten=True)
    spread = model.fit_transform(rows.astype(kind)).std(axis=0)
    variances = model.explained_variance_[:3]
    found[kind, solver] = (variances, spread)
    print(
        f"{kind}, {solver} ({model._fit_svd_solver}): variances {[round(float(value), 1) for value in variances]}, "
        f"whitened deviations {spread.min():.1f} to {spread.max():.{1 if spread.max() < 10 else 0}f}"
    )
true = found["float64", "auto"][0]
variances, spread = found["float32", "auto"]
right = abs(variances - true).max() > 1 and spread.min() < 0.7
right &= all(
    np.allclose(found[key][0], true, rtol=0.01) and np.allclose(found[key][1], 1, atol=0.01)
    for key in (("float32", "full"), ("float64", "auto"))
)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
