#!/bin/sh
# tantivy 0.27.0 (Python): which words its default and its stemming tokenizer keep.
# Guess: words of a length that no language has are left out; a dictionary's words can be found.
# Seen: words of 40 bytes of UTF-8 or more are left out of the index and of the query, in silence. English letters allow
# 39, Russian ones 19, so "sights" in the genitive is lost; a Chinese clause of 14 characters is one such word.
# Output (en_stem prints the same):
#   default: l*39 (39 characters, 39 bytes): 1 hits
#   default: l*40 (40 characters, 40 bytes): 0 hits
#   default: достопримечательностей (22 characters, 44 bytes): 0 hits
#   default: делопроизводительница (21 characters, 42 bytes): 0 hits
#   default: 我们在北京大学学习中文语言 (13 characters, 39 bytes): 1 hits
#   default: 我们在北京大学学习中文语言学 (14 characters, 42 bytes): 0 hits
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'tantivy==0.27.0'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import tantivy

TEXTS = {
    "l" * 39: 1,
    "l" * 40: 0,
    "достопримечательностей": 0,  # of sights
    "делопроизводительница": 0,  # a secretary
    "我们在北京大学学习中文语言": 1,
    "我们在北京大学学习中文语言学": 0,
}
failed = False
for tokenizer in ("default", "en_stem"):
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name=tokenizer)
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for text in TEXTS:
        writer.add_document(tantivy.Document(body=text))
    writer.commit()
    index.reload()
    for text, expected in TEXTS.items():
        hits = len(index.searcher().search(index.parse_query(text, ["body"]), 10).hits)
        print(f"{tokenizer}: {text} ({len(text)} characters, {len(text.encode())} bytes): {hits} hits")
        failed |= hits != expected
sys.exit("the behaviour has changed" if failed else 0)
PYTHON
