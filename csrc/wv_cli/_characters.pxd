"""What becomes of characters (core/simplify.h), for the modules that hand it pages."""

from libc.stdint cimport int64_t
from wv_cli._arguments cimport require
from wv_cli.core.simplify cimport (
    WV_CHARACTER_PAGE, WV_SIMPLIFY_PAGE, wv_character, wv_characters, wv_characters_add, wv_characters_new,
)


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
