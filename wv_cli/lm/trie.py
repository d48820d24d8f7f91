"""Trie: all n-grams up to an order, as csrc/core/ngrams.h has them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from wv_cli._lm import NO_NODE, Links
from wv_cli.io.shelf import Shelf
from wv_cli.io.threads import run_all
from wv_cli.words import WordList

Ids = NDArray[np.int32]
_BLOCK = 1 << 16  # n-grams at a time
_LINK_BYTES = 8  # of an n-gram that links lead to: its children's begin, and its word


@dataclass(frozen=True, eq=False)
class Trie:
    """The n-grams of n words are the nodes levels[n - 1] .. levels[n]; words come first, in order of their ids, SPECIAL
    before all others. `word` is the last word of each node, first[node]:first[node + 1] its children, `suffix` the node
    without its first word (-1 for words). `shelf` has the arrays, and room for those made of them."""

    words: WordList
    levels: NDArray[np.int64]
    word: Ids
    first: Ids
    suffix: Ids
    shelf: Shelf = field(default_factory=Shelf)

    @property
    def order(self) -> int:
        return len(self.levels) - 1

    @cached_property
    def links(self) -> Links:
        """The same for C."""
        return _check_links(Links(self.levels, self.word, self.first, self.suffix, True), len(self.word), self.shelf)

    @property
    def sizes(self) -> list[int]:
        """How many n-grams there are of each length."""
        return [int(size) for size in np.diff(self.levels)]

    def level(self, length: int) -> slice:
        """The nodes of so many words."""
        return slice(int(self.levels[length - 1]), int(self.levels[length]))

    def children(self, length: int, begin: int = 0, end: int | None = None) -> Ids:
        """first and last child of the nodes of so many words, or of those from `begin` to `end` among them, (nodes +
        1,), counted from the begin of their level."""
        level = self.level(length)
        last = level.stop if end is None else level.start + end
        return np.asarray(self.first[level.start + begin : last + 1] - np.int32(level.stop), np.int32)

    def blocks(self, length: int) -> Iterator[slice]:
        """The nodes of a length block by block. Where they have contexts, all n-grams of a context are in one block."""
        nodes = self.level(length)
        if length == 1 or nodes.start == nodes.stop:
            yield nodes
            return
        starts = self.first[self.level(length - 1)]
        begin = nodes.start
        while begin < nodes.stop:
            place = int(np.searchsorted(starts, np.int32(min(begin + _BLOCK, nodes.stop))))
            end = int(starts[place]) if place < len(starts) else nodes.stop
            yield slice(begin, end)
            begin = end
            self.shelf.let_go()

    def pieces(self, length: int) -> Iterator[slice]:
        """The nodes of a length, _BLOCK after _BLOCK, whatever their contexts."""
        nodes = self.level(length)
        return (slice(begin, min(begin + _BLOCK, nodes.stop)) for begin in range(nodes.start, nodes.stop, _BLOCK))

    def contexts(self, length: int, nodes: slice) -> tuple[slice, NDArray[np.int64]]:
        """(the contexts of a block of n-grams, where the n-grams of each begin in it). Contexts without n-grams belong
        to the block that follows, or to the last one."""
        all_contexts = self.level(length - 1)
        starts = self.first[all_contexts]
        begin, end = (int(np.searchsorted(starts, np.int32(edge))) for edge in (nodes.start, nodes.stop))
        end = len(starts) if nodes.stop == self.levels[length] else end
        return slice(all_contexts.start + begin, all_contexts.start + end), starts[begin:end] - np.int64(nodes.start)

    def rows(self, length: int) -> Ids:
        """The ids of the n-grams of so many words, (nodes, length)."""
        return self.rows_of(length, self.level(length))

    def rows_of(self, length: int, nodes: slice) -> Ids:
        """The same of some of them."""
        rows = np.empty((nodes.stop - nodes.start, length), np.int32)
        found = np.arange(nodes.start, nodes.stop)
        for column in range(length - 1, -1, -1):
            rows[:, column] = self.word[found]
            if column and len(found):
                above = self.level(column)
                starts = self.first[above]
                low, high = np.searchsorted(starts, found[[0, -1]].astype(np.int32), side="right")
                found = above.start + low - 1 + np.searchsorted(starts[low:high], found.astype(np.int32), side="right")
        return rows


def _check_links(links: Links, nodes: int, shelf: Shelf) -> Links:
    for end in [*range(_BLOCK, nodes, _BLOCK), nodes]:
        links.check(end)
        shelf.let_go()
    return links


def link(
    levels: NDArray[np.int64], word: Ids, first: Ids, shelf: Shelf | None = None, threads: int = 1
) -> tuple[Ids, int]:
    """(suffix links (nodes,), how many n-grams lack the one without their first word). Raises ValueError for arrays
    that are those of no trie."""
    shelf = shelf or Shelf()
    suffix = shelf.new(len(word), np.int32)
    links = _check_links(Links(levels, word, first, suffix, False), len(word), shelf)
    lacking, lock = 0, Lock()

    def fill(block: tuple[int, int, int], span: tuple[int, int]) -> None:
        nonlocal lacking
        found = links.fill(*block, *span)
        shelf.let_go()
        with lock:
            lacking += found

    for length in range(1, len(levels) - 1):
        blocks = [(length, *edge) for edge in pairwise(_edges(levels, first, length, shelf))]
        for span in _link_spans(levels, first, length, shelf):
            run_all(partial(fill, span=span), blocks, threads)
    return suffix, lacking


def _edges(levels: NDArray[np.int64], first: Ids, length: int, shelf: Shelf) -> list[int]:
    """Cuts the nodes of a length into ranges that have about _BLOCK children each."""
    begin, end = int(levels[length - 1]), int(levels[length])
    edges = [begin]
    while edges[-1] < end:
        wanted = np.int32(min(int(first[edges[-1]]) + _BLOCK, int(first[end])))
        edges.append(max(begin + int(np.searchsorted(first[begin:end], wanted)), edges[-1] + 1))
        shelf.let_go()
    return edges


def _link_spans(levels: NDArray[np.int64], first: Ids, length: int, shelf: Shelf) -> list[tuple[int, int]]:
    """Ranges of the suffixes of n-grams of a length, whose children may be searched in any order. Where n-grams were
    dropped a suffix may be of any shorter length: those are in the first range."""
    if length == 1:
        return [(NO_NODE, 0)]  # the root, of which every word is a child
    begin, end = int(levels[length - 2]), int(levels[length - 1])
    children = [low for low, _ in shelf.spans(int(first[begin]), int(first[end]), _LINK_BYTES)]
    cuts = begin + np.searchsorted(first[begin:end], np.array(children[1:], np.int32))
    return list(pairwise(np.unique([0, *cuts, end]).tolist()))
