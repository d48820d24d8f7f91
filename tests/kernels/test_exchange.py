"""Sending, sharing out and taking in rows against float64 and plain NumPy, on every instruction set."""

import numpy as np
import pytest

from tests.reference import exchange as reference
from wv_cli import _cpu
from wv_cli._exchange import DIRECTIONS, Exchanged, Ways
from wv_cli.cluster.exchange import ways
from wv_cli.system.memory import allocate_aligned, pad_width

ISAS = pytest.mark.parametrize("isa", _cpu.usable())
COLUMNS = pytest.mark.parametrize("columns", [1, 3, 15, 16, 17, 40, 100, 301])
ROWS = 37


class Matrix:
    """A matrix of one rank, as exchange.c sees it."""

    def __init__(self, columns, isa=None):
        self.random = np.random.default_rng(columns)
        self.whole = allocate_aligned((ROWS, pad_width(columns)))
        self.whole[:] = 0
        self.current = self.whole[:, :columns]
        self.current[:] = self.drawn((ROWS, columns))
        self.base = self.current + self.drawn((ROWS, columns)) * np.float32(0.01)
        self.base[::5] = self.current[::5]
        self.updates = (10.0 ** self.random.uniform(-3, 5, ROWS)).astype(np.float32)
        self.movers = self.random.uniform(1, 64, ROWS).astype(np.float32)
        self.table = Exchanged(self.current, self.base, self.updates, self.movers, isa)

    def drawn(self, shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def directions(self):
        """(eigenvalues, eigenvectors) of rows' moments: one long way, the others falling."""
        columns = self.current.shape[1]
        vectors = np.linalg.qr(self.random.standard_normal((columns, columns)))[0]
        return np.sort(0.1 * self.random.random(columns) ** 4), vectors


@ISAS
@COLUMNS
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 30])
def test_shares_are_those_of_float64(columns, count, isa):
    matrix = Matrix(columns, isa)
    rows = np.sort(matrix.random.permutation(ROWS)[:count])
    values, vectors = matrix.directions()
    summed = matrix.drawn((count, columns))
    found = summed.flatten()
    matrix.table.share(ways(values, vectors), rows, found)
    expected = reference.shared(summed, matrix.updates[rows], matrix.movers[rows], values, vectors, DIRECTIONS)
    assert np.allclose(found.reshape(count, columns), expected, rtol=1e-5, atol=1e-5)


@ISAS
def test_the_share_is_one_for_short_ways_and_the_mean_for_long_ones(isa):
    matrix = Matrix(16, isa)
    rows = np.arange(ROWS)
    for way, share in ((0.0, 1.0), (1e-12, 1.0), (1e30, 1 / matrix.movers[:, None])):
        summed = matrix.drawn((ROWS, 16))
        found = summed.flatten()
        matrix.table.share(ways(np.full(16, way), np.eye(16)), rows, found)
        assert np.allclose(found.reshape(ROWS, 16), summed * share, rtol=1e-5)


@ISAS
@COLUMNS
def test_rows_are_sent_and_taken_in(columns, isa):
    """To the bit, so that a row that has not changed is the base again."""
    matrix = Matrix(columns, isa)
    rows = np.array([3, 0, 36, 12, 5, 20, 21, 11, 30])
    before, base = matrix.current.copy(), matrix.base.copy()
    sent, summed = (np.full(len(rows) * columns, 9, np.float32) for _ in range(2))
    matrix.table.send(rows, sent, summed)
    assert np.array_equal(sent.reshape(-1, columns), before[rows] - base[rows]) and np.array_equal(sent, summed)
    assert np.array_equal(matrix.current, before) and np.array_equal(matrix.base, base)
    matrix.current[[0, 12, 1]] += np.float32(1 / 3)
    now, added = matrix.current.copy(), matrix.drawn(len(rows) * columns)
    matrix.table.take_in(rows, sent, added)
    learnt = now[rows] - base[rows] - sent.reshape(-1, columns)
    base[rows] += added.reshape(-1, columns)
    assert np.array_equal(matrix.base, base)
    now[rows] = base[rows] + learnt
    assert np.array_equal(matrix.current, now)
    same = [row for row in rows if row not in (0, 12)]
    assert np.array_equal(matrix.current[same], matrix.base[same])
    assert not matrix.whole[:, columns:].any()


@ISAS
@COLUMNS
def test_rows_that_moved_differ_anywhere(columns, isa):
    """By one number, the first or the last; NaN is a change, too."""
    matrix = Matrix(columns, isa)
    matrix.current[:] = matrix.base
    rows = np.array([36, 2, 5, 0, 12, 20, 11, 30])
    moved = np.full(len(rows), 9, np.uint8)
    matrix.table.moved(rows, moved)
    assert not moved.any()
    matrix.current[2, 0] += 1
    matrix.current[20, -1] += 1
    matrix.base[30, columns // 2] = np.nan
    matrix.current[[1, 35]] += 1  # not asked about
    matrix.table.moved(rows, moved)
    assert moved.tolist() == [0, 1, 0, 0, 0, 1, 0, 1]


def test_what_would_read_foreign_memory_is_refused():
    matrix = Matrix(20)
    numbers, far = np.zeros(40, np.float32), ways(np.zeros(20), np.eye(20))
    for rows in (np.array([0, ROWS]), np.array([-1, 0])):
        for call in (
            lambda rows=rows: matrix.table.moved(rows, np.zeros(2, np.uint8)),
            lambda rows=rows: matrix.table.send(rows, numbers, numbers.copy()),
            lambda rows=rows: matrix.table.take_in(rows, numbers, numbers),
            lambda rows=rows: matrix.table.share(far, rows, numbers),
        ):
            with pytest.raises(ValueError, match="rows out of range"):
                call()
    rows = np.array([0, 1])
    for call in (
        lambda: matrix.table.moved(rows, np.zeros(3, np.uint8)),
        lambda: matrix.table.send(rows, numbers, numbers[:-1].copy()),
        lambda: matrix.table.take_in(rows, numbers[:-1], numbers),
        lambda: matrix.table.share(far, rows, numbers[:-1].copy()),
        lambda: matrix.table.share(ways(np.zeros(19), np.eye(19)), rows, numbers),
        lambda: Exchanged(matrix.current, matrix.base[:-1], matrix.updates, matrix.movers),
        lambda: Exchanged(matrix.current, matrix.base, matrix.updates[:-1].copy(), matrix.movers),
        lambda: Exchanged(matrix.current, matrix.base[:, :-1].copy(), matrix.updates, matrix.movers),
        lambda: Ways(np.zeros((20, 15), np.float32), np.zeros((16, 32), np.float32), np.zeros(16, np.float32), 0),
        lambda: Ways(np.zeros((20, 16), np.float32), np.zeros((16, 20), np.float32), np.zeros(16, np.float32), 0),
    ):
        with pytest.raises(ValueError, match="shapes differ"):
            call()
