# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""KenLM's binary models (core/kenlm.h), for Python: asking them where they lie, and taking tries apart.

Whether the tables lie inside the file is checked here; what they hold is checked by C where it is used.
"""

cimport cython

from libc.stdint cimport int32_t, int64_t, uint8_t

from wv_cli._arguments cimport require, require_ids
from wv_cli._buffers cimport new_numbers
from wv_cli._words cimport letters
from wv_cli.core.kenlm cimport (
    wv_kenlm, wv_kenlm_all, wv_kenlm_column, wv_kenlm_find, wv_kenlm_level, wv_kenlm_score, wv_kenlm_unpack,
)
from wv_cli.core.ngrams cimport WV_LARGEST_ORDER, WV_NO_NODE, WV_SENTENCE, WV_SENTENCE_END

from wv_cli.errors import BadFile


@cython.final
cdef class Model:
    """A model, ready to be asked by any thread. `contents` is the whole file, `name` what messages call it. `words` is the
    number of ids.

    vocabulary: (offset, entries). unigrams: (offset, records, bytes of one). levels (order - 1, 15), -1 for what there is
    not: the offset and size of the n-grams of a length, the size of a record (bytes; of a trie bits), then for the columns
    word, prob, backoff and next the place in the record and the width in bits, the offsets of the tables of prob and
    backoff, and offset and size of the pointers. Raises ValueError for what lies outside the file, or a vocabulary
    without <s> and </s>."""

    cdef wv_kenlm model
    cdef const uint8_t[::1] contents
    cdef readonly str name

    def __init__(self, const uint8_t[::1] contents: Buffer, bint hashed, int64_t words, vocabulary: tuple[int, int],
                 unigrams: tuple[int, int, int], const int64_t[:, ::1] levels: Buffer, str name="the model"):
        cdef int64_t k, size = contents.shape[0]
        self.contents, self.name = contents, name
        require(1 <= levels.shape[0] < WV_LARGEST_ORDER and levels.shape[1] == 15, "no such order")
        require(WV_SENTENCE_END < words < 2**31, "2^31 words and more are too many, and fewer than 3 too few")
        self.model.order, self.model.hashed, self.model.words = <int32_t>levels.shape[0] + 1, hashed, words
        self.model.vocabulary = self._stretch(vocabulary[0], vocabulary[1] * (12 if hashed else 8))
        self.model.vocabulary_size = vocabulary[1]
        require(vocabulary[1] > 0, "the vocabulary is empty")
        require(unigrams[1] >= words + (not hashed) and unigrams[2] >= 8 + 8 * (not hashed), "the 1-grams do not fit")
        self.model.unigrams = self._stretch(unigrams[0], unigrams[1] * unigrams[2])
        self.model.unigram_bytes = unigrams[2]
        for k in range(levels.shape[0]):
            self._take(&self.model.levels[k], levels[k], k + 2)
        self.model.sentence, self.model.sentence_end = WV_SENTENCE, WV_SENTENCE_END  # the file's own numbering
        cdef int64_t[3] starts = [0, 3, 7]
        found = self.find(b"<s></s>", <int64_t[:3]>starts)
        require(found[0] > 0 and found[1] > 0 and found[0] != found[1], "the vocabulary lacks <s> or </s>")
        self.model.sentence, self.model.sentence_end = found

    def find(self, const uint8_t[::1] blob: Buffer, const int64_t[::1] starts: ArrayLike) -> memoryview:
        """Ids (n,) int32 of words, 0 for those that are not listed. Raises BadFile where the file is damaged."""
        cdef int64_t n = starts.shape[0] - 1, i
        cdef int failure
        require(n >= 0 and starts[0] == 0 and starts[n] <= blob.shape[0], "the words do not fit")
        for i in range(n):
            require(starts[i] <= starts[i + 1], "the words do not fit")
        ids = new_numbers(n + 1, "i", sizeof(int32_t))
        cdef int32_t[::1] view = ids
        with nogil:
            failure = wv_kenlm_find(&self.model, letters(blob), &starts[0], n, &view[0])
        self._require_sane(failure)
        return ids[:n]

    def begin(self, bint ends=True) -> memoryview:
        """The state (order - 1,) int32 at the begin of a sentence; `ends` false: in which no word has come yet."""
        cdef int32_t k
        state = new_numbers(self.model.order - 1, "i", sizeof(int32_t))
        for k in range(self.model.order - 1):
            state[k] = self.model.sentence if ends and k == 0 else WV_NO_NODE
        return state

    def score(self, const int32_t[::1] ids: Buffer, const int32_t[::1] state: Buffer,
              bint ends=True) -> tuple[memoryview, memoryview, memoryview]:
        """(log10 p (n,) float32, words of the n-gram that was found (n,) uint8, the state after them) of a stream of
        ids, as buffers; -1 ends a sentence. Raises BadFile where the file is damaged."""
        cdef int64_t n = ids.shape[0]
        cdef int failure = 0
        scores, lengths = new_numbers(n, "f", sizeof(float)), new_numbers(n, "B", 1)
        after = memoryview(bytearray(state)).cast("i")
        cdef float[::1] scores_view = scores
        cdef uint8_t[::1] lengths_view = lengths
        cdef int32_t[::1] after_view = after
        self._require_state(state)
        require_ids(ids, -1, self.model.words, "ids")
        if n:
            with nogil:
                failure = wv_kenlm_score(&self.model, &ids[0], n, ends, &after_view[0], &scores_view[0],
                                         &lengths_view[0])
        self._require_sane(failure)
        return scores, lengths, after

    def all(self, const int32_t[::1] state: Buffer) -> NDArray[np.float32]:
        """log10 p(word | state) of all words, (words,) float32; <s> among them, which is never predicted. Raises
        BadFile."""
        import numpy as np
        scores = np.empty(self.model.words, np.float32)
        cdef float[::1] view = scores
        cdef int failure
        self._require_state(state)
        with nogil:
            failure = wv_kenlm_all(&self.model, &state[0], &view[0])
        self._require_sane(failure)
        return scores

    def unpack(self,
               int32_t length) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """(first words (n,) int32, log10 p (n,), back-offs (n,), first child of each in the next level (n + 1,) int64)
        of the n-grams of a length of a trie; the longest have neither back-offs nor children. Raises BadFile."""
        import numpy as np
        require(not self.model.hashed and 1 <= length <= self.model.order, "no such n-grams")
        cdef int64_t n = self.model.words if length == 1 else self.model.levels[length - 2].size
        cdef bint inner = length < self.model.order
        cdef int failure
        words, probs = np.empty(n + 1, np.int32), np.empty(n + 1, np.float32)
        backoffs, after = np.empty(n + 1, np.float32), np.empty(n + 1, np.int64)
        cdef int32_t[::1] words_view = words
        cdef float[::1] probs_view = probs, backoffs_view = backoffs
        cdef int64_t[::1] after_view = after
        with nogil:
            failure = wv_kenlm_unpack(&self.model, length, &words_view[0], &probs_view[0], &backoffs_view[0],
                                      &after_view[0])
        self._require_sane(failure)
        return words[:n], probs[:n], backoffs[:n if inner else 0], after if inner else after[:0]

    cdef const uint8_t *_stretch(self, begin, size) except NULL:
        """So many bytes of the file."""
        require(0 <= begin and 0 < size and begin + size <= self.contents.shape[0], "its tables do not fit its size")
        return &self.contents[<int64_t>begin]

    cdef int _take(self, wv_kenlm_level *level, const int64_t[::1] row, int32_t length) except -1:
        cdef bint hashed = self.model.hashed, inner = length < self.model.order
        cdef int64_t needed = 12 + 4 * inner if hashed else 0
        level.size, level.record = row[1], row[2]
        level.word.table = level.prob.table = level.backoff.table = level.next.table = level.pointers = NULL
        require(row[1] >= hashed and row[2] >= needed, "its tables do not fit its size")
        if hashed:
            level.start = self._stretch(row[0], row[1] * row[2])
            return 0
        # Numbers are read by eight bytes, which may begin in the last byte of the last record.
        level.start = self._stretch(row[0], ((<object>row[1] + 1) * row[2] + 7) // 8 + 8)
        self._column(level, &level.word, row[3], row[4], -1)
        self._column(level, &level.prob, row[5], row[6], row[11])
        if inner:
            self._column(level, &level.backoff, row[7], row[8], row[12])
            self._column(level, &level.next, row[9], row[10], -1)
            if row[13] >= 0:
                level.pointers, level.pointer_count = self._stretch(row[13], row[14] * 8), row[14]
                require(level.next.width < 57, "its tables do not fit its size")
        return 0

    cdef int _column(self, wv_kenlm_level *level, wv_kenlm_column *column, int64_t at, int64_t width,
                     int64_t table) except -1:
        require(0 <= at and 0 <= width <= 57 and at + width <= level.record, "its tables do not fit its size")
        column.at, column.width = <int32_t>at, <int32_t>width
        if table >= 0:
            require(width <= 25, "its tables do not fit its size")
            column.table = self._stretch(table, 4 << width)
        return 0

    cdef int _require_state(self, const int32_t[::1] state) except -1:
        require(state.shape[0] == self.model.order - 1, "a state of another order")
        return require_ids(state, WV_NO_NODE, self.model.words, "the state")

    cdef int _require_sane(self, int failure) except -1:
        if failure:
            problem = "the numbers of its n-grams do not fit each other: the file is damaged; make it again"
            raise BadFile(self.name, problem)
        return 0
