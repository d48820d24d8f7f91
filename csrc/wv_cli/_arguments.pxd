"""What the modules check of their arguments before an address goes to C, where a wrong shape would read foreign
memory."""

from libc.stdint cimport int64_t, uintptr_t
from wv_cli._cpu cimport kernels, kernels_named
from wv_cli._kernels cimport wv_kernels


cdef inline const wv_kernels *table(str isa) except NULL:
    """The kernels of the instruction set `isa`; None: the chosen one."""
    return kernels() if isa is None else kernels_named(isa)


cdef inline int require(bint condition, str message) except -1:
    if not condition:
        raise ValueError(message)
    return 0


cdef inline int require_aligned(const void *address, str what) except -1:
    if <uintptr_t>address % 64:
        raise ValueError(f"{what} must be aligned to 64 bytes")
    return 0


cdef inline int require_scratch(const void *address, size_t size, size_t needed) except -1:
    """Scratch memory of `size` bytes is aligned, and at least what the kernel's *_scratch_bytes says."""
    if size < needed:
        raise ValueError(f"scratch too small: expected {needed} bytes, found {size}")
    return require_aligned(address, "scratch")


cdef inline int64_t row_stride(const float[:, :] rows) except -1:
    """Floats between the beginnings of two rows; the numbers of a row must be contiguous."""
    require(rows.strides[1] == sizeof(float) or rows.shape[1] == 1, "the numbers of a row must be contiguous")
    require(rows.strides[0] % sizeof(float) == 0 and rows.strides[0] >= rows.shape[1] * <int64_t>sizeof(float)
            or rows.shape[0] <= 1, "rows must follow each other")
    return rows.strides[0] // <int64_t>sizeof(float)
