#!/bin/sh
# ir-measures 0.4.3 (pytrec-eval-terrier 0.5.11): measures of one run in which two documents have the same score.
# Guess: one call ranks a run once, so RR@10, RR and P@1 agree on which document is first.
# Seen: RR and P@1 rank ties by document id downwards, RR@10 and Judged@1 upwards, since another program computes them.
# The relevant document is first and second in one line of results. The cut-off alone changes the tie, in silence.
# Output:
#   a is relevant: {'RR': 0.5, 'RR@10': 1.0, 'AP': 0.5, 'P@1': 0.0, 'Judged@1': 1.0}
#   b is relevant: {'RR': 1.0, 'RR@10': 0.5, 'AP': 1.0, 'P@1': 1.0, 'Judged@1': 0.0}
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'ir-measures==0.4.3' 'pytrec-eval-terrier==0.5.11'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import ir_measures
from ir_measures import AP, RR, Judged, P

measures = [RR, RR @ 10, AP, P @ 1, Judged @ 1]
run = {"query": {"a": 1.0, "b": 1.0}}
found = {}
for relevant in ("a", "b"):
    values = ir_measures.calc_aggregate(measures, {"query": {relevant: 1}}, run)
    found[relevant] = [float(values[measure]) for measure in measures]
    print(f"{relevant} is relevant:", {str(measure): float(values[measure]) for measure in measures})
right = found == {"a": [0.5, 1.0, 0.5, 0.0, 1.0], "b": [1.0, 0.5, 1.0, 1.0, 0.0]}
sys.exit(0 if right else "the behaviour has changed")
PYTHON
