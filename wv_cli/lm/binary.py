"""The binary file of a model (`.lm`): a container (system.container) of the arrays of NgramModel as in memory,
to be used where they lie in the file."""

from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.lm.config import LARGEST_ORDER
from wv_cli.lm.count_files import read_words
from wv_cli.lm.counts import SPECIAL, Trie
from wv_cli.lm.model import LOG_ZERO, NgramModel
from wv_cli.system import container
from wv_cli.system.input import Input

KIND = "ngrams"
_LAYOUT: container.Layout = {
    "starts": ("<i8", ("starts",)),
    "levels": ("<i8", ("levels",)),
    "word": ("<i4", ("nodes",)),
    "first": ("<i4", ("inner and 1",)),
    "suffix": ("<i4", ("nodes",)),
    "prob": ("<f4", ("nodes",)),
    "backoff": ("<f4", ("inner",)),
    "letters": ("|u1", ("letters",)),
}


def looks_like(head: bytes) -> bool:
    return head.startswith(container.magic(KIND))


def write(stream: BinaryIO, model: NgramModel) -> None:
    trie = model.trie
    arrays: dict[str, NDArray[np.generic]] = {
        "starts": trie.words.starts,
        "levels": trie.levels,
        "word": trie.word,
        "first": trie.first,
        "suffix": trie.suffix,
        "prob": model.prob,
        "backoff": model.backoff,
        "letters": np.frombuffer(trie.words.blob, np.uint8),
    }
    container.write(stream, KIND, {"order": model.order}, arrays, aligned=True)


def read(source: Input) -> NgramModel:
    """The model in a file, which is mapped where that can be: processes that use it share the memory. Raises BadFile
    for a file that is damaged, or whose arrays do not fit each other."""
    reader = container.Reader(source, KIND)
    order = reader.fact("order", int, 1, LARGEST_ORDER)
    sizes = reader.expect(_LAYOUT, "a model of n-grams")
    fits = sizes["levels"] == order + 1 and sizes["inner and 1"] == sizes["inner"] + 1 <= sizes["nodes"] + 1
    if not fits or sizes["starts"] <= len(SPECIAL):
        reader.refuse("the sizes of its arrays do not fit each other")
    arrays = reader.views()
    reader.require_finite({name: arrays[name] for name in ("prob", "backoff")}, -LOG_ZERO)
    if arrays["prob"].max() > 0:
        reader.refuse("the array prob holds a probability above 1", reader.offset("prob"))
    words = read_words(reader, arrays)
    parts = [arrays[name] for name in ("levels", "word", "first", "suffix")]
    if len(words) != parts[0][1]:
        reader.refuse("the words are not those of a model", reader.offset("letters"))
    model = NgramModel(Trie(words, *parts), arrays["prob"], arrays["backoff"])
    try:
        _ = model.asked
    except ValueError as error:
        reader.refuse(str(error), reader.offset("levels"))
    return model
