"""Packing a model of n-grams by bits (csrc/core/packedlm.h): making a PackedModel.

A column of numbers whose values repeat, as those of back-offs do, keeps each value once, in a table, and places in it:
nothing is lost. Quantized, all columns but those of single words do, and their tables have as many values as the bits
allow; words are few, and what is unseen ends with them.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wv_cli import _packedlm
from wv_cli.io.shelf import Shelf
from wv_cli.io.threads import in_order
from wv_cli.lm.packed_model import LOG_ZERO, PackedModel
from wv_cli.lm.trie import Trie

Floats = NDArray[np.float32]
_ROUNDS = 50
_BLOCK = 1 << 18  # numbers at a time; a multiple of 64, so that every block fills whole words
_KEPT = (0.0, LOG_ZERO)  # values that are never quantized: no back-off, no probability


_Column = tuple[int, int, Floats, int]  # level, place in `widths`, values, bits of each without a table


def pack(trie: Trie, prob: Floats, backoff: Floats, quantize: int | None = None, threads: int = 1) -> PackedModel:
    """The model with these numbers (see NgramModel), which quantized take `quantize` bits each."""
    shelf, nodes = trie.shelf, [trie.level(length) for length in range(1, trie.order + 1)]
    columns = [(level, 1, prob[every], _packedlm.PROB_WIDTH) for level, every in enumerate(nodes)]
    columns += [(level, 3, backoff[every], _packedlm.BACKOFF_WIDTH) for level, every in enumerate(nodes[:-1])]
    columns.sort(key=lambda column: column[:2])
    widths = np.zeros((trie.order, 5), np.int64)
    word_width = (len(trie.words) - 1).bit_length()
    widths[1:, 0] = word_width
    index = [np.empty((0, 2), np.uint32)] * trie.order

    def table_of(column: _Column) -> Floats | None:
        level, _, values, plain = column
        if quantize is None or level == 0:
            return _distinct(values, plain, shelf)
        return _quantize(*np.unique(values, return_counts=True), quantize)

    def write_words(begin: int, end: int) -> NDArray[np.uint8]:
        return _packedlm.write(trie.word[begin:end].view(np.uint32), word_width)

    def write_values(values: Floats, table: Floats | None, plain: int, width: int) -> NDArray[np.uint8]:
        return _packedlm.write(_codes(values, table, plain, exact=quantize is None), width)

    def write_offsets(length: int, begin: int, end: int) -> NDArray[np.uint8]:
        blocks = index[length][begin // _packedlm.BLOCK : -(-end // _packedlm.BLOCK) + 1].copy()
        blocks[:, 1] -= blocks[0, 1]
        return _packedlm.write_offsets(trie.children(length, begin, end), blocks)

    def parts(tables: list[Floats | None]) -> Iterator[Callable[[], NDArray[np.uint8]]]:
        for (level, place, values, plain), table in zip(columns, tables, strict=True):
            width = plain if table is None else (len(table) - 1).bit_length()
            widths[level, place : place + 2] = width, 0 if table is None else len(table)
            if level and place == 1:
                for begin, end in _blocks(nodes[level]):
                    yield partial(write_words, begin, end)
            for begin, end in _blocks(slice(0, len(values))):
                yield partial(write_values, values[begin:end], table, plain, width)
            if place == 3:
                index[level + 1] = _index(trie, level + 1)
                for begin, end in _whole_words(index[level + 1], len(values)):
                    yield partial(write_offsets, level + 1, begin, end)

    bits = shelf.pieces(np.uint8)
    try:
        tables = list(in_order(table_of, columns, threads if quantize is None else 1))
        for part in in_order(lambda make: make(), parts(tables), threads):
            bits.append(part)
            shelf.let_go()
        bits.append(np.zeros(_packedlm.PADDING, np.uint8))
        whole = bits.array()
    finally:
        shelf.drop_pieces()
    none = np.empty(0, np.float32)
    all_tables = np.concatenate([none, *(none if table is None else table for table in tables)])
    sizes = np.array(trie.sizes, np.int64)
    parts_of_all = np.concatenate(index).reshape(-1), all_tables, whole
    spellings = trie.words.blob, trie.words.starts
    return PackedModel(spellings, sizes, widths, *parts_of_all, closed=_has_all_ends(trie), shelf=shelf)


def _blocks(nodes: slice) -> Iterator[tuple[int, int]]:
    return ((begin, min(begin + _BLOCK, nodes.stop)) for begin in range(nodes.start, nodes.stop, _BLOCK))


def _index(trie: Trie, length: int) -> NDArray[np.uint32]:
    """index (blocks + 1, 2) of where the children of the n-grams of a length begin (csrc/core/packedlm.h)."""
    parts = [np.zeros((1, 2), np.uint32)]
    for begin, end in _blocks(slice(0, trie.sizes[length - 1])):
        index = _packedlm.index_offsets(trie.children(length, begin, end))
        index[:, 1] += parts[-1][-1, 1]
        parts[-1] = parts[-1][:-1]
        parts.append(index)
        trie.shelf.let_go()
    return np.concatenate(parts)


def _whole_words(index: NDArray[np.uint32], size: int) -> list[tuple[int, int]]:
    """Cuts `size` n-grams into pieces of about _BLOCK whose offsets fill whole words of 64 bits, so that they can be
    written one behind the other: every block of them has the same number of offsets, an odd one."""
    cuts = np.flatnonzero(index[:-1, 1] % 64 == 0) * _packedlm.BLOCK
    places = np.searchsorted(cuts, np.arange(_BLOCK, size, _BLOCK))
    edges = np.unique([0, *cuts[places[places < len(cuts)]], size]).tolist()
    return list(pairwise(edges))


def _has_all_ends(trie: Trie) -> bool:
    """Whether every n-gram's end is listed, too."""
    for length in range(2, trie.order + 1):
        for nodes in trie.blocks(length):
            if (trie.suffix[nodes] < trie.levels[length - 2]).any():
                return False
            trie.shelf.let_go()
    return True


def _distinct(values: Floats, plain: int, shelf: Shelf) -> Floats | None:
    """The values there are, ascending, or None where their bits, `plain` of each, take no more room."""
    found = _packedlm.Distinct()
    for begin in range(0, len(values), _BLOCK):
        found.add(values[begin : begin + _BLOCK])
        width = (len(found) - 1).bit_length()
        if len(values) * width + 32 * len(found) >= len(values) * plain:
            return None
        shelf.let_go()
    return np.unique(found.sorted()) if len(values) else None


def _codes(values: Floats, table: Floats | None, plain: int, *, exact: bool) -> NDArray[np.uint32]:
    """The place in the table that is nearest to each value, or, `exact`, that holds it; without a table their bits."""
    if table is None:
        return np.ascontiguousarray(values).view(np.uint32) & np.uint32((1 << plain) - 1)
    if exact:
        return np.searchsorted(table, values).astype(np.uint32)
    wide = table.astype(np.float64)
    return np.searchsorted((wide[1:] + wide[:-1]) / 2, values.astype(np.float64)).astype(np.uint32)


def _quantize(values: Floats, counts: NDArray[np.int64], bits: int) -> Floats | None:
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
    centers = np.empty(0)
    for _ in range(_ROUNDS):
        edges = np.unique([0, *bounds.tolist(), len(numbers)])
        before, centers = centers, np.diff(sums[edges]) / np.diff(weight[edges])
        if np.array_equal(before, centers):
            break
        bounds = np.searchsorted(numbers, (centers[1:] + centers[:-1]) / 2)
    return np.unique(np.concatenate([kept, centers.astype(np.float32)]))
