"""Codes by linear hashers, BioHash training, and search over codes: the calls into kernels/{hashing,biohash,hamming}.c,
without the GIL. wv_cli.hashing and wv_cli.vectors.neighbors.codes are the face of it; this module checks shapes, since a wrong one
would read foreign memory."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from wv_cli._arguments cimport require, require_aligned, require_scratch, require_starts, row_stride, table
from wv_cli._kernels cimport (
    WV_CODE_LANES, wv_biohash, wv_biohash_samples, wv_hamming, wv_hasher, wv_kernels, wv_overlap,
)

CODE_LANES = WV_CODE_LANES


cdef class LinearHash:
    """Weights in panels (ceil(units / lanes), dim, lanes), 64-byte aligned, made by _search.pack. `active` 0 makes bits:
    activation > thresholds[unit]; else the `active` highest units are on."""

    cdef wv_hasher run
    cdef const wv_kernels *kernel
    cdef tuple kept

    def __init__(self, const float[:, :, ::1] panels, int units, int active, const float[::1] thresholds, str isa=None):
        self.kernel = table(isa)
        require(units > 0 and panels.shape[1] > 0 and panels.shape[2] == self.kernel.lanes
                and panels.shape[0] * self.kernel.lanes >= units and panels.shape[1] < 2**31, "panels of the wrong shape")
        require(0 <= active <= units and (active > 0 or thresholds.shape[0] == units), "units, active do not fit")
        require_aligned(&panels[0, 0, 0], "panels")
        self.run.dim, self.run.units, self.run.active = <int32_t>panels.shape[1], units, active
        self.run.panels = &panels[0, 0, 0]
        self.run.threshold = &thresholds[0] if active == 0 else NULL
        self.kept = (panels, thresholds)

    @property
    def scratch_bytes(self) -> int:
        return self.kernel.hash_scratch_bytes(&self.run)

    cdef int check(self, const float[:, :] rows, uint8_t[::1] scratch) except -1:
        require(rows.shape[1] == self.run.dim, "rows of the wrong dimension")
        return require_scratch(&scratch[0], scratch.nbytes, self.scratch_bytes)

    def bits(self, const float[:, :] rows, uint64_t[:, ::1] out, uint8_t[::1] scratch) -> None:
        """out: (n, ceil(units / 64))."""
        cdef int64_t stride = row_stride(rows), n = rows.shape[0]
        self.check(rows, scratch)
        require(self.run.active == 0 and out.shape[0] == n and out.shape[1] == (self.run.units + 63) // 64,
                "codes of the wrong shape")
        if n:
            with nogil:
                self.kernel.hash_bits(&self.run, &rows[0, 0], stride, n, &out[0, 0], &scratch[0])

    def active(self, const float[:, :] rows, int32_t[:, ::1] out, uint8_t[::1] scratch) -> None:
        """out: (n, active)."""
        cdef int64_t stride = row_stride(rows), n = rows.shape[0]
        self.check(rows, scratch)
        require(self.run.active > 0 and out.shape[0] == n and out.shape[1] == self.run.active,
                "codes of the wrong shape")
        if n:
            with nogil:
                self.kernel.hash_active(&self.run, &rows[0, 0], stride, n, &out[0, 0], &scratch[0])


cdef class BioHash:
    """Training by minibatches of `weights` (units, dim), rows aligned and padded to 64 bytes; `effective` like it, holding
    sign(w) |w|^(p - 1), or `weights` itself for p 2."""

    cdef wv_biohash run
    cdef const wv_kernels *kernel
    cdef tuple kept

    def __init__(self, float[:, :] weights, float[:, :] effective, int rank, float delta, float p, bint normalize,
                 str isa=None):
        self.kernel = table(isa)
        self.run.stride = <int32_t>row_stride(weights)
        require(weights.shape[0] > 0 and weights.shape[1] > 0 and weights.shape[0] == effective.shape[0]
                and weights.shape[1] == effective.shape[1] and row_stride(effective) == self.run.stride, "shapes differ")
        require(weights.shape[0] < 2**31 and 1 <= rank <= weights.shape[0] and p >= 1, "rank or p out of range")
        require(p == 2 or &weights[0, 0] != &effective[0, 0], "p 2 alone needs no effective weights")
        self.run.dim, self.run.units = <int32_t>weights.shape[1], <int32_t>weights.shape[0]
        self.run.rank, self.run.delta, self.run.p, self.run.normalize = rank, delta, p, normalize
        self.run.weights, self.run.effective = &weights[0, 0], &effective[0, 0]
        self.kept = (weights, effective)

    def scratch_bytes(self, int batch) -> int:
        return self.kernel.biohash_scratch_bytes(&self.run, batch)

    def train(self, const float[:, :] x, const int32_t[::1] order, int batch, float lr, uint8_t[::1] scratch) -> float:
        """Trains on x[order]; returns the summed energy. scratch is zeroed before its first use."""
        cdef int64_t stride = row_stride(x), n = order.shape[0], i
        cdef double energy = 0
        require(x.shape[1] == self.run.dim and x.shape[0] < 2**31, "rows of the wrong dimension")
        require(batch > 0, "a batch has one row at least")
        require_scratch(&scratch[0], scratch.nbytes, self.scratch_bytes(batch))
        for i in range(n):
            require(0 <= order[i] < x.shape[0], "order out of range")
        cdef wv_biohash_samples samples
        if n:
            samples = wv_biohash_samples(rows=&x[0, 0], stride=stride, order=&order[0], n=n)
            with nogil:
                energy = self.kernel.biohash_train(&self.run, &samples, batch, lr, &scratch[0])
        return energy


def pack_codes(const uint64_t[:, ::1] codes, uint64_t[:, :, ::1] panels) -> None:
    """Fills panels (ceil(n / CODE_LANES), words, CODE_LANES) with codes (n, words); the lanes after the last are zero."""
    cdef int64_t n = codes.shape[0], words = codes.shape[1], row, word
    require(panels.shape[0] == (n + WV_CODE_LANES - 1) // WV_CODE_LANES and panels.shape[1] == words
            and panels.shape[2] == WV_CODE_LANES, "panels of the wrong shape")
    with nogil:
        for row in range(n):
            for word in range(words):
                panels[row // WV_CODE_LANES, word, row % WV_CODE_LANES] = codes[row, word]


cdef int check_heaps(float[:, ::1] scores, int32_t[:, ::1] hits, const int64_t[::1] exclude_start,
                     const int32_t[::1] exclude, int64_t queries) except -1:
    cdef int64_t i
    require(queries > 0 and scores.shape[0] == queries and scores.shape[1] > 0 and scores.shape[1] < 2**31
            and hits.shape[0] == queries and hits.shape[1] == scores.shape[1], "heaps of the wrong shape")
    require(exclude_start.shape[0] == queries + 1 and exclude_start[0] == 0
            and exclude_start[queries] == exclude.shape[0], "exclusions of the wrong shape")
    for i in range(queries):
        require(exclude_start[i] <= exclude_start[i + 1], "exclusions must ascend")
    return 0


cdef class Hamming:
    """One thread's search for the k nearest packed codes of every query; call `scan` with ascending ranges of rows that
    start at multiples of CODE_LANES. Heaps and exclusions as in _search.TopK; scores are minus the distance."""

    cdef wv_hamming run
    cdef const wv_kernels *kernel
    cdef tuple kept

    def __init__(self, const uint64_t[:, :, ::1] panels, int64_t n, const uint64_t[:, ::1] queries,
                 float[:, ::1] scores, int32_t[:, ::1] hits, const int64_t[::1] exclude_start,
                 const int32_t[::1] exclude, str isa=None):
        self.kernel = table(isa)
        require(0 < n <= panels.shape[0] * WV_CODE_LANES and n < 2**31 and panels.shape[1] == queries.shape[1]
                and panels.shape[1] > 0 and panels.shape[2] == WV_CODE_LANES, "panels of the wrong shape")
        require_aligned(&panels[0, 0, 0], "panels")
        check_heaps(scores, hits, exclude_start, exclude, queries.shape[0])
        self.run.panels, self.run.n, self.run.words = &panels[0, 0, 0], n, <int32_t>panels.shape[1]
        self.run.queries, self.run.k = <int32_t>queries.shape[0], <int32_t>scores.shape[1]
        self.run.query, self.run.scores, self.run.hits = &queries[0, 0], &scores[0, 0], &hits[0, 0]
        self.run.exclude_start = &exclude_start[0] if exclude.shape[0] else NULL
        self.run.exclude = &exclude[0] if exclude.shape[0] else NULL
        self.kept = (panels, queries, scores, hits, exclude_start, exclude)

    def scan(self, int64_t start, int64_t end) -> None:
        require(0 <= start <= end <= self.run.n and start % WV_CODE_LANES == 0, "rows out of range")
        with nogil:
            self.kernel.hamming_top_k(&self.run, start, end)

    def distances(self, int64_t start, int64_t end, int32_t[:, ::1] out) -> None:
        """out[q, i] = distance of query q to row start + i; (queries, end - start)."""
        require(0 <= start < end <= self.run.n and start % WV_CODE_LANES == 0, "rows out of range")
        require(out.shape[0] == self.run.queries and out.shape[1] == end - start, "distances of the wrong shape")
        with nogil:
            self.kernel.hamming_distances(&self.run, start, end, &out[0, 0])


def invert(const int32_t[:, ::1] codes, int64_t[::1] starts, int32_t[::1] rows) -> None:
    """Makes the index of sparse codes (n, active) of starts.shape[0] - 1 bits: the rows that have bit b on are
    rows[starts[b]:starts[b + 1]], ascending. rows: (n * active)."""
    cdef int64_t n = codes.shape[0], active = codes.shape[1], bits = starts.shape[0] - 1, row, i, at
    require(bits > 0 and rows.shape[0] == n * active and n < 2**31, "an index of the wrong shape")
    for row in range(n):
        for i in range(active):
            require(0 <= codes[row, i] < bits, "a position out of range")
    with nogil:
        starts[:] = 0
        for row in range(n):
            for i in range(active):
                starts[codes[row, i] + 1] += 1
        for i in range(bits):
            starts[i + 1] += starts[i]
        # Each start moves on to its end, which is the next one's start: moved back afterwards.
        for row in range(n):
            for i in range(active):
                at = starts[codes[row, i]]
                rows[at] = <int32_t>row
                starts[codes[row, i]] = at + 1
        for i in range(bits, 0, -1):
            starts[i] = starts[i - 1]
        starts[0] = 0


cdef class Overlap:
    """The same by an inverted index, starts and rows as `invert` fills them. queries (count, active) are positions; scores
    are overlaps."""

    cdef wv_overlap run
    cdef const wv_kernels *kernel
    cdef tuple kept

    def __init__(self, const int64_t[::1] starts, const int32_t[::1] rows, int64_t n, const int32_t[:, ::1] queries,
                 float[:, ::1] scores, int32_t[:, ::1] hits, const int64_t[::1] exclude_start,
                 const int32_t[::1] exclude, str isa=None):
        cdef int64_t bits = starts.shape[0] - 1, i, j
        self.kernel = table(isa)
        require(0 < n < 2**31 and bits > 0 and rows.shape[0] > 0, "an index of the wrong shape")
        require_starts(starts, bits, rows.shape[0], "the index")
        require(0 < queries.shape[1] < 2**16, "queries must have 1 to 65535 positions")
        for i in range(queries.shape[0]):
            for j in range(queries.shape[1]):
                require(0 <= queries[i, j] < bits, "a position out of range")
        check_heaps(scores, hits, exclude_start, exclude, queries.shape[0])
        self.run.start, self.run.row, self.run.n = &starts[0], &rows[0], n
        self.run.active, self.run.queries = <int32_t>queries.shape[1], <int32_t>queries.shape[0]
        self.run.k, self.run.query = <int32_t>scores.shape[1], &queries[0, 0]
        self.run.scores, self.run.hits = &scores[0, 0], &hits[0, 0]
        self.run.exclude_start = &exclude_start[0] if exclude.shape[0] else NULL
        self.run.exclude = &exclude[0] if exclude.shape[0] else NULL
        self.kept = (starts, rows, queries, scores, hits, exclude_start, exclude)

    @property
    def scratch_bytes(self) -> int:
        return self.kernel.overlap_scratch_bytes(&self.run)

    def scan(self, int64_t start, int64_t end, uint8_t[::1] scratch) -> None:
        require(0 <= start <= end <= self.run.n, "rows out of range")
        require_scratch(&scratch[0], scratch.nbytes, self.scratch_bytes)
        with nogil:
            self.kernel.overlap_top_k(&self.run, start, end, &scratch[0])
