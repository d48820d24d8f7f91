"""The child process that asks gensim one question: `peer_cold.py JSON`."""

import json
import sys

from gensim.models import KeyedVectors

asked = json.loads(sys.argv[1])
vectors = KeyedVectors.load_word2vec_format(asked["source"], binary=True)
a, *rest = asked["words"]
if asked["question"] == "similarity":
    print(f"{vectors.similarity(a, rest[0]):.6f}")
else:
    # a is to b as c is to ?: b and c count, a is taken off.
    hits = vectors.most_similar(rest, [a]) if asked["question"] == "analogy" else vectors.most_similar(a)
    print("".join(f"{word}\t{score:.6f}\n" for word, score in hits), end="")
