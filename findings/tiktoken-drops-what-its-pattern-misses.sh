#!/bin/sh
# tiktoken 0.14.0: an encoding with a pattern of one's own, here that of GPT-2 without its last part, `\s+`.
# Guess: what the pattern does not match is a piece of its own, as in tokenizers 0.23.3, or an error: 256 tokens are all
# bytes, so that each text has an encoding.
# Seen: it is dropped. Line ends, tabs and all but one of several blanks have no tokens, so that lines grow together. The
# code of Python loses its indents, a table its columns. Nothing is said, and the number of tokens looks fine.
# Output:
#   text: 'if x:\n\ty  = 1\n'
#   tokenizers: ['if', ' x', ':', '\n\t', 'y', ' ', ' =', ' 1', '\n']
#   tiktoken: 'if x:y = 1'
#   tiktoken with \s+: 'if x:\n\ty  = 1\n'
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'tiktoken==0.14.0' 'tokenizers==0.23.3'
"$place/venv/bin/python" - <<'PYTHON'
import sys

import tiktoken
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"
TEXT = "if x:\n\ty  = 1\n"
print(f"text: {TEXT!r}")
pieces = [piece for piece, _ in Split(Regex(PATTERN), "isolated").pre_tokenize_str(TEXT)]
print(f"tokenizers: {pieces}")
found = {}
for name, pattern in (("tiktoken", PATTERN), (r"tiktoken with \s+", PATTERN + r"|\s+")):
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    found[name] = encoding.decode(encoding.encode(TEXT))
    print(f"{name}: {found[name]!r}")
right = list(found.values()) == ["if x:y = 1", TEXT] and "".join(pieces) == TEXT
sys.exit(0 if right else "the behaviour has changed")
PYTHON
