"""A fastText model as text, part by part, as fastText's `dump` prints it (args.cc, dictionary.cc, densematrix.cc)."""

from collections.abc import Callable, Iterator

import numpy as np

from wv_cli.vectors.fasttext import FastTextModel, Matrix
from wv_cli.vectors.formats.lines import text_lines

_BLOCK_NUMBERS = 1 << 16
_DIGITS = -6  # significant
_KINDS = {"cbow": "cbow", "skipgram": "sg", "supervised": "sup"}
_LOSSES = {"hs": "hs", "ns": "ns", "softmax": "softmax", "ova": "one-vs-all"}


def parts(model: FastTextModel, what: str) -> Iterator[bytes]:
    """The lines of one part: args, dict, input or output. A quantized matrix, which fastText does not dump, is printed
    as it decodes."""
    return _PARTS[what](model)


def _args(model: FastTextModel) -> Iterator[bytes]:
    args = model.args
    for name, value in [
        ("dim", args.dim),
        ("ws", args.window),
        ("epoch", args.epochs),
        ("minCount", args.min_count),
        ("neg", args.negative),
        ("wordNgrams", args.word_ngrams),
        ("loss", _LOSSES[args.loss]),
        ("model", _KINDS[args.model]),
        ("bucket", args.buckets),
        ("minn", args.minn),
        ("maxn", args.maxn),
        ("lrUpdateRate", args.lr_update_rate),
        ("t", f"{args.sample:g}"),
    ]:
        yield f"{name} {value}\n".encode()


def _dictionary(model: FastTextModel) -> Iterator[bytes]:
    yield b"%d\n" % (len(model.words) + len(model.labels))
    for words, counts, kind in ((model.words, model.counts, b"word"), (model.labels, model.label_counts, b"label")):
        for i, count in enumerate(counts.tolist()):
            yield b"%s %d %s\n" % (words.bytes_at(i), count, kind)


def _rows(matrix: Matrix) -> Iterator[bytes]:
    rows, dim = matrix.shape
    yield b"%d %d\n" % (rows, dim)
    step = max(1, _BLOCK_NUMBERS // dim)
    for first in range(0, rows, step):
        yield text_lines(None, matrix.take(np.arange(first, min(first + step, rows))), _DIGITS)


_PARTS: dict[str, Callable[[FastTextModel], Iterator[bytes]]] = {
    "args": _args,
    "dict": _dictionary,
    "input": lambda model: _rows(model.input),
    "output": lambda model: _rows(model.output),
}
