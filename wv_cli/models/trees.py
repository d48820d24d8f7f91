"""Trees of words for hierarchical softmax: Huffman's, balanced ones that are drawn, and ones by what a model predicts.

Mnih & Hinton 2008: a word is the mean of the vectors that a model predicted before its occurrences; sets of words are
split in two by a mixture of two Gaussians, again and again. Several trees under one root give a word several codes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wv_cli import _word2vec
from wv_cli.lm.asking import SENTENCE, SENTENCE_END, UNKNOWN
from wv_cli.lm.neural import NeuralModel, Paths

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Split = Callable[[Ids], tuple[Ids, Ids]]
_STEPS = 10  # of a mixture's expectation maximization
_BLOCK = 4096
_MOST_POSITIONS = 4_000_000
_LEAST_SHARE = 0.05  # a mixture that gives one side less than this of the words has found no two groups


def huffman_paths(counts: Floats) -> Paths:
    """Every word but <s> is a leaf of the Huffman tree of the counts."""
    order = np.argsort(-counts, kind="stable")[:-1]  # <s>, which does not count, is the last
    start, node, code = _word2vec.huffman(np.maximum(1, np.ceil(counts[order])).astype(np.int64))
    return _by_word([(order, start, node, 1 - code)], len(counts))


def random_paths(counts: Floats, codes: int, seed: int) -> Paths:
    """`codes` balanced trees, each over all words in an order that is drawn."""
    random = np.random.default_rng((seed, 1))

    def halves(words: Ids) -> tuple[Ids, Ids]:
        return words[: len(words) // 2], words[len(words) // 2 :]

    leaves = _leaves(counts)
    return _by_word([_grow_tree(random.permutation(leaves), halves) for _ in range(codes)], len(counts))


def clustered_paths(counts: Floats, vectors: Floats, codes: int, seed: int) -> Paths:
    """`codes` trees by the rows of `vectors` (words, n); they differ by where their mixtures begin."""
    random = np.random.default_rng((seed, 2))

    def split(words: Ids) -> tuple[Ids, Ids]:
        share = _responsibility(vectors[words], counts[words], random)
        second = share > 0.5
        if min(second.mean(), 1 - second.mean()) < _LEAST_SHARE:
            second = np.argsort(np.argsort(share, kind="stable")) >= (len(words) + 1) // 2
        return words[~second], words[second]

    leaves = _leaves(counts)
    return _by_word([_grow_tree(leaves, split) for _ in range(codes)], len(counts))


def predicted_vectors(model: NeuralModel, ids: NDArray[np.int32], lookup: NDArray[np.int32]) -> Floats:
    """The mean of what `model` predicts before each word, (words, n), over the occurrences in a corpus of `ids`; zeros
    for words that do not occur. `lookup` has the model's id of each of the corpus's words, below 0 for none."""
    theirs = np.where(lookup < 0, UNKNOWN, lookup)
    sums: Floats | None = None
    counts = np.zeros(len(lookup))
    for begin in range(0, min(len(ids), _MOST_POSITIONS), _BLOCK):
        places = np.arange(begin, min(begin + _BLOCK, len(ids)))
        hidden = model.predict_vectors(theirs[contexts_of(ids, places, model.order - 1)].astype(np.int32))
        targets = np.where(ids[places] < 0, SENTENCE_END, ids[places])
        order = np.argsort(targets, kind="stable")
        first = np.flatnonzero(np.diff(targets[order], prepend=-1))
        if sums is None:
            sums = np.zeros((len(lookup), hidden.shape[1]))
        sums[targets[order][first]] += np.add.reduceat(hidden[order], first, axis=0)
        counts += np.bincount(targets, minlength=len(lookup))
    assert sums is not None, "a corpus has a word"
    return np.asarray(sums / np.maximum(counts, 1)[:, None])


def contexts_of(ids: NDArray[np.int32], places: Ids, words: int) -> NDArray[np.int32]:
    """The words before places of a corpus, (places, words), the nearest first; <s> from where a sentence begins."""
    contexts = np.full((len(places), words), SENTENCE, np.int32)
    inside = np.ones(len(places), np.bool_)
    for j in range(words):
        before = ids[np.maximum(places - 1 - j, 0)]
        inside &= (places > j) & (before >= 0)
        contexts[inside, j] = before[inside]
    return contexts


def _leaves(counts: Floats) -> Ids:
    return np.flatnonzero(np.arange(len(counts)) != SENTENCE)


Tree = tuple[Ids, Ids, NDArray[np.integer], NDArray[np.integer]]  # words, starts of their paths, nodes, answers


def _grow_tree(words: Ids, split: Split) -> Tree:
    """The binary tree that splitting leads to, both sides of which must have words; node 0 is its root."""
    leaves: list[int] = []
    paths: list[list[int]] = []  # twice the node, plus the answer
    nodes, waiting = 0, [(words, list[int]())]
    while waiting:
        items, path = waiting.pop()
        if len(items) == 1:
            leaves.append(int(items[0]))
            paths.append(path)
            continue
        for answer, side in enumerate(split(items)):
            waiting.append((side, [*path, 2 * nodes + answer]))
        nodes += 1
    steps = np.concatenate([np.array(path, np.int64) for path in paths])
    start = np.concatenate([[0], np.cumsum([len(path) for path in paths])])
    return np.array(leaves), start, steps >> 1, steps & 1


def _by_word(trees: list[Tree], words: int) -> Paths:
    """The codes of every word, one of each tree, the trees under one root."""
    top = _grow_tree(np.arange(len(trees)), lambda items: (items[: len(items) // 2], items[len(items) // 2 :]))
    codes: list[list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = [[] for _ in range(words)]
    first = len(trees) - 1  # nodes of the top
    for number, (leaves, start, node, answer) in enumerate(trees):
        place = int(np.flatnonzero(top[0] == number)[0])
        above = slice(int(top[1][place]), int(top[1][place + 1]))
        for k, word in enumerate(leaves.tolist()):
            path = slice(int(start[k]), int(start[k + 1]))
            codes[word].append((np.append(top[2][above], node[path] + first), np.append(top[3][above], answer[path])))
        first += int(node.max()) + 1
    every = [code for word in codes for code in word] if len(trees) > 1 else [
        word[0] if word else (np.empty(0, np.int64), np.empty(0, np.int64)) for word in codes
    ]  # fmt: skip
    return Paths(
        start=np.concatenate([[0], np.cumsum([len(node) for node, _ in every])]),
        node=np.concatenate([node for node, _ in every]).astype(np.int32),
        answer=np.concatenate([answer for _, answer in every]).astype(np.uint8),
        codes=np.concatenate([[0], np.cumsum([len(word) for word in codes])]) if len(trees) > 1 else None,
    )


def _responsibility(rows: Floats, weights: Floats, random: np.random.Generator) -> Floats:
    """Of the second of two Gaussians of one variance in all directions, for each row: a mixture that begins at two of
    the rows and is fitted to all, which count by the roots of `weights`."""
    weights = np.sqrt(weights)
    a, b = rows[random.choice(len(rows), 2, replace=False)]
    share = np.full(len(rows), 0.5)
    for _ in range(_STEPS):
        nearer = ((rows - a) ** 2).sum(axis=1) - ((rows - b) ** 2).sum(axis=1)
        within = np.minimum(((rows - a) ** 2).sum(axis=1), ((rows - b) ** 2).sum(axis=1))
        variance = max(float(np.average(within, weights=weights)) / rows.shape[1], 1e-12)
        share = 1 / (1 + np.exp(-np.clip(nearer / (2 * variance), -500, 500)))
        first, second = weights * (1 - share), weights * share
        if min(first.sum(), second.sum()) < 1e-9 * weights.sum():
            break
        a, b = first @ rows / first.sum(), second @ rows / second.sum()
    return share
