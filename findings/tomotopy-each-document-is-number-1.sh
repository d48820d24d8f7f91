#!/bin/sh
# tomotopy 0.14.0: add_doc, which is to "return an index of the inserted document".
# Guess: documents are numbers 0, 1, 2 and so on, by which model.docs gives the topics of each.
# Seen: each document is number 1, and an empty one None, which is then not counted. A program that keeps the number
# asks for the topics of the second document each time. Nothing is said; the true place is len(model.docs) - 1 after the
# call.
# Output:
#   add_doc: [1, 1, 1, None, 1], words of model.docs by that number: ['dog', 'dog', 'dog', None, 'dog']
#   true words: ['cat', 'dog', 'sea', 'sky'] of 5 texts
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'tomotopy==0.14.0'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import tomotopy

TEXTS = ["cat cat", "dog dog", "sea sea", "", "sky sky"]
model = tomotopy.LDAModel(k=2, seed=1)
numbers = [model.add_doc(text.split()) for text in TEXTS]
words = [model.vocabs[document.words[0]] for document in model.docs]
by_number = [None if number is None else words[number] for number in numbers]
print(f"add_doc: {numbers}, words of model.docs by that number: {by_number}")
print(f"true words: {words} of {len(TEXTS)} texts")
right = numbers == [1, 1, 1, None, 1] and words == ["cat", "dog", "sea", "sky"]
sys.exit(0 if right and "index" in model.add_doc.__doc__ else "the behaviour has changed")
PYTHON
