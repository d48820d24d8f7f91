"""Which part of the inputs one of several processes reads.

The inputs, one after the other, are divided into parts of equal size; a cut inside a file goes to the next line end,
or, where a line is longer than _LONG_LINE and may be divided, to the next space. Every process computes the same cuts,
so that each byte is read once. A compressed file can only be read from its start: it belongs to the part in which its
middle lies.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from wv_cli.errors import WvError, reason
from wv_cli.system.compression import is_compressed
from wv_cli.text.raw_files import blocks, called, opened

_LONG_LINE = 1 << 20
_BLOCK, _HEAD = 1 << 16, 64


@dataclass(frozen=True)
class Part:
    """Number `index` of `count` parts of equal size; with `whole_lines` no line is divided, however long."""

    index: int
    count: int
    whole_lines: bool = False

    @classmethod
    def named(cls, text: str, *, whole_lines: bool = False) -> "Part":
        """Part I of N from `I/N`, counted from 1. Raises ValueError."""
        index, count = map(int, text.split("/"))
        if not 1 <= index <= count:
            raise ValueError(text)
        return cls(index - 1, count, whole_lines)

    def of(self, paths: list[str]) -> list[tuple[str, int, int]]:
        """(path, first byte, byte after the last) of what this part reads, in order. Raises WvError for what is no
        file of a known size, and when there is nothing to read."""
        sizes = [size_of(path) for path in paths]
        total = sum(sizes)
        first, last = (total * each // self.count for each in (self.index, self.index + 1))
        found = []
        start = 0
        for path, size in zip(paths, sizes, strict=True):
            if _packed(path):
                middle = start + size // 2
                begin, end = (0, size) if first <= middle < last else (0, 0)
            else:
                begin, end = (self._cut(path, each - start, size) for each in (first, last))
            if begin < end:
                found.append((path, begin, end))
            start += size
        if not found:
            message = (
                f"no text for part {self.index + 1} of {self.count}: a compressed file is read as a whole, and a line "
                "is in one part; give more files, unpack them, or use fewer processes"
            )
            raise WvError(message)
        return found

    def _cut(self, path: str, place: int, size: int) -> int:
        """The first byte at or after `place` that begins a line, or a word of a long one."""
        if place <= 0 or place >= size:
            return min(max(place, 0), size)
        with opened(path) as raw:
            raw.seek(place - 1)
            space = 0  # the byte after the first one
            at = place - 1
            for block in blocks(raw, path, _BLOCK):
                end = block.find(b"\n")
                if end >= 0 and (self.whole_lines or not space or at + end - place < _LONG_LINE):
                    return at + end + 1
                if not space and (found := block.find(b" ")) >= 0:
                    space = at + found + 1
                at += len(block)
                if space and not self.whole_lines and at - place >= _LONG_LINE:
                    return space
        return size


def size_of(path: str) -> int:
    """Its bytes. Raises WvError for what is no file that can be read from any place."""
    try:
        status = os.fstat(0) if path == "-" else Path(path).stat()
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}"
        raise WvError(message) from error
    if path == "-" or not stat.S_ISREG(status.st_mode):
        message = f"{called(path)}: several processes cannot share a stream; give files, which all of them can read"
        raise WvError(message)
    return status.st_size


def _packed(path: str) -> bool:
    with opened(path) as raw:
        return is_compressed(raw.read(_HEAD), path)
