#!/bin/sh
# vowpalwabbit 9.11.9: words that consist of digits, as features of a text.
# Guess: features are hashed by their names, so 7 and 007 are two words, as 1e5 and 1f5 are.
# Seen: a name of digits is not hashed; it is the number of its weight. 7 and 007 are one feature, and a classifier
# whose labels they decide answers a half. Nothing is said. With --hash all they are words.
# Output:
#   by default: 007 against 7: 0.49 0.49, 1e5 against 1f5: 0.91 0.09
#   --hash all: 007 against 7: 0.91 0.09, 1e5 against 1f5: 0.91 0.09
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'vowpalwabbit==9.11.9'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from vowpalwabbit import Workspace


def learn(options, positive, negative):
    model = Workspace(f"--quiet --link logistic --loss_function logistic {options}")
    for _ in range(50):
        model.learn(f"1 | agent {positive}")
        model.learn(f"-1 | agent {negative}")
    return [round(model.predict(f"| agent {word}"), 2) for word in (positive, negative)]


found = {}
for options in ("", "--hash all"):
    digits, words = learn(options, "007", "7"), learn(options, "1e5", "1f5")
    found[options] = digits
    name = options or "by default"
    print(f"{name}: 007 against 7: {digits[0]} {digits[1]}, 1e5 against 1f5: {words[0]} {words[1]}")
same, apart = found[""], found["--hash all"]
sys.exit(0 if same[0] == same[1] and apart[0] > 0.8 > 0.2 > apart[1] else "the behaviour has changed")
PYTHON
