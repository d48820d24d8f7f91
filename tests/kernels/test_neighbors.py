"""Neighboring positions that share a tile (csrc/kernels/word2vec/cbow_neighbors.h): the kernel against its float64
reference on every instruction set, and the reference against finite differences."""

import numpy as np
import pytest

from tests.kernels.test_word2vec import compare, finite_differences
from tests.reference.word2vec import MEAN_TILES, Reference
from wv_cli import _cpu
from wv_cli.models.config import Word2vecConfig

# Tiles of every size.
TILES = [
    *({"dim": dim} for dim in [1, 7, 8, 15, 16, 17, 31, 33, 100, 300]),
    {"negative": 1},
    {"negative": 5},
    {"negative": 6},
    {"negative": 25},
    {"window": 1},
    {"window": 7},
    {"window": 15, "shrink_window": False},
    {"window": 40},
    {"max_sentence": 2},
    {"max_sentence": 5},
    {"lines": 150, "block": 5000, "epochs": 1},
    {"lines": 150, "block": 5000, "epochs": 1, "hot_rows": 7},
    {"cbow_gradient": "word2vec"},
    {"whole_line": True},
    {"cbow_mean": False, "cbow_gradient": "word2vec"},
]


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("changes", TILES, ids=str)
def test_neighboring_positions_of_cbow_share(isa, changes):
    compare(isa, "cbow", "ns", share_positions=True, **{"dim": 20, **changes})


@pytest.mark.parametrize(("mean", "gradient"), [(True, "corrected"), (True, "word2vec"), (False, "word2vec")])
def test_gradients_of_a_shared_cbow_tile(mean, gradient):
    """The step of a tile is the gradient of its loss, in which every position meets `negative` negatives, for the
    corrected gradient or sums; word2vec's lacks the division by the window. The first tile has no control variate."""
    random = np.random.default_rng(11)
    config = Word2vecConfig(
        model="cbow", negative=3, window=2, dim=6, share_positions=True, cbow_mean=mean, cbow_gradient=gradient
    )
    x, y, sentence = random.normal(size=(7, 6)), random.normal(size=(9, 6)), [0, 1, 2, 3, 4, 5]
    centers, windows, drawn = [1, 2, 3], [[0, 2, 3], [0, 1, 3, 4], [2, 5]], [7, 2, 8, 7]

    def loss():
        reference = Reference(config, np.zeros(0), x.copy(), y.copy(), mean=np.zeros(6))
        reference.share_cbow(sentence, centers, windows, drawn, 0.0)
        return reference.loss

    reference = Reference(config, np.zeros(0), x.copy(), y.copy(), mean=np.zeros(6))
    reference.share_cbow(sentence, centers, windows, drawn, 1e-7)
    np.testing.assert_allclose((y - reference.output) / 1e-7, finite_differences(loss, y), rtol=1e-4, atol=1e-5)
    expected = finite_differences(loss, x)
    if gradient == "corrected" or not mean:
        np.testing.assert_allclose((x - reference.input) / 1e-7, expected, rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_allclose(((x - reference.input) / 1e-7)[5], 2 * expected[5], rtol=1e-4, atol=1e-5)


def test_the_control_variate_keeps_the_mean_and_takes_the_spread():
    """Over all words that may be drawn, each as often as the noise has it: the steps of the input rows with the true
    mean of output rows are in the mean those without. The scores are near 0, so that nothing else varies."""
    random = np.random.default_rng(8)
    y, noise = random.normal(size=(8, 6)), np.array([0.4, 0.25, 0.2, 0.1, 0.05])
    x = random.normal(0, 0.01, (8, 6))
    config = Word2vecConfig(model="cbow", negative=1, window=1, shrink_window=False, dim=6, share_positions=True)
    means, spreads = [], []
    for tiles in (0, MEAN_TILES):  # nothing is known of the mean in the first tile of a block
        steps = []
        for word in range(5):
            reference = Reference(config, np.zeros(0), x.copy(), y.copy(), mean=noise @ y[:5], tiles=tiles)
            reference.share_cbow([5, 6, 7], [1], [[0, 2]], [word], 1e-3)
            steps.append(reference.input - x)
        means.append(np.tensordot(noise, steps, 1))
        spreads.append(np.tensordot(noise, (steps - means[-1]) ** 2, 1).sum())
    np.testing.assert_allclose(means[1], means[0], rtol=0.05, atol=2e-5)
    assert np.abs(means[0]).max() > 1e-4 and spreads[1] < 0.01 * spreads[0]
