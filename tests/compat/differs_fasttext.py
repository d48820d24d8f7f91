"""Of fastText's recorded runs those in which ours does something else; see differs.py."""

_PIPE = "a pipe is read; the original tries to rewind it and reads nothing"
_NO_LABELS = "refused: a text without labels; the original writes a classifier that knows none"
DIFFERS_FASTTEXT: dict[str, str] = {
    "fasttext/autotune-modelsize-saveOutput": "-saveOutput is refused before the search instead of after it",
    "fasttext/nn-nosub-unknown": "words that are equally near stand in the order of the vocabulary",
    "fasttext/print-word-vectors-supervised": "a label has no vector; the original prints what lies behind its matrix",
    "fasttext/supervised-int-with-tail": _NO_LABELS,
    "fasttext/supervised-label-none": _NO_LABELS,
    "fasttext/supervised-lr-huge": "a learning rate above 1000 is refused, before anything is read",
    "fasttext/supervised-neg-0": "negative sampling without negatives is refused",
    "fasttext/supervised-only-words": _NO_LABELS,
    "fasttext/test-label-stdin-pipe": _PIPE,
    "fasttext/test-stdin-pipe": _PIPE,
}
