#!/bin/sh
# tokenizers 0.23.3: `train` on a file and `train_from_iterator` on its lines, with words that a blank separates.
# Guess: both learn the same words.
# Seen: lines of a file keep their ends, and unless the pre-tokenizer takes all white space away they belong to the last
# word. So "cat\n" is a word, "cat" is not: words that stand at the ends of lines only are unknown, and byte pairs are
# spent on line ends. Nothing is said. Metaspace, as in models of sentencepiece, and Split(" ") do this.
# Output:
#   WhitespaceSplit: file ['the', 'cat', 'ate', 'fish'], lines ['the', 'cat', 'ate', 'fish']
#   CharDelimiterSplit: file ['the', '[UNK]', 'ate', '[UNK]'], lines ['the', 'cat', 'ate', 'fish']
#   Metaspace: file ['▁the', '[UNK]', '▁ate', '[UNK]'], lines ['▁the', '▁cat', '▁ate', '▁fish']
#   Split: file ['the', '[UNK]', 'ate', '[UNK]'], lines ['the', 'cat', 'ate', 'fish']
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'tokenizers==0.23.3'
cd "$place"
"$place/venv/bin/python" - <<'PYTHON'
import sys

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import CharDelimiterSplit, Metaspace, Split, WhitespaceSplit
from tokenizers.trainers import WordLevelTrainer

LINES = ["the dog saw the cat", "a bird ate the fish"] * 10
with open("corpus.txt", "w") as stream:
    stream.writelines(f"{line}\n" for line in LINES)
unknown = {}
for splitter in (WhitespaceSplit(), CharDelimiterSplit(" "), Metaspace(), Split(" ", "removed")):
    found = []
    for from_file in (True, False):
        tokenizer = Tokenizer(WordLevel(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = splitter
        trainer = WordLevelTrainer(special_tokens=["[UNK]"], show_progress=False)
        if from_file:
            tokenizer.train(["corpus.txt"], trainer)
        else:
            tokenizer.train_from_iterator(LINES, trainer)
        found.append(tokenizer.encode("the cat ate fish").tokens)
    name = type(splitter).__name__
    unknown[name] = [tokens.count("[UNK]") for tokens in found]
    print(f"{name}: file {found[0]}, lines {found[1]}")
right = unknown.pop("WhitespaceSplit") == [0, 0] and all(counts == [2, 0] for counts in unknown.values())
sys.exit(0 if right else "the behaviour has changed")
PYTHON
