#!/bin/sh
# gensim 4.4.0, scikit-learn 1.9.1: the perplexity of topic models, which gensim logs and describes as 2^(-bound).
# Guess: texts in which 1,000 words are equally likely have a perplexity of about 1,000, with one topic.
# Seen: gensim logs 121. The bound per word is in natural logarithms, but 2 is raised to it. The logged number is the
# perplexity to the power of 0.693, so models look better than those of other programs. exp(-bound) is right.
# Output:
#   gensim: bound -6.921 per word, logged perplexity 121.2, exp(-bound) 1013.7
#   scikit-learn: perplexity 1013.7
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'gensim==4.4.0' 'scikit-learn==1.9.1' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import logging
import math
import re
import sys

import numpy as np
from gensim.models import LdaModel
from sklearn.decomposition import LatentDirichletAllocation

WORDS, TEXTS = 1000, 200
messages = []
logger = logging.getLogger("gensim.models.ldamodel")
logger.setLevel(logging.INFO)
logger.addFilter(lambda record: messages.append(record.getMessage()))

texts = [[(word, 1) for word in range(WORDS)]] * TEXTS
model = LdaModel(texts, num_topics=1, id2word={word: str(word) for word in range(WORDS)}, passes=2, random_state=1)
messages.clear()
bound = model.log_perplexity(texts)
logged = float(re.search(r"([\d.]+) perplexity", messages[-1]).group(1))
print(f"gensim: bound {bound:.3f} per word, logged perplexity {logged:.1f}, exp(-bound) {math.exp(-bound):.1f}")
counts = np.ones((TEXTS, WORDS))
other = LatentDirichletAllocation(1, random_state=0).fit(counts).perplexity(counts)
print(f"scikit-learn: perplexity {other:.1f}")
right = 115 < logged < 125 and abs(math.exp(-bound) - other) < 1 and 950 < other < 1050
sys.exit(0 if right else "the behaviour has changed")
PYTHON
