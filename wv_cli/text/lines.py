"""Lines of a text that are left out before its words are counted: those it had before, those with few words.

Web texts repeat themselves, and dropping repeated lines is among what Mikolov et al. 2018 (arXiv 1712.09405) name as
most useful for vectors. A line is known again by its digest (text/digests.py).
"""

from collections.abc import Iterable, Iterator

import numpy as np

from wv_cli._text import SEPARATORS
from wv_cli.text.digests import DigestSet, digests

_BLANK = bytes.maketrans(SEPARATORS, b" " * len(SEPARATORS))


class Lines:
    """Filters one text, all its files together. `repeated`: lines that are byte for byte another one before are left
    out, too; `least`: so are lines of fewer words, not counting those that begin with one of `uncounted`, as labels do.
    `left_out` counts them."""

    def __init__(self, *, repeated: bool = False, least: int = 0, uncounted: tuple[bytes, ...] = ()) -> None:
        self._repeated, self._least, self._uncounted = repeated, least, uncounted
        self._seen = DigestSet()
        self.left_out = 0

    def filter_chunks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The chunks, cut anywhere, without the lines that are left out; a line is held until it is whole."""
        yield from map(self._drop_lines, whole_lines(chunks))

    def _drop_lines(self, text: bytes) -> bytes:
        lines = _lines(text)
        chosen = np.ones(len(lines), np.bool_)
        if self._least:
            chosen &= np.array([self._count_words(line) >= self._least for line in lines])
        if self._repeated:
            where = np.flatnonzero(chosen)
            chosen[where] = self._seen.first_seen(digests(lines[i].rstrip(b"\n") for i in where))
        self.left_out += len(lines) - int(chosen.sum())
        return text if chosen.all() else b"".join(lines[i] for i in np.flatnonzero(chosen))

    def _count_words(self, line: bytes) -> int:
        words = line.translate(_BLANK).split()
        return len(words) - sum(word.startswith(self._uncounted) for word in words if self._uncounted)


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks of whole lines; the last may lack its newline."""
    held: list[bytes] = []
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if not end:
            held.append(chunk)
            continue
        lines = chunk if end == len(chunk) else memoryview(chunk)[:end]  # copied once
        yield b"".join([*held, lines])
        held = [chunk[end:]] if end < len(chunk) else []
    if held:
        yield b"".join(held)


def _lines(text: bytes) -> list[bytes]:
    """With their ends. bytes.splitlines would cut at carriage returns, too."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])
