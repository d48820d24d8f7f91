"""What becomes of characters (core/simplify.h), for the modules that hand it pages."""

from libc.stdint cimport int64_t
from wv_cli._arguments cimport require


cdef extern from "core/simplify.h" nogil:
    enum:
        WV_CHARACTER_LETTER
        WV_CHARACTER_SPACE
        WV_CHARACTER_DIGIT
        WV_CHARACTER_SIGMA
        WV_CHARACTER_HARD
        WV_CHARACTER_MARK
        WV_CHARACTER_CASED
        WV_CHARACTER_IGNORED
        WV_CHARACTER_BEGINS_MARKED
        WV_CHARACTER_ENDS_MARKED
        WV_CHARACTER_BYTES
        WV_CHARACTER_PAGE
        WV_SIMPLIFY_GROWTH
        WV_SIMPLIFY_HARD
        WV_SIMPLIFY_PAGE
    ctypedef struct wv_character:
        unsigned char flags
    ctypedef struct wv_characters:
        pass
    wv_characters *wv_characters_new()
    void wv_characters_free(wv_characters *characters)
    int wv_characters_add(wv_characters *characters, int page, const wv_character *rows)
    int64_t wv_simplify(const wv_characters *characters, const unsigned char *text, int64_t length, unsigned char *out)
    int64_t wv_fold(const wv_characters *characters, const unsigned char *text, int64_t length, unsigned char *out,
                    int64_t *read, int64_t *problem)


cdef inline wv_characters *new_characters() except NULL:
    cdef wv_characters *characters = wv_characters_new()
    if characters == NULL:
        raise MemoryError
    return characters


cdef inline int add_page(wv_characters *characters, object page_of, int64_t missing) except -1:
    """Adds the page that C misses, WV_SIMPLIFY_PAGE - its number: the rows that `page_of(number)` answers."""
    cdef int number = <int>(WV_SIMPLIFY_PAGE - missing)
    cdef const unsigned char[::1] rows = page_of(number)
    require(rows.shape[0] == WV_CHARACTER_PAGE * <int64_t>sizeof(wv_character), "expected a page of characters")
    cdef int failed = wv_characters_add(characters, number, <const wv_character *>&rows[0])
    require(failed != -2, "a character becomes too long")
    if failed:
        raise MemoryError
    return 0
