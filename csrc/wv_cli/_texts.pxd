"""Where the texts that C walks over lie: those of a list, or spans of one block of bytes."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from wv_cli._arguments cimport require


cdef struct texts_at:
    const unsigned char **text
    int64_t *length
    int64_t count


cdef inline int allocate_texts(texts_at *at, int64_t count) except -1:
    at.text = <const unsigned char **>malloc(<size_t>(count + 1) * sizeof(void *))
    at.length = <int64_t *>malloc(<size_t>(count + 1) * sizeof(int64_t))
    at.count = count
    if at.text == NULL or at.length == NULL:
        raise MemoryError
    return 0


cdef inline int point_to_list(texts_at *at, list texts) except -1:
    """The caller holds the list, which nobody changes meanwhile, and calls free_texts()."""
    cdef int64_t i
    cdef bytes each
    allocate_texts(at, len(texts))
    for i in range(at.count):
        each = texts[i]
        at.text[i], at.length[i] = each, len(each)
    return 0


cdef inline int point_to_spans(texts_at *at, bytes blob, const int64_t[::1] begins, const int64_t[::1] ends) except -1:
    """The texts blob[begins[i]:ends[i]]; the caller holds the blob, and calls free_texts()."""
    cdef int64_t size = len(blob), i
    cdef const unsigned char *first = blob
    require(ends.shape[0] == begins.shape[0], "expected as many ends as begins")
    allocate_texts(at, begins.shape[0])
    for i in range(at.count):
        require(0 <= begins[i] <= ends[i] <= size, "expected texts inside the blob")
        at.text[i], at.length[i] = first + begins[i], ends[i] - begins[i]
    return 0


cdef inline void free_texts(texts_at *at) noexcept:
    free(at.text)
    free(at.length)
