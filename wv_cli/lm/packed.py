"""PackedModel: a model of n-grams by bits (csrc/core/packedlm.h), as it lies in a file and is asked; making one.

A column of numbers whose values repeat, as those of back-offs do, keeps each value once, in a table, and places in it:
nothing is lost. Quantised, all columns but those of single words do, and their tables have as many values as the bits
allow; words are few, and what is unseen ends with them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wv_cli import _packedlm
from wv_cli.lm.counts import Trie
from wv_cli.words import WordList

Floats = NDArray[np.float32]
LOG_ZERO = -99.0
_ROUNDS = 50
_KEPT = (0.0, LOG_ZERO)  # values that are never quantised: no back-off, no probability


@dataclass(frozen=True, eq=False)
class PackedModel:
    """The arguments of _packedlm.Packed, and the words. `name` is that of the file, for messages about its damage."""

    words: WordList
    sizes: NDArray[np.int64]
    widths: NDArray[np.int64]
    index: NDArray[np.uint32]
    tables: Floats
    bits: NDArray[np.uint8]
    closed: bool
    name: str = "the model"

    @property
    def order(self) -> int:
        return len(self.sizes)

    @cached_property
    def asked(self) -> _packedlm.Packed:
        """The same for C. Raises ValueError where the parts do not fit each other."""
        return _packedlm.Packed(self.sizes, self.widths, self.index, self.tables, self.bits, self.closed, self.name)


def pack(trie: Trie, prob: Floats, backoff: Floats, quantise: int | None = None) -> PackedModel:
    """The model with these numbers (see NgramModel), which quantised take `quantise` bits each."""
    widths = np.zeros((trie.order, 5), np.int64)
    index, tables, columns = [np.empty(0, np.uint32)], [np.empty(0, np.float32)], [np.empty(0, np.uint8)]

    def add(level: int, place: int, values: Floats, plain: int) -> None:
        table, codes, width = _coded(values, plain, quantise if level else None)
        widths[level, place : place + 2] = width, len(table)
        tables.append(table)
        columns.append(_packedlm.write(codes, width))

    word_width = (len(trie.words) - 1).bit_length()
    for length in range(1, trie.order + 1):
        nodes, level = trie.level(length), length - 1
        if length > 1:
            widths[level, 0] = word_width
            columns.append(_packedlm.write(trie.word[nodes].view(np.uint32), word_width))
        add(level, 1, prob[nodes], _packedlm.PROB_WIDTH)
        if length < trie.order:
            add(level, 3, backoff[nodes], _packedlm.BACKOFF_WIDTH)
            pairs, offsets = _packedlm.write_offsets(np.ascontiguousarray(trie.children(length)))
            index.append(pairs)
            columns.append(offsets)
    columns.append(np.zeros(_packedlm.PADDING, np.uint8))
    parts = np.concatenate(index), np.concatenate(tables), np.concatenate(columns)
    return PackedModel(trie.words, np.array(trie.sizes, np.int64), widths, *parts, closed=_closed(trie))


def _closed(trie: Trie) -> bool:
    """Whether every n-gram's end is listed, too."""
    return all(
        bool((trie.suffix[trie.level(length)] >= trie.levels[length - 2]).all()) for length in range(2, trie.order + 1)
    )


def _coded(values: Floats, plain: int, quantise: int | None) -> tuple[Floats, NDArray[np.uint32], int]:
    """(table, places in it, their width), or without a table the bits of numbers that take `plain` of them."""
    found, counts = np.unique(values, return_counts=True)
    table = found if quantise is None or len(found) <= 1 << quantise else _quantised(found, counts, 1 << quantise)
    width = (len(table) - 1).bit_length() if len(table) else 0
    if len(values) * width + 32 * len(table) >= len(values) * plain:
        mask = np.uint32((1 << plain) - 1)
        return np.empty(0, np.float32), np.ascontiguousarray(values, np.float32).view(np.uint32) & mask, plain
    places = np.searchsorted(table, values) if len(table) == len(found) else _nearest(table, values)
    return table, places.astype(np.uint32), width


def _quantised(values: Floats, counts: NDArray[np.int64], most: int) -> Floats:
    """At most so many values that stand for the ascending `values`, of which `counts` there are: Lloyd's algorithm from
    bins of as many each, so that the sum of squared differences is small and the mean stays."""
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


def _nearest(table: Floats, values: Floats) -> NDArray[np.int64]:
    """The place of the value of the table that is nearest to each; those of _KEPT are their own."""
    wide = table.astype(np.float64)
    return np.asarray(np.searchsorted((wide[1:] + wide[:-1]) / 2, values.astype(np.float64)), np.int64)
