"""The binary file of a model (`.lm`): a container (system.container) of the parts of a PackedModel, to be used where
they lie in the file."""

from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import container
from wv_cli.io.input import Input
from wv_cli.lm.config import LARGEST_ORDER
from wv_cli.lm.model import LOG_ZERO, NgramModel, Ngrams, unpack_model
from wv_cli.lm.packed import PackedModel, pack
from wv_cli.lm.trie import Trie, link
from wv_cli.lm.vocabulary import SPECIAL, read_words
from wv_cli.words import WordList

KIND = "packed-ngrams"
OLD_KIND = "ngrams"
_LAYOUT: container.Layout = {
    "sizes": ("<i8", ("order",)),
    "widths": ("<i8", ("order", 5)),
    "index": ("<u4", ("index",)),
    "tables": ("<f4", ("tables",)),
    "bits": ("|u1", ("bits",)),
    "letters": ("|u1", ("letters",)),
}
_OLD_LAYOUT: container.Layout = {
    "starts": ("<i8", ("starts",)),
    "levels": ("<i8", ("levels",)),
    "word": ("<i4", ("nodes",)),
    "first": ("<i4", ("inner and 1",)),
    "suffix": ("<i4", ("nodes",)),
    "prob": ("<f4", ("nodes",)),
    "backoff": ("<f4", ("inner",)),
    "letters": ("|u1", ("letters",)),
}
_NEWLINE = 10  # after each word; none has one


def write(stream: BinaryIO, model: Ngrams, quantize: int | None = None) -> None:
    """Writes a model, its numbers quantized to so many bits."""
    packed = _pack(model, quantize)
    letters = np.frombuffer(packed.words.blob, np.uint8)
    arrays: dict[str, NDArray[np.generic]] = {name: getattr(packed, name) for name in list(_LAYOUT)[:-1]}
    arrays["letters"] = np.insert(letters, packed.words.starts[1:], _NEWLINE)
    container.write(
        stream,
        KIND,
        {"order": packed.order, "closed": packed.closed},
        arrays,
        aligned=True,
        between=packed.shelf.let_go,
    )


def read(source: Input) -> Ngrams:
    """The model in a file, which is mapped where that can be: processes that use it share the memory, and what is not
    asked for is not read. Raises BadFile for a file that is damaged; where only asking shows that, it raises then."""
    if source.peek(len(container.magic(OLD_KIND))) == container.magic(OLD_KIND):
        return _read_old(source)
    reader = container.Reader(source, KIND)
    order = reader.fact("order", int, 1, LARGEST_ORDER)
    closed = reader.fact("closed", bool)
    sizes = reader.expect(_LAYOUT, "a model of n-grams")
    if sizes["order"] != order:
        reader.refuse("the sizes of its arrays do not fit each other")
    arrays = reader.views()
    reader.require_finite({"tables": arrays["tables"]}, -LOG_ZERO)
    words = _words(reader, arrays["letters"])
    sizes_of, widths, index, tables, bits = (arrays[name] for name in ("sizes", "widths", "index", "tables", "bits"))
    model = PackedModel(words, sizes_of, widths, index, tables, bits, closed=closed, name=source.name)
    try:
        _ = model.scorer
    except ValueError as error:
        reader.refuse(str(error), reader.offset("sizes"))
    if len(words) != model.sizes[0]:
        reader.refuse("the words are not those of a model", reader.offset("letters"))
    return model


def _pack(model: Ngrams, quantize: int | None) -> PackedModel:
    if quantize is None:
        return model if isinstance(model, PackedModel) else model.packed_model
    whole = unpack_model(model)
    return pack(whole.trie, whole.prob, whole.backoff, quantize, whole.threads)


def _words(reader: container.Reader, letters: NDArray[np.uint8]) -> WordList:
    ends = np.flatnonzero(letters == _NEWLINE)
    if not len(ends) or ends[-1] != len(letters) - 1 or ends[0] == 0 or (np.diff(ends) < 2).any():
        reader.refuse("the words do not follow each other", reader.offset("letters"))
    starts = np.append(0, ends - np.arange(len(ends)))
    words = WordList(letters.tobytes().replace(b"\n", b""), starts)
    if words[: len(SPECIAL)] != SPECIAL:
        reader.refuse("the words are not those of a model", reader.offset("letters"))
    return words


def _read_old(source: Input) -> NgramModel:
    """A file of version 0.3.0: the arrays of NgramModel."""
    reader = container.Reader(source, OLD_KIND)
    order = reader.fact("order", int, 1, LARGEST_ORDER)
    sizes = reader.expect(_OLD_LAYOUT, "a model of n-grams")
    fits = sizes["levels"] == order + 1 and sizes["inner and 1"] == sizes["inner"] + 1 <= sizes["nodes"] + 1
    if not fits or sizes["starts"] <= len(SPECIAL):
        reader.refuse("the sizes of its arrays do not fit each other")
    arrays = reader.views()
    reader.require_finite({name: arrays[name] for name in ("prob", "backoff")}, -LOG_ZERO)
    if arrays["prob"].max() > 0:
        reader.refuse("the array prob holds a probability above 1", reader.offset("prob"))
    words = read_words(reader, arrays)
    levels, word, first = (arrays[name] for name in ("levels", "word", "first"))
    if len(words) != levels[1]:
        reader.refuse("the words are not those of a model", reader.offset("letters"))
    try:
        suffix, _ = link(levels, word, first)
    except ValueError as error:
        reader.refuse(str(error), reader.offset("levels"))
    if len(arrays["backoff"]) != levels[-2]:
        reader.refuse("the sizes of its arrays do not fit each other")
    return NgramModel(Trie(words, levels, word, first, suffix), arrays["prob"], arrays["backoff"])
