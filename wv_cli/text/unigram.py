"""A file of sentencepiece, and what cuts texts by it in C (csrc/core/pieces.h): unigram models with its plain rules.

The file is a message of Protocol Buffers, sentencepiece_model.proto. Other models, with pieces for bytes or pieces of
the user's own, are left to the package.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from wv_cli._pieces import Unigram

_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6  # kinds of pieces
_KINDS = {1: "unigram", 2: "BPE", 3: "words", 4: "characters"}
_PENALTY = np.float32(10)  # of a character in no piece, below the least probable piece
_FLOAT = struct.Struct("<f")


def read_unigram(contents: bytes) -> Unigram | None:
    """The model of a file that sentencepiece has accepted; None where the package must cut."""
    try:
        return _read(contents)
    except ValueError:
        return None


@dataclass(frozen=True, eq=False)
class PieceFile:
    """`pieces` are (bytes, score, kind) by their ids; `trainer` and `normalizer` settings by the numbers of their
    fields."""

    pieces: list[tuple[bytes, float, int]]
    trainer: dict[int, Any]
    normalizer: dict[int, Any]

    @classmethod
    def from_bytes(cls, contents: bytes) -> Self:
        """Raises ValueError for what is no such file."""
        try:
            return cls._parse(contents)
        except (IndexError, KeyError, TypeError, struct.error) as error:  # a number where bytes belong, and their like
            raise ValueError from error

    @classmethod
    def _parse(cls, contents: bytes) -> Self:
        pieces: list[tuple[bytes, float, int]] = []
        parts = {_TRAINER: b"", _NORMALIZER: b""}
        for field, value in _fields(contents):
            if field == _PIECE:
                found = dict(_fields(value))
                score = _FLOAT.unpack(found[2])[0] if 2 in found else 0.0
                pieces.append((found.get(1, b""), score, found.get(3, NORMAL)))
            elif field in parts:
                parts[field] = value
        trainer, normalizer = dict(_fields(parts[_TRAINER])), dict(_fields(parts[_NORMALIZER]))
        are_bytes = all(isinstance(spelling, bytes) for spelling, _, _ in pieces)
        if not are_bytes or not isinstance(normalizer.get(2, b""), bytes) or trainer.get(3, 1) not in _KINDS:
            raise ValueError
        return cls(pieces, trainer, normalizer)

    @property
    def kind(self) -> str:
        """Of the model: unigram, BPE, words or characters."""
        return _KINDS[self.trainer.get(3, 1)]

    @property
    def has_bytes(self) -> bool:
        """Whether characters in no piece become bytes."""
        return bool(self.trainer.get(35))

    @property
    def ends_with_blanks(self) -> bool:
        """Whether blanks stand at the ends of pieces."""
        return bool(self.trainer.get(24))

    @property
    def rules(self) -> bytes:
        """The table that texts are normalized by."""
        return bytes(self.normalizer.get(2, b""))

    @property
    def adds_prefix(self) -> bool:
        return bool(self.normalizer.get(3, 1))

    @property
    def removes_blanks(self) -> bool:
        return bool(self.normalizer.get(4, 1))

    @property
    def escapes(self) -> bool:
        return bool(self.normalizer.get(5, 1))


def _read(contents: bytes) -> Unigram | None:
    file = PieceFile.from_bytes(contents)
    known = [(spelling, id, score) for id, (spelling, score, kind) in enumerate(file.pieces) if kind == NORMAL]
    unknown = [id for id, (_, _, kind) in enumerate(file.pieces) if kind == UNKNOWN]
    if any(kind == USER_DEFINED or b"\0" in spelling for spelling, _, kind in file.pieces):
        return None
    if file.kind != "unigram" or file.ends_with_blanks or file.has_bytes or len(unknown) != 1 or not known:
        return None
    return Unigram(
        known,
        file.rules,
        adds_prefix=file.adds_prefix,
        removes_blanks=file.removes_blanks,
        escapes=file.escapes,
        unknown=unknown[0],
        unknown_score=float(np.float32(min(score for _, _, score in known)) - _PENALTY),
    )


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """(number, value) of each field: an integer, or bytes."""
    at = 0
    while at < len(message):
        key, at = _integer(message, at)
        if key & 7 == 0:
            value, at = _integer(message, at)
            yield key >> 3, value
        else:
            size, at = _integer(message, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            if at + size > len(message):
                raise ValueError("the message is cut short")
            yield key >> 3, message[at : at + size]
            at += size


def _integer(message: bytes, at: int) -> tuple[int, int]:
    byte = message[at]
    value, shift, at = byte & 0x7F, 7, at + 1
    while byte & 0x80:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
    return value, at
