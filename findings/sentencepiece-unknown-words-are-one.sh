#!/bin/sh
# sentencepiece 0.2.3: what is encoded of words and characters that a model does not know.
# Guess: each unknown word of a word model is one <unk>, and each unknown character of the others.
# Seen: neighbors that are unknown are joined to one piece, over the blanks between them. Three unknown words count as
# one, a Chinese sentence as one token; rates of unknown words, lengths and perplexities per token look too good, and
# pieces no longer line up with words. Nothing is said.
# Output:
#   word: ['▁the', '▁zebra▁quietly▁followed', '▁cat'] ids [3, 0, 4] - 1 of 3 unknown, 3 of 5 words
#   bpe: '我们在北京大学' is 2 pieces, ['▁', '我们在北京大学'], decoded as ' ⁇ '
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'sentencepiece==0.2.3'
"$place/venv/bin/python" - <<'PYTHON'
import io
import sys

import sentencepiece

LINES = ["the cat sat on the mat", "the dog ran to the cat", "a mat is on the dog"] * 20


def train(kind, size):
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=stream, model_type=kind, vocab_size=size, minloglevel=2
    )
    return sentencepiece.SentencePieceProcessor(model_proto=stream.getvalue())


text = "the zebra quietly followed cat"
words = train("word", 13)
pieces, ids = words.encode(text, out_type=str), words.encode(text)
print(f"word: {pieces} ids {ids} - {ids.count(words.unk_id())} of {len(ids)} unknown, 3 of {len(text.split())} words")
model = train("bpe", 30)
sentence = "我们在北京大学"
chinese = model.encode(sentence, out_type=str)
decoded = model.decode(model.encode(sentence))
print(f"bpe: {sentence!r} is {len(chinese)} pieces, {chinese}, decoded as {decoded!r}")
right = pieces == ["▁the", "▁zebra▁quietly▁followed", "▁cat"] and ids[1] == words.unk_id()
sys.exit(0 if right and chinese == ["▁", sentence] and decoded.count("⁇") == 1 else "the behaviour has changed")
PYTHON
