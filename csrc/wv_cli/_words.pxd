"""What the modules over word lists share. A list is `blob`, the words end to end, and `starts`, (n + 1) int64."""

from libc.stdint cimport int32_t, int64_t

from wv_cli.core.wordmap cimport (
    WV_TOO_MANY_WORDS, wv_wordmap, wv_wordmap_blob_bytes, wv_wordmap_dump, wv_wordmap_ids,
)


cdef inline const unsigned char *letters(const unsigned char[::1] blob) noexcept nogil:
    """The first byte of a list; one without bytes has none to point at."""
    return &blob[0] if blob.shape[0] else NULL


cdef inline object zeros(int64_t n, kind):
    """An array of n zeros. NumPy is not imported with this module: `wv --help` needs SEPARATORS of _text."""
    import numpy
    return numpy.zeros(n, kind)


cdef inline int check(int failure) except -1:
    """Raises the error of a failure of the word map."""
    if failure == WV_TOO_MANY_WORDS:
        from wv_cli.errors import WvError
        raise WvError("more than 2,147,483,647 different words; split the input and merge the vocabularies")
    if failure:
        raise MemoryError
    return 0


cdef inline int word_ids(wv_wordmap *map, const unsigned char[::1] blob, const int64_t[::1] starts,
                         int32_t[::1] ids, bint known_only) except -1:
    """ids[i] = id of word i of the list, which is added if it is new; with `known_only` -1 of a new one."""
    cdef int failure = 0
    if ids.shape[0]:
        with nogil:
            failure = wv_wordmap_ids(map, letters(blob), &starts[0], ids.shape[0], known_only, &ids[0])
    return check(failure)


cdef inline tuple dump_words(wv_wordmap *map):
    """(blob, starts, counts) of the words in order of id; the blob is a bytearray."""
    cdef int64_t[::1] starts, counts
    cdef unsigned char[::1] bytes_out
    blob = bytearray(wv_wordmap_blob_bytes(map, 0))
    starts_array = zeros(map.size + 1, "i8")
    counts_array = zeros(map.size, "i8")
    starts = starts_array
    counts = counts_array
    bytes_out = blob
    with nogil:
        wv_wordmap_dump(map, 0, &bytes_out[0] if bytes_out.shape[0] else NULL, &starts[0],
                        &counts[0] if counts.shape[0] else NULL)
    return blob, starts_array, counts_array
