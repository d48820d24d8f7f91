# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The texts of JSON lines and CSV for Python, and where each record lies (core/records.h)."""

cimport cython
import numpy as np

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from wv_cli._arguments cimport require
from wv_cli.core.records cimport (
    WV_NEWLINE_DROP, WV_NEWLINE_KEEP, WV_NEWLINE_SPACE, WV_RECORD_AFTER_QUOTE, WV_RECORD_BLANK, WV_RECORD_COLUMNS,
    WV_RECORD_DEPTH, WV_RECORD_GOOD, WV_RECORD_NO_FIELD, WV_RECORD_NO_OBJECT, WV_RECORD_NO_TEXT,
    WV_RECORD_OPEN_QUOTE, WV_RECORD_SYNTAX, WV_RECORD_TAKEN, WV_RECORD_TOO_DEEP, WV_RECORD_UTF8, wv_csv_records,
    wv_csv_rules, wv_json_records, wv_json_rules, wv_record, wv_records, wv_records_free, wv_span,
)


GOOD, BLANK, NO_OBJECT, SYNTAX, UTF8 = WV_RECORD_GOOD, WV_RECORD_BLANK, WV_RECORD_NO_OBJECT, WV_RECORD_SYNTAX, WV_RECORD_UTF8
TOO_DEEP, NO_FIELD, NO_TEXT, TAKEN = WV_RECORD_TOO_DEEP, WV_RECORD_NO_FIELD, WV_RECORD_NO_TEXT, WV_RECORD_TAKEN
COLUMNS, OPEN_QUOTE, AFTER_QUOTE = WV_RECORD_COLUMNS, WV_RECORD_OPEN_QUOTE, WV_RECORD_AFTER_QUOTE
DEPTH = WV_RECORD_DEPTH
KEEP, SPACE, DROP = WV_NEWLINE_KEEP, WV_NEWLINE_SPACE, WV_NEWLINE_DROP


cdef tuple _found(const wv_records *records, int64_t used):
    """(texts, (n, 9) int64, how far was read)."""
    rows = np.empty((records.count, sizeof(wv_record) // sizeof(int64_t)), np.int64)
    cdef int64_t[:, ::1] view = rows
    if records.count:
        memcpy(&view[0, 0], records.record, <size_t>records.count * sizeof(wv_record))
    return (<char *>records.texts)[:records.texts_length] if records.texts_length else b"", rows, used


@cython.final
cdef class JsonScanner:
    """Reads JSON lines. `name` is the field as it was asked for, `parts` the keys that lead to it, `added` the keys that
    no record may have; `newline` is KEEP, SPACE or DROP."""

    cdef wv_json_rules _rules
    cdef wv_records _records
    cdef wv_span *_spans
    cdef list _held

    def __cinit__(self, bytes name, list parts: list[bytes], list added: list[bytes], int newline):
        require(0 < len(parts) and WV_NEWLINE_KEEP <= newline <= WV_NEWLINE_DROP, "expected parts and a newline")
        self._held = [*parts, *added, name]
        self._spans = <wv_span *>malloc(len(self._held) * sizeof(wv_span))
        if self._spans == NULL:
            raise MemoryError
        cdef bytes each
        for i, each in enumerate(self._held):
            self._spans[i].bytes, self._spans[i].length = each, len(each)
        self._rules.name = self._spans[len(self._held) - 1]
        self._rules.part, self._rules.parts = self._spans, <int>len(parts)
        self._rules.added, self._rules.n_added = self._spans + len(parts), <int>len(added)
        self._rules.newline = newline

    def __dealloc__(self):
        wv_records_free(&self._records)
        free(self._spans)

    def scan(self, const unsigned char[::1] block, int64_t start=0) -> tuple[bytes, NDArray[np.int64], int]:
        """(texts, records, bytes read) of whole lines, from the byte `start` on. A record is begin, end, insert, text,
        text_end, status, at, value and value_end, as in core/records.h."""
        cdef int64_t used = 0, length = block.shape[0]
        require(0 <= start <= length, "start lies outside the block")
        if start < length:
            with nogil:
                used = wv_json_records(&self._rules, &block[0], start, length, &self._records)
            if used < 0:
                raise MemoryError
            return _found(&self._records, used)
        return b"", np.empty((0, 9), np.int64), length


@cython.final
cdef class CsvScanner:
    """Reads CSV with the text in column number `column` of `columns`; `newline` is KEEP, SPACE or DROP. Without `quotes` a
    quote is a letter."""

    cdef wv_csv_rules _rules
    cdef wv_records _records

    def __cinit__(self, bytes delimiter, int64_t column, int64_t columns, int newline, bint quotes=True):
        require(len(delimiter) == 1 and 0 <= column < columns, "expected a delimiter and one of the columns")
        require(WV_NEWLINE_KEEP <= newline <= WV_NEWLINE_DROP, "expected a newline")
        self._rules.delimiter, self._rules.column, self._rules.columns = delimiter[0], column, columns
        self._rules.newline, self._rules.quotes = newline, quotes

    def __dealloc__(self):
        wv_records_free(&self._records)

    def scan(self, const unsigned char[::1] block, int64_t start=0,
             bint final=False) -> tuple[bytes, NDArray[np.int64], int]:
        """As JsonScanner.scan; reads no record whose end may still come, unless the block is the `final` one."""
        cdef int64_t used = 0, length = block.shape[0]
        require(0 <= start <= length, "start lies outside the block")
        if start < length:
            with nogil:
                used = wv_csv_records(&self._rules, &block[0], start, length, final, &self._records)
            if used < 0:
                raise MemoryError
            return _found(&self._records, used)
        return b"", np.empty((0, 9), np.int64), length
