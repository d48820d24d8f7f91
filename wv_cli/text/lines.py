"""Lines of a text that are left out before its words are counted: those it had before, those with few words.

Web texts repeat themselves, and dropping repeated lines is among what Mikolov et al. 2018 (arXiv 1712.09405) name as
most useful for vectors. A line is known again by 8 bytes of its BLAKE2b digest: of n different lines about n^2 / 2^65
are taken for another, none of ten million. They stand in a few sorted arrays, each at least twice as long as the next,
so that a line costs 8 bytes, and as much again while two of them become one.
"""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from wv_cli._text import SEPARATORS

Digests = NDArray[np.uint64]

_BLANK = bytes.maketrans(SEPARATORS, b" " * len(SEPARATORS))


class Lines:
    """Filters one text, all its files together. `repeated`: lines that are byte for byte another one before are left
    out, too; `least`: so are lines of fewer words. `left_out` counts them."""

    def __init__(self, *, repeated: bool = False, least: int = 0) -> None:
        self._repeated, self._least = repeated, least
        self._seen: list[Digests] = []
        self.left_out = 0

    def kept(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The chunks, cut anywhere, without the lines that are left out; a line is held until it is whole."""
        unfinished: list[bytes] = []
        for chunk in chunks:
            cut = chunk.rfind(b"\n") + 1
            if cut:
                yield self._chosen(b"".join([*unfinished, chunk[:cut]]))
                unfinished = []
            unfinished += [chunk[cut:]] if cut < len(chunk) else []
        if unfinished:
            yield self._chosen(b"".join(unfinished))

    def _chosen(self, text: bytes) -> bytes:
        lines = _lines(text)
        chosen = np.ones(len(lines), np.bool_)
        if self._least:
            chosen &= np.array([len(line.translate(_BLANK).split()) >= self._least for line in lines])
        if self._repeated:
            where = np.flatnonzero(chosen)
            digests = b"".join(hashlib.blake2b(lines[i].rstrip(b"\n"), digest_size=8).digest() for i in where)
            chosen[where] &= self._new(np.frombuffer(digests, "<u8").astype(np.uint64))
        self.left_out += len(lines) - int(chosen.sum())
        return text if chosen.all() else b"".join(lines[i] for i in np.flatnonzero(chosen))

    def _new(self, digests: Digests) -> NDArray[np.bool_]:
        """(n,) whether each digest is seen for the first time; they are seen from now on."""
        values, first = np.unique(digests, return_index=True)
        unseen = np.ones(len(values), np.bool_)
        for level in self._seen:
            places = np.minimum(np.searchsorted(level, values), len(level) - 1)
            unseen &= level[places] != values
        new = np.zeros(len(digests), np.bool_)
        new[first[unseen]] = True
        if unseen.any():
            self._seen.append(values[unseen])
        while len(self._seen) > 1 and len(self._seen[-2]) < 2 * len(self._seen[-1]):
            last = self._seen.pop()
            merged = np.concatenate([self._seen.pop(), last])
            merged.sort(kind="stable")
            self._seen.append(merged)
        return new


def _lines(text: bytes) -> list[bytes]:
    """With their ends. bytes.splitlines would cut at carriage returns, too."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])
