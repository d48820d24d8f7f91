# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Tokens of texts by the models WordPiece and WordLevel (core/wordpiece.h)."""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from wv_cli._arguments cimport require
from wv_cli._characters cimport add_page, new_characters
from wv_cli._words cimport letters
from wv_cli.core.simplify cimport (
    WV_CHARACTER_BYTES, WV_CHARACTER_PAGE, WV_SIMPLIFY_HARD, wv_characters_free,
)
from wv_cli.core.wordmap cimport (
    wv_slot, wv_wordmap, wv_wordmap_add, wv_wordmap_free, wv_wordmap_init, wv_wordmap_reserve,
)
from wv_cli.core.wordpiece cimport (
    WV_PIECES_NO_MEMORY, WV_PIECE_ALONE, WV_PIECE_HARD, WV_PIECE_LETTER, WV_PIECE_SPACE, WV_PIECE_SYMBOL, wv_pieces,
    wv_wordpiece, wv_wordpiece_read, wv_wordpiece_word_bytes,
)


cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

LETTER, SPACE, ALONE, SYMBOL, HARD = (
    WV_PIECE_LETTER, WV_PIECE_SPACE, WV_PIECE_ALONE, WV_PIECE_SYMBOL, WV_PIECE_HARD)
BYTES, PAGE, MOST_CHARACTERS = WV_CHARACTER_BYTES, WV_CHARACTER_PAGE, 1 << 20


@cython.final
cdef class PieceReader:
    """Makes the tokens of texts; any number of threads may use one.

    A list of tokens is (blob, starts, numbers): `first` begin a word, `rest` continue one, `added` are found before words
    are, the longest first. `page(number)` is asked for the rows of the characters from PAGE * number on, when the first of
    them comes: for each a kind, a length and BYTES bytes. `order(text)` is asked to put a text in order that has a
    character of the kind HARD. `is_whole`: words are looked up whole. `dropped` is a token that is left out, or -1."""

    cdef wv_wordpiece _rules
    cdef object _page
    cdef object _order
    cdef object _kept

    def __cinit__(
        self, first: tuple[bytes, NDArray[np.int64], NDArray[np.int32]],
        rest: tuple[bytes, NDArray[np.int64], NDArray[np.int32]],
        added: tuple[bytes, NDArray[np.int64], NDArray[np.int32]], page: Callable[[int], bytes],
        order: Callable[[str], str], *, bint is_whole, int32_t unknown, int32_t dropped, int64_t most_characters,
    ):
        cdef const unsigned char[::1] blob
        cdef const int64_t[::1] starts
        cdef const int32_t[::1] numbers
        cdef int64_t i
        require(0 <= most_characters <= MOST_CHARACTERS, "most_characters is beyond its bounds")
        self._page, self._order, self._kept = page, order, added
        self._rules.is_whole, self._rules.unknown, self._rules.dropped = is_whole, unknown, dropped
        self._rules.most_characters = most_characters
        self._rules.longest_piece = max(_fill(&self._rules.first, first), _fill(&self._rules.rest, rest))
        blob, starts, numbers = added
        _require_list(blob, starts, numbers)
        self._rules.added, self._rules.added_starts = letters(blob), &starts[0]
        self._rules.added_numbers = &numbers[0] if numbers.shape[0] else NULL
        self._rules.added_count = <int>numbers.shape[0]
        for i in range(numbers.shape[0]):
            self._rules.begins[blob[starts[i]]] = 1
        self._rules.characters = new_characters()

    def __dealloc__(self):
        wv_wordmap_free(&self._rules.first)
        wv_wordmap_free(&self._rules.rest)
        wv_characters_free(self._rules.characters)

    def read(self, texts: Sequence[str],
             int64_t most=0) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_]]:
        """(the tokens of all texts, where each text's begin and the last's end, whether each was cut), at most `most` of
        a text; 0: all. The texts hold no surrogates."""
        cdef list kept = list(texts)
        cdef int64_t count = len(kept), i = 0, done = 0
        cdef Py_ssize_t size = 0
        cdef int is_ordered = 0
        require(most >= 0, "most is negative")
        starts = np.zeros(count + 1, np.int64)
        cdef int64_t[::1] start = starts
        cuts = np.zeros(count, np.bool_)
        cdef unsigned char[::1] cut = cuts.view(np.uint8)
        cdef int64_t[::1] length = np.empty(count, np.int64)
        cdef uintptr_t[::1] address = np.empty(count, np.uintp)
        for i in range(count):
            address[i] = <uintptr_t>PyUnicode_AsUTF8AndSize(kept[i], &size)
            length[i] = size
        cdef wv_pieces out
        memset(&out, 0, sizeof(out))
        out.word = <unsigned char *>malloc(<size_t>wv_wordpiece_word_bytes(&self._rules))
        try:
            if out.word == NULL:
                raise MemoryError
            i = 0
            while i < count:
                with nogil:
                    while i < count:
                        done = wv_wordpiece_read(&self._rules, <const unsigned char *>address[i], length[i], most,
                                                 is_ordered, &out)
                        if done < 0:
                            break
                        cut[i] = done == 1
                        i += 1
                        start[i] = out.count
                        is_ordered = 0
                if done >= 0:
                    break
                out.count = start[i]
                if done == WV_PIECES_NO_MEMORY:
                    raise MemoryError
                if done == WV_SIMPLIFY_HARD:
                    require(not is_ordered, "a text is no UTF-8")
                    kept[i] = self._order(kept[i])
                    address[i] = <uintptr_t>PyUnicode_AsUTF8AndSize(kept[i], &size)
                    length[i] = size
                    is_ordered = 1
                else:
                    add_page(self._rules.characters, self._page, done)
            ids = np.empty(out.count, np.int32)
            _copy(ids, &out)
            return ids, starts, cuts
        finally:
            free(out.ids)
            free(out.word)


cdef void _copy(int32_t[::1] ids, const wv_pieces *out) noexcept:
    if out.count:
        memcpy(&ids[0], out.ids, <size_t>out.count * sizeof(int32_t))


cdef int _require_list(const unsigned char[::1] blob, const int64_t[::1] starts, const int32_t[::1] numbers) except -1:
    cdef int64_t i
    require(starts.shape[0] == numbers.shape[0] + 1 and starts[0] == 0, "expected a start for every token")
    for i in range(numbers.shape[0]):
        require(starts[i] < starts[i + 1], "a token is empty")
    require(starts[numbers.shape[0]] == blob.shape[0], "expected the tokens end to end")
    return 0


cdef int64_t _fill(wv_wordmap *map, tokens) except -1:
    """The bytes of the longest token."""
    cdef const unsigned char[::1] blob
    cdef const int64_t[::1] starts
    cdef const int32_t[::1] numbers
    cdef wv_slot *slot
    cdef int64_t i, length, longest = 0
    blob, starts, numbers = tokens
    _require_list(blob, starts, numbers)
    if wv_wordmap_init(map, numbers.shape[0]) or wv_wordmap_reserve(map, numbers.shape[0]):
        raise MemoryError
    for i in range(numbers.shape[0]):
        length = starts[i + 1] - starts[i]
        longest = max(longest, length)
        slot = wv_wordmap_add(map, &blob[starts[i]], <size_t>length)
        if slot == NULL:
            raise MemoryError
        slot.count = numbers[i]
    return longest
