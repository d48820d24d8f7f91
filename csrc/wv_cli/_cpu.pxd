from wv_cli._kernels cimport wv_kernels

# The table chosen at import (WV_ISA, else the best this machine runs).
cdef const wv_kernels *kernels() noexcept nogil
# A table by name, for tests that compare instruction sets; raises UsageError for an unknown or unusable one.
cdef const wv_kernels *kernels_named(str name) except NULL
