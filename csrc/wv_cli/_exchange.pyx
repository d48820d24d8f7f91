"""Rows that several ranks train copies of: the calls into kernels/exchange.c, without the GIL. wv_cli.cluster.exchange says
what is exchanged when; this module only checks shapes, since a wrong one would read foreign memory."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from wv_cli._arguments cimport padded, require, row_stride, table
from wv_cli._kernels cimport WV_DIRECTIONS, wv_exchanged, wv_kernels, wv_ways

DIRECTIONS = WV_DIRECTIONS


cdef class Ways:
    """directions (columns, DIRECTIONS), transposed (DIRECTIONS, columns padded to 64 bytes), way (DIRECTIONS): see
    kernels/wv_exchange.h."""

    cdef wv_ways run
    cdef int64_t columns
    cdef tuple kept

    def __init__(self, const float[:, ::1] directions, const float[:, ::1] transposed, const float[::1] way,
                 float other_way):
        self.columns = directions.shape[0]
        require(self.columns > 0 and directions.shape[1] == transposed.shape[0] == way.shape[0] == WV_DIRECTIONS
                and transposed.shape[1] == padded(self.columns), "shapes differ")
        self.run.directions, self.run.transposed, self.run.way = &directions[0, 0], &transposed[0, 0], &way[0]
        self.run.stride, self.run.other_way = transposed.shape[1], other_way
        self.kept = (directions, transposed, way)


cdef class Exchanged:
    """One matrix of one rank: current and base (rows, columns), updates and movers (rows). In all calls `rows` are the
    numbers of some of its rows, and the other arrays have their numbers, one row after the other."""

    cdef wv_exchanged run
    cdef const wv_kernels *kernel
    cdef int64_t rows
    cdef tuple kept

    def __init__(self, float[:, :] current, float[:, ::1] base, const float[::1] updates, const float[::1] movers,
                 str isa=None):
        self.kernel = table(isa)
        self.rows = current.shape[0]
        require(self.rows > 0 and 0 < current.shape[1] < 2**24, "nothing to exchange")
        require(base.shape[0] == updates.shape[0] == movers.shape[0] == self.rows and base.shape[1] == current.shape[1],
                "shapes differ")
        self.run.current, self.run.stride = &current[0, 0], row_stride(current)
        self.run.base, self.run.columns = &base[0, 0], <int32_t>base.shape[1]
        self.run.updates, self.run.movers = &updates[0], &movers[0]
        self.kept = (current, base, updates, movers)

    cdef int check(self, const int64_t[::1] rows, int64_t numbers, int64_t others) except -1:
        cdef int64_t i, least = 0, most = 0
        with nogil:
            for i in range(rows.shape[0]):
                least = min(least, rows[i])
                most = max(most, rows[i])
        require(least >= 0 and most < self.rows, "rows out of range")
        return require(numbers == others == rows.shape[0] * self.run.columns, "shapes differ")

    def moved(self, const int64_t[::1] rows, uint8_t[::1] moved):
        """Fills `moved` (rows) with whether current differs from base."""
        self.check(rows, moved.shape[0] * self.run.columns, rows.shape[0] * self.run.columns)
        if rows.shape[0]:
            with nogil:
                self.kernel.exchange_moved(&self.run, &rows[0], rows.shape[0], &moved[0])

    def send(self, const int64_t[::1] rows, float[::1] sent, float[::1] sum):
        """Fills both with current - base."""
        self.check(rows, sent.shape[0], sum.shape[0])
        if rows.shape[0]:
            with nogil:
                self.kernel.exchange_send(&self.run, &rows[0], rows.shape[0], &sent[0], &sum[0])

    def share(self, Ways ways, const int64_t[::1] rows, float[::1] summed):
        """Replaces sums by what is to be added of them."""
        self.check(rows, summed.shape[0], summed.shape[0])
        require(ways.columns == self.run.columns, "shapes differ")
        if rows.shape[0]:
            with nogil:
                self.kernel.exchange_share(&self.run, &ways.run, &rows[0], rows.shape[0], &summed[0])

    def take_in(self, const int64_t[::1] rows, const float[::1] sent, const float[::1] added):
        """base += added; current keeps what was learnt since the rows were sent."""
        self.check(rows, sent.shape[0], added.shape[0])
        if rows.shape[0]:
            with nogil:
                self.kernel.exchange_take_in(&self.run, &rows[0], rows.shape[0], &sent[0], &added[0])
