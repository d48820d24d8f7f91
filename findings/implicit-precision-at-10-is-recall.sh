#!/bin/sh
# implicit 0.7.3: `precision_at_k`, of which the documentation says that it "calculates P@K for a given trained model".
# Guess: it is the number of hits over K for each user, as in trec_eval: of one item held out, P@10 is 0.1 at best.
# Seen: the hits of all users are divided by the sum of min(K, items held out). So with one item held out, as
# `leave_k_out_split` does, P@10 is the recall, and ten times too large. Users of many items weigh more than others.
# Nothing is said. In the second test ten users have one item and one has forty.
# Output:
#   one item each: precision_at_k 1.000, hits over K 0.100, recall 1.000
#   one has forty: precision_at_k 0.500, hits over K 0.091, recall 0.909
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'implicit==0.7.3' 'numpy==2.4.6' 'scipy==1.17.1'
"$place/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy as np
from implicit.cpu.als import AlternatingLeastSquares
from implicit.evaluation import precision_at_k
from scipy.sparse import csr_matrix

K, USERS, ITEMS = 10, 11, 60
model = AlternatingLeastSquares(factors=USERS)
model.user_factors = np.eye(USERS, dtype="float32")
model.item_factors = np.zeros((ITEMS, USERS), "float32")
model.item_factors[:USERS] = np.eye(USERS)
seen = csr_matrix((USERS, ITEMS), dtype="float32")
one_each = np.zeros((USERS, ITEMS), "float32")
one_each[:, :USERS] = np.eye(USERS)
one_large = one_each.copy()
one_large[-1] = 0
one_large[-1, 20:] = 1
found = {}
for name, held_out in (("one item each", one_each), ("one has forty", one_large)):
    items, scores = model.recommend(np.arange(USERS), seen, N=K)
    hits = np.array([held_out[user, row[score > 0]].sum() for user, (row, score) in enumerate(zip(items, scores))])
    value = precision_at_k(model, seen, csr_matrix(held_out), K=K, show_progress=False)
    precision, recall = (hits / K).mean(), (hits / held_out.sum(axis=1)).mean()
    found[name] = (round(value, 3), round(float(precision), 3), round(float(recall), 3))
    print(f"{name}: precision_at_k {value:.3f}, hits over K {precision:.3f}, recall {recall:.3f}")
right = found == {"one item each": (1, 0.1, 1), "one has forty": (0.5, 0.091, 0.909)}
sys.exit(0 if right else "the behaviour has changed")
PYTHON
