"""The words of a language model: the three special ones in front, and their places in texts and in files."""

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder
from wv_cli.errors import BadFile
from wv_cli.io import container
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.text.source import Source
from wv_cli.words import WordList, split_words

SPECIAL = WordList.from_words(["<unk>", "<s>", "</s>"])


def new_encoder(words: WordList) -> _encoder.Encoder:
    """An encoder that knows `words` by their place, and gives others the ids behind; blank lines are sentences."""
    encoder = _encoder.Encoder(every_line=True)
    encoder.add_words(words.blob, words.starts)
    return encoder


def read_words(reader: container.Reader, arrays: dict[str, NDArray[np.generic]]) -> WordList:
    """The words of a container with the arrays letters and starts, SPECIAL in front. Raises BadFile."""
    letters, starts = arrays["letters"], np.asarray(arrays["starts"], np.int64)
    if starts[0] != 0 or starts[-1] != len(letters) or (np.diff(starts) < 1).any():
        reader.refuse("the words do not follow each other", reader.offset("starts"))
    words = WordList(letters.tobytes(), starts)
    if words[: len(SPECIAL)] != SPECIAL:
        reader.refuse("the words are not those of a model", reader.offset("letters"))
    return words


def read_limit(path: str) -> WordList:
    """The words of a file, divided by blanks or line ends; `-` is standard input. Raises BadFile when it has none, or
    is no text, and what Source raises."""
    text = b"".join(Source([path]))
    refuse_other_kinds(text[:HEAD_BYTES], path, "words")
    words = split_words(text.decode("utf-8", "surrogateescape").replace("\n", " "))
    if not words:
        problem = "expected words divided by spaces or line ends, found none"
        raise BadFile(path, problem)
    return WordList.from_words(words)
