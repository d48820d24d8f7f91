"""A file's text -> chunks: paragraphs, lines, runs of words, or records."""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wv_cli.retrieval.config import TextConfig
from wv_cli.text.records.other_fields import other_fields
from wv_cli.text.records.reading import Block
from wv_cli.text.search_tokens import count_words, cut_words
from wv_cli.vectors.stored_index import LONGEST_CHUNK

_LONGEST_CHARACTER, _MOST_MARKS = 4, 64  # bytes


class Chunk(NamedTuple):
    """`line`, from 1, is that of its beginning. `record` has the other fields of a record as JSON."""

    line: int
    text: bytes
    record: bytes = b""


def cut(text: Iterable[bytes], config: TextConfig) -> Iterator[Chunk]:
    """The chunks of a text that comes in blocks of any size."""
    if config.chunks == "line":
        yield from (each for each in _lines(text) if each.text.strip())
        return
    first, held, words, size = 0, list[bytes](), 0, 0
    for line in _lines(text):
        if not line.text and not held:
            continue
        for number, piece, _ in _runs(line, config.words):
            count = count_words(piece)
            full = words + count > config.words or size + len(piece) >= LONGEST_CHUNK
            if held and (full or (not count and config.chunks == "paragraph")):
                yield Chunk(first, b"\n".join(held).rstrip())
                held, words, size = [], 0, 0
            if count or held:
                first = first if held else number
                held.append(piece)
                words, size = words + count, size + len(piece) + 1
    if held:
        yield Chunk(first, b"\n".join(held).rstrip())


def _lines(text: Iterable[bytes]) -> Iterator[Chunk]:
    """Lines without their ends; a longer one than a chunk may be comes in pieces, each with its line's number."""
    number, held = 1, b""
    for block in text:
        *lines, held = (held + block).split(b"\n")
        for line in lines:
            line = line.removesuffix(b"\r")
            if len(line) <= LONGEST_CHUNK:
                yield Chunk(number, line)
            else:
                yield from (Chunk(number, piece) for piece in _pieces(line))
            number += 1
        if len(held) > LONGEST_CHUNK:
            *pieces, held = _pieces(held)
            yield from (Chunk(number, piece) for piece in pieces)
    yield from (Chunk(number, piece) for piece in _pieces(held.removesuffix(b"\r")))


def _pieces(text: bytes) -> list[bytes]:
    """No longer than a chunk may be, cut behind a blank where there is one, never inside a character."""
    pieces, begin = [], 0
    while len(text) - begin > LONGEST_CHUNK:
        end = begin + LONGEST_CHUNK
        place = max(text.rfind(b" ", begin, end), text.rfind(b"\t", begin, end)) + 1 or _before_a_letter(text, end)
        pieces.append(text[begin:place])
        begin = place
    return [*pieces, text[begin:]]


def _before_a_letter(text: bytes, end: int) -> int:
    """The last place up to `end` that is not inside a letter: neither between its bytes nor before its marks."""
    if text[end] < 0x80:
        return end
    end -= _LONGEST_CHARACTER  # so that what begins at the place is there, whatever comes behind the text
    for place in range(end, end - _MOST_MARKS, -1):
        character = text[place : place + _LONGEST_CHARACTER].decode("utf-8", "ignore")[:1]
        if text[place] & 0xC0 != 0x80 and character and unicodedata.category(character)[0] not in "MC":
            return place
    return end


def _runs(line: Chunk, words: int) -> list[Chunk]:
    """The line, or runs of so many words of it."""
    if len(line.text) <= 2 * words:
        return [line]
    return [Chunk(line.line, piece) for piece in cut_words(line.text, words)]


def cut_records(blocks: Iterable[Block]) -> Iterator[Chunk]:
    """A chunk for each record that has a text; of Parquet the line is the number of the row."""
    line = 1
    for block in blocks:
        numbers, lines = block.lines()
        for number, text, record in zip(numbers, block.each, other_fields(block), strict=True):
            if text.strip():
                yield from (Chunk(line + number, piece, record) for piece in _pieces(text))
        line += lines
