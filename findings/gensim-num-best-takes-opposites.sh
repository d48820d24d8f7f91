#!/bin/sh
# gensim 4.4.0: `num_best` of MatrixSimilarity, whose answers are cosines from -1 to 1.
# Guess: the documents of the largest cosines, as a sort of the whole answer gives them.
# Seen: the largest by amount. With vectors that have negative numbers, as those of LSI and of words do, num_best=1
# answers the document that points the opposite way (-1.0) and leaves out the one at 0.8. `Similarity` on disk does the
# same.
# Output:
#   all: [-1.0, 0.800000011920929, 0.0] - best by sorting: document 1
#   MatrixSimilarity num_best=1: [(0, -1.0)]
#   Similarity num_best=1: [(0, -1.0)]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'gensim==4.4.0'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from gensim.similarities import MatrixSimilarity, Similarity

documents = [[(0, -1.0)], [(0, 0.8), (1, 0.6)], [(1, 1.0)]]
query = [(0, 1.0)]
whole = MatrixSimilarity(documents, num_features=2)[query]
print("all:", whole.round(2).tolist(), "- best by sorting: document", int(whole.argmax()))
found = {}
for kind, index in (
    ("MatrixSimilarity", MatrixSimilarity(documents, num_features=2, num_best=1)),
    ("Similarity", Similarity(None, documents, num_features=2, num_best=1)),
):
    found[kind] = [(int(number), round(float(cosine), 2)) for number, cosine in index[query]]
    print(kind, "num_best=1:", found[kind])
right = int(whole.argmax()) == 1 and all(value == [(0, -1.0)] for value in found.values())
sys.exit(0 if right else "the behaviour has changed")
PYTHON
