#!/bin/sh
# scikit-learn 1.9.1: cohen_kappa_score with weights="quadratic", for ratings from 1 to 5 of which some are never given.
# Guess: a disagreement weighs the square of the difference of the two ratings.
# Seen: it weighs the square of the difference of their places among the ratings that occur. If nobody gave 3 and 4,
# then 2 and 5 are one step apart, and so would 2 and 100 be. Another rating elsewhere in the data changes the result.
# With labels=[1, 2, 3, 4, 5] the steps are those of the scale.
# Output:
#   ratings 1, 2, 5: 0.727, with labels 1 to 5: 0.608
#   ratings 1, 2, 100: 0.727, by differences: 0.472
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'scikit-learn==1.9.1' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from sklearn.metrics import cohen_kappa_score

ONE = np.array([1, 2, 5, 5, 1, 2, 5, 1])
TWO = np.array([1, 5, 5, 2, 1, 2, 5, 2])


def by_differences(one, two):
    return 1 - np.square(one - two).mean() / np.square(np.subtract.outer(one, two)).mean()


default = cohen_kappa_score(ONE, TWO, weights="quadratic")
scale = cohen_kappa_score(ONE, TWO, weights="quadratic", labels=[1, 2, 3, 4, 5])
print(f"ratings 1, 2, 5: {default:.3f}, with labels 1 to 5: {scale:.3f}")
far = [np.where(ratings == 5, 100, ratings) for ratings in (ONE, TWO)]
apart, true = cohen_kappa_score(*far, weights="quadratic"), by_differences(*far)
print(f"ratings 1, 2, 100: {apart:.3f}, by differences: {true:.3f}")
right = apart == default and abs(scale - by_differences(ONE, TWO)) < 1e-9 and default - scale > 0.1
sys.exit(0 if right else "the behaviour has changed")
PYTHON
