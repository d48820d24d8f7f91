"""Numbers without NumPy, whose import takes longer than many a short run."""

from libc.stdint cimport int64_t


cdef inline object new_numbers(int64_t n, str kind, int64_t size):
    """A memoryview (n,) of zeros of `size` bytes each, of the `kind` of struct: "i", "q", "f"."""
    return memoryview(bytearray(n * size)).cast(kind)
