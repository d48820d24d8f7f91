# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, auto_pickle=False, autotestdict=False
"""Words, what separates them, and lists of them: the Python face of core/separators, wordmap and wordlist.

Only pointers, sizes and errors are handled here; the loops are in C and run without the GIL. Files, options and messages
are the business of wv_cli.text.vocab. _encoder.pyx makes ids of a text.
"""

cimport cython
from libc.stdint cimport int64_t

from wv_cli._words cimport check, dump_words, letters, word_ids, zeros
from wv_cli.core.floattext cimport wv_count_lines
from wv_cli.core.recordtext cimport wv_check_utf8, wv_utf8_report
from wv_cli.core.separators cimport wv_is_separator
from wv_cli.core.wordlist cimport wv_counts_read, wv_gather_starts, wv_gather_words, wv_split_counts
from wv_cli.core.wordmap cimport wv_wordmap, wv_wordmap_free, wv_wordmap_init

# What separates the words of a text, in rising order.
SEPARATORS: bytes = bytes(byte for byte in range(256) if wv_is_separator(byte))


@cython.final
cdef class WordMap:
    """Words -> ids 0, 1, 2 ... in order of first sight. Words come and go as WordList parts: a blob and its starts."""

    cdef wv_wordmap map

    def __cinit__(self, int64_t expected_words=0):
        check(wv_wordmap_init(&self.map, expected_words))

    def __dealloc__(self):
        wv_wordmap_free(&self.map)

    def __len__(self) -> int:
        return self.map.size

    def add(self, const unsigned char[::1] blob, const int64_t[::1] starts) -> NDArray[np.int32]:
        """Ids (n,) int32 of the words, those not seen before added. Words are not empty and hold no NUL."""
        ids = zeros(starts.shape[0] - 1, "i4")
        word_ids(&self.map, blob, starts, ids, False)
        return ids

    def find(self, const unsigned char[::1] blob, const int64_t[::1] starts) -> NDArray[np.int32]:
        """Ids (n,) int32 of the words, -1 for unknown ones."""
        ids = zeros(starts.shape[0] - 1, "i4")
        word_ids(&self.map, blob, starts, ids, True)
        return ids

    def words(self) -> tuple[bytes, NDArray[np.int64]]:
        """(blob, starts) of all words in order of id."""
        blob, starts, _ = dump_words(&self.map)
        return bytes(blob), starts


def gather(const unsigned char[::1] blob, const int64_t[::1] starts,
           const int64_t[::1] order) -> tuple[bytes, NDArray[np.int64]]:
    """(blob, starts) of the words order[0], order[1], ... of a list. Raises IndexError."""
    cdef int64_t words = starts.shape[0] - 1, n = order.shape[0], bad = -1
    cdef const int64_t *first = &order[0] if n else NULL
    cdef int64_t[::1] new_starts
    cdef unsigned char[::1] out
    starts_array = zeros(n + 1, "i8")
    new_starts = starts_array
    with nogil:
        bad = wv_gather_starts(&starts[0], words, first, n, &new_starts[0])
    if bad >= 0:
        raise IndexError(f"word index {order[bad]} out of range for {words} words")
    gathered = bytearray(new_starts[n])
    out = gathered
    if out.shape[0]:
        with nogil:
            wv_gather_words(<const char *> letters(blob), &starts[0], first, n, &new_starts[0], <char *> &out[0])
    return bytes(gathered), starts_array


def last_separator(const unsigned char[::1] text: bytes | memoryview) -> int:
    """The place of the last byte that is in no word; -1 when there is none."""
    cdef int64_t place = text.shape[0] - 1
    while place >= 0 and not wv_is_separator(text[place]):
        place -= 1
    return place


def split_counts(const unsigned char[::1] text) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64], int]:
    """Parses lines of `word count`. Returns (blob, starts, counts, bad): `bad` is -1, or the index of the first line that
    is not two fields, the second a whole number below 2^63, separated by spaces or tabs."""
    cdef int64_t size = text.shape[0], lines
    cdef const char *first = <const char *> letters(text)
    cdef int64_t[::1] starts, counts
    cdef unsigned char[::1] out
    cdef wv_counts_read read
    if not size:
        return b"", zeros(1, "i8"), zeros(0, "i8"), -1
    with nogil:
        lines = wv_count_lines(first, size) + (text[size - 1] != c"\n")
    blob, starts_array, counts_array = bytearray(size), zeros(lines + 1, "i8"), zeros(lines, "i8")
    out, starts, counts = blob, starts_array, counts_array
    with nogil:
        read = wv_split_counts(first, size, <char *> &out[0], &starts[0], &counts[0])
    bad = read.lines if read.stopped else -1
    return bytes(blob[:read.word_bytes]), starts_array[:read.lines + 1], counts_array[:read.lines], bad


def check_utf8(const unsigned char[::1] text: bytes | bytearray | memoryview) -> tuple[int, int, int]:
    """(wrong, first, rest): the bytes that are no UTF-8, where the first is (-1: none), and how many at the end begin a
    character that is not finished."""
    cdef wv_utf8_report report
    with nogil:
        report = wv_check_utf8(<const unsigned char *> letters(text), text.shape[0])
    return report.wrong, report.first, report.rest
