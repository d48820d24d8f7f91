"""Affine maps: the call into kernels/affine.c, without the GIL. wv_cli.transforms.whiten is the face of it; this module
only checks shapes, since a wrong one would read foreign memory."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from wv_cli._arguments cimport require, require_scratch, row_stride, table
from wv_cli._kernels cimport wv_affine, wv_kernels


cdef class Affine:
    """out = (x - mean) matrix: x (n, dim), mean (dim), matrix (dim, columns), out (n, columns). Threads may share it, each
    with a scratch of `scratch_bytes`, 64-byte aligned."""

    cdef wv_affine run
    cdef const wv_kernels *kernel
    cdef int64_t n
    cdef tuple kept

    def __init__(self, const float[:, :] x, const double[::1] mean, const double[:, ::1] matrix, float[:, ::1] out,
                 str isa=None):
        self.kernel = table(isa)
        self.n = x.shape[0]
        require(self.n > 0 and 0 < x.shape[1] < 2**24 and 0 < matrix.shape[1] < 2**24, "nothing to map")
        require(mean.shape[0] == x.shape[1] and matrix.shape[0] == x.shape[1] and out.shape[0] == self.n
                and out.shape[1] == matrix.shape[1], "shapes differ")
        self.run.x, self.run.stride = &x[0, 0], row_stride(x)
        self.run.dim, self.run.columns = <int32_t>x.shape[1], <int32_t>matrix.shape[1]
        self.run.mean, self.run.matrix = &mean[0], &matrix[0, 0]
        self.run.out, self.run.out_stride = &out[0, 0], out.shape[1]
        self.kept = (x, mean, matrix, out)

    @property
    def scratch_bytes(self) -> int:
        return self.kernel.affine_scratch_bytes(&self.run)

    def apply(self, int64_t start, int64_t end, uint8_t[::1] scratch) -> None:
        """Fills rows start .. end - 1 of `out`."""
        require(0 <= start <= end <= self.n, "rows out of range")
        require_scratch(&scratch[0], scratch.nbytes, self.scratch_bytes)
        with nogil:
            self.kernel.affine_apply(&self.run, start, end, &scratch[0])
