"""The binary file of a model (`.lm`): a container (io.container) of the parts of a PackedModel, to be used where
they lie in the file."""

from typing import TYPE_CHECKING, BinaryIO

from wv_cli import _packedlm
from wv_cli.io import container
from wv_cli.io.input import Input
from wv_cli.lm.config import LARGEST_ORDER
from wv_cli.lm.packed_model import LOG_ZERO, PackedModel

if TYPE_CHECKING:
    from wv_cli.lm.model import NgramModel, Ngrams

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
_NEWLINE = b"\n"  # after each word; none has one
_SPECIAL = b"<unk>\n<s>\n</s>\n"  # the first words


def write(stream: BinaryIO, model: "Ngrams", quantize: int | None = None) -> None:
    """Writes a model, its numbers quantized to so many bits."""
    import numpy as np

    packed = _pack(model, quantize)
    blob, starts = packed.spellings
    arrays = {name: np.asarray(getattr(packed, name)) for name in list(_LAYOUT)[:-1]}
    arrays["letters"] = np.insert(np.frombuffer(blob, np.uint8), np.asarray(starts)[1:], ord(_NEWLINE))
    container.write(
        stream,
        KIND,
        {"order": packed.order, "closed": packed.closed},
        arrays,
        aligned=True,
        between=packed.shelf.let_go if packed.shelf is not None else None,
    )


def read(source: Input) -> "Ngrams":
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
    arrays = reader.buffers()
    letters = arrays["letters"]
    if not _packedlm.are_logarithms(arrays["tables"]):
        import numpy as np

        reader.require_finite({"tables": np.asarray(arrays["tables"])}, -LOG_ZERO)
    try:
        starts = _packedlm.find_words(letters, arrays["sizes"][0])
    except ValueError as error:
        reader.refuse(str(error), reader.offset("letters"))
    spellings = bytes(letters).replace(_NEWLINE, b""), starts
    sizes_of, widths, index, tables, bits = (arrays[name] for name in ("sizes", "widths", "index", "tables", "bits"))
    model = PackedModel(spellings, sizes_of, widths, index, tables, bits, closed=closed, name=source.name)
    try:
        _ = model.scorer
    except ValueError as error:
        reader.refuse(str(error), reader.offset("sizes"))
    if bytes(letters[: len(_SPECIAL)]) != _SPECIAL:
        reader.refuse("the words are not those of a model", reader.offset("letters"))
    return model


def _pack(model: "Ngrams", quantize: int | None) -> PackedModel:
    from wv_cli.lm.model import unpack_model
    from wv_cli.lm.packed import pack

    if quantize is None:
        return model if isinstance(model, PackedModel) else model.packed_model
    whole = unpack_model(model)
    return pack(whole.trie, whole.prob, whole.backoff, quantize, whole.threads)


def _read_old(source: Input) -> "NgramModel":
    """A file of version 0.3.0: the arrays of NgramModel."""
    from wv_cli.lm.model import NgramModel
    from wv_cli.lm.trie import Trie, link
    from wv_cli.lm.vocabulary import SPECIAL, read_words

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
