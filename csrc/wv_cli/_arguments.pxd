"""What the modules check of their arguments before an address goes to C, where a wrong shape would read foreign
memory."""

from libc.stdint cimport int32_t, int64_t, uintptr_t
from wv_cli._cpu cimport kernels, kernels_named
from wv_cli._kernels cimport WV_CACHE_LINE, WV_ROW_FLOATS, wv_kernels


cdef inline const wv_kernels *table(str isa) except NULL:
    """The kernels of the instruction set `isa`; None: the chosen one."""
    return kernels() if isa is None else kernels_named(isa)


cdef inline int64_t padded(int64_t numbers) noexcept:
    """Floats of a row that begins on a cache line, as wv_cli.io.memory.padded has them."""
    return (numbers + WV_ROW_FLOATS - 1) // WV_ROW_FLOATS * WV_ROW_FLOATS


cdef inline int require(bint condition, str message) except -1:
    if not condition:
        raise ValueError(message)
    return 0


cdef inline int require_aligned(const void *address, str what) except -1:
    if <uintptr_t>address % WV_CACHE_LINE:
        raise ValueError(f"{what} must be aligned to {WV_CACHE_LINE} bytes")
    return 0


cdef inline int require_floats(const void *address, str what) except -1:
    """Where C loads floats one by one they must lie as floats do; the arrays of a mapped file may begin anywhere."""
    if <uintptr_t>address % sizeof(float):
        raise ValueError(f"{what} must be aligned to {sizeof(float)} bytes")
    return 0


cdef inline int require_starts(const int64_t[::1] starts, int64_t groups, int64_t size, str what) except -1:
    """starts[i]:starts[i + 1] are `groups` stretches that cover 0 .. size in order."""
    cdef int64_t i
    require(starts.shape[0] == groups + 1 and starts[0] == 0 and starts[groups] == size,
            f"{what}: expected {groups + 1} starts from 0 to {size}")
    for i in range(groups):
        require(starts[i] <= starts[i + 1], f"{what}: the starts must ascend")
    return 0


cdef inline int require_ids(const int32_t[::1] ids, int64_t low, int64_t beyond, str what) except -1:
    """low <= id < beyond for all ids."""
    cdef int64_t i
    cdef int32_t least = 0, most = -1
    if ids.shape[0]:
        least = most = ids[0]
    with nogil:
        for i in range(ids.shape[0]):
            least = min(least, ids[i])
            most = max(most, ids[i])
    if ids.shape[0] and not (low <= least and most < beyond):
        raise ValueError(f"{what}: expected {low} to {beyond - 1}, found {least} to {most}")
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
