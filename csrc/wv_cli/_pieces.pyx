# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Pieces of texts by a unigram model of sentencepiece (core/pieces.h), for Python."""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from wv_cli._arguments cimport require
from wv_cli.core.pieces cimport (
    WV_PIECES_NO_MEMORY, wv_cut, wv_cut_free, wv_piece, wv_pieces, wv_pieces_build, wv_pieces_cut, wv_pieces_free,
    wv_pieces_prepare,
)


@cython.final
cdef class Unigram:
    """A unigram model, ready to cut texts; any number of threads may use it. `pieces` are (bytes, id, score) of what may
    be found in a text. `rules` is the table that sentencepiece normalizes by, b"" for none. Raises ValueError for pieces
    and rules that are damaged."""

    cdef wv_pieces _pieces
    cdef bytes _rules

    def __init__(self, list pieces: list[tuple[bytes, int, float]], bytes rules, *, bint adds_prefix,
                 bint removes_blanks, bint escapes, int32_t unknown, float unknown_score):
        cdef int64_t n = len(pieces), i
        cdef const unsigned char *at = rules
        cdef int64_t trie = int.from_bytes(rules[:4], "little")
        cdef wv_piece *piece = <wv_piece *>malloc(<size_t>(n + 1) * sizeof(wv_piece))
        cdef bytes each
        cdef int failed
        self._rules = rules
        if piece == NULL:
            raise MemoryError
        try:
            for i in range(n):
                each, piece[i].id, piece[i].score = pieces[i]
                piece[i].bytes, piece[i].length = each, len(each)
            with nogil:
                failed = wv_pieces_build(&self._pieces, piece, n)
        finally:
            free(piece)
        if failed == WV_PIECES_NO_MEMORY:
            raise MemoryError
        require(not failed, "a piece that is empty, or comes twice")
        if rules:
            require(4 <= trie <= len(rules) - 4 and trie % 4 == 0 and rules[len(rules) - 1] == 0, "the rules do not fit")
            self._pieces.rules, self._pieces.rules_size = at + 4, trie // 4
            self._pieces.replacements, self._pieces.replacements_size = at + 4 + trie, len(rules) - 4 - trie
        self._pieces.adds_prefix, self._pieces.removes_blanks = adds_prefix, removes_blanks
        self._pieces.escapes, self._pieces.unknown, self._pieces.unknown_score = escapes, unknown, unknown_score
        wv_pieces_prepare(&self._pieces)

    def __dealloc__(self):
        wv_pieces_free(&self._pieces)

    def cut(self, list texts: list[bytes]) -> tuple[NDArray[np.int32], bytes, NDArray[np.int64]]:
        """(ids int32 of the pieces of UTF-8 texts, with -1 behind each text; the spellings of the unknown ones, and where
        each of them begins, (n + 1,) int64)."""
        cdef int64_t n = len(texts), i = 0
        cdef int failed = 0
        cdef wv_cut cut
        cdef const unsigned char **text = <const unsigned char **>malloc(<size_t>(n + 1) * sizeof(void *))
        cdef int64_t *length = <int64_t *>malloc(<size_t>(n + 1) * sizeof(int64_t))
        cdef bytes each
        memset(&cut, 0, sizeof(cut))
        try:
            if text == NULL or length == NULL:
                raise MemoryError
            for i in range(n):
                each = texts[i]
                text[i], length[i] = each, len(each)
            with nogil:
                for i in range(n):
                    failed = wv_pieces_cut(&self._pieces, text[i], length[i], &cut)
                    if failed:
                        break
            if failed == WV_PIECES_NO_MEMORY:
                raise MemoryError
            require(not failed, "the rules do not fit")
            ids, starts = np.empty(cut.count, np.int32), np.zeros(cut.unknown + 1, np.int64)
            _copy(ids.view(np.uint8), cut.ids, cut.count * <int64_t>sizeof(int32_t))
            _copy(starts[1:].view(np.uint8), cut.ends, cut.unknown * <int64_t>sizeof(int64_t))
            return ids, cut.spelled[:cut.spelled_length] if cut.spelled_length else b"", starts
        finally:
            wv_cut_free(&cut)
            free(text)
            free(length)


cdef int _copy(unsigned char[::1] target, const void *source, int64_t size) except -1:
    if size:
        memcpy(&target[0], source, <size_t>size)
    return 0
