#!/bin/sh
# river 0.26.1: metrics.ROCAUC of probabilities that rank all positives above all negatives.
# Guess: it is 1.0; being computed as the stream passes, it may be off in the second digit.
# Seen: the curve is drawn at ten fixed thresholds, 0, 0.11, 0.22 and so on. Probabilities between two of them are one
# point: a perfect ranking of a rare class, all below 0.1, has 50 %, as has one above 0.9. With n_thresholds=1000 it is
# right.
# Output:
#   positives [0.08, 0.09], negatives [0.01, 0.05]: 0.50, with 1,000 thresholds 1.00
#   positives [0.98, 0.99], negatives [0.93, 0.95]: 0.50, with 1,000 thresholds 1.00
#   positives [0.6, 0.9], negatives [0.1, 0.4]: 1.00, with 1,000 thresholds 1.00
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'river==0.26.1'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from river.metrics import ROCAUC

CASES = [
    ([0.08, 0.09], [0.01, 0.05], 0.5),
    ([0.98, 0.99], [0.93, 0.95], 0.5),
    ([0.6, 0.9], [0.1, 0.4], 1.0),
]
failed = False
for positives, negatives, expected in CASES:
    found = []
    for options in ({}, {"n_thresholds": 1000}):
        metric = ROCAUC(**options)
        for truth, probabilities in ((True, positives), (False, negatives)):
            for probability in probabilities:
                metric.update(truth, probability)
        found.append(metric.get())
    print(f"positives {positives}, negatives {negatives}: {found[0]:.2f}, with 1,000 thresholds {found[1]:.2f}")
    failed |= abs(found[0] - expected) > 0.01 or found[1] < 0.99
sys.exit("the behaviour has changed" if failed else 0)
PYTHON
