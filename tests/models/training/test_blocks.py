"""The order of blocks: every one once an epoch, a function of seed and epoch whatever was asked for before."""

import numpy as np

from wv_cli.models.training.blocks import EpochOrder


def test_an_order_is_a_function_of_seed_and_epoch():
    order = EpochOrder(3, 50)
    epochs = [order.for_epoch(epoch) for epoch in range(4)]
    assert all(sorted(taken) == list(range(50)) for taken in epochs)
    assert len({tuple(taken) for taken in epochs}) == 4
    np.testing.assert_array_equal(EpochOrder(3, 50).for_epoch(2), epochs[2])
    np.testing.assert_array_equal(order.for_epoch(0), epochs[0])
    assert order.for_epoch(0) is order.for_epoch(0), "kept while an epoch lasts"
    assert not np.array_equal(EpochOrder(4, 50).for_epoch(2), epochs[2])
    np.testing.assert_array_equal(epochs[1], np.random.default_rng((3, 1)).permutation(50))
