"""Lists of words that narrow a search down: answers among some words, or without some."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wv_cli.words import WordList


def narrow(words: WordList, among: Sequence[str] | None, exclude: Sequence[str]) -> NDArray[np.int64]:
    """The rows, ascending, of the words in `among` (None: all) that are not in `exclude`. Words without a row do not
    count."""
    listed = np.arange(len(words)) if among is None else np.unique(words.find_all(WordList.from_words(among)))
    rows: NDArray[np.int64] = np.setdiff1d(listed, [-1, *words.find_all(WordList.from_words(exclude)).tolist()])
    return rows


def unlisted_words(words: WordList, asked: Sequence[str]) -> list[str]:
    """Those of the asked words that have no row."""
    return [
        word for word, row in zip(asked, words.find_all(WordList.from_words(asked)).tolist(), strict=True) if row < 0
    ]
