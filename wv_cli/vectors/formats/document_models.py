"""Models of doc2vec (`.d2v`) in the table of formats: read as the vectors of their words, with the model itself for
lines.

A container (io.container) of the model's arrays as in memory, to be used where they lie in the file. Not fastText's
layout: its classifiers' rule for lines, which readers of such a file would follow, adds the line end and n-grams of
words that the model does not know; a dense file has a row for every bucket; it has no place for paragraph vectors.
"""

import dataclasses
import os
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import container
from wv_cli.io.input import Input
from wv_cli.io.output import open_output
from wv_cli.vectors.doc2vec import Doc2vecModel, Doc2vecOptions
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.audit import RowAudit
from wv_cli.vectors.formats.base import Format, ReadOptions
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.heads import SUFFIXES
from wv_cli.words import WordList

KIND = "text-model"
DOC2VEC, [ENDING] = "doc2vec", SUFFIXES[KIND]
_LARGEST = 1e9  # sums of so many rows as a line has are finite then
_LAYOUT: container.Layout = {
    "starts": ("<i8", ("starts",)),
    "counts": ("<i8", ("words",)),
    "input": ("<f4", ("context words", "dim")),
    "output": ("<f4", ("outputs", "width")),
    "letters": ("|u1", ("letters",)),
}
# Of Doc2vecOptions: the choices of the words, the bounds of the numbers.
_CHOICES = {
    "algorithm": ("dbow", "dm_mean", "dm_concat"),
    "context": ("before", "around"),
    "mean_gradient": ("document", "word2vec", "corrected"),
    "loss": ("ns", "hs"),
}
_WHOLE = {"window": (1, 1000), "negative": (1, 1000), "epochs": (0, 100_000), "seed": (0, 2**63 - 1)}
_REAL = {"power": (0, 2), "sample": (0, None), "lr": (0, 10), "least_lr": (0, 10)}


def save_model(path: str | os.PathLike[str], model: Doc2vecModel) -> None:
    """Writes a model, whole or not at all. Raises WvError."""
    with open_output(path) as stream:
        write_model(stream, model)


def write_model(stream: BinaryIO, model: Doc2vecModel) -> None:
    facts = {"model": DOC2VEC, **dataclasses.asdict(model.options)}
    arrays: dict[str, NDArray[Any]] = {
        "starts": model.words.starts,
        "counts": model.counts,
        "input": model.input,
        "output": model.output,
    }
    arrays["letters"] = np.frombuffer(model.words.blob, np.uint8)
    container.write(stream, KIND, {**facts, "lowercase": model.lowercase}, arrays, aligned=True)


def read_model(source: Input, *, mapped: bool = True) -> Doc2vecModel:
    """The model in a file, which is `mapped` where that can be; else its check sum is compared. Raises BadFile for a
    file that is damaged, or whose arrays do not fit each other."""
    reader = container.Reader(source, KIND)
    kind, lowercase = reader.fact("model", str), reader.fact("lowercase", bool)
    if kind == "sent2vec":
        reader.refuse("a model of sent2vec, which wv 0.4.0 was the last to read; train --model doc2vec or pairs")
    if kind != DOC2VEC:
        reader.refuse(f"expected a model of {DOC2VEC}, found one of {kind}; update wv")
    sizes = reader.expect(_LAYOUT, f"a model of {DOC2VEC}")
    facts: dict[str, Any] = {name: reader.fact(name, str) for name in _CHOICES}
    for name, choices in _CHOICES.items():
        if facts[name] not in choices:
            reader.refuse(f"expected `{name}` to be one of {', '.join(choices)}, found {facts[name]}")
    facts |= {name: reader.fact(name, int, *bounds) for name, bounds in _WHOLE.items()}
    facts |= {name: reader.fact(name, float, *bounds) for name, bounds in _REAL.items()}
    options = Doc2vecOptions(**facts, dim=reader.fact("dim", int, 1))
    words = sizes["starts"] - 1
    expected = {
        "words": words,
        "dim": options.dim,
        "context words": 0 if options.algorithm == "dbow" else words + 1,
        "outputs": words - (options.loss == "hs"),
        "width": options.parts * options.dim,
    }
    if words < 2 or any(sizes[name] != size for name, size in expected.items()):
        reader.refuse("the sizes of its arrays do not fit each other")
    arrays = reader.views() if mapped else reader.read()
    reader.require_finite({name: arrays[name] for name in ("input", "output")}, _LARGEST)
    counts = np.asarray(arrays["counts"], np.int64)
    if counts[-1] < 1 or (np.diff(counts) > 0).any() or float(counts.sum(dtype=np.float64)) >= 2**62:
        reader.refuse("the counts are not those of words in order of falling count", reader.offset("counts"))
    return Doc2vecModel(_words(reader, arrays), lowercase, counts, options, arrays["input"], arrays["output"])


def _words(reader: container.Reader, arrays: dict[str, NDArray[Any]]) -> WordList:
    starts, letters = np.asarray(arrays["starts"], np.int64), arrays["letters"]
    if starts[0] != 0 or starts[-1] != len(letters) or (np.diff(starts) < 1).any():
        reader.refuse("the words do not follow each other", reader.offset("starts"))
    words = WordList(letters.tobytes(), starts)
    if not words.is_a_vocabulary():
        reader.refuse("a word is listed twice", reader.offset("letters"))
    return words


def sniff(head: bytes) -> bool:
    return head.startswith(container.magic(KIND))


def read(source: Input, options: ReadOptions) -> Embeddings:
    model = read_model(source, mapped=options.mapped)
    count = len(model.words) if options.limit is None else min(options.limit, len(model.words))
    if count == len(model.words):
        return Embeddings(model.words, model.word_vectors, texts=model)
    return Embeddings(model.words[:count], model.word_vectors[:count])


def check(source: Input, report: Report) -> None:
    model = read_model(source, mapped=False)
    report.rows = report.promised_rows = len(model.words)
    report.dim = model.dim
    lengths, place = np.diff(model.words.starts), model.words.starts.tolist()
    RowAudit(report, "byte").add(model.words.blob, lengths, model.word_vectors, place.__getitem__)


FORMAT = Format(
    name=KIND,
    what="a text-model file of wv",
    summary="models of doc2vec, which give whole texts a vector; written by `wv train`",
    text=False,
    loses="nothing; read as the vectors of its words, and of lines; written from models only",
    sniff=sniff,
    read=read,
    check=check,
)
