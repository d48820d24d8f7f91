#!/bin/sh
# trafilatura 2.3.1: extract(page, deduplicate=True), which takes repeated parts out of a page.
# Guess: the text depends on the page; without the option it does.
# Seen: it depends on all pages that the process has read before. A paragraph is kept three times and then left out, of
# other pages too: the fourth page with the same notice has no notice, and the same page read a fourth time has no text
# at all. What is lost changes with the order of pages and the number of processes. Nothing is said.
# Output:
#   the same page: lengths [541, 541, 541, 0, 0, 0], without the option [541, 541, 541, 541, 541, 541]
#   other pages with one common paragraph: kept [True, True, True, False, False, False]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'trafilatura==2.3.1' 'lxml==6.1.3' 'lxml_html_clean==0.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from trafilatura import extract


def make_page(first, common=None):
    texts = [
        f"Paragraph {number} tells at some length how the bridge of the old town was built by us in {1000 + number}."
        for number in range(first, first + 6)
    ]
    paragraphs = "".join(f"<p>{text}</p>" for text in [*texts, *([common] if common else [])])
    return f"<html><body><article><h1>Bridges</h1>{paragraphs}</article></body></html>"


page = make_page(0)
repeated = [len(extract(page, deduplicate=True) or "") for _ in range(6)]
plain = [len(extract(page) or "") for _ in range(6)]
print(f"the same page: lengths {repeated}, without the option {plain}")
NOTICE = "The bridge is closed to all traffic on the first Monday of each month, and the ferry runs in its place."
pages = [make_page(100 * number, NOTICE) for number in range(1, 7)]
kept = [NOTICE in (extract(page, deduplicate=True) or "") for page in pages]
print(f"other pages with one common paragraph: kept {kept}")
right = repeated[:3] == plain[:3] and not any(repeated[3:]) and all(plain) and kept == [True] * 3 + [False] * 3
sys.exit(0 if right else "the behaviour has changed")
PYTHON
