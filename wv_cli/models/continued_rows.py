"""How the rows of a trained model become those of one with more words and other counts.

A word that was there keeps its rows. A new one begins as words do at the start of any training, since nothing is known
of it; with subwords something is: its own row begins as the mean of the n-grams that are learnt, so that its vector is
what the model would have given an unknown word.

The Huffman tree of other counts is another tree: which words a node parts changes, and fastText's files, which hold the
counts alone, leave no choice of the tree. A node that parts the words as a node did before keeps that row. Any other is
computed from what the old tree made of its words. There log p(w | h) = sum log sigmoid(s r.h) over the nodes of w's
path, whose row is r and whose side s = 1 or -1; to first order in h this is a constant and u(w).h / 2 with u(w) the sum
of s r. A node between the sets A and B tells log p(A | h) - log p(B | h), to first order (u(A) - u(B)).h / 2, with u(A)
the mean over A by the words' counts; half of that difference is its row.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords
from wv_cli.models.replicas import Path
from wv_cli.models.subwords import Subwords

Floats = NDArray[np.float32]
Number = TypeVar("Number", np.float64, np.uint64)


def carry_ngrams(before: NDArray[np.int32], rows: Floats, subwords: Subwords, out: Floats) -> NDArray[np.bool_]:
    """Copies `rows` (len(before), dim) of the buckets `before` to their places in `out` (len(subwords.buckets), dim);
    those of buckets that no word has any more are left out. Returns which rows of `out` are learnt now."""
    order = np.argsort(before)
    at = np.minimum(np.searchsorted(before, subwords.buckets, sorter=order), len(before) - 1)
    learnt = before[order[at]] == subwords.buckets if len(before) else np.zeros(len(subwords.buckets), np.bool_)
    out[learnt] = rows[order[at[learnt]]]
    return learnt


def compose_new(subwords: Subwords, learnt: NDArray[np.bool_], fresh: NDArray[np.int64], matrix: Floats) -> int:
    """Makes the own row of every word of `fresh` (ids) the mean of those of its n-grams that are `learnt`, in `matrix`
    (words + buckets, padded dim); a word without any keeps what it has. Returns how many have some."""
    words = len(subwords.starts) - 1
    sizes = np.diff(subwords.starts)[fresh]
    first = np.repeat(subwords.starts[:-1][fresh] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    rows = subwords.rows[first + np.arange(len(first))].astype(np.int64)
    word = np.repeat(np.arange(len(fresh)), sizes)
    kept = rows >= words
    kept[kept] = learnt[rows[kept] - words]
    counts = np.bincount(word[kept], minlength=len(fresh))
    known = np.flatnonzero(counts)
    starts = np.concatenate([[0], np.cumsum(counts[known])])
    means = np.empty((len(known), matrix.shape[1]), np.float32)
    _subwords.mean_rows(matrix.view(np.uint8), starts, rows[kept], means)
    matrix[fresh[known]] = means
    return len(known)


@dataclass(frozen=True, eq=False)
class Tree:
    """A Huffman tree by its nodes: `parent` (nodes,) is -1 for the root, `side` what a node is of its parent, `leaf`
    and `leaf_side` the same for words. `levels` are the nodes of each depth, the root first."""

    parent: NDArray[np.int64]
    side: NDArray[np.int64]
    leaf: NDArray[np.int64]
    leaf_side: NDArray[np.int64]
    levels: list[NDArray[np.int64]]

    @classmethod
    def from_paths(cls, path: Path) -> "Tree":
        starts, node, code = path
        nodes = int(node.max()) + 1
        last = np.zeros(len(node), np.bool_)
        last[starts[1:] - 1] = True
        upper = np.flatnonzero(~last)
        parent, side = np.full(nodes, -1, np.int64), np.zeros(nodes, np.int64)
        parent[node[upper + 1]], side[node[upper + 1]] = node[upper], code[upper]
        depth = np.zeros(nodes, np.int64)
        depth[node] = np.arange(len(node)) - np.repeat(starts[:-1], np.diff(starts))
        order = np.argsort(depth, kind="stable")
        levels = np.split(order, np.cumsum(np.bincount(depth))[:-1])
        return cls(parent, side, node[last].astype(np.int64), code[last].astype(np.int64), levels)

    def sums_of_paths(self, rows: Floats) -> NDArray[np.float64]:
        """u of every word (words, dim), given the nodes' rows (nodes, dim); side 0 is +1."""
        signed = np.zeros((2, *rows.shape))
        for level in self.levels:
            above, side = self.parent[level], self.side[level]
            base = np.where((above >= 0)[:, None], signed[side, above], 0)
            signed[0, level], signed[1, level] = base + rows[level], base - rows[level]
        return signed[self.leaf_side, self.leaf]

    def sums_of_sides(self, values: NDArray[Number]) -> NDArray[Number]:
        """The sums over the words on each side of every node, (2, nodes, n), of their values (words, n)."""
        sums = np.zeros((2, len(self.parent), values.shape[1]), values.dtype)
        np.add.at(sums, (self.leaf_side, self.leaf), values)
        for level in self.levels[:0:-1]:
            np.add.at(sums, (self.side[level], self.parent[level]), sums[:, level].sum(0))
        return sums


def carry_nodes(
    before: Tree, rows: Floats, now: Tree, ids: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[Floats, int]:
    """Rows (nodes, dim) of the tree `now` from the `rows` of the tree `before`, whose words have the ids `ids` now, and
    how many of them were copied; `counts` are those of all words now. A node with no word of before on one of its sides
    begins with zeros."""
    weights = np.zeros((len(counts), 1))
    weights[ids, 0] = counts[ids]
    vectors = np.zeros((len(counts), rows.shape[1]))
    vectors[ids] = before.sums_of_paths(rows)
    sums, mass = now.sums_of_sides(vectors * weights), now.sums_of_sides(weights)
    means = sums / np.maximum(mass, 1)
    out = np.where((mass > 0).all(0), (means[0] - means[1]) / 2, 0).astype(np.float32)
    # A set of words is known by the sum of random numbers, one for each word.
    marks = np.zeros(len(counts), np.uint64)
    marks[ids] = np.random.default_rng(0).integers(1, 1 << 64, len(ids), np.uint64)
    old, new = (tree.sums_of_sides(each[:, None])[:, :, 0] for tree, each in ((before, marks[ids]), (now, marks)))
    found = {(a, b): (row, 1) for row, (a, b) in enumerate(old.T.tolist())}
    found |= {(b, a): (row, -1) for (a, b), (row, _) in list(found.items())}
    copied = 0
    for node, key in enumerate(new.T.tolist()):
        row, sign = found.get((key[0], key[1]), (-1, 0))
        if row >= 0:
            out[node] = sign * rows[row]
            copied += 1
    return out, copied
