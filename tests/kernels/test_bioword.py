"""The BioWord kernel against its dense float64 reference, on every instruction set and with any number of threads."""

import itertools
import threading

import numpy as np
import pytest

from tests.reference.bioword import Reference, Straight, windows
from wv_cli import _bioword, _cpu
from wv_cli.io.memory import pad_width, zeros


def text(words, tokens, seed, longest=30):
    """Ids with line ends, lines of 1 .. longest words, every word at least once."""
    random = np.random.default_rng(seed)
    stream = [*random.permutation(words), *np.minimum(random.zipf(1.3, tokens - words) - 1, words - 1)]
    ids = []
    while stream:
        n = int(random.integers(1, longest + 1))
        ids += [*stream[:n], -1]
        stream = stream[n:]
    return np.array(ids, np.int32)


class Kernel:
    def __init__(self, weights, counts, ids, *, window, batch, threads=1, isa=None, scale=None, bag=False):
        rows, self.cells = weights.shape
        self.raw = zeros(rows, pad_width(self.cells))
        self.scale = np.ones(self.cells) if scale is None else np.array(scale, float)
        self.raw[:, : self.cells] = weights / self.scale
        self.largest = np.abs(self.raw[:, : self.cells]).max(0)
        self.norm2 = (self.W**2).sum(0)
        self.starts = _bioword.batch_starts(ids, batch)
        self.run = _bioword.Run(
            raw=self.raw, scale=self.scale, norm2=self.norm2, largest=self.largest, inverse=1 / counts, ids=ids,
            starts=self.starts, cells=self.cells, window=window, threads=threads, isa=isa, bag=bag,
        )  # fmt: skip
        self.workers = [self.run.worker(thread) for thread in range(threads)]

    @property
    def W(self):
        return self.raw[:, : self.cells].astype(float) * self.scale

    def train(self, first, last, rate):
        energies = [0.0] * len(self.workers)

        def work(thread):
            energies[thread] = self.workers[thread].train(self.starts[first : last + 1], rate)

        others = [threading.Thread(target=work, args=(i,)) for i in range(1, len(self.workers))]
        for each in others:
            each.start()
        work(0)
        for each in others:
            each.join()
        assert len(set(energies)) == 1
        return energies[0]

    def check_invariants(self):
        assert np.isfinite(self.raw).all() and not self.raw[:, self.cells :].any()
        assert (self.scale > 0).all()
        assert (np.abs(self.raw[:, : self.cells]) <= self.largest).all()
        np.testing.assert_allclose(self.norm2, (self.W**2).sum(0), rtol=1e-4, atol=1e-9)


def compare(
    *, isa=None, words=60, cells=20, tokens=700, window=5, batch=100, rate=0.05, epochs=3, seed=0, tol=2e-5, bag=False
):
    ids = text(words, tokens, seed)
    counts = np.bincount(ids[ids >= 0], minlength=words).astype(float)
    weights = np.random.default_rng(seed).normal(0, 0.02, (2 * words, cells)).astype(np.float32)
    scale = np.random.default_rng(seed + 1).uniform(0.5, 2, cells)
    kernel = Kernel(weights, counts, ids, window=window, batch=batch, isa=isa, scale=scale, bag=bag)
    reference = Reference(kernel.W, counts, window, bag=bag)
    for epoch in range(epochs):
        now = rate * (1 - epoch / epochs)
        energy = kernel.train(0, len(kernel.starts) - 1, now)
        pairs = zip(kernel.starts[:-1], kernel.starts[1:], strict=True)
        expected = sum(reference.batch(ids, start, end, now) for start, end in pairs)
        assert reference.margin > 1e-6, "a near tie decides nothing here; choose another seed"
        assert energy == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(kernel.W, reference.W, atol=tol)
    kernel.check_invariants()
    return kernel, reference


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("cells", [1, 2, 7, 15, 16, 17, 31, 33, 64, 65, 100, 400])
def test_kernel_equals_reference(isa, cells):
    compare(isa=isa, cells=cells)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "options",
    [
        {"batch": 1, "tokens": 200},  # many batches: scales change often
        {"batch": 10_000},
        {"window": 1},
        {"bag": True},
        {"bag": True, "window": 50},
        {"window": 50},  # larger than any line
        {"words": 2, "cells": 3, "rate": 0.3, "batch": 7, "epochs": 4, "tol": 1e-4},  # decay decides the largest change
        {"words": 1, "cells": 1, "tokens": 40, "batch": 3},
        {"words": 5, "cells": 1, "tokens": 100, "rate": 1.0, "batch": 4, "epochs": 8, "tol": 1e-4},
    ],
    ids=str,
)
def test_options(isa, options):
    compare(isa=isa, **options)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_any_number_of_threads_gives_the_same_bytes(threads):
    ids = text(80, 3000, 4)
    counts = np.bincount(ids[ids >= 0], minlength=80).astype(float)
    weights = np.random.default_rng(1).normal(0, 0.02, (160, 50)).astype(np.float32)
    kernels = [Kernel(weights, counts, ids, window=3, batch=64, threads=n) for n in (1, threads)]
    for kernel in kernels:
        kernel.train(0, len(kernel.starts) - 1, 0.1)
    one, many = kernels
    assert one.raw.tobytes() == many.raw.tobytes() and one.scale.tobytes() == many.scale.tobytes()


def test_batches_cover_every_word_once_and_the_last_is_smaller():
    ids = text(30, 500, 2)
    starts = _bioword.batch_starts(ids, 64)
    sizes = [int((ids[a:b] >= 0).sum()) for a, b in itertools.pairwise(starts)]
    assert starts[0] == 0 and starts[-1] == len(ids)
    assert sizes == [64] * (500 // 64) + [500 % 64]


def test_the_numpy_program_agrees_with_the_reference():
    ids = text(30, 400, 5)
    counts = np.bincount(ids[ids >= 0], minlength=30).astype(float)
    weights = np.random.default_rng(1).normal(0, 0.02, (60, 9))
    reference, straight = Reference(weights, counts, 2), Straight(weights, counts)
    whole = [at for at in range(2, len(ids) - 2) if (ids[at - 2 : at + 3] >= 0).all()]
    for at in whole[:50]:
        reference.batch(ids, at, at + 1, 0.05)
        straight.batch(np.array(list(windows(ids, at, at + 1, 30, 2))), 0.05)
    np.testing.assert_allclose(straight.W, reference.W, atol=1e-5)


def test_arguments_are_checked():
    ids = np.array([0, 1, -1], np.int32)
    weights, counts = np.ones((4, 3), np.float32), np.ones(2)
    with pytest.raises(ValueError, match="beyond the words"):
        Kernel(weights, counts, np.array([0, 2, -1], np.int32), window=2, batch=2)
    with pytest.raises(ValueError, match="do not fit"):
        Kernel(weights[:3], counts, ids, window=2, batch=2)
    with pytest.raises(ValueError, match="beyond the text"):
        kernel = Kernel(weights, counts, ids, window=2, batch=2)
        kernel.workers[0].train(np.array([0, 9]), 0.1)
    with pytest.raises(ValueError, match="no such thread"):
        kernel.run.worker(1)
