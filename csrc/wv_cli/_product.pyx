"""Product quantization: the calls into kernels/product.c and productsearch.c, without the GIL. wv_cli.vectors.quantizer
and wv_cli.vectors.neighbors.product are the faces of it; this module only checks shapes, since a wrong one would read foreign memory. Values must be finite; that is the caller's to check."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy
from wv_cli._arguments cimport require, require_aligned, require_floats, require_scratch, require_starts, row_stride, table
from wv_cli._kernels cimport WV_CENTROIDS, wv_kernels, wv_product_block, wv_product_codes, wv_product_search

CENTROIDS = WV_CENTROIDS


cdef int require_dimension(const float[:, :] rows) except -1:
    return require(0 < rows.shape[1] < 2**24, "rows must have 1 to 16,777,215 coordinates")


def train_scratch_bytes(int64_t points, int32_t width, str isa=None) -> int:
    return table(isa).product_train_scratch_bytes(points, width)


def train(const float[:, :] x, const int64_t[::1] sample, int32_t first, int32_t width, uint64_t seed,
          float[::1] centroids, double[::1] errors, uint8_t[::1] scratch, str isa=None) -> int:
    """k-means on coordinates first .. first + width - 1 of the sampled rows of x.

    centroids: CENTROIDS * width floats; errors: one for each iteration wanted, the sum of squared distances before it;
    scratch: train_scratch_bytes(len(sample), width), 64-byte aligned. Returns the number of iterations, which is less
    than len(errors) when the error fell no more.
    """
    cdef const wv_kernels *kernel = table(isa)
    cdef wv_product_block run
    cdef int64_t i, rows = x.shape[0]
    cdef int32_t done
    require_dimension(x)
    run.stride = row_stride(x)
    require(0 < sample.shape[0] < 2**31, "the sample must have 1 to 2,147,483,647 rows")
    require(0 <= first and 0 < width and first + width <= x.shape[1], "the block lies outside the rows")
    require(centroids.shape[0] == WV_CENTROIDS * <int64_t>width, "centroids of the wrong size")
    require(0 < errors.shape[0] < 2**31, "at least one iteration is needed")
    require_scratch(&scratch[0], scratch.nbytes, kernel.product_train_scratch_bytes(sample.shape[0], width))
    for i in range(sample.shape[0]):
        if not 0 <= sample[i] < rows:
            raise ValueError("a sampled row is out of range")
    run.x, run.sample, run.points = &x[0, 0], &sample[0], sample.shape[0]
    run.first, run.width, run.iterations, run.seed = first, width, <int32_t>errors.shape[0], seed
    run.centroids, run.errors = &centroids[0], &errors[0]
    with nogil:
        done = kernel.product_train(&run, &scratch[0])
    return done


def encode_scratch_bytes(int32_t dim, int32_t dsub, str isa=None) -> int:
    return table(isa).product_encode_scratch_bytes(dim, dsub)


def encode(const float[:, :] x, int32_t dsub, const float[::1] centroids, uint8_t[:, ::1] codes, int64_t start,
           int64_t end, uint8_t[::1] scratch, str isa=None) -> None:
    """Writes the codes of rows start .. end - 1 of x; scratch: encode_scratch_bytes(dim, dsub), 64-byte aligned."""
    cdef const wv_kernels *kernel = table(isa)
    cdef wv_product_codes run
    cdef int32_t dim = <int32_t>x.shape[1]
    require_dimension(x)
    run.stride = row_stride(x)
    require(0 < dsub < 2**24 and codes.shape[0] == x.shape[0] and codes.shape[1] == (dim + dsub - 1) // dsub,
            "codes of the wrong shape")
    require(centroids.shape[0] == WV_CENTROIDS * <int64_t>dim, "centroids of the wrong size")
    require_floats(&centroids[0], "centroids")
    require(0 <= start < end <= x.shape[0], "rows out of range")
    require_scratch(&scratch[0], scratch.nbytes, kernel.product_encode_scratch_bytes(dim, dsub))
    run.x, run.dim, run.dsub, run.centroids, run.codes = &x[0, 0], dim, dsub, &centroids[0], &codes[0, 0]
    with nogil:
        kernel.product_encode(&run, start, end, &scratch[0])


def decode(const uint8_t[:, :] codes, const int64_t[::1] rows, int32_t dim, int32_t dsub, const float[::1] centroids,
           const float[::1] scales, float[:, ::1] out) -> None:
    """out[i] = the vector of codes[rows[i]], times scales[i] when there are any. Centroids and scales may begin anywhere,
    as the arrays of a mapped file do."""
    cdef int64_t i, n = rows.shape[0], code_stride = codes.strides[0]
    cdef int32_t first, width, m, j
    cdef const uint8_t *code
    cdef const char *centroid
    cdef float *vector
    cdef float scale
    cdef const char *of_file
    cdef const char *scale_of_file = NULL
    cdef bint scaled = scales.shape[0] > 0
    require(0 < dim < 2**24 and 0 < dsub < 2**24 and codes.shape[1] == (dim + dsub - 1) // dsub and
            (codes.strides[1] == 1 or codes.shape[1] == 1), "codes of the wrong shape")
    require(centroids.shape[0] == WV_CENTROIDS * <int64_t>dim, "centroids of the wrong size")
    require(out.shape[0] == n and out.shape[1] == dim and (not scaled or scales.shape[0] == n), "vectors of the wrong shape")
    for i in range(n):
        if not 0 <= rows[i] < codes.shape[0]:
            raise IndexError(f"row {rows[i]} of {codes.shape[0]}")
    if n == 0:
        return
    of_file = <const char *>&centroids[0]
    if scaled:
        scale_of_file = <const char *>&scales[0]
    with nogil:
        for i in range(n):
            code = &codes[0, 0] + rows[i] * code_stride
            vector = &out[i, 0]
            first = 0
            m = 0
            while first < dim:
                width = min(dsub, dim - first)
                centroid = of_file + (WV_CENTROIDS * <int64_t>first + <int64_t>code[m] * width) * sizeof(float)
                memcpy(vector + first, centroid, width * sizeof(float))
                first += dsub
                m += 1
            if scaled:
                memcpy(&scale, scale_of_file + i * sizeof(float), sizeof(float))
                for j in range(dim):
                    vector[j] *= scale


cdef class Search:
    """One thread's search for the k best codes of every query; call `scan` with ascending ranges of rows.

    centroids as in encode; unit is 1 / their largest magnitude, 0 when all are 0. scales (n) float32 must come filled with
    -1 the first time, and are kept. The rest as in wv_cli._search.TopK.
    """

    cdef wv_product_search run
    cdef const wv_kernels *kernel
    cdef int64_t n
    cdef tuple kept

    def __init__(self, const uint8_t[:, ::1] codes, int32_t dsub, const float[::1] centroids, double unit,
                 float[::1] scales, const float[:, :, ::1] panels, float[::1] thresholds, float[:, ::1] scores,
                 int32_t[:, ::1] hits, const int64_t[::1] exclude_start, const int32_t[::1] exclude, str isa=None):
        self.kernel = table(isa)
        cdef int64_t queries = scores.shape[0], dim = panels.shape[1]
        self.n = codes.shape[0]
        require(queries > 0 and scores.shape[1] > 0 and self.n > 0 and dim > 0, "nothing to search")
        require(self.n < 2**31 and queries < 2**30 and scores.shape[1] < 2**31 and dim < 2**24, "too large to search")
        require(0 < dsub < 2**24 and codes.shape[1] == (dim + dsub - 1) // dsub and scales.shape[0] == self.n,
                "codes or scales of the wrong shape")
        require(centroids.shape[0] == WV_CENTROIDS * dim, "centroids of the wrong size")
        require_floats(&centroids[0], "centroids")
        require(hits.shape[0] == queries and hits.shape[1] == scores.shape[1], "hits and scores differ in shape")
        require(panels.shape[2] == self.kernel.lanes and panels.shape[0] * panels.shape[2] == thresholds.shape[0]
                and queries <= thresholds.shape[0] < queries + panels.shape[2], "panels or thresholds of the wrong shape")
        require_aligned(&panels[0, 0, 0], "panels")
        require_starts(exclude_start, queries, exclude.shape[0], "exclusions")
        self.run.codes, self.run.dim, self.run.dsub = &codes[0, 0], <int32_t>dim, dsub
        self.run.centroids, self.run.unit, self.run.scale = &centroids[0], unit, &scales[0]
        self.run.queries, self.run.k = <int32_t>queries, <int32_t>scores.shape[1]
        self.run.panels, self.run.threshold = &panels[0, 0, 0], &thresholds[0]
        self.run.scores, self.run.hits = &scores[0, 0], &hits[0, 0]
        self.run.exclude_start = &exclude_start[0]
        self.run.exclude = &exclude[0] if exclude.shape[0] else NULL
        self.kept = (codes, centroids, scales, panels, thresholds, scores, hits, exclude_start, exclude)

    @property
    def scratch_bytes(self) -> int:
        return self.kernel.product_search_scratch_bytes(&self.run)

    def scan(self, int64_t start, int64_t end, uint8_t[::1] scratch) -> None:
        require(0 <= start <= end <= self.n, "rows out of range")
        require_scratch(&scratch[0], scratch.nbytes, self.scratch_bytes)
        with nogil:
            self.kernel.product_search(&self.run, start, end, &scratch[0])
