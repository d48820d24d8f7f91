"""A file of sentencepiece read for what cuts texts in C (csrc/core/pieces.h): unigram models with its plain rules.

The file is a message of Protocol Buffers, sentencepiece_model.proto. Other models, with pieces for bytes or pieces of
the user's own, are left to the package.
"""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from wv_cli._pieces import Unigram

_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3
_NORMAL, _UNKNOWN, _USER_DEFINED = 1, 2, 4
_PENALTY = np.float32(10)  # of a character in no piece, below the least probable piece
_FLOAT = struct.Struct("<f")


def read_unigram(contents: bytes) -> Unigram | None:
    """The model of a file that sentencepiece has accepted; None where the package must cut."""
    try:
        return _read(contents)
    except (ValueError, IndexError, KeyError, struct.error):
        return None


def _read(contents: bytes) -> Unigram | None:
    pieces: list[tuple[bytes, int, float, int]] = []
    unknown: list[tuple[bytes, int, float, int]] = []
    trainer, normalizer = b"", b""
    for field, value in _fields(contents):
        if field == _PIECE:
            spelling, score, kind = b"", 0.0, _NORMAL
            for part, found in _fields(value):
                if part == 1:
                    spelling = found
                elif part == 2:
                    score = _FLOAT.unpack(found)[0]
                elif part == 3:
                    kind = found
            number = len(pieces) + len(unknown)
            if kind == _USER_DEFINED or b"\0" in spelling:
                return None
            (pieces if kind == _NORMAL else unknown).append((spelling, number, score, kind))
        elif field == _TRAINER:
            trainer = value
        elif field == _NORMALIZER:
            normalizer = value
    asked, rules = dict(_fields(trainer)), dict(_fields(normalizer))
    ids = [number for _, number, _, kind in unknown if kind == _UNKNOWN]
    if asked.get(3, 1) != 1 or asked.get(24) or asked.get(35) or len(ids) != 1 or not pieces:
        return None
    return Unigram(
        [row[:3] for row in pieces],
        rules.get(2, b""),
        adds_prefix=bool(rules.get(3, 1)),
        removes_blanks=bool(rules.get(4, 1)),
        escapes=bool(rules.get(5, 1)),
        unknown=ids[0],
        unknown_score=float(np.float32(min(row[2] for row in pieces)) - _PENALTY),
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
            yield key >> 3, message[at : at + size]
            at += size


def _integer(message: bytes, at: int) -> tuple[int, int]:
    byte = message[at]
    value, shift, at = byte & 0x7F, 7, at + 1
    while byte & 0x80:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
    return value, at
