"""Exact top-k and analogies by cosine: the calls into kernels/search.c, without the GIL. wv_cli.vectors.neighbors.exact
is the face of it; this module only checks shapes, since a wrong one would read foreign memory."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from wv_cli._arguments cimport padded, require, require_aligned, require_scratch, row_stride, table
from wv_cli._scratch cimport aligned_zeros
from wv_cli._kernels cimport WV_3COSADD, WV_3COSMUL, wv_analogies, wv_int8_search, wv_kernels, wv_search_rows, wv_top_k

METHODS: dict[str, int] = {"3cosadd": WV_3COSADD, "3cosmul": WV_3COSMUL}


def lanes(str isa=None) -> int:
    """Floats per register: vectors are packed in panels of that many."""
    return table(isa).lanes


def normalize(const float[:, :] source, float[:, :] out, str isa=None) -> None:
    """out[i] = source[i] / |source[i]|; zero rows stay zero, rows with NaN or infinity become NaN. `out` may be `source`."""
    require(source.shape[0] == out.shape[0] and source.shape[1] == out.shape[1], "shapes differ")
    cdef const wv_kernels *kernel = table(isa)
    cdef int64_t source_stride = row_stride(source), out_stride = row_stride(out), n = source.shape[0]
    cdef int32_t dim = <int32_t>source.shape[1]
    if n and dim:
        with nogil:
            kernel.search_normalize(&source[0, 0], source_stride, &out[0, 0], out_stride, n, dim)


def pack(const float[:, :] vectors, float[:, :, ::1] panels, str isa=None) -> None:
    """Fills panels (ceil(count / lanes), dim, lanes), 64-byte aligned, with vectors (count, dim)."""
    cdef const wv_kernels *kernel = table(isa)
    require(panels.shape[0] * kernel.lanes >= vectors.shape[0] and panels.shape[1] == vectors.shape[1]
            and panels.shape[2] == kernel.lanes, "panels of the wrong shape")
    if vectors.shape[0] and vectors.shape[1]:
        kernel.search_pack(&vectors[0, 0], row_stride(vectors), <int32_t>vectors.shape[0],
                           <int32_t>vectors.shape[1], &panels[0, 0, 0])


cdef class Rows:
    """Vectors as they lie in memory: a matrix (n, dim) or, with `offsets`, float32 numbers of which row i begins
    offsets[i] bytes after the first of `source` (uint8), wherever that is. scales (n) must come filled with -1; 1 / length of
    each row that was looked at is left there (0 of a zero row, NaN of one that holds NaN or infinity)."""

    cdef wv_search_rows run
    cdef readonly int64_t n
    cdef tuple kept

    def __init__(self, source: NDArray[np.float32] | NDArray[np.uint8], double[::1] scales,
                 const int64_t[::1] offsets=None, int64_t dim=0):
        cdef const float[:, :] matrix
        cdef const uint8_t[::1] data
        cdef int64_t i
        if offsets is None:
            matrix = source
            self.n, dim = matrix.shape[0], matrix.shape[1]
            require(self.n > 0 and dim > 0, "nothing to search")
            self.run.base, self.run.stride = <const char *>&matrix[0, 0], sizeof(float) * row_stride(matrix)
        else:
            data = source
            self.n = offsets.shape[0]
            require(self.n > 0 and dim > 0, "nothing to search")
            for i in range(self.n):
                require(0 <= offsets[i] and offsets[i] + dim * <int64_t>sizeof(float) <= data.shape[0],
                        "a row lies outside of the bytes")
            self.run.base, self.run.offsets = <const char *>&data[0], &offsets[0]
        require(self.n < 2**31 and dim < 2**31, "too large to search")
        require(scales.shape[0] == self.n, "expected one scale for each row")
        self.run.dim, self.run.scale = <int32_t>dim, &scales[0]
        self.kept = (source, scales, offsets)

    @property
    def dim(self) -> int:
        return self.run.dim

    def unit(self, const int64_t[::1] numbers, float[:, ::1] out, str isa=None) -> None:
        """out (len(numbers), dim) = the unit rows with these numbers."""
        cdef const wv_kernels *kernel = table(isa)
        cdef int64_t i, count = numbers.shape[0]
        require(out.shape[0] == count and out.shape[1] == self.run.dim, "shapes differ")
        for i in range(count):
            require(0 <= numbers[i] < self.n, "rows out of range")
        if count:
            with nogil:
                kernel.search_unit_rows(&self.run, &numbers[0], count, &out[0, 0])


cdef class TopK:
    """One thread's search for the k best rows of every query; call `scan` with ascending ranges of rows.

    scores (queries, k) float32 must come filled with -inf, hits (queries, k) int32 with the largest int32, thresholds
    (queries rounded up to lanes) with -inf and +inf after the last query. exclude_start (queries + 1) and exclude list
    the rows a query must not get, ascending. scratch: `scratch_bytes`, 64-byte aligned.
    """

    cdef wv_top_k run
    cdef const wv_kernels *kernel
    cdef tuple kept
    cdef Rows rows

    def __init__(self, Rows rows, const float[:, :, ::1] panels, float[::1] thresholds,
                 float[:, ::1] scores, int32_t[:, ::1] hits, const int64_t[::1] exclude_start,
                 const int32_t[::1] exclude, str isa=None):
        self.kernel = table(isa)
        cdef int64_t queries = scores.shape[0], i
        require(queries > 0 and scores.shape[1] > 0, "nothing to search")
        require(queries < 2**30 and scores.shape[1] < 2**31, "too large to search")
        require(hits.shape[0] == queries and hits.shape[1] == scores.shape[1], "hits and scores differ in shape")
        require(panels.shape[2] == self.kernel.lanes and panels.shape[1] == rows.run.dim
                and panels.shape[0] * panels.shape[2] == thresholds.shape[0] and thresholds.shape[0] >= queries
                and thresholds.shape[0] < queries + panels.shape[2], "panels or thresholds of the wrong shape")
        require_aligned(&panels[0, 0, 0], "panels")
        require(exclude_start.shape[0] == queries + 1 and exclude_start[0] == 0
                and exclude_start[queries] == exclude.shape[0], "exclusions of the wrong shape")
        for i in range(queries):
            require(exclude_start[i] <= exclude_start[i + 1], "exclusions must ascend")
        self.rows, self.run.rows = rows, &rows.run
        self.run.queries, self.run.k = <int32_t>queries, <int32_t>scores.shape[1]
        self.run.panels, self.run.threshold = &panels[0, 0, 0], &thresholds[0]
        self.run.scores, self.run.hits = &scores[0, 0], &hits[0, 0]
        self.run.exclude_start = &exclude_start[0]
        self.run.exclude = &exclude[0] if exclude.shape[0] else NULL
        self.kept = (panels, thresholds, scores, hits, exclude_start, exclude)

    @property
    def scratch_bytes(self) -> int:
        return self.kernel.search_top_k_scratch_bytes(&self.run)

    def scan(self, int64_t start, int64_t end, uint8_t[::1] scratch) -> None:
        require(0 <= start <= end <= self.rows.n, "rows out of range")
        require_scratch(&scratch[0], scratch.nbytes, self.scratch_bytes)
        with nogil:
            self.kernel.search_top_k(&self.run, start, end, &scratch[0])


cdef class Analogies:
    """One thread's search for the k best answers of every question; call `scan` with ascending ranges of rows.

    words (distinct, dim) unit vectors, questions (count, 3) rows of `words`, word_rows (distinct) the row of each word
    in `rows`. scores, hits, thresholds come filled as for TopK (no padding). scratch: `scratch_bytes`, 64-byte aligned.
    """

    cdef wv_analogies run
    cdef const wv_kernels *kernel
    cdef tuple kept
    cdef Rows rows

    def __init__(self, Rows rows, const float[:, ::1] words, const int32_t[::1] word_rows,
                 const int32_t[:, ::1] questions, str method, float[::1] thresholds, float[:, ::1] scores,
                 int32_t[:, ::1] hits, str isa=None):
        self.kernel = table(isa)
        cdef int64_t count = questions.shape[0], i, j
        require(count > 0 and scores.shape[1] > 0, "nothing to search")
        require(count < 2**30 and scores.shape[1] < 2**31, "too large to search")
        require(questions.shape[1] == 3 and words.shape[1] == rows.run.dim and words.shape[0] == word_rows.shape[0]
                and thresholds.shape[0] == count and scores.shape[0] == count and hits.shape[0] == count
                and hits.shape[1] == scores.shape[1], "arrays of the wrong shape")
        for i in range(count):
            for j in range(3):
                require(0 <= questions[i, j] < words.shape[0], "a question names a word out of range")
        self.rows, self.run.rows = rows, &rows.run
        self.run.questions, self.run.k, self.run.method = <int32_t>count, <int32_t>scores.shape[1], METHODS[method]
        self.run.words, self.run.distinct = &words[0, 0], <int32_t>words.shape[0]
        self.run.question, self.run.word_row = &questions[0, 0], &word_rows[0]
        self.run.threshold, self.run.scores, self.run.hits = &thresholds[0], &scores[0, 0], &hits[0, 0]
        self.kept = (words, word_rows, questions, thresholds, scores, hits)

    @property
    def scratch_bytes(self) -> int:
        return self.kernel.search_analogies_scratch_bytes(&self.run)

    def scan(self, int64_t start, int64_t end, uint8_t[::1] scratch) -> None:
        require(0 <= start <= end <= self.rows.n, "rows out of range")
        require_scratch(&scratch[0], scratch.nbytes, self.scratch_bytes)
        with nogil:
            self.kernel.search_analogies(&self.run, start, end, &scratch[0])


def int8_top_k(const int8_t[:, ::1] rows, const float[::1] norms, float least_norm, const float[:, ::1] queries,
               float[:, ::1] scores, int32_t[:, ::1] hits, str isa=None) -> None:
    """The k nearest of rows (n, dim) of these lengths for queries: unit vectors (count, dim padded to whole cache lines),
    64-byte aligned. scores (count, k) and hits (count, k) must come filled as those of TopK; rows shorter than
    `least_norm` are no answers."""
    cdef wv_int8_search run
    cdef const wv_kernels *kernel = table(isa)
    cdef int64_t n = rows.shape[0], count = queries.shape[0], k = scores.shape[1]
    require(norms.shape[0] == n and n < 2**31 and rows.shape[1] < 2**31, "rows and lengths differ")
    require(queries.shape[1] == padded(rows.shape[1]), "queries of the wrong width")
    require(scores.shape[0] == count and hits.shape[0] == count and hits.shape[1] == k, "hits and scores differ in shape")
    require(count < 2**30 and k < 2**31, "too large to search")
    if not (n and count and k and rows.shape[1]):
        return
    require_aligned(&queries[0, 0], "queries")
    run.rows, run.norms, run.least_norm, run.dim = &rows[0, 0], &norms[0], least_norm, <int32_t>rows.shape[1]
    run.count, run.k, run.queries, run.stride = <int32_t>count, <int32_t>k, &queries[0, 0], queries.shape[1]
    run.scores, run.hits = &scores[0, 0], &hits[0, 0]
    cdef uint8_t[::1] scratch = aligned_zeros(kernel.int8_search_scratch_bytes(&run))
    with nogil:
        kernel.int8_search_top_k(&run, 0, n, &scratch[0])
