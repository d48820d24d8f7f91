#!/bin/sh
# gensim 4.4.0: matutils.jaccard, the "Jaccard distance between two vectors", of texts as bags of words.
# Guess: equal texts are at distance 0, as are equal sets; with counts, minima are divided by maxima.
# Seen: for bags the union is the sum of both texts, which counts what they share twice. So equal texts are at 0.5, and
# texts that share half of their words at 0.75. No pair is nearer than 0.5: a threshold below it finds no copies.
# Output:
#   equal texts: bags 0.5, sets 0.0
#   half of the words in common: bags 0.75, sets 0.667
#   no word in common: bags 1.0, sets 1.0
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'gensim==4.4.0'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from gensim.corpora import Dictionary
from gensim.matutils import jaccard

PAIRS = {
    "equal texts": ("the cat sat down", "the cat sat down"),
    "half of the words in common": ("the cat sat down", "the cat ran off"),
    "no word in common": ("the cat sat down", "a dog ran off"),
}
found = {}
for name, texts in PAIRS.items():
    words = [text.split() for text in texts]
    dictionary = Dictionary(words)
    bags = jaccard(*map(dictionary.doc2bow, words))
    sets = jaccard(*map(set, words))
    found[name] = (round(bags, 3), round(sets, 3))
    print(f"{name}: bags {found[name][0]}, sets {found[name][1]}")
sys.exit(0 if list(found.values()) == [(0.5, 0.0), (0.75, 0.667), (1.0, 1.0)] else "the behaviour has changed")
PYTHON
