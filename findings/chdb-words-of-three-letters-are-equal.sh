#!/bin/sh
# chdb 4.4.0 (ClickHouse 26.9): nearest words by `ngramDistance` and near duplicates by `wordShingleSimHash`.
# Guess: "dog" is as far from "cat" as two words can be, and "a dog" is no duplicate of "the cat".
# Seen: the functions count 4-grams of letters and 3-grams of words. What is shorter has none, and two texts without any
# are at distance 0: all words of up to three letters are the same word, and all texts of two words have the hash 0. As
# "cats" has one 4-gram, it is at distance 1, the largest, from "cat". Nothing is said. editDistance is right.
# Output:
#   ngramDistance: [('cat', 0), ('dog', 0), ('sun', 0), ('category', 1), ('cats', 1)]
#   editDistance: [('cat', 0), ('cats', 1), ('dog', 3), ('sun', 3), ('category', 5)]
#   wordShingleSimHash: the cat 0, a dog 0, wordShingleMinHash equal: True
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'chdb==4.4.0' 'chdb-core==26.9.0' 'pyarrow==26.0.1' 'pandas==3.1.1' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import json
import sys

import chdb


def ask(query):
    return [tuple(json.loads(line)) for line in str(chdb.query(query, "JSONCompactEachRow")).splitlines()]


WORDS = "(select arrayJoin(['cat', 'cats', 'category', 'dog', 'sun']) as word)"
found = {}
for function in ("ngramDistance", "editDistance"):
    found[function] = ask(f"select word, toInt32({function}(word, 'cat')) as d from {WORDS} order by d, word")
    print(f"{function}: {found[function]}")
HASHES = "wordShingleSimHash('the cat'), wordShingleSimHash('a dog')"
cat, dog, equal = ask(f"select {HASHES}, wordShingleMinHash('the cat') = wordShingleMinHash('a dog')")[0]
print(f"wordShingleSimHash: the cat {cat}, a dog {dog}, wordShingleMinHash equal: {bool(equal)}")
right = dict(found["ngramDistance"]) == {"cat": 0, "dog": 0, "sun": 0, "cats": 1, "category": 1}
right &= dict(found["editDistance"]) == {"cat": 0, "cats": 1, "dog": 3, "sun": 3, "category": 5}
right &= int(cat) == int(dog) == 0 and bool(equal)
sys.exit(0 if right else "the behaviour has changed")
PYTHON
