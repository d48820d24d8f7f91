#!/bin/sh
# flashtext 2.7: keywords, which it finds as whole words, in languages other than English.
# Guess: a keyword is found where no letter stands beside it, of whatever alphabet.
# Seen: only a to z, digits and _ are letters to it; any other one ends a word. Of Russian nothing is a word, so the cat
# "кот" is found and replaced within "который" (which), and the Spanish "ni" within "niño". Nothing is said, and texts
# whose names or terms are to be marked get new words.
# Output:
#   'category cat' -> 'category feline'
#   'который кот' -> 'catорый cat'
#   'un niño ni triste ni alegre' -> 'un norño nor triste nor alegre'
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'flashtext==2.7'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from flashtext import KeywordProcessor

EXPECTED = {
    "category cat": "category feline",
    "который кот": "catорый cat",  # which cat
    "un niño ni triste ni alegre": "un norño nor triste nor alegre",  # a child neither sad nor glad
}
keywords = KeywordProcessor()
for keyword, replacement in {"cat": "feline", "кот": "cat", "ni": "nor"}.items():
    keywords.add_keyword(keyword, replacement)
failed = False
for text, expected in EXPECTED.items():
    found = keywords.replace_keywords(text)
    print(f"{text!r} -> {found!r}")
    failed |= found != expected
sys.exit("the behaviour has changed" if failed else 0)
PYTHON
