#!/bin/sh
# bm25s 0.3.16: what its tokenizer makes of texts outside Latin letters, and of words of one letter.
# Guess: a text of any language becomes its words, so that BM25 can find them.
# Seen: a Chinese sentence is one word; of Hindi only runs between vowel signs are left, and four words become two
# fragments; the letter that tells two vitamins apart is gone; a query of English stop words is empty, without a word.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'bm25s==0.3.16'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import bm25s

EXPECTED = {
    "我们在北京学习": ["我们在北京学习"],
    "बच्चे स्कूल में पढ़ते हैं": None,  # fewer and shorter than the words; see below
    "vitamin C": ["vitamin"],
    "to be or not to be": [],
}
failed = False
for text, expected in EXPECTED.items():
    found = bm25s.tokenize([text], return_ids=False, show_progress=False)[0]
    print(f"{text!r} -> {found}")
    if expected is None:
        whole = text.split()
        failed |= any(token in whole for token in found)
    else:
        failed |= list(found) != expected
sys.exit("the behaviour has changed" if failed else 0)
PYTHON
