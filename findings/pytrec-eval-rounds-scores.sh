#!/bin/sh
# pytrec-eval-terrier 0.5.11: measures of a run whose scores are Python's floats, here times in seconds: newest first.
# Guess: the document of the highest score has rank 1.
# Seen: trec_eval holds scores as float32, in which times of today step by 128 seconds. Scores that become equal are
# ordered by the names of their documents, downward. So the best document has rank 3, and cosines that differ in their
# eighth digit do the same. Nothing is said; sorting the scores in Python gives rank 1.
# Output:
#   times: reciprocal rank 0.3333, sorted 1.0
#   cosines: reciprocal rank 0.5000, sorted 1.0
#   ranks: reciprocal rank 1.0000, sorted 1.0
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'pytrec-eval-terrier==0.5.11' 'numpy==2.4.6' 'scipy==1.17.1'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import pytrec_eval

judged = {"query": {"a": 1, "b": 0, "c": 0}}
RUNS = {
    "times": {"a": 1_790_000_060.0, "b": 1_790_000_040.0, "c": 1_790_000_020.0},
    "cosines": {"a": 0.99999999, "b": 0.99999998, "c": 0.99999997},
    "ranks": {"a": 3.0, "b": 2.0, "c": 1.0},
}
found = {}
for name, scores in RUNS.items():
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"})
    value = evaluator.evaluate({"query": scores})["query"]["recip_rank"]
    order = sorted(scores, key=scores.get, reverse=True)
    found[name] = (round(value, 4), 1 / (1 + order.index("a")))
    print(f"{name}: reciprocal rank {value:.4f}, sorted {found[name][1]}")
right = found == {"times": (0.3333, 1), "cosines": (0.5, 1), "ranks": (1, 1)}
sys.exit(0 if right else "the behaviour has changed")
PYTHON
