"""Neighbouring positions that share a tile (csrc/kernels/neighbour_tiles.h): the kernels against their float64 twin on
every instruction set, and the twin against finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from tests.kernels.test_word2vec import compare, finite_differences, setting
from tests.reference.word2vec import MEAN_TILES, Twin
from wv_cli import _cpu, _word2vec
from wv_cli.models.config import Word2vecConfig

# Tiles of every size, whatever the context rule is.
TILES = [
    *({"dim": dim} for dim in [1, 7, 8, 15, 16, 17, 31, 33, 100, 300]),
    *({"dim": 33, "subwords": True, "lr": 0.02, "window": window} for window in (1, 4, 7)),
    {"negative": 1},
    {"negative": 5},
    {"negative": 25},
    {"window": 1},
    {"max_sentence": 2},
    {"max_sentence": 5},
    {"lines": 150, "block": 5000, "epochs": 1},
    {"lines": 150, "block": 5000, "epochs": 1, "hot_rows": 7},
    {"subwords": True, "lr": 0.02, "lines": 150, "block": 5000, "epochs": 1},
]
CBOW_TILES = [
    {"window": 15, "shrink_window": False},
    {"window": 40},
    {"cbow_gradient": "word2vec"},
    {"cbow_mean": False, "cbow_gradient": "word2vec"},
    {"cbow_mean": False, "cbow_gradient": "word2vec", "subwords": True, "lr": 1e-4},
    {"cbow_gradient": "word2vec", "subwords": True, "lr": 0.01},
]


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "changes",
    [
        *TILES,
        {"window": 15, "shrink_window": False, "lr": 0.01},
        {"window": 40, "lr": 0.01},
    ],
    ids=str,
)
def test_neighbouring_positions_share(isa, changes):
    compare(isa, "skipgram", "ns", share_positions=True, **{"dim": 20, **changes})


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("changes", [*TILES, *CBOW_TILES, {"negative": 6}], ids=str)
def test_neighbouring_positions_of_cbow_share(isa, changes):
    compare(isa, "cbow", "ns", share_positions=True, **{"dim": 20, **changes})


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "changes",
    [
        *(changes for changes in TILES if "negative" not in changes),
        *({"dim": dim} for dim in (95, 96, 97, 159, 160, 161, 177)),  # the registers hold 24, 48 or 160 numbers
        {"dim": 100, "lines": 150, "block": 5000, "epochs": 1},
        *CBOW_TILES,
    ],
    ids=str,
)
def test_neighbouring_positions_of_cbow_share_their_context_with_a_tree(isa, changes):
    compare(isa, "cbow", "hs", share_positions=True, **{"dim": 20, **changes})


def test_a_tile_of_several_paths_is_not_those_of_each():
    """A kernel that ignored the option would fail above: the two orders of updates differ by more than rounding."""
    config, tables, x, y = setting("cbow", "hs", 20)
    twins = [
        Twin(replace(config, share_positions=share), input=x.copy(), output=y.copy(), **tables)
        for share in (False, True)
    ]
    for twin in twins:
        twin.block(0, 60, 0)
    assert twins[0].examples == twins[1].examples
    assert np.abs(twins[0].input - twins[1].input).max() > 1e-3


@pytest.mark.parametrize(("mean", "gradient"), [(True, "corrected"), (True, "word2vec"), (False, "word2vec")])
def test_gradients_of_paths_that_share_a_cbow_tile(mean, gradient):
    """As below: the step of a tile is the gradient of the sum of its positions' losses."""
    random = np.random.default_rng(12)
    config = Word2vecConfig(
        model="cbow", loss="hs", window=2, dim=6, share_positions=True, cbow_mean=mean, cbow_gradient=gradient
    )
    path = _word2vec.huffman(np.array([9, 7, 5, 4, 2, 1]))
    x, y, sentence = random.normal(size=(7, 6)), random.normal(size=(5, 6)), [0, 1, 2, 3, 4, 5]
    centres, windows = [1, 2, 3], [[0, 2, 3], [0, 1, 3, 4], [2, 5]]

    def step(lr):
        twin = Twin(config, np.zeros(0), x.copy(), y.copy(), path=path)
        twin.share_paths(sentence, {p: twin.input[sentence[p]] for p in range(6)}, np.ones(6), centres, windows, lr)
        return twin

    after = step(1e-7)
    np.testing.assert_allclose(
        (y - after.output) / 1e-7, finite_differences(lambda: step(0.0).loss, y), rtol=1e-4, atol=1e-5
    )
    expected = finite_differences(lambda: step(0.0).loss, x)
    if gradient == "corrected" or not mean:
        np.testing.assert_allclose((x - after.input) / 1e-7, expected, rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_allclose(((x - after.input) / 1e-7)[5], 2 * expected[5], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("mean", "gradient"), [(True, "corrected"), (True, "word2vec"), (False, "word2vec")])
def test_gradients_of_a_shared_cbow_tile(mean, gradient):
    """The step of a tile is the gradient of its loss, in which every position meets `negative` negatives, for the
    corrected gradient or sums; word2vec's lacks the division by the window. The first tile has no control variate."""
    random = np.random.default_rng(11)
    config = Word2vecConfig(
        model="cbow", negative=3, window=2, dim=6, share_positions=True, cbow_mean=mean, cbow_gradient=gradient
    )
    x, y, sentence = random.normal(size=(7, 6)), random.normal(size=(9, 6)), [0, 1, 2, 3, 4, 5]
    centres, windows, drawn = [1, 2, 3], [[0, 2, 3], [0, 1, 3, 4], [2, 5]], [7, 2, 8, 7]

    def loss():
        twin = Twin(config, np.zeros(0), x.copy(), y.copy(), mean=np.zeros(6))
        rows = {p: twin.input[sentence[p]] for p in range(6)}
        twin.share_cbow(sentence, rows, np.ones(6), centres, windows, drawn, 0.0)
        return twin.loss

    twin = Twin(config, np.zeros(0), x.copy(), y.copy(), mean=np.zeros(6))
    rows = {p: twin.input[sentence[p]] for p in range(6)}
    twin.share_cbow(sentence, rows, np.ones(6), centres, windows, drawn, 1e-7)
    np.testing.assert_allclose((y - twin.output) / 1e-7, finite_differences(loss, y), rtol=1e-4, atol=1e-5)
    expected = finite_differences(loss, x)
    if gradient == "corrected" or not mean:
        np.testing.assert_allclose((x - twin.input) / 1e-7, expected, rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_allclose(((x - twin.input) / 1e-7)[5], 2 * expected[5], rtol=1e-4, atol=1e-5)


def test_the_control_variate_keeps_the_mean_and_takes_the_spread():
    """Over all words that may be drawn, each as often as the noise has it: the steps of the input rows with the true
    mean of output rows are in the mean those without. The scores are near 0, so that nothing else varies."""
    random = np.random.default_rng(8)
    y, noise = random.normal(size=(5, 6)), np.array([0.4, 0.25, 0.2, 0.1, 0.05])
    x = random.normal(0, 0.01, (8, 6))
    config = Word2vecConfig(negative=1, window=1, shrink_window=False, dim=6, share_positions=True)
    means, spreads = [], []
    for tiles in (0, MEAN_TILES):  # nothing is known of the mean in the first tile of a block
        steps = []
        for word in range(5):
            twin = Twin(config, np.zeros(0), x.copy(), y.copy(), mean=noise @ y, tiles=tiles)
            rows = {position: twin.input[5 + position] for position in range(3)}
            twin.train_negatives([5, 6, 7], rows, [1], [[0, 2]], [word], 1e-3)
            steps.append(twin.input - x)
        means.append(np.tensordot(noise, steps, 1))
        spreads.append(np.tensordot(noise, (steps - means[-1]) ** 2, 1).sum())
    np.testing.assert_allclose(means[1], means[0], rtol=0.05, atol=2e-5)
    assert np.abs(means[0]).max() > 1e-4 and spreads[1] < 0.01 * spreads[0]
