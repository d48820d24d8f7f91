#!/bin/sh
# scikit-learn 1.9.1, scipy 1.17.1: counts of words as a sparse matrix with an entry of 1 for each word of a text.
# Guess: scipy adds up entries of the same place, so these are the counts, and scikit-learn treats them as such.
# Seen: scipy's toarray, max and norm add them up first. scikit-learn reads each entry by itself: rows of "unit length"
# are longer than 1, the cosine of a text with itself is 1.67, sublinear_tf changes nothing, a word that varies has the
# variance 0. Nothing is said; X.sum_duplicates() beforehand mends all of it.
# Output:
#   counts: [[2, 1, 0], [0, 1, 1]] entries: 5
#   as entries: {'norms': [1.291, 1.0], 'cosine': 1.667, 'sublinear': 0.0, 'variance': 0.0}
#   summed: {'norms': [1.0, 1.0], 'cosine': 1.0, 'sublinear': 0.052, 'variance': 1.0}
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'scikit-learn==1.9.1' 'scipy==1.17.1' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import norm
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import StandardScaler, normalize

texts = [["a", "b", "a"], ["c", "b"]]
columns = np.unique(np.concatenate(texts), return_inverse=True)[1]
starts = np.cumsum([0, *map(len, texts)])


def measure(summed):
    counts = csr_array((np.ones(len(columns)), columns, starts))
    if summed:
        counts.sum_duplicates()
    plain, sublinear = (TfidfTransformer(sublinear_tf=kind).fit_transform(counts) for kind in (False, True))
    values = {
        "norms": norm(normalize(counts), axis=1),
        "cosine": cosine_similarity(counts)[0, 0],
        "sublinear": abs(plain - sublinear).max(),
        "variance": StandardScaler(with_mean=False).fit(counts).var_[0],
    }
    return counts, {name: np.round(value, 3).tolist() for name, value in values.items()}


counts, entries = measure(False)
print("counts:", counts.toarray().astype(int).tolist(), "entries:", counts.nnz)
summed = measure(True)[1]
print("as entries:", entries)
print("summed:", summed)
right = (
    entries == {"norms": [1.291, 1.0], "cosine": 1.667, "sublinear": 0.0, "variance": 0.0}
    and summed["norms"] == [1.0, 1.0]
    and summed["cosine"] == 1.0
    and summed["sublinear"] > 0.01
    and summed["variance"] == 1.0
)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
