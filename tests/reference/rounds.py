"""Slow float64 twin of csrc/kernels/rounds.h: every worker trains a copy of everything."""

import numpy as np

MATRICES = ("input", "output", "output_bias")


def merge(shared, copies, share):
    """shared + share * the sum of what the copies of all workers differ by; `share` is (rows,)."""
    return shared + np.reshape(share, (-1, *[1] * (shared.ndim - 1))) * sum(copy - shared for copy in copies)


def stretch(blocks, workers, worker):
    """Which of so many blocks are a worker's, in their order."""
    return range(blocks * worker // workers, blocks * (worker + 1) // workers)


def train_epoch(twin, starts, workers, shares, epoch):
    """Trains the blocks starts[b]:starts[b + 1] with a twin of tests.reference.word2vec; `shares` are those of the rows
    of `input` and of `output`."""
    blocks = len(starts) - 1
    rounds = -(-blocks // workers)
    names = [name for name in MATRICES if getattr(twin, name) is not None]
    share = dict(zip(MATRICES, (*shares, shares[1]), strict=True))
    for number in range(rounds):
        shared = {name: getattr(twin, name) for name in names}
        copies = {name: [] for name in names}
        for worker in range(workers):
            for block in stretch(blocks, workers, worker)[number : number + 1]:
                for name in names:
                    setattr(twin, name, shared[name].copy())
                twin.block(*map(int, starts[block : block + 2]), epoch, len(twin.ids) * number // rounds, pooled=True)
                for name in names:
                    copies[name].append(getattr(twin, name))
        for name in names:
            setattr(twin, name, merge(shared[name], copies[name], share[name]))
