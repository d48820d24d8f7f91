#!/bin/sh
# datatrove 0.10.1: GopherRepetitionFilter, whose bounds on the most frequent n-gram are to find repetitive texts.
# Guess: an n-gram is repeated if it occurs twice, so a sentence of words that are all different passes.
# Seen: the most frequent n-gram counts if it occurs once, too, and then it is the first one. In a short text its letters
# are more than the bound: the first 2 to 21 words of a sentence do not pass, though no word occurs twice; 22 do. Titles,
# messages and single sentences are lost, and the reason that is given is an n-gram.
# Output:
#   first 2 of 30 different words: top_2_gram
#   first 8 of 30 different words: top_2_gram
#   first 13 of 30 different words: top_3_gram
#   first 21 of 30 different words: top_4_gram
#   first 30 of 30 different words: passes
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'datatrove==0.10.1' 'spacy==3.8.18' 'regex==2026.11.19' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from datatrove.data import Document
from datatrove.pipeline.filters import GopherRepetitionFilter

WORDS = (
    "Several of our oldest bridges were closed last Monday because heavy rain had damaged two pillars which engineers "
    "will now inspect before any decision about repairs can be made public"
).split()
assert len(set(WORDS)) == len(WORDS) == 30
rule = GopherRepetitionFilter()


def judge(words):
    decision = rule.filter(Document(text=" ".join(words), id="0"))
    return "passes" if decision is True else decision[1]


found = {count: judge(WORDS[:count]) for count in range(2, 31)}
for count in (2, 8, 13, 21, 30):
    print(f"first {count} of 30 different words: {found[count]}")
right = found[2] == found[8] == "top_2_gram" and found[13] == "top_3_gram" and found[21] == "top_4_gram"
sys.exit(0 if right and all((found[count] == "passes") == (count > 21) for count in found) else "the behaviour has changed")
PYTHON
