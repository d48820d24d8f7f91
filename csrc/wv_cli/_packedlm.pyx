# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Models of n-grams packed by bits (core/packedlm.h), for Python: making them, asking them, taking them apart.

Sizes and widths are checked here; what the columns of a file hold is checked by C where it is used.
"""

cimport cython

from libc.math cimport fabsf
from libc.stdint cimport int32_t, int64_t, uint32_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memchr

from wv_cli._arguments cimport require, require_floats, require_ids
from wv_cli._buffers cimport new_numbers
from wv_cli.core.ngrams cimport WV_LARGEST_ORDER, WV_NO_NODE, WV_SENTENCE_END
from wv_cli.core.packedlm cimport (
    WV_PACKED_AT_ONCE, WV_PACKED_BLOCK, WV_PACKED_PADDING, wv_packed_all, wv_packed_begin, wv_packed_children,
    wv_packed_column, wv_packed_level, wv_packed_model, wv_packed_read, wv_packed_score, wv_packed_scratch,
    wv_packed_set, wv_packed_set_add, wv_packed_set_free, wv_packed_set_list, wv_packed_write, wv_packed_write_offsets,
)

from wv_cli.errors import BadFile


BLOCK = WV_PACKED_BLOCK
PADDING = WV_PACKED_PADDING
AT_ONCE = WV_PACKED_AT_ONCE
PROB_WIDTH, BACKOFF_WIDTH = 31, 32  # of numbers without a table


cdef int64_t column_bytes(int64_t bits) noexcept:
    """Columns begin at multiples of eight bytes."""
    return (bits + 63) // 64 * 8


def find_words(const uint8_t[::1] letters: Buffer, int64_t words) -> memoryview:
    """starts (words + 1,) int64 of so many words with a newline behind each, without the newlines. Raises ValueError for
    more or fewer words, and for an empty one."""
    cdef int64_t size = letters.shape[0], i
    require(0 < words <= size, "the words do not follow each other")
    starts = new_numbers(words + 1, "q", sizeof(int64_t))
    cdef int64_t[::1] view = starts
    cdef const uint8_t *begin = &letters[0]
    cdef const uint8_t *at = begin
    cdef const uint8_t *end
    for i in range(words):
        end = <const uint8_t *>memchr(at, 10, begin + size - at)
        require(end != NULL and end != at, "the words do not follow each other")
        view[i + 1] = end - begin - i
        at = end + 1
    require(at == begin + size, "the words do not follow each other")
    return starts


def are_logarithms(const float[::1] numbers: Buffer) -> bool:
    """Whether all are numbers from -100 to 100."""
    cdef int64_t i
    cdef bint fits = True
    for i in range(numbers.shape[0]):
        fits = fits and fabsf(numbers[i]) <= 100  # not for NaN
    return fits


def write(const uint32_t[::1] numbers, int32_t width) -> NDArray[np.uint8]:
    """A column (bytes,) uint8 of numbers below 2^width."""
    import numpy as np
    require(0 <= width <= 32, "a column is up to 32 bits wide")
    cdef int64_t n = numbers.shape[0], size = column_bytes(n * width)
    bits = np.zeros(size + PADDING, np.uint8)
    cdef uint8_t[::1] out = bits
    if n:
        with nogil:
            wv_packed_write(&numbers[0], n, width, &out[0])
    return bits[:size]


def index_offsets(first: NDArray[np.int32]) -> NDArray[np.uint32]:
    """index (blocks + 1, 2) of where the children of n-grams begin; first (n-grams + 1,) ascends."""
    import numpy as np
    bases = first[:-1:BLOCK]
    ends = np.append(bases[1:], first[-1:])
    index = np.zeros((len(bases) + 1, 2), np.uint32)
    index[:-1, 0] = bases
    index[1:, 1] = np.cumsum(np.frexp((ends - bases).astype(np.float64))[1])
    return index


def write_offsets(const int32_t[::1] first, const uint32_t[:, ::1] index) -> NDArray[np.uint8]:
    """A column of where the children of n-grams begin, of which `index` has the blocks."""
    import numpy as np
    cdef int64_t size = first.shape[0] - 1, blocks = (size + WV_PACKED_BLOCK - 1) // WV_PACKED_BLOCK, i
    cdef bint fits = index.shape[0] == blocks + 1 and index.shape[1] == 2 and (blocks == 0 or index[0, 1] == 0)
    require(fits, "the index does not fit the offsets")
    for i in range(blocks):
        fits = fits and index[i, 1] <= index[i + 1, 1]
    require(fits, "the widths of the index do not ascend")
    bits = np.zeros(column_bytes(<int64_t>index[blocks, 1] * (WV_PACKED_BLOCK + 1)) + PADDING, np.uint8)
    cdef uint8_t[::1] out = bits
    if size:
        with nogil:
            wv_packed_write_offsets(&first[0], size, &index[0, 0], &out[0])
    return bits[:bits.size - PADDING]


@cython.final
cdef class Distinct:
    """The different numbers of a column, as they are added."""

    cdef wv_packed_set *numbers

    def __cinit__(self):
        self.numbers = <wv_packed_set *>calloc(1, sizeof(wv_packed_set))
        if self.numbers == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self.numbers != NULL:
            wv_packed_set_free(self.numbers)
        free(self.numbers)

    def __len__(self) -> int:
        return self.numbers.size

    def add(self, const float[::1] numbers) -> None:
        cdef int failure = 0
        if numbers.shape[0]:
            with nogil:
                failure = wv_packed_set_add(self.numbers, <const uint32_t *>&numbers[0], numbers.shape[0])
        if failure:
            raise MemoryError

    def sorted(self) -> NDArray[np.float32]:
        """All of them, ascending."""
        import numpy as np
        found = np.empty(self.numbers.size, np.float32)
        cdef float[::1] out = found
        if out.shape[0]:
            wv_packed_set_list(self.numbers, <uint32_t *>&out[0])
        return np.sort(found)


@cython.final
cdef class Packed:
    """A packed model, ready to be asked by any thread. sizes (order,): how many n-grams there are of each length; widths
    (order, 5): those of word and prob, the values in the table of prob (0: none), and so for backoff. index, tables and
    bits are those of all levels one behind the other, bits with PADDING bytes more. `name` is that of the file."""

    cdef wv_packed_model model
    cdef object kept_alive
    cdef readonly str name

    def __init__(self, const int64_t[::1] sizes: Buffer, const int64_t[:, ::1] widths: Buffer,
                 const uint32_t[::1] index: Buffer, const float[::1] tables: Buffer,
                 const uint8_t[::1] bits: Buffer, bint closed, str name="the model"):
        cdef int64_t order = sizes.shape[0], level, blocks
        cdef int64_t[3] at = [0, 0, 0]  # in index, tables and bits
        cdef wv_packed_level *one
        require(1 <= order <= WV_LARGEST_ORDER and widths.shape[0] == order and widths.shape[1] == 5, "no such order")
        require(sizes[0] > WV_SENTENCE_END, "the words are not those of a model")
        require(bits.shape[0] >= WV_PACKED_PADDING, "the columns do not fit the sizes")
        if tables.shape[0]:
            require_floats(&tables[0], "tables")
        self.model.order, self.model.closed = <int32_t>order, closed
        for level in range(order):
            one = &self.model.levels[level]
            one.size = sizes[level]
            require(0 <= one.size < 2**31, "2^31 n-grams and more are too many")
            one.word.values = one.prob.values = one.backoff.values = 0
            _take(&one.word, one.size if level else 0, widths[level, 0], 0, 0, tables, bits, at)
            _take(&one.prob, one.size, widths[level, 1], widths[level, 2], PROB_WIDTH, tables, bits, at)
            if level == order - 1:
                require(widths[level, 3] == widths[level, 4] == 0, "the longest n-grams have no back-off")
                continue
            _take(&one.backoff, one.size, widths[level, 3], widths[level, 4], BACKOFF_WIDTH, tables, bits, at)
            blocks = (one.size + WV_PACKED_BLOCK - 1) // WV_PACKED_BLOCK
            require(at[0] + 2 * (blocks + 1) <= index.shape[0], "the index does not fit the sizes")
            one.index, one.widths = &index[at[0]], index[at[0] + 2 * blocks + 1]
            one.offsets = &bits[at[2]]
            at[0] += 2 * (blocks + 1)
            at[2] += column_bytes(<int64_t>one.widths * (WV_PACKED_BLOCK + 1))
            require(at[2] + WV_PACKED_PADDING <= bits.shape[0], "the columns do not fit the sizes")
        require(at[0] == index.shape[0] and at[1] == tables.shape[0] and at[2] + WV_PACKED_PADDING == bits.shape[0],
                "the columns do not fit the sizes")
        self.kept_alive, self.name = (index, tables, bits), name

    def begin(self, bint ends=True) -> memoryview:
        """The state (order - 1,) int32 at the begin of a sentence; `ends` false: in which no word has come yet."""
        state = new_numbers(max(self.model.order - 1, 1), "i", sizeof(int32_t))
        cdef int32_t[::1] view = state
        wv_packed_begin(&self.model, ends, &view[0])
        return state[:self.model.order - 1]

    def score(self, const int32_t[::1] ids: Buffer, const int32_t[::1] state: Buffer,
              bint ends=True) -> tuple[memoryview, memoryview, memoryview]:
        """(log10 p (n,) float32, words of the n-gram that was found (n,) uint8, the state after them) of a stream of
        ids, as buffers; -1 ends a sentence. Raises BadFile where the file is damaged."""
        cdef int64_t n = ids.shape[0], k
        cdef int failure = 0
        scores, lengths = new_numbers(n, "f", sizeof(float)), new_numbers(n, "B", 1)
        after = new_numbers(self.model.order, "i", sizeof(int32_t))  # never empty, so that it has an address
        cdef float[::1] scores_view = scores
        cdef uint8_t[::1] lengths_view = lengths
        cdef int32_t[::1] after_view = after
        self._require_state(state)
        require_ids(ids, -1, self.model.levels[0].size, "ids")
        for k in range(state.shape[0]):
            after_view[k] = state[k]
        cdef uint8_t[::1] scratch
        if n:
            scratch = bytearray(wv_packed_scratch(&self.model, n))
            with nogil:
                failure = wv_packed_score(&self.model, &ids[0], n, ends, &after_view[0], &scores_view[0],
                                          &lengths_view[0], &scratch[0])
        self._require_sane(failure)
        return scores, lengths, after[:state.shape[0]]

    def all(self, const int32_t[::1] state: Buffer) -> NDArray[np.float32]:
        """log10 p(word | state) of all words, (words,) float32; <s> among them, which is never predicted. Raises
        BadFile."""
        import numpy as np
        scores = np.empty(self.model.levels[0].size, np.float32)
        whole = np.append(state, WV_NO_NODE).astype(np.int32)
        cdef float[::1] view = scores
        cdef const int32_t[::1] nodes = whole
        cdef int failure
        self._require_state(state)
        with nogil:
            failure = wv_packed_all(&self.model, &nodes[0], &view[0])
        self._require_sane(failure)
        return scores

    def words(self, int32_t length) -> NDArray[np.int32]:
        """The last words of the n-grams of a length, (n,) int32."""
        import numpy as np
        cdef wv_packed_level *level = self._level(length)
        return _read(&level.word, level.size).view(np.int32) if length > 1 else np.arange(level.size, dtype=np.int32)

    def probs(self, int32_t length) -> NDArray[np.float32]:
        """log10 p of the n-grams of a length, (n,) float32. Raises BadFile for a damaged file."""
        cdef wv_packed_level *level = self._level(length)
        found = _values(&level.prob, level.size, 1 << 31)
        self._require_sane(not ((found >= -100) & (found <= 0)).all())
        return found

    def backoffs(self, int32_t length) -> NDArray[np.float32]:
        """The same of the back-offs of n-grams shorter than the order."""
        cdef wv_packed_level *level = self._level(length)
        require(length < self.model.order, "the longest n-grams have no back-off")
        import numpy as np
        found = _values(&level.backoff, level.size, 0)
        self._require_sane(not (np.abs(found) <= 100).all())
        return found

    def children(self, int32_t length) -> NDArray[np.int32]:
        """Where the children of the n-grams of a length begin, (n + 1,) int32. Raises BadFile for a damaged file."""
        cdef wv_packed_level *level = self._level(length)
        require(length < self.model.order, "the longest n-grams have no children")
        import numpy as np
        first = np.empty(level.size + 1, np.int32)
        cdef int32_t[::1] view = first
        cdef int failure
        with nogil:
            failure = wv_packed_children(level, self.model.levels[length].size, &view[0])
        self._require_sane(failure)
        return first

    cdef wv_packed_level *_level(self, int32_t length) except NULL:
        require(1 <= length <= self.model.order, "no such length")
        return &self.model.levels[length - 1]

    cdef int _require_state(self, const int32_t[::1] state) except -1:
        cdef int32_t length
        require(state.shape[0] == self.model.order - 1, "a state of another order")
        for length in range(state.shape[0]):
            require(WV_NO_NODE <= state[length] < self.model.levels[length].size, "no such state")
        return 0

    cdef int _require_sane(self, int failure) except -1:
        if failure:
            raise BadFile(self.name, "the numbers of its n-grams do not fit each other: the file is damaged; make it again")
        return 0


cdef int _take(wv_packed_column *column, int64_t size, int64_t width, int64_t values, int64_t plain,
               const float[::1] tables, const uint8_t[::1] bits, int64_t *at) except -1:
    """The next column of `bits`; `plain` is how wide it is without a table, 0 where that is told."""
    cdef int64_t begin = at[2], length
    require(0 <= width <= 32 and 0 <= values <= tables.shape[0] - at[1], "the tables do not fit the sizes")
    require(values > 0 or plain in (0, width), "the columns do not fit the sizes")
    length = column_bytes(size * width)
    require(begin + length + WV_PACKED_PADDING <= bits.shape[0], "the columns do not fit the sizes")
    column.width, column.values, column.bits = <int32_t>width, values, &bits[begin]
    column.table = &tables[at[1]] if values else NULL
    at[1] += values
    at[2] += length
    return 0


cdef object _read(wv_packed_column *column, int64_t size):
    import numpy as np
    numbers = np.empty(size, np.uint32)
    cdef uint32_t[::1] view = numbers
    if size:
        with nogil:
            wv_packed_read(column.bits, size, column.width, &view[0])
    return numbers


cdef object _values(wv_packed_column *column, int64_t size, uint32_t sign):
    """float32; NaN for what is in no table."""
    import numpy as np
    numbers = _read(column, size)
    if column.table == NULL:
        return np.where(numbers, numbers | np.uint32(sign), numbers).view(np.float32)
    table = np.append(np.asarray(<const float[:column.values]>column.table), np.float32(np.nan))
    return table[np.minimum(numbers, column.values)]
