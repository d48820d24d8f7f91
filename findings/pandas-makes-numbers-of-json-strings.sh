#!/bin/sh
# pandas 3.1.1: strings of JSON that look like numbers or dates.
# Guess: JSON says which values are strings, so that read_json and to_json give back the same records.
# Seen: a column of strings becomes numbers where all of them can: "007" is 7, two names of 23 digits become one float.
# A string in a field called date is a time, and is written as milliseconds. Only dtype=False keeps all of them.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'pandas==3.1.1'
cd "$place"
"$place/venv/bin/python" - <<'PYTHON'
import json
import sys

import pandas

RECORDS = [
    {"text": "1e3", "id": "007", "digest": "12345678901234567890123", "date": "2013-05-18T10:42:00Z"},
    {"text": "12", "id": "010", "digest": "12345678901234567890124", "date": "2013-05-19T10:42:00Z"},
]
with open("records.jsonl", "w") as stream:
    stream.writelines(json.dumps(record) + "\n" for record in RECORDS)


def read_and_write(**options):
    lines = pandas.read_json("records.jsonl", lines=True, **options).to_json(orient="records", lines=True)
    return [json.loads(line) for line in lines.splitlines()]


found = read_and_write()
for before, after in zip(RECORDS, found, strict=True):
    print(before, "->", after)
equal = read_and_write(dtype=False) == RECORDS
print("equal with dtype=False:", equal)
first, second = found
right = first["id"] == 7 and first["text"] == 1000 and first["date"] == 1368873720000 and equal
right = right and first["digest"] == second["digest"]
sys.exit(0 if right else "the behaviour has changed")
PYTHON
