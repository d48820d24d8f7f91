#!/bin/sh
# gensim 4.4.0: BM25 models that are made of a corpus, or of its dictionary: LuceneBM25Model(corpus=...) and (dictionary=...).
# Guess: both know the same texts, and give the same weights.
# Seen: with `corpus` the average length of a text is that of its distinct words, whereas the length of each text counts
# all words. So all texts seem too long, and the long ones lose most: another text is the best for "bridge". Nothing is
# said. With `dictionary` the weights are those of the formula. OkapiBM25Model and AtireBM25Model do the same.
# Output:
#   LuceneBM25Model dictionary: average length 26.5, weights of bridge long 0.510, short 0.449
#   LuceneBM25Model corpus: average length 9.0, weights of bridge long 0.358, short 0.370
#   AtireBM25Model dictionary: average length 26.5, weights of bridge long 1.274, short 1.122
#   AtireBM25Model corpus: average length 9.0, weights of bridge long 0.894, short 0.924
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'gensim==4.4.0' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import math
import sys

from gensim.corpora import Dictionary
from gensim.models import AtireBM25Model, LuceneBM25Model


def write_text(bridges, filler, name, others):
    return ["bridge"] * bridges + ["the"] * filler + [f"{name}{number}" for number in range(others)]


texts = [write_text(6, 28, "a", 8), write_text(1, 1, "b", 2), write_text(0, 30, "c", 10), write_text(0, 10, "d", 10)]
dictionary = Dictionary(texts)
corpus = [dictionary.doc2bow(text) for text in texts]
bridge = dictionary.token2id["bridge"]
average = sum(map(len, texts)) / len(texts)
right = True
for model in (LuceneBM25Model, AtireBM25Model):
    weights = {}
    for name, given in (("dictionary", dictionary), ("corpus", corpus)):
        scorer = model(**{name: given})
        weights[name] = [dict(scorer[text])[bridge] for text in corpus[:2]]
        long, short = weights[name]
        print(
            f"{model.__name__} {name}: average length {scorer.avgdl:.1f}, "
            f"weights of bridge long {long:.3f}, short {short:.3f}"
        )
        right &= math.isclose(scorer.avgdl, average) == (name == "dictionary")
    right &= weights["dictionary"][0] > weights["dictionary"][1] and weights["corpus"][0] < weights["corpus"][1]
sys.exit(0 if right else "the behaviour has changed")
PYTHON
