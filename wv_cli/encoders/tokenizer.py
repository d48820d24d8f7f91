"""A folder's tokenizer.json: sentences -> ids of tokens. wordpiece.py makes those of static embeddings where it
understands the file; all else is left to the `tokenizers` package.

Published files have padding and truncation to some length baked in, which are those of the maker's last use, not of
the encoder; both are replaced. Bytes of a sentence that are not UTF-8 become the replacement character.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders.limits import Pace, require_bounded, require_short_words
from wv_cli.encoders.wordpiece import open_reader
from wv_cli.errors import BadFile, UsageError
from wv_cli.io.extra import foreign, require
from wv_cli.io.folders import read_bounded
from wv_cli.io.kinds import refuse_other_file
from wv_cli.vectors.formats.tokenizer_file import tokenizer_settings, unknown_token
from wv_cli.words import encode

if TYPE_CHECKING:
    import tokenizers


def load(path: Path, settings: dict[str, Any] | None = None) -> "tokenizers.Tokenizer":
    """With neither padding nor truncation; `settings` in place of what stands in the file. Raises BadFile, WvError;
    WvError naming the extra when the package is not installed."""
    package = require("tokenizers", "an encoder's tokenizer.json")
    try:
        text = json.dumps(settings) if settings is not None else read_bounded(path).decode("utf-8-sig")
    except ValueError:
        raise BadFile(path, "expected JSON in UTF-8, found other bytes") from None
    refuse_other_file(path, "the settings of a tokenizer")
    with foreign(path, "expected the settings of a tokenizer", quiet=True):  # a panic would print a stack trace
        found: tokenizers.Tokenizer = package.Tokenizer.from_str(text)
        found.no_padding()
        found.no_truncation()
        require_bounded(path, found)
    return found


class Tokenizer:
    """Numbers of at most `max_length` tokens a sentence, those that `special` adds among them; None: of all. With
    `cut_characters` only the first max_length x (median characters of a token) characters of a sentence are read. The
    `prompt` stands before every sentence.

    With neither `special` nor `counts_unknown`, tokens for unknown words are left out after they were counted."""

    def __init__(
        self,
        path: Path,
        *,
        max_length: int | None,
        rows: int,
        special: bool = True,
        prompt: str = "",
        cut_characters: bool = False,
        counts_unknown: bool = False,
        made: dict[str, Any] | None = None,
    ) -> None:
        """`rows` is how many tokens the encoder has vectors for; `made` are settings that were read or made before.
        Raises BadFile when the tokenizer has more, UsageError when `max_length` leaves no room for a word, and what
        load() raises."""
        self.path, self._rows, self._special, self._pace, self._prompt = path, rows, special, Pace(path), prompt
        settings = made or (None if special else tokenizer_settings(path))
        if settings is not None:
            require_short_words(path, settings["model"].get("max_input_chars_per_word"))
        unknown = unknown_token(settings["model"]) if settings is not None and not counts_unknown else None
        self._reader = open_reader(settings, unknown) if settings is not None else None
        self._characters: int | None = None
        added = 0
        if self._reader is not None and settings is not None:
            self._vocabulary: dict[str, int] = settings["model"]["vocab"]
        else:
            self._inner = load(path, made)
            self._encode = getattr(self._inner, "encode_batch_fast", self._inner.encode_batch)  # without places
            with foreign(path, "expected the settings of a tokenizer"):
                self._vocabulary = self._inner.get_vocab(with_added_tokens=True)
                added = self._inner.num_special_tokens_to_add(False) if special else 0
        self._unknown = self._vocabulary.get(unknown) if unknown is not None else None
        if self.size > rows:
            problem = (
                f"has tokens up to the number {self.size - 1}, the encoder vectors for {rows}: "
                "they do not belong together"
            )
            raise BadFile(path, problem)
        self._most = max_length or 0
        if max_length is not None:
            if max_length <= added:
                message = (
                    f"--max-length {max_length} leaves no room for a word beside {added} tokens of the encoder's own"
                )
                raise UsageError(message)
            if self._reader is None:
                self._inner.enable_truncation(max_length)
            if cut_characters and self._vocabulary:
                self._characters = max_length * int(np.median([len(token) for token in self._vocabulary]))

    def ids(self, texts: Sequence[str], *, prompt: str | None = None) -> tuple[list[NDArray[np.int32]], int]:
        """(numbers of each sentence's tokens, how many sentences were cut)."""
        ids, starts, cut = self.read(texts, prompt=prompt)
        bounds = starts.tolist()
        return [ids[begin:end] for begin, end in pairwise(bounds)], cut

    def read(
        self, texts: Sequence[str], *, prompt: str | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
        """(numbers of all sentences' tokens, where each sentence's begin and the last's end, how many were cut). The
        `prompt` stands before them in place of the tokenizer's."""
        before = self._prompt if prompt is None else prompt
        whole = [before + (text if text.isascii() else _utf8(text)) for text in texts]
        part = whole if self._characters is None else [text[: self._characters] for text in whole]
        with foreign(self.path, "the tokenizer fails", quiet=self._reader is None):
            ids, starts, cut = self._read(part)
        if self._characters is not None:
            cut = cut | np.array([len(after) < len(before) for before, after in zip(whole, part, strict=True)], bool)
        return ids, starts, int(np.count_nonzero(cut))

    def _read(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_]]:
        """(numbers of all tokens, where each text's begin and the last's end, whether each was cut)."""
        if self._reader is not None:
            return self._reader.read(texts, self._most)
        found: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
        cut: list[bool] = []
        for batch, trial in self._pace.batches(texts):
            read = self._encode(batch, add_special_tokens=self._special)
            for each in read if not trial else []:
                ids = np.array(each.ids, np.int32)
                found.append(ids if self._unknown is None else ids[ids != self._unknown])
                cut.append(bool(each.overflowing))
        starts = np.cumsum([len(each) for each in found], dtype=np.int64)
        ids = np.concatenate(found)
        if (most := int(ids.max(initial=-1))) >= self._rows:  # a token that stands before or behind every text
            problem = f"gives the number {most} to a token, the encoder has vectors for {self._rows}"
            raise BadFile(self.path, f"{problem}: they do not belong together")
        return ids, starts, np.array(cut, bool)

    @property
    def size(self) -> int:
        """The highest number of a token, and one more."""
        return max(self._vocabulary.values(), default=-1) + 1

    def names(self, ids: Sequence[int]) -> list[str]:
        """What tokens are called."""
        names = {number: name for name, number in self._vocabulary.items()}
        return [names.get(id, "") for id in ids]


def _utf8(text: str) -> str:
    return encode(text).decode("utf-8", "replace")
