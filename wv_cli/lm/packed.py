"""PackedModel: a model of n-grams by bits (csrc/core/packedlm.h), as it lies in a file and is asked; making one.

A column of numbers whose values repeat, as those of back-offs do, keeps each value once, in a table, and places in it:
nothing is lost. Quantised, all columns but those of single words do, and their tables have as many values as the bits
allow; words are few, and what is unseen ends with them.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wv_cli import _packedlm
from wv_cli.lm.trie import Trie
from wv_cli.system.shelf import Shelf
from wv_cli.words import WordList

Floats = NDArray[np.float32]
LOG_ZERO = -99.0
_ROUNDS = 50
_BLOCK = 1 << 20  # numbers at a time; a multiple of 64, so that every block fills whole words
_KEPT = (0.0, LOG_ZERO)  # values that are never quantised: no back-off, no probability


@dataclass(frozen=True, eq=False)
class PackedModel:
    """The arguments of _packedlm.Packed, and the words. `name` is that of the file, for messages about its damage;
    `shelf` has what was made here."""

    words: WordList
    sizes: NDArray[np.int64]
    widths: NDArray[np.int64]
    index: NDArray[np.uint32]
    tables: Floats
    bits: NDArray[np.uint8]
    closed: bool
    name: str = "the model"
    shelf: Shelf = field(default_factory=Shelf)

    @property
    def order(self) -> int:
        return len(self.sizes)

    @cached_property
    def asked(self) -> _packedlm.Packed:
        """The same for C. Raises ValueError where the parts do not fit each other."""
        return _packedlm.Packed(self.sizes, self.widths, self.index, self.tables, self.bits, self.closed, self.name)


def pack(trie: Trie, prob: Floats, backoff: Floats, quantise: int | None = None) -> PackedModel:
    """The model with these numbers (see NgramModel), which quantised take `quantise` bits each."""
    shelf = trie.shelf
    widths = np.zeros((trie.order, 5), np.int64)
    index, tables, bits = [np.empty(0, np.uint32)], [np.empty(0, np.float32)], shelf.pieces(np.uint8)

    def add(level: int, place: int, values: Floats, plain: int) -> None:
        bins = quantise if level else None
        table = _distinct(values, plain) if bins is None else _quantised(*np.unique(values, return_counts=True), bins)
        width = plain if table is None else (len(table) - 1).bit_length()
        widths[level, place : place + 2] = width, 0 if table is None else len(table)
        tables.append(np.empty(0, np.float32) if table is None else table)
        for begin in range(0, len(values), _BLOCK):
            bits.append(_packedlm.write(_codes(values[begin : begin + _BLOCK], table, plain), width))
            shelf.let_go()

    try:
        word_width = (len(trie.words) - 1).bit_length()
        for length in range(1, trie.order + 1):
            nodes, level = trie.level(length), length - 1
            if length > 1:
                widths[level, 0] = word_width
                for begin in range(nodes.start, nodes.stop, _BLOCK):
                    part = trie.word[begin : min(begin + _BLOCK, nodes.stop)]
                    bits.append(_packedlm.write(part.view(np.uint32), word_width))
            add(level, 1, prob[nodes], _packedlm.PROB_WIDTH)
            if length < trie.order:
                add(level, 3, backoff[nodes], _packedlm.BACKOFF_WIDTH)
                pairs, offsets = _packedlm.write_offsets(trie.children(length))
                index.append(pairs)
                bits.append(offsets)
            shelf.let_go()
        bits.append(np.zeros(_packedlm.PADDING, np.uint8))
        whole = shelf.new(bits.length, np.uint8)
        bits.move(whole)
    finally:
        shelf.drop_pieces()
    parts = np.concatenate(index), np.concatenate(tables), whole
    sizes = np.array(trie.sizes, np.int64)
    return PackedModel(trie.words, sizes, widths, *parts, closed=_closed(trie), shelf=shelf)


def _closed(trie: Trie) -> bool:
    """Whether every n-gram's end is listed, too."""
    for length in range(2, trie.order + 1):
        for nodes in trie.blocks(length):
            if (trie.suffix[nodes] < trie.levels[length - 2]).any():
                return False
    return True


def _distinct(values: Floats, plain: int) -> Floats | None:
    """The values there are, ascending, or None where their bits, `plain` of each, take no more room."""
    table = np.empty(0, np.float32)
    for begin in range(0, len(values), _BLOCK):
        table = np.union1d(table, values[begin : begin + _BLOCK])
        width = (len(table) - 1).bit_length()
        if len(values) * width + 32 * len(table) >= len(values) * plain:
            return None
    return table if len(values) else None


def _codes(values: Floats, table: Floats | None, plain: int) -> NDArray[np.uint32]:
    """The place in the table that is nearest to each value; without a table their bits."""
    if table is None:
        return np.ascontiguousarray(values).view(np.uint32) & np.uint32((1 << plain) - 1)
    wide = table.astype(np.float64)
    return np.searchsorted((wide[1:] + wide[:-1]) / 2, values.astype(np.float64)).astype(np.uint32)


def _quantised(values: Floats, counts: NDArray[np.int64], bits: int) -> Floats | None:
    """At most 2^bits values that stand for the ascending `values`, of which `counts` there are: Lloyd's algorithm from
    bins of as many each, so that the sum of squared differences is small and the mean stays."""
    most = 1 << bits
    if len(values) <= most:
        return values if len(values) else None
    kept = np.array([value for value in _KEPT if value in values], np.float32)[: most - 1]
    free = ~np.isin(values, kept)
    numbers, weights = values[free].astype(np.float64), counts[free].astype(np.float64)
    weight, sums = (np.concatenate([[0.0], np.cumsum(each)]) for each in (weights, weights * numbers))
    bins = most - len(kept)
    bounds = np.searchsorted(weight, np.arange(1, bins) * (weight[-1] / bins))
    centres = np.empty(0)
    for _ in range(_ROUNDS):
        edges = np.unique([0, *bounds.tolist(), len(numbers)])
        before, centres = centres, np.diff(sums[edges]) / np.diff(weight[edges])
        if np.array_equal(before, centres):
            break
        bounds = np.searchsorted(numbers, (centres[1:] + centres[:-1]) / 2)
    return np.unique(np.concatenate([kept, centres.astype(np.float32)]))
