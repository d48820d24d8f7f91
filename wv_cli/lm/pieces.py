"""Pieces of words, as a model of sentencepiece cuts a text."""

import os
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.extra import require
from wv_cli.io.input import open_input
from wv_cli.io.kinds import HEAD_BYTES, kind_of
from wv_cli.text.unigram import read_unigram
from wv_cli.words import WordList, encode

_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # but those that stand for a byte
_EXPECTED = "a model of sentencepiece (.model)"


class Pieces:
    """A model of sentencepiece in a file. Bytes that are no UTF-8, and lone surrogates, are in no piece.

    A unigram model with plain rules cuts by csrc/core/pieces.h in every call, as sentencepiece 0.2.2 and later do; the
    package cuts by all others."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises WvError where the package is missing or the file cannot be read, BadFile for another file."""
        package = require("sentencepiece", "--tokenizer")
        with open_input(path, _EXPECTED) as source:
            contents = bytes(source.contents())
        head = contents[:HEAD_BYTES]
        try:
            self._processor = package.SentencePieceProcessor(model_proto=contents)
        except RuntimeError:  # with a line of its source
            problem = f"expected {_EXPECTED}, found {kind_of(head) or show_bytes(head, 20)}"
            raise BadFile(source.name, problem, byte=0) from None
        self._name, self._unigram = source.name, read_unigram(contents)

    @property
    def unknown(self) -> int:
        """The id of what is in no piece."""
        return int(self._processor.unk_id())

    def pieces(self) -> WordList:
        """All pieces, by their ids."""
        return WordList.from_words(map(self._piece, range(self._processor.get_piece_size())))

    def _piece(self, id: int) -> str:
        """How a piece is spelled. Raises BadFile for one that is no text."""
        try:
            return str(self._processor.id_to_piece(id))
        except UnicodeDecodeError as error:
            found = show_bytes(error.object, 20)
            raise BadFile(self._name, f"piece {id}: expected UTF-8, found {found}; the file is damaged") from None

    def cut(self, texts: Sequence[str]) -> list[list[str]]:
        """The pieces of each text. What is in no piece is one with its own spelling."""
        if self._unigram is None:
            return self._encode(texts, str)
        _, spellings = self.stream(texts)
        unlisted, unknown = iter(spellings or ()), self.unknown
        return [[next(unlisted) if id == unknown else self._piece(id) for id in ids] for ids in self.ids(texts)]

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Their ids."""
        if self._unigram is None:
            return self._encode(texts, int)
        flat, _ = self.stream(texts)
        ends = np.flatnonzero(flat == -1)
        return [part[part >= 0].tolist() for part in np.split(flat, ends)[: len(texts)]]

    def stream(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], WordList | None]:
        """The ids with -1 behind each text, and the spellings of those that are in no piece. The package does not tell
        these: None."""
        if self._unigram is not None:
            ids, blob, starts = self._unigram.cut([encode(_SURROGATE.sub("\udcff", text)) for text in texts])
            return ids, WordList(blob, starts)
        found = self.ids(texts)
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        flat = np.fromiter(chain.from_iterable(found), np.int32, int(lengths.sum()))
        return np.insert(flat, np.cumsum(lengths), np.int32(-1)), None

    def _encode(self, texts: Sequence[str], kind: type) -> list[list[Any]]:
        found: list[list[Any]]
        given: list[str | bytes] = list(texts)
        try:
            found = self._processor.encode(given, out_type=kind, num_threads=1)
        except TypeError:  # it does not take surrogates
            given = [encode(_SURROGATE.sub("\udcff", text)) for text in texts]
            found = self._processor.encode(given, out_type=kind, num_threads=1)
        return found


def join_pieces(lines: Iterable[Iterable[str]]) -> bytes:
    """The pieces of lines as a text, divided by blanks. A NUL would divide them, too, and is in no word of a model."""
    return encode("".join(f"{' '.join(pieces).replace(chr(10), ' ')}\n" for pieces in lines).replace("\0", "\1"))
