"""Of fastText's recorded runs those in which ours does something else; see differs.py."""

_PIPE = "a pipe is read; the original tries to rewind it and reads nothing"
DIFFERS_FASTTEXT: dict[str, str] = {
    "fasttext/nn-nosub-unknown": "words that are equally near stand in the order of the vocabulary",
    "fasttext/print-word-vectors-supervised": "a label has no vector; the original prints what lies behind its matrix",
    "fasttext/test-label-stdin-pipe": _PIPE,
    "fasttext/test-stdin-pipe": _PIPE,
}
