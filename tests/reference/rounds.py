"""Slow float64 reference of csrc/kernels/word2vec/deterministic.h: every worker trains a copy of everything."""

import numpy as np

from tests.reference.word2vec import mix

MATRICES = ("input", "output", "output_bias")


def merge(shared, copies, share, users):
    """shared + share * the sum of what the copies of all workers differ by; `share` is (rows,), and 1 for rows that
    have one of the `users`, (workers, rows), alone."""
    share = np.where(np.sum(users, axis=0) == 1, 1, share)
    return shared + np.reshape(share, (-1, *[1] * (shared.ndim - 1))) * sum(copy - shared for copy in copies)


def rows_used(reference, start, end, epoch):
    """Which rows of `input` and of `output`, (rows,) bool each, a worker may use for a block."""
    words = [int(word) for word in reference.ids[start:end] if word >= 0]
    inputs, outputs = np.zeros(len(reference.input), bool), np.zeros(len(reference.output), bool)
    for word in words:
        rows = (
            reference.subwords[1][reference.subwords[0][word] : reference.subwords[0][word + 1]]
            if reference.subwords
            else word
        )
        inputs[rows] = True
        if reference.path is not None:
            outputs[reference.path_outputs(word)[0]] = True
    if reference.sampler is not None:
        seed, size = reference.random(start, end, epoch, pooled=True).pool
        drawn = [reference.drawn_word(mix(seed + number)) for number in range(size)]
        outputs[np.array(words + drawn) + len(outputs) - len(reference.sampler)] = True
    return inputs, outputs


def stretch(blocks, workers, worker):
    """Which of so many blocks are a worker's, in their order."""
    return range(blocks * worker // workers, blocks * (worker + 1) // workers)


def train_epoch(reference, starts, workers, shares, epoch):
    """Trains the blocks starts[b]:starts[b + 1] with a Reference of tests.reference.word2vec; `shares` are those of the
    rows of `input` and of `output`."""
    blocks = len(starts) - 1
    rounds = -(-blocks // workers)
    names = [name for name in MATRICES if getattr(reference, name) is not None]
    share = dict(zip(MATRICES, (*shares, shares[1]), strict=True))
    for number in range(rounds):
        shared = {name: getattr(reference, name) for name in names}
        copies = {name: [] for name in names}
        users = {name: [] for name in names}
        for worker in range(workers):
            for block in stretch(blocks, workers, worker)[number : number + 1]:
                used = rows_used(reference, *map(int, starts[block : block + 2]), epoch)
                for name in names:
                    setattr(reference, name, shared[name].copy())
                reference.block(
                    *map(int, starts[block : block + 2]), epoch, len(reference.ids) * number // rounds, pooled=True
                )
                for name in names:
                    copies[name].append(getattr(reference, name))
                    users[name].append(used[name != "input"])
        for name in names:
            setattr(reference, name, merge(shared[name], copies[name], share[name], users[name]))
