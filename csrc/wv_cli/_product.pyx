"""Product quantisation: the calls into kernels/product.c, without the GIL. wv_cli.vectors.quantizer is the face of it;
this module only checks shapes, since a wrong one would read foreign memory. Values must be finite; that is the caller's to check."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy
from wv_cli._arguments cimport require, require_floats, require_scratch, row_stride, table
from wv_cli._kernels cimport WV_CENTROIDS, wv_kernels, wv_product_block, wv_product_codes

CENTROIDS = WV_CENTROIDS


cdef int require_dimension(const float[:, :] rows) except -1:
    return require(0 < rows.shape[1] < 2**24, "rows must have 1 to 16,777,215 coordinates")


def train_scratch_bytes(int64_t points, int32_t width, str isa=None):
    return table(isa).product_train_scratch_bytes(points, width)


def train(const float[:, :] x, const int64_t[::1] sample, int32_t first, int32_t width, uint64_t seed,
          float[::1] centroids, double[::1] errors, uint8_t[::1] scratch, str isa=None):
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


def encode_scratch_bytes(int32_t dim, int32_t dsub, str isa=None):
    return table(isa).product_encode_scratch_bytes(dim, dsub)


def encode(const float[:, :] x, int32_t dsub, const float[::1] centroids, uint8_t[:, ::1] codes, int64_t start,
           int64_t end, uint8_t[::1] scratch, str isa=None):
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
           const float[::1] scales, float[:, ::1] out):
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
