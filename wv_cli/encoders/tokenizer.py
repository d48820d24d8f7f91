"""A folder's tokenizer.json through the `tokenizers` package: sentences -> ids of tokens.

Published files have padding and truncation to some length baked in, which are those of the maker's last use, not of
the encoder; both are replaced. Bytes of a sentence that are not UTF-8 become the replacement character.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, UsageError, WvError, reason
from wv_cli.system.extra import foreign, require

if TYPE_CHECKING:
    import tokenizers

_AT_ONCE = 4096  # sentences whose tokens are objects of Python


def load(path: Path) -> "tokenizers.Tokenizer":
    """With neither padding nor truncation. Raises BadFile, WvError; WvError naming the extra when the package is not
    installed."""
    package = require("tokenizers", "an encoder's tokenizer.json")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}"
        raise WvError(message) from error
    except ValueError:
        raise BadFile(path, "expected JSON in UTF-8, found other bytes") from None
    with foreign(path, "expected the settings of a tokenizer"):
        found: tokenizers.Tokenizer = package.Tokenizer.from_str(text)
        found.no_padding()
        found.no_truncation()
    return found


class Tokenizer:
    """Ids of at most `max_length` tokens a sentence, those that `special` adds among them; None: of all. With
    `cut_characters` only the first max_length x (median characters of a token) characters of a sentence are read."""

    def __init__(
        self, path: Path, *, max_length: int | None, rows: int, special: bool = True, cut_characters: bool = False
    ) -> None:
        """`rows` is how many tokens the encoder has vectors for. Raises BadFile when the tokenizer has more, UsageError
        when `max_length` leaves no room for a word, and what load() raises."""
        self.path, self._special = path, special
        self._inner = load(path)
        self._encode = getattr(self._inner, "encode_batch_fast", self._inner.encode_batch)  # without places in the text
        self._characters: int | None = None
        with foreign(path, "expected the settings of a tokenizer"):
            vocabulary = self._inner.get_vocab(with_added_tokens=True)
            highest = max(vocabulary.values(), default=-1)
            added = self._inner.num_special_tokens_to_add(False) if special else 0
        if highest >= rows:
            problem = (
                f"has tokens up to the number {highest}, the encoder vectors for {rows}: they do not belong together"
            )
            raise BadFile(path, problem)
        if max_length is not None:
            if max_length <= added:
                message = (
                    f"--max-length {max_length} leaves no room for a word beside {added} tokens of the encoder's own"
                )
                raise UsageError(message)
            self._inner.enable_truncation(max_length)
            if cut_characters and vocabulary:
                self._characters = max_length * int(np.median([len(token) for token in vocabulary]))

    def ids(self, texts: Sequence[str]) -> tuple[list[NDArray[np.int32]], int]:
        """(ids of each sentence's tokens, how many sentences were cut)."""
        found, cut = [], 0
        for first in range(0, len(texts), _AT_ONCE):
            whole = [_utf8(text) for text in texts[first : first + _AT_ONCE]]
            part = [text[: self._characters] for text in whole]
            with foreign(self.path, "the tokenizer fails"):
                encodings = self._encode(part, add_special_tokens=self._special)
                for each, before, after in zip(encodings, whole, part, strict=True):
                    found.append(np.array(each.ids, np.int32))
                    cut += bool(each.overflowing) or len(after) < len(before)
        return found, cut

    @property
    def size(self) -> int:
        """The highest number of a token, and one more."""
        return max(self._inner.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def id(self, token: str) -> int | None:
        found: int | None = self._inner.token_to_id(token)
        return found

    def names(self, ids: Sequence[int]) -> list[str]:
        """What tokens are called."""
        return [self._inner.id_to_token(id) or "" for id in ids]


def _utf8(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
