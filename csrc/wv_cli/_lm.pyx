# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""n-grams for Python: sorting those of a text, the trie of them (core/ngrams.h), models of it (core/ngramscore.h).

Every array is checked here before its address goes to C.
"""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from wv_cli._arguments cimport require, require_ids
from wv_cli.core.ngrams cimport (
    WV_LARGEST_ORDER, WV_NO_NODE, wv_ngram_builder, wv_ngram_builder_add, wv_ngram_builder_free,
    wv_ngram_builder_init, wv_ngram_level, wv_ngram_link, wv_ngram_runs, wv_ngram_trie, wv_ngram_windows,
    wv_ngrams_merge, wv_ngrams_records, wv_ngrams_sort, wv_ngrams_windows, wv_record_width,
)
from wv_cli.core.ngramscore cimport wv_ngram_below, wv_ngram_model

from wv_cli.errors import WvError


LARGEST_ORDER = WV_LARGEST_ORDER
NO_NODE = WV_NO_NODE


@cython.final
cdef class Windows:
    """The windows of a stream of ids (3 .. words - 1, and -1 after each sentence), to be sorted."""

    cdef int32_t[::1] ids, positions
    cdef uint8_t[::1] lengths
    cdef wv_ngram_windows windows
    cdef readonly object first_words  # NDArray[np.int64]

    def __init__(self, const int32_t[::1] stream, int32_t order, int32_t words):
        cdef int64_t n = stream.shape[0], sentences, i
        cdef int64_t[::1] counts = np.zeros(max(words, 1), np.int64)
        require(1 <= order <= WV_LARGEST_ORDER, "an order is 1 to 10")
        require(n > 0 and stream[n - 1] == -1, "a stream ends with the end of a sentence")
        require_ids(stream, -1, words, "ids of the text")
        sentences = np.count_nonzero(np.asarray(stream) < 0)
        require(n + sentences < 2**31, "too many words for one sorting")
        self.ids = np.empty(n + sentences, np.int32)
        self.lengths = np.empty(n + sentences, np.uint8)
        self.positions = np.zeros(n + sentences, np.int32)
        self.windows = wv_ngram_windows(ids=&self.ids[0], lengths=&self.lengths[0], n=0, order=order, words=words)
        with nogil:
            self.windows.n = wv_ngrams_windows(&stream[0], n, order, &self.ids[0], &self.lengths[0])
            for i in range(self.windows.n):
                counts[self.ids[i]] += 1
        self.first_words = np.asarray(counts)  # how many windows begin with each

    def sort(self, int32_t low, int32_t high) -> tuple[int, int]:
        """Sorts the windows that begin with the words low .. high - 1, and returns their places in the order of all.
        Different words may be sorted at the same time."""
        require(0 <= low <= high <= self.windows.words, "no such words")
        cdef int64_t before = self.first_words[:low].sum(), found = self.first_words[low:high].sum()
        cdef int32_t[::1] spare
        cdef int64_t[::1] counts
        if found:
            spare, counts = np.empty(found, np.int32), np.empty(self.windows.words + 1, np.int64)
            with nogil:
                wv_ngrams_sort(&self.windows, low, high, found, &self.positions[before], &spare[0], &counts[0])
        return before, before + found

    def take(self, int64_t at, int64_t end, int32_t[:, ::1] records) -> tuple[int, int]:
        """Fills records (capacity, order + 2) with those of the windows at .. end, which are sorted. Returns how many,
        and the place behind their windows."""
        cdef int64_t capacity = records.shape[0], written
        cdef wv_ngram_windows part = self.windows
        require(capacity > 0 and records.shape[1] == wv_record_width(self.windows.order), "the records do not fit the order")
        require(0 <= at <= end <= self.windows.n, "no such windows")
        part.n = end
        with nogil:
            written = wv_ngrams_records(&part, &self.positions[0], &at, &records[0, 0], capacity)
        return written, at


def merge(int32_t order, const int32_t[:, ::1] records, int64_t[::1] first, const int64_t[::1] last,
          const uint8_t[::1] more, int32_t[::1] pending, int32_t[:, ::1] out) -> int:
    """One step of merging the sorted runs records[first[r]:last[r]], see wv_ngrams_merge; `first` moves on. Returns the
    number of records written to `out`."""
    cdef int32_t runs = <int32_t>first.shape[0], run
    cdef int32_t[::1] heap = np.empty(runs, np.int32)
    cdef int64_t capacity = out.shape[0], written, width = wv_record_width(order)
    require(1 <= order <= WV_LARGEST_ORDER and runs > 0 and last.shape[0] == runs == more.shape[0] and capacity > 0
            and records.shape[1] == width == out.shape[1] == pending.shape[0], "the arrays do not fit the order")
    for run in range(runs):
        require(0 <= first[run] <= last[run] <= records.shape[0], "the runs do not fit the records")
    cdef wv_ngram_runs merged = wv_ngram_runs(records=&records[0, 0], order=order, runs=runs, first=&first[0],
                                              last=&last[0], more=&more[0], heap=&heap[0])
    with nogil:
        written = wv_ngrams_merge(&merged, &pending[0], &out[0, 0], capacity)
    return written


@cython.final
cdef class Builder:
    """The trie that ascending records make: add() them, then take the levels."""

    cdef wv_ngram_builder builder

    def __cinit__(self, int32_t order):
        require(1 <= order <= WV_LARGEST_ORDER, "an order is 1 to 10")
        wv_ngram_builder_init(&self.builder, order)

    def __dealloc__(self):
        wv_ngram_builder_free(&self.builder)

    def add(self, const int32_t[:, ::1] records) -> None:
        """Raises ValueError for records that do not ascend, WvError for more than 2^31 n-grams of a length."""
        cdef int64_t n = records.shape[0]
        cdef int failure
        require(records.shape[1] == wv_record_width(self.builder.order), "the records do not fit the order")
        if n == 0:
            return
        with nogil:
            failure = wv_ngram_builder_add(&self.builder, &records[0, 0], n)
        require(failure != -2, "the records do not ascend")
        if failure:
            raise WvError("memory for the n-grams has run out; lower --order or give less text")

    def held(self, int32_t length) -> int:
        """How many n-grams of a length there are to be taken."""
        return self._level(length).size

    def take(self, int32_t length, bint finished) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """(word int32, first int32, count int64) of the n-grams of a length since they were last taken; `first` counts
        from the begin of the next level. Unless all records have been added the last one may still grow and stays."""
        cdef wv_ngram_level *level = self._level(length)
        cdef int64_t size = level.size if finished else max(level.size - 1, 0)
        word, first, count = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int64)
        cdef int32_t[::1] words = word, firsts = first
        cdef int64_t[::1] counts = count
        if size:
            memcpy(&words[0], level.word, size * sizeof(int32_t))
            memcpy(&firsts[0], level.first, size * sizeof(int32_t))
            memcpy(&counts[0], level.count, size * sizeof(int64_t))
            level.size -= size
            level.taken += size
            if not finished:
                level.word[0], level.first[0], level.count[0] = level.word[size], level.first[size], level.count[size]
        return word, first, count

    cdef wv_ngram_level *_level(self, int32_t length) except NULL:
        require(1 <= length <= self.builder.order, "no such level")
        return &self.builder.levels[length - 1]


def count_ids(const int32_t[::1] ids, int64_t low, int64_t high, int64_t[::1] counts) -> None:
    """counts[id - low] += 1 for every id from low to below high."""
    cdef int64_t i
    require(0 <= low <= high and counts.shape[0] == high - low, "no such ids")
    with nogil:
        for i in range(ids.shape[0]):
            if low <= ids[i] < high:
                counts[ids[i] - low] += 1


def gather(const double[::1] numbers, const int32_t[::1] ids, int64_t low, int64_t high, double[::1] out) -> None:
    """out[i] = numbers[ids[i] - low] wherever low <= ids[i] < high."""
    cdef int64_t i
    require(0 <= low <= high and numbers.shape[0] == high - low and out.shape[0] == ids.shape[0], "no such ids")
    with nogil:
        for i in range(ids.shape[0]):
            if low <= ids[i] < high:
                out[i] = numbers[ids[i] - low]


@cython.final
cdef class Links:
    """A trie and its suffix links, as levels, word, first and suffix have them (core/ngrams.h). Nothing is done before
    check() has seen all nodes, so that C cannot leave the arrays, whatever is in them.

    `linked` says whether `suffix` is filled. Otherwise fill() does it, the lengths one after the other from 1 on, the
    nodes of a length in any order and at the same time."""

    cdef wv_ngram_trie trie
    cdef int32_t[::1] written
    cdef object kept_alive
    cdef int64_t checked
    cdef bint linked

    def __init__(self, const int64_t[::1] levels, const int32_t[::1] word, const int32_t[::1] first,
                 suffix: NDArray[np.int32], bint linked):
        cdef const int32_t[::1] links = suffix
        cdef int64_t order = levels.shape[0] - 1, nodes = word.shape[0], inner, i
        require(1 <= order <= WV_LARGEST_ORDER and levels[0] == 0 and levels[order] == nodes, "the levels do not fit")
        for i in range(order):
            require(levels[i] < levels[i + 1] or (i > 0 and levels[i] == levels[i + 1]), "the levels do not ascend")
        inner = levels[order - 1]
        require(first.shape[0] == inner + 1 and links.shape[0] == nodes, "the arrays do not fit the levels")
        require(first[0] == levels[1] and first[inner] == nodes, "the children do not fit the levels")
        for i in range(1, order):
            require(first[levels[i]] == levels[i + 1], "the children do not follow each other")
        if not linked:
            self.written = suffix
        self.trie.order, self.trie.levels = <int32_t>order, &levels[0]
        self.trie.word, self.trie.first, self.trie.suffix = &word[0], &first[0], &links[0]
        self.linked, self.checked, self.kept_alive = linked, 0, (levels, word, first, suffix)

    def check(self, int64_t end) -> None:
        """Checks the nodes from where it was last called for up to `end`. Raises ValueError for what is no trie."""
        cdef int64_t nodes = self.trie.levels[self.trie.order], inner = self.trie.levels[self.trie.order - 1], i, child
        cdef int64_t length = 1
        cdef const int32_t *word = self.trie.word
        cdef const int32_t *first = self.trie.first
        cdef bint follow = True, ascend = True, known = True, shorter = True
        require(self.checked <= end <= nodes, "no such nodes")
        with nogil:
            for i in range(self.checked, end):
                while i >= self.trie.levels[length]:
                    length += 1
                known = known and 0 <= word[i] < self.trie.levels[1]
                if i + 1 < self.trie.levels[1]:
                    ascend = ascend and word[i] < word[i + 1]
                if self.linked:
                    shorter = shorter and (self.trie.suffix[i] == WV_NO_NODE if length == 1
                                           else 0 <= self.trie.suffix[i] < self.trie.levels[length - 1])
                else:
                    self.written[i] = WV_NO_NODE
                if i >= inner:
                    continue
                if not 0 <= first[i] <= first[i + 1] <= nodes:
                    follow = False
                    break
                for child in range(first[i] + 1, first[i + 1]):
                    ascend = ascend and word[child - 1] < word[child]
        require(follow, "the children do not follow each other")
        require(ascend, "the words do not ascend")
        require(known, "the words of the n-grams are not listed")
        require(shorter, "a suffix link leads to no shorter n-gram")
        self.checked = end

    def fill(self, int32_t length, int64_t begin, int64_t end, int64_t low, int64_t high) -> int:
        """For the children of those of the nodes begin .. end of a length whose suffix is one of low .. high; how many of
        them lack the n-gram without their first word."""
        cdef int64_t lacking
        require(not self.linked, "the links are filled")
        self._require(length, begin, end)
        require(WV_NO_NODE <= low <= high <= self.trie.levels[length - 1], "no such suffixes")
        with nogil:
            lacking = wv_ngram_link(&self.trie, length, begin, end, <int32_t>low, <int32_t>high, &self.written[0])
        return lacking

    def below(self, const float[::1] prob, const float[::1] backoff, int32_t length, int64_t begin,
              int64_t end) -> NDArray[np.float32]:
        """What shorter n-grams of a model say of the children of the nodes begin .. end, which have `length` words: log10
        p of their last word after all others but the first, float32. prob (nodes,) and backoff (inner nodes,)."""
        cdef wv_ngram_model model
        require(self.linked, "the links are not filled")
        self._require(length, begin, end)
        require(prob.shape[0] == self.trie.levels[self.trie.order] and
                backoff.shape[0] == self.trie.levels[self.trie.order - 1], "the numbers do not fit")
        scores = np.empty(self.trie.first[end] - self.trie.first[begin], np.float32)
        cdef float[::1] view = scores
        model.trie, model.prob, model.backoff = self.trie, &prob[0], &backoff[0]
        if view.shape[0]:
            with nogil:
                wv_ngram_below(&model, begin, end, &view[0])
        return scores

    cdef int _require(self, int32_t length, int64_t begin, int64_t end) except -1:
        """Nodes of a length that have children."""
        require(self.checked == self.trie.levels[self.trie.order], "the trie is not checked")
        return require(1 <= length < self.trie.order and
                       self.trie.levels[length - 1] <= begin <= end <= self.trie.levels[length], "no such nodes")
