#!/bin/sh
# gensim 4.4.0: KeyedVectors, a vector replaced by `vectors[word] = ...` after a first `most_similar`.
# Guess: the class's own assignment keeps its norms up to date, so cosines stay within -1 and 1.
# Seen: the norm of the old vector stays. The new neighbor comes out with a "cosine" of 600, in front of a row of the
# same direction as the query, whereas `similarity` of the two words is 0.6. Before a first search all is right.
# Output:
#   replaced before the first search: [('kitten', 1.0), ('river', 0.6)] 0.6
#   replaced after it: [('river', 600.0), ('kitten', 1.0)] 0.6
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'gensim==4.4.0'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from gensim.models import KeyedVectors


def neighbors(search_first):
    vectors = KeyedVectors(2)
    vectors.add_vectors(["cat", "kitten", "river"], np.array([[1, 0], [2, 0], [0, 1]], np.float32))
    if search_first:
        vectors.most_similar("cat")
    vectors["river"] = np.array([600, 800], np.float32)
    found = [(word, round(float(cosine), 3)) for word, cosine in vectors.most_similar("cat")]
    return found, round(float(vectors.similarity("cat", "river")), 3)


fresh, stale = neighbors(False), neighbors(True)
print("replaced before the first search:", *fresh)
print("replaced after it:", *stale)
right = fresh == ([("kitten", 1.0), ("river", 0.6)], 0.6) and stale == ([("river", 600.0), ("kitten", 1.0)], 0.6)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
