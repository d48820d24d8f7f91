#!/bin/sh
# lightgbm 4.7.0: `ndcg` and `map` of a ranking in which some queries have no relevant document, as in clicks.
# Guess: such a query counts 0, as in scikit-learn 1.9.1, or is left out.
# Seen: it counts 1. A ranking that puts the only relevant document last has 0.9 if nine of ten queries have none, and
# the fewer answers a test set has, the better is the score. Nothing is said. The mean of scikit-learn over all queries is
# 0, and of the query with an answer both are 0.
# Output:
#   ndcg@1: lightgbm 0.9, scikit-learn 0.0
#   map@1: lightgbm 0.9
#   without the nine queries, ndcg@1: lightgbm 0.0, scikit-learn 0.0
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'lightgbm==4.7.0' 'scikit-learn==1.9.1' 'numpy==2.4.6' 'scipy==1.17.1'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import lightgbm
import numpy as np
from sklearn.metrics import ndcg_score


def measure(queries):
    """The metrics of a ranking whose first document of two is the better one in its scores, and never in truth."""
    labels = np.array([[0, query == 0] for query in range(queries)], int)
    scores = np.array([[2.0, 1.0]] * queries)
    data = lightgbm.Dataset(
        np.zeros((2 * queries, 1)), labels.ravel(), group=[2] * queries, init_score=scores.ravel(), free_raw_data=False
    )
    options = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1], "verbose": -1}
    values = {}
    lightgbm.train(options, data, 1, valid_sets=[data], callbacks=[lightgbm.record_evaluation(values)])
    return {name: round(float(value[-1]), 3) for name, value in values["training"].items()}, ndcg_score(labels, scores, k=1)


all_queries, true = measure(10)
print(f"ndcg@1: lightgbm {all_queries['ndcg@1']}, scikit-learn {true}")
print(f"map@1: lightgbm {all_queries['map@1']}")
answered, one = measure(1)
print(f"without the nine queries, ndcg@1: lightgbm {answered['ndcg@1']}, scikit-learn {one}")
right = all_queries == {"ndcg@1": 0.9, "map@1": 0.9} and answered["ndcg@1"] == 0 and true == one == 0
sys.exit(0 if right else "the behaviour has changed")
PYTHON
