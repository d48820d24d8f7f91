#!/bin/sh
# langchain-text-splitters 1.1.3: `add_start_index=True`, the place of each chunk in its text, for chunks of 8 words.
# Guess: it is where the chunk begins; for chunks of a number of characters it is.
# Seen: with a length_function of one's own, such as that of a tokenizer, and an overlap, it is -1 for every second chunk,
# and that of another passage where the text repeats. The search for a chunk starts at the end of the last one less the
# overlap, but the end is in characters and the overlap in words: it starts too late, and after a -1 at the front of
# the text. Nothing is said. Without an overlap the places are right.
# Output:
#   8 words, overlap 2: said [0, 236, -1, 116, -1, 200], true [0, 36, 74, 116, 158, 200]
#   8 words, overlap 0: said [0, 48, 102, 158, 212, 260], true [0, 48, 102, 158, 212, 260]
#   50 characters, overlap 14: said [0, 36, 67, 102, 137, 172], true [0, 36, 67, 102, 137, 172]
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'langchain-text-splitters==1.1.3' 'langchain-core==1.8.3'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from langchain_text_splitters import RecursiveCharacterTextSplitter

TEXT = " ".join([f"word{number}" for number in range(30)] * 2)
CASES = {
    "8 words, overlap 2": (8, 2, lambda text: len(text.split())),
    "8 words, overlap 0": (8, 0, lambda text: len(text.split())),
    "50 characters, overlap 14": (50, 14, len),
}
found = {}
for name, (size, overlap, measure) in CASES.items():
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, length_function=measure, add_start_index=True
    )
    chunks = splitter.create_documents([TEXT])
    said, true = [chunk.metadata["start_index"] for chunk in chunks], []
    for chunk in chunks:
        true.append(TEXT.index(chunk.page_content, true[-1] + 1 if true else 0))
    found[name] = said == true
    print(f"{name}: said {said[:6]}, true {true[:6]}")
sys.exit(0 if list(found.values()) == [False, True, True] else "the behaviour has changed")
PYTHON
