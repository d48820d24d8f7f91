"""Rows carried from a model to one with more words: exactly where words are the same, by reference implementations
where not."""

import numpy as np
import pytest

from wv_cli import _word2vec
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.continued_rows import Tree, carry_ngrams, carry_nodes, compose_new
from wv_cli.models.subwords import Subwords
from wv_cli.words import WordList


def falling(random, n):
    return np.sort(random.zipf(1.3, n).clip(1, 10**6))[::-1].astype(np.int64)


def sums_of_paths(path, rows):
    """u of every word, one step after the other."""
    start, node, code = path
    steps = ((node[k], 1 - 2 * int(code[k])) for k in range(len(node)))
    signed = np.array([sign * rows[n].astype(np.float64) for n, sign in steps])
    return np.array([signed[start[w] : start[w + 1]].sum(0) for w in range(len(start) - 1)])


def carried(before, rows, now, ids, counts):
    """carry_nodes as its formula is written: for every node, over the words below it."""
    vectors = sums_of_paths(before, rows)
    start, node, code = now
    out = np.zeros((node.max() + 1, rows.shape[1]))
    word = np.repeat(np.arange(len(start) - 1), np.diff(start))
    old = {new: i for i, new in enumerate(ids.tolist())}
    for n in range(len(out)):
        sides = [[w for w in word[(node == n) & (code == side)].tolist() if w in old] for side in (0, 1)]
        if all(sides):
            means = [np.average([vectors[old[w]] for w in side], 0, [counts[w] for w in side]) for side in sides]
            out[n] = (means[0] - means[1]) / 2
    return out


@pytest.mark.parametrize("n", [2, 3, 50, 301])
def test_the_same_tree_keeps_its_rows(n):
    random = np.random.default_rng(n)
    counts = falling(random, n)
    tree = Tree.from_paths(_word2vec.huffman(counts))
    rows = random.standard_normal((n - 1, 7)).astype(np.float32)
    found, copied = carry_nodes(tree, rows, tree, np.arange(n), counts)
    assert np.array_equal(found, rows) and copied == n - 1


def test_sums_of_paths_are_the_references():
    random = np.random.default_rng(1)
    path = _word2vec.huffman(falling(random, 90))
    rows = random.standard_normal((89, 5)).astype(np.float32)
    np.testing.assert_allclose(Tree.from_paths(path).sums_of_paths(rows), sums_of_paths(path, rows), rtol=1e-9)


def test_another_tree_gets_what_the_formula_says():
    """Half of the counts change and new words come; nodes that part the same old words have the row of that node."""
    random = np.random.default_rng(2)
    before = falling(random, 120)
    after = np.concatenate([before + random.integers(0, 20, 120), random.integers(1, 30, 40)])
    order = np.argsort(-after, kind="stable")
    ids = np.argsort(order)[:120]
    paths = _word2vec.huffman(before), _word2vec.huffman(after[order])
    rows = random.standard_normal((119, 5)).astype(np.float32)
    found, copied = carry_nodes(Tree.from_paths(paths[0]), rows, Tree.from_paths(paths[1]), ids, after[order])
    expected = carried(paths[0], rows, paths[1], ids, after[order])
    same = np.isclose(found, expected, atol=1e-5).all(1)
    assert (~same).sum() <= copied and same.sum() > 60
    kept = {tuple(row) for row in np.concatenate([rows, -rows])}
    assert all(tuple(row) in kept for row in found[~same])


def test_log_odds_of_the_old_words_stay():
    """What the tree of other counts says of pairs of words is what the old one said."""
    random = np.random.default_rng(3)
    before = falling(random, 400)
    after = np.sort(before * random.uniform(0.7, 1.4, 400))[::-1].astype(np.int64) + 1
    order = random.permutation(400)
    order = order[np.argsort(-(before * random.uniform(0.8, 1.25, 400))[order], kind="stable")]
    ids = np.argsort(order)
    paths = _word2vec.huffman(before), _word2vec.huffman(after)
    rows = random.standard_normal((399, 20)).astype(np.float32) * 0.2
    found, _ = carry_nodes(Tree.from_paths(paths[0]), rows, Tree.from_paths(paths[1]), ids, after)
    hidden = random.standard_normal(20)

    def logs(path, nodes):
        start, node, code = path
        steps = -np.logaddexp(0, -(1 - 2.0 * code) * (nodes @ hidden)[node]) + np.log(2)
        return np.add.reduceat(steps, start[:-1])

    old, new = logs(paths[0], rows), logs(paths[1], found)[ids]
    assert np.corrcoef(old, new)[0, 1] > 0.8


def test_ngrams_are_carried_by_their_bucket_and_new_words_composed_of_them():
    config = Word2vecConfig(minn=2, maxn=3, buckets=100_000)
    old, new = (
        WordList.from_words(["where", "there", "then"]),
        WordList.from_words(["there", "zq", "where", "these", "then"]),
    )
    before, now = Subwords.from_words(old, config), Subwords.from_words(new, config)
    rows = np.random.default_rng(4).standard_normal((len(before.buckets), 16)).astype(np.float32)
    matrix = np.full((5 + len(now.buckets), 16), 9, np.float32)
    learnt = carry_ngrams(before.buckets, rows, now, matrix[5:])
    table = dict(zip(before.buckets.tolist(), rows, strict=True))
    for k, bucket in enumerate(now.buckets.tolist()):
        assert np.array_equal(matrix[5 + k], table.get(bucket, np.full(16, 9)))
        assert learnt[k] == (bucket in table)
    assert learnt.any() and not learnt.all()
    assert compose_new(now, learnt, np.array([1, 3]), matrix) == 1  # no n-gram of zq is known
    mine = [row for row in now.rows[now.starts[3] : now.starts[4]] if row >= 5 and learnt[row - 5]]
    np.testing.assert_allclose(matrix[3], matrix[mine].mean(0), rtol=1e-5)
    assert np.all(matrix[[0, 1, 2, 4]] == 9)


def test_no_ngrams_are_carried_from_words_that_had_none():
    config = Word2vecConfig(minn=5, maxn=6, buckets=100)
    now = Subwords.from_words(WordList.from_words(["where", "there"]), config)
    learnt = carry_ngrams(np.empty(0, np.int32), np.empty((0, 4), np.float32), now, np.zeros((len(now.buckets), 4)))
    assert not learnt.any()
