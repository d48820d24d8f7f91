#!/bin/sh
# kenlm 0.3.0: an ARPA file that lists both <unk> and <UNK>.
# Guess: one of the two spellings is the unknown word and the other an ordinary word, or the file is refused.
# Seen: both are the unknown word, and whichever is listed last sets its probability. Nothing is said. So two files
# with the same n-grams in another order score the same text differently.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'kenlm==0.3.0'
cd "$place"
"$place/venv/bin/python" - <<'PYTHON'
import sys

import kenlm

LINES = ["-2.5\t<unk>", "-1.2\t<UNK>"]
REST = ["-99\t<s>\t-0.4", "-0.9\t</s>", "-0.7\tthe\t-0.2", "-0.8\tcat\t-0.1"]
BIGRAMS = "\\2-grams:\n-0.3\t<s> the\n-0.4\tthe cat\n-0.2\tcat </s>\n\n\\end\\\n"
found = []
for order in (LINES, LINES[::-1]):
    unigrams = "\n".join([*order, *REST])
    with open("model.arpa", "w") as stream:
        stream.write(f"\\data\\\nngram 1=6\nngram 2=3\n\n\\1-grams:\n{unigrams}\n\n{BIGRAMS}")
    score = kenlm.Model("model.arpa").score("zebra", bos=False, eos=False)
    print(f"listed {order[0].split()[1]}, {order[1].split()[1]}: log10 p of a word that is not listed: {score:.2f}")
    found.append(round(score, 2))
sys.exit(0 if found == [-1.2, -2.5] else "the behaviour has changed")
PYTHON
