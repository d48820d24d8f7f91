#!/bin/sh
# rank-bm25 0.2.2: weights of words in BM25Okapi, which "sets a floor" for words in more than half of the texts.
# Guess: the more texts have a word, the less it weighs; a floor lifts all weights that are below it.
# Seen: it lifts only weights below 0, to a quarter of the average of all words, and leaves those between 0 and the floor.
# So the word of 6 in 11 texts weighs more than twice what the word of 5 in 11 texts weighs, and "the bridge" finds each
# text about an animal before the first bridge. BM25Plus weighs as guessed.
# Output:
#   BM25Okapi: {'the': 0.412, 'bridge': 0.167, 'swan': 1.946} first: the sheep, last: delhi bridge
#   BM25Plus: {'the': 0.693, 'bridge': 0.875, 'swan': 2.485} first: london bridge, last: the cow
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'rank-bm25==0.2.2' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from rank_bm25 import BM25Okapi, BM25Plus

texts = [f"{city} bridge" for city in ("london", "paris", "rome", "cairo", "delhi")]
texts += [f"the {animal}" for animal in ("sheep", "horse", "goat", "duck", "swan", "cow")]
weights, order = {}, {}
for kind in (BM25Okapi, BM25Plus):
    index = kind([text.split() for text in texts])
    weights[kind] = {word: round(float(index.idf[word]), 3) for word in ("the", "bridge", "swan")}
    scores = dict(zip(texts, index.get_scores(["the", "bridge"]), strict=True))
    order[kind] = sorted(texts, key=scores.get, reverse=True)
    print(f"{kind.__name__}: {weights[kind]} first: {order[kind][0]}, last: {order[kind][-1]}")
right = (
    all("the " in text for text in order[BM25Okapi][:6])
    and all("bridge" in text for text in order[BM25Plus][:5])
    and weights[BM25Okapi]["the"] > 2 * weights[BM25Okapi]["bridge"] > 0
    and weights[BM25Plus]["the"] < weights[BM25Plus]["bridge"]
)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
