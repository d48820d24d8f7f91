#!/bin/sh
# nltk 3.10.4: probabilities of single words in n-gram models of nltk.lm, by order, from the same sentences.
# Guess: a word's probability without a context is its share of the words, whatever longer n-grams the model holds.
# Seen: padded_everygram_pipeline puts n - 1 marks before and after a sentence, and each is counted as a word. At order
# 4 the two marks have more than half of the single words' probability. Interpolated models end there, so they promise
# 10 % to <s> after "the", which cannot come: words and </s> share the rest, and a higher order looks worse than it is.
# Output:
#   MLE: P(the) by order: [0.25, 0.179, 0.139, 0.114] P(<s>): [0.0, 0.143, 0.222, 0.273]
#   WittenBellInterpolated: P(the) by order: [0.25, 0.179, 0.139, 0.114] P(<s>): [0.0, 0.143, 0.222, 0.273]
#   WittenBellInterpolated: P(<s>) after "the" by order: [0.0, 0.054, 0.083, 0.102]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'nltk==3.10.4'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from nltk.lm import MLE, WittenBellInterpolated
from nltk.lm.preprocessing import padded_everygram_pipeline

TEXT = ["the cat sat on the mat", "the dog sat on the cat", "a dog ate the mat", "a cat ran"]


def train(kind, order):
    model = kind(order)
    model.fit(*padded_everygram_pipeline(order, [sentence.split() for sentence in TEXT]))
    return model


seen = {}
for kind in (MLE, WittenBellInterpolated):
    models = [train(kind, order) for order in (1, 2, 3, 4)]
    seen[kind] = [[round(model.score(word), 3) for model in models] for word in ("the", "<s>")]
    print(f"{kind.__name__}: P(the) by order: {seen[kind][0]} P(<s>): {seen[kind][1]}")
after = [round(model.score("<s>", ["the"]), 3) for model in models]
print(f'{kind.__name__}: P(<s>) after "the" by order: {after}')
right = seen[MLE] == seen[WittenBellInterpolated] == [[0.25, 0.179, 0.139, 0.114], [0.0, 0.143, 0.222, 0.273]]
sys.exit(0 if right and after == [0.0, 0.054, 0.083, 0.102] else "the behaviour has changed")
PYTHON
