"""GloVe for Python: counting co-occurrences, merging and ordering records (core/cooccur.h), training (kernels/glove.c).

Every array is checked here before its address goes to C. Records are RECORD arrays: GloVe's 16 bytes, ids from 1.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from wv_cli._arguments cimport require, require_aligned, require_ids, require_scratch, table
from wv_cli._kernels cimport WV_END_OF_LINE, WV_ROW_FLOATS, wv_glove_part, wv_glove_record, wv_glove_run, wv_kernels
from wv_cli.core.cooccur cimport (
    WV_SORT_COUNTS, wv_cooccur, wv_cooccur_check, wv_cooccur_merge, wv_cooccur_positions, wv_cooccur_rows,
    wv_cooccur_scratch_bytes, wv_cooccur_sort, wv_cooccur_tiles, wv_deal, wv_record, wv_record_runs, wv_tile_ranges,
)


RECORD: np.dtype[np.void] = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])
TILE_RECORD: np.dtype[np.void] = np.dtype([("row", "<u2"), ("column", "<u2"), ("count", "<f4")])


cdef wv_record *_records(array, bint writable=False) except NULL:
    """The address of a RECORD array, which must not be empty."""
    cdef const uint8_t[::1] fixed
    cdef uint8_t[::1] free
    if array.dtype != RECORD or array.ndim != 1 or len(array) == 0:
        raise ValueError("expected a one-dimensional array of records that is not empty")
    if writable:
        free = array.view(np.uint8)
        return <wv_record *>&free[0]
    fixed = array.view(np.uint8)
    return <wv_record *>&fixed[0]


cdef class Segment:
    """A stretch of an id stream with the positions of every word, ready for any thread to count rows of it.

    Pairs whose right word stands in ids[low:end) are counted. `units` is (window + 1) int64, the weight of each
    distance; `capacity` the most records each row can have; records get sum / scale as their value, or with scale 0 the
    sum itself as an int64 where the value stands.
    """

    cdef wv_cooccur run
    cdef object kept_alive
    cdef readonly object starts, capacity  # NDArray[np.int64]

    def __init__(self, const int32_t[::1] ids, int64_t low, int64_t end, int words, const int64_t[::1] units,
                 bint both_sides, double scale):
        require(units.shape[0] > 0, "a window needs its units")
        cdef int64_t begin = max(0, low - (units.shape[0] - 1))
        if not 0 <= low < end <= ids.shape[0] or end - begin >= 2**31 or words < 1:
            raise ValueError(f"segment {low}:{end} lies outside the {ids.shape[0]} ids or is too long")
        self.starts = np.empty(words + 1, np.int64)
        positions = np.empty(end - begin, np.int32)
        cdef int64_t[::1] starts_view = self.starts
        cdef int32_t[::1] positions_view = positions
        require_ids(ids[begin:end], WV_END_OF_LINE, words, "ids of the corpus")
        with nogil:
            wv_cooccur_positions(&ids[0], begin, end, words, &starts_view[0], &positions_view[0])
        self.kept_alive = (ids.base, positions, units.base)
        # The most records each row can have.
        self.capacity = np.minimum(np.diff(self.starts) * (2 if both_sides else 1) * (units.shape[0] - 1), words)
        self.run.ids, self.run.begin, self.run.low, self.run.end = &ids[0], begin, low, end
        self.run.starts, self.run.positions = &starts_view[0], &positions_view[0]
        self.run.words, self.run.window = words, <int32_t>(units.shape[0] - 1)
        self.run.both_sides, self.run.units, self.run.scale = both_sides, &units[0], scale

    def scratch(self) -> NDArray[np.int64]:
        """Working memory for one thread."""
        return np.zeros(-(-wv_cooccur_scratch_bytes(self.run.words) // 8), np.int64)

    def rows(self, int32_t first, int32_t last, int64_t[::1] scratch, out: NDArray[np.void]) -> NDArray[np.void]:
        """The records of words first .. last - 1, sorted, in `out`, which takes sum(capacity[first:last]). Without the GIL."""
        if not 0 <= first <= last <= self.run.words or scratch.shape[0] * 8 < wv_cooccur_scratch_bytes(self.run.words):
            raise ValueError(f"rows {first}:{last} do not fit the segment or its scratch")
        if len(out) < self.capacity[first:last].sum():
            raise ValueError(f"{len(out)} records are too few for rows {first}:{last}")
        cdef wv_record *address = _records(out, True)
        cdef int64_t count
        with nogil:
            count = wv_cooccur_rows(&self.run, first, last, &scratch[0], address)
        return out[:count]


def merge(records: NDArray[np.void], int64_t[::1] first, const int64_t[::1] last, const uint8_t[::1] more,
          bint as_values, pending: NDArray[np.void], out: NDArray[np.void]) -> int:
    """One step of merging the sorted runs records[first[r]:last[r]], see wv_cooccur_merge; `first` moves on. Returns the
    number of records written to `out`."""
    cdef int32_t runs = <int32_t>first.shape[0]
    cdef int32_t[::1] heap = np.empty(runs, np.int32)
    cdef wv_record *source = _records(records)
    cdef wv_record *held = _records(pending, True)
    cdef wv_record *target = _records(out, True)
    cdef int64_t capacity = len(out), written
    cdef int32_t run
    if last.shape[0] != runs or more.shape[0] != runs:
        raise ValueError("the runs do not fit the records")
    for run in range(runs):
        if not 0 <= first[run] <= last[run] <= len(records):
            raise ValueError("the runs do not fit the records")
    cdef wv_record_runs merged = wv_record_runs(records=source, runs=runs, first=&first[0], last=&last[0],
                                                more=&more[0], heap=&heap[0])
    with nogil:
        written = wv_cooccur_merge(&merged, as_values, held, target, capacity)
    return written


def check(records: NDArray[np.void], int32_t words, uint64_t last_key) -> tuple[int, int, bool]:
    """(first bad record or -1, last key, whether keys rise strictly from last_key on)."""
    cdef wv_record *address = _records(records)
    cdef int64_t n = len(records), bad
    cdef int ascending = 1
    with nogil:
        bad = wv_cooccur_check(address, n, words, &last_key, &ascending)
    return bad, last_key, bool(ascending)


def sort(records: NDArray[np.void]) -> None:
    """Sorts records by row and column in address; equal keys keep their order."""
    cdef int64_t n = len(records)
    if n == 0:
        return
    spare = np.empty(n, RECORD)
    cdef int64_t[::1] counts = np.empty(WV_SORT_COUNTS, np.int64)
    cdef wv_record *address = _records(records, True)
    cdef wv_record *other = _records(spare, True)
    with nogil:
        wv_cooccur_sort(address, other, n, &counts[0])


def tiles(records: NDArray[np.void], int32_t first_row, const uint16_t[::1] range_of, const int32_t[::1] range_first,
          int64_t largest, out: NDArray[np.void]) -> NDArray[np.int64]:
    """Records of rows first_row .. first_row + 65535 (from 0) ordered into `out`, a TILE_RECORD array: by column range,
    each dealt out to chunks of `largest` records at most. Returns the number of records in each range.

    A range of n records has q = ceil(n / largest) chunks, the first n % q of which have one record more."""
    cdef wv_record *address = _records(records)
    cdef int64_t n = len(records)
    cdef int32_t ranges = <int32_t>range_first.shape[0], words = <int32_t>range_of.shape[0]
    cdef int bad
    counts = np.empty(ranges, np.int64)
    cdef uint8_t[::1] target = out.view(np.uint8)
    cdef int64_t[::1] sizes = counts
    cdef int64_t[:, ::1] deals = np.empty((ranges, sizeof(wv_deal) // 8), np.int64)
    if out.dtype != TILE_RECORD or len(out) < n or largest < 1 or np.max(range_of) >= ranges:
        raise ValueError("`out` or the ranges do not fit the records")
    cdef wv_tile_ranges columns = wv_tile_ranges(words=words, ranges=ranges, range_of=&range_of[0],
                                                 first=&range_first[0], largest=largest)
    with nogil:
        bad = wv_cooccur_tiles(&columns, address, n, first_row, &sizes[0], <wv_deal *>&deals[0, 0],
                               <wv_glove_record *>&target[0])
    if bad:
        raise ValueError("a column lies beyond the ranges")
    return counts


cdef class Run:
    """One training run, ready for any thread to train chunks on.

    words and contexts are (rows, 2 * half) float32, aligned to 64 bytes, laid out as kernels/glove.c says. The first
    `clipped` coordinates of a gradient are clipped, all unless it is given.
    """

    cdef wv_glove_run run
    cdef const wv_kernels *kernel
    cdef int32_t rows
    cdef uint64_t seed
    cdef object kept_alive

    def __init__(self, *, words: NDArray[np.float32], contexts: NDArray[np.float32], double eta, double clip,
                 double x_max, double alpha, uint64_t seed, clipped: int | None = None, str isa=None):
        cdef float[:, ::1] w = words
        cdef float[:, ::1] c = contexts
        memset(&self.run, 0, sizeof(self.run))
        self.kernel = table(isa)
        if w.shape[1] != c.shape[1] or w.shape[0] != c.shape[0] or w.shape[1] % (2 * WV_ROW_FLOATS):
            raise ValueError("the matrices do not fit each other")
        require_aligned(&w[0, 0], "matrices")
        require_aligned(&c[0, 0], "matrices")
        self.kept_alive = (words, contexts)
        self.rows, self.seed = <int32_t>w.shape[0], seed
        self.run.words, self.run.contexts, self.run.half = &w[0, 0], &c[0, 0], <int32_t>(w.shape[1] // 2)
        self.run.clipped = self.run.half if clipped is None else clipped
        if not 0 < self.run.clipped <= self.run.half:
            raise ValueError(f"{clipped} coordinates are none or more than there are")
        self.run.eta, self.run.clip, self.run.alpha = <float>eta, <float>clip, <float>alpha
        self.run.log_x_max = <float>np.log(x_max)

    def scratch_bytes(self, int32_t records) -> int:
        return self.kernel.glove_scratch_bytes(records)

    def chunk(self, records: NDArray[np.void], int32_t first_row, int32_t first_column, uint64_t iteration,
              uint64_t chunk, float[::1] scratch) -> float:
        """Trains on TILE_RECORDs of the tile at (first_row, first_column) without the GIL; the sum of their costs.

        scratch: float32, aligned to 64 bytes, at least scratch_bytes(len(records)) long; one per thread.
        """
        cdef int32_t n = <int32_t>len(records)
        cdef double loss
        if n == 0 or records.dtype != TILE_RECORD:
            raise ValueError("expected tile records")
        cdef const uint8_t[::1] bytes_of = records.view(np.uint8)
        cdef const wv_glove_record *source = <const wv_glove_record *>&bytes_of[0]
        cdef int32_t k, row = 0, column = 0
        with nogil:
            for k in range(n):
                row = max(row, <int32_t>source[k].row)
                column = max(column, <int32_t>source[k].column)
        if first_row < 0 or first_column < 0 or first_row + row >= self.rows or first_column + column >= self.rows:
            raise ValueError("a record lies beyond the matrices")
        require_scratch(&scratch[0], scratch.nbytes, self.scratch_bytes(n))
        cdef wv_glove_part part = wv_glove_part(records=source, n=n, first_row=first_row, first_column=first_column,
                                                seed=self.seed, iteration=iteration, number=chunk)
        with nogil:
            loss = self.kernel.glove_chunk(&self.run, &part, &scratch[0])
        return loss
