"""Sums of words as users type them: `king - man + woman`."""

from collections.abc import Sequence
from typing import NamedTuple

from wv_cli.words import split_words

_SIGNS = {"+": 1.0, "-": -1.0}


class Sum(NamedTuple):
    """`words`, each added (weight 1) or subtracted (-1); `problem` says why a text is no sum."""

    text: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    problem: str = ""

    @classmethod
    def from_words(cls, positive: Sequence[str], negative: Sequence[str] = ()) -> "Sum":
        weights = (1.0,) * len(positive) + (-1.0,) * len(negative)
        signs = ["+ " if weight > 0 else "- " for weight in weights]
        text = " ".join(f"{sign}{word}" for sign, word in zip(signs, (*positive, *negative), strict=True))
        return cls(text.removeprefix("+ "), (*positive, *negative), weights)

    @classmethod
    def read(cls, text: str) -> "Sum":
        """A sign stands between blanks and goes for the words up to the next one; words before the first are added. The
        text of one word is that word, whatever it is."""
        fields = split_words(text)
        if len(fields) == 1:
            return cls(text, tuple(fields), (1.0,))
        words, weights, sign, waiting = [], [], 1.0, ""
        for field in fields:
            if field not in _SIGNS:
                words.append(field)
                weights.append(sign)
                waiting = ""
            elif waiting:
                break
            else:
                sign, waiting = _SIGNS[field], field
        problem = ""
        if waiting or not words:
            where = f" after the sign {waiting!r}" if waiting else ""
            problem = f"expected a word{where}, found none: {text!r}"
        return cls(text, tuple(words), tuple(weights), problem)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is subtracted."""
        return all(weight > 0 for weight in self.weights)
