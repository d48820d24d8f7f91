"""Models whose vectors are those of whole texts: what they are in memory, and the vectors they give to lines.

A text is a sequence of the model's words; others are left out, as they were when the model was trained. Not here:
training (wv_cli.models), files (wv_cli.vectors.formats.document_models).
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.vectors.fasttext import tokens_of
from wv_cli.words import WordList, decode, encode

Ids = NDArray[np.int64]


class TextModel(Protocol):
    """`of_ids` gives texts, each the numbers of its words, their vectors (texts, dim) float32; zero for a text without
    a word. With `lowercase` the model's words were lowercased, and so are lines."""

    @property
    def words(self) -> WordList: ...
    @property
    def lowercase(self) -> bool: ...
    @property
    def dim(self) -> int: ...
    @property
    def word_vectors(self) -> NDArray[np.float32]:
        """(words, dim)."""
        ...

    def of_ids(self, texts: Sequence[Ids], /) -> NDArray[np.float32]: ...


def line_vectors(model: TextModel, lines: Sequence[str]) -> NDArray[np.float32]:
    """(lines, dim): the vectors of lines whose words are parted by white space."""
    return model.of_ids([ids_of(model, line) for line in lines])


def ids_of(model: TextModel, line: str) -> Ids:
    """The words of a line that the model has."""
    tokens = list(tokens_of(line))
    if model.lowercase:
        tokens = [encode(decode(token).lower()) for token in tokens]
    ids = model.words.find_all(WordList.from_words(tokens))
    return ids[ids >= 0]
