#!/bin/sh
# rouge 1.0.1: ROUGE-N by its defaults, for a summary that repeats itself.
# Guess: of four "the" one counts for a reference with one "the", as in the definition and in rouge-score 0.1.2.
# Seen: n-grams are sets: each counts once, in the summary and in the reference, and the precision is 1. Loops that
# models fall into cost nothing. Nothing is said; the numbers of the package's own README come from exclusive=False,
# which no page names, and which gives what rouge-score gives.
# Output:
#   repeated: rouge 1.000, rouge exclusive=False 0.250, rouge-score 0.250
#   loop: rouge 1.000, rouge exclusive=False 0.400, rouge-score 0.400
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'rouge==1.0.1' 'rouge-score==0.1.2' 'numpy==2.4.6' 'nltk==3.10.4'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

REFERENCE = "the bridge was closed"
SUMMARIES = {"repeated": "the the the the", "loop": "the bridge the bridge the"}
found = {}
for name, summary in SUMMARIES.items():
    values = {
        "rouge": Rouge().get_scores(summary, REFERENCE)[0]["rouge-1"]["p"],
        "rouge exclusive=False": Rouge(exclusive=False).get_scores(summary, REFERENCE)[0]["rouge-1"]["p"],
        "rouge-score": RougeScorer(["rouge1"]).score(REFERENCE, summary)["rouge1"].precision,
    }
    print(f"{name}: " + ", ".join(f"{tool} {value:.3f}" for tool, value in values.items()))
    found[name] = list(values.values())
right = found == {"repeated": [1, 0.25, 0.25], "loop": [1, 0.4, 0.4]}
sys.exit(0 if right else "the behaviour has changed")
PYTHON
