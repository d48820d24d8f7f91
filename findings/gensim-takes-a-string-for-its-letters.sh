#!/bin/sh
# gensim 4.4.0: a string where a list of strings is expected.
# Guess: an error, since Word2Vec warns of sentences that are strings.
# Seen: connector words and tags given as one string are read letter by letter, in silence. Tags as bytes are worse:
# each byte is a whole number, and document vectors get a row for every number below it.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'gensim==4.4.0'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from gensim.models import Doc2Vec
from gensim.models.doc2vec import TaggedDocument
from gensim.models.phrases import Phrases

phrases = Phrases([["bank", "of", "england"]] * 5, min_count=1, threshold=0.1, connector_words="of the")
print("connector words:", sorted(phrases.connector_words))


def tags(given):
    documents = [TaggedDocument(["a", "b", "c"], given)]
    return Doc2Vec(documents, vector_size=4, min_count=1, epochs=1, workers=1).dv


letters, numbers = tags("news"), tags(b"ab")
print("tags='news':", letters.index_to_key)
print("tags=b'ab':", len(numbers), "document vectors")
right = (
    sorted(phrases.connector_words) == [" ", "e", "f", "h", "o", "t"]
    and sorted(letters.index_to_key) == ["e", "n", "s", "w"]
    and len(numbers) == 99
)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
