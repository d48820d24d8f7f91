"""A file's text -> chunks: paragraphs, lines, runs of words, or records."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from wv_cli.retrieval.config import TextConfig
from wv_cli.search.stored_index import LONGEST_CHUNK
from wv_cli.text.records.reading import Block
from wv_cli.text.records.scanned import ScannedBlock

_WORD = re.compile(rb"\S+")


class Chunk(NamedTuple):
    line: int  # of its beginning, from 1
    text: bytes


def cut(text: Iterable[bytes], config: TextConfig) -> Iterator[Chunk]:
    """The chunks of a text that comes in blocks of any size."""
    if config.chunks == "line":
        yield from (each for each in _lines(text) if each.text.strip())
        return
    first, held, words, size = 0, list[bytes](), 0, 0
    for line in _lines(text):
        for number, piece in _runs(line, config.words):
            count = len(piece.split())
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
            yield from (Chunk(number, piece) for piece in _pieces(line.removesuffix(b"\r")))
            number += 1
        if len(held) > LONGEST_CHUNK:
            *pieces, held = _pieces(held)
            yield from (Chunk(number, piece) for piece in pieces)
    yield from (Chunk(number, piece) for piece in _pieces(held.removesuffix(b"\r")))


def _pieces(text: bytes) -> list[bytes]:
    """No longer than a chunk may be, cut behind a blank where there is one."""
    pieces, begin = [], 0
    while len(text) - begin > LONGEST_CHUNK:
        end = begin + LONGEST_CHUNK
        place = max(text.rfind(b" ", begin, end), text.rfind(b"\t", begin, end)) + 1 or end
        pieces.append(text[begin:place])
        begin = place
    return [*pieces, text[begin:]]


def _runs(line: Chunk, words: int) -> list[Chunk]:
    """The line, or runs of so many words of it."""
    if len(line.text) <= 2 * words:
        return [line]
    starts = [found.start() for found in _WORD.finditer(line.text)][words::words]
    if not starts:
        return [line]
    ends = [*starts, len(line.text)]
    return [Chunk(line.line, line.text[begin:end]) for begin, end in zip([0, *starts], ends, strict=True)]


def cut_records(blocks: Iterable[Block]) -> Iterator[Chunk]:
    """A chunk for each record that has a text; of Parquet the line is the number of the row."""
    line = 1
    for block in blocks:
        numbers, lines = _lines_of(block)
        for number, text in zip(numbers, block.each, strict=True):
            if text.strip():
                yield from (Chunk(line + number, piece) for piece in _pieces(text))
        line += lines


def _lines_of(block: Block) -> tuple[list[int], int]:
    """(the line of each record, from 0, how many lines the block has)."""
    if not isinstance(block, ScannedBlock):
        return list(range(block.count)), block.count
    ends = np.flatnonzero(np.frombuffer(block.raw, np.uint8) == ord("\n"))
    header = block.header.count(b"\n")
    good = np.searchsorted(ends, block.good_places) + header
    return good.tolist(), len(ends) + header
