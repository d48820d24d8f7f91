# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The answers of a classifier for Python: text -> rows (core/textrows.h), rows -> labels (kernels/prediction.c), labels ->
fastText's output lines.

Every array is checked here before its address goes to C. All of it runs without the GIL; objects made here may be shared
between threads once made.
"""

import numpy as np

from libc.math cimport exp
from libc.stdint cimport int32_t, int64_t, uint32_t, uint8_t
from libc.string cimport memcpy, memset

from wv_cli._arguments cimport require, require_aligned, require_ids, require_starts, table
from wv_cli._kernels cimport (
    WV_CENTROIDS, WV_ROW_FLOATS, fill_wv_prediction_options, wv_kernels, wv_prediction_answers, wv_prediction_lines,
    wv_prediction_run, wv_prediction_words,
)
from wv_cli._scratch cimport address, aligned_zeros
from wv_cli.core.floattext cimport WV_FLOAT_CHARS, wv_format_float
from wv_cli.core.textrows cimport (
    wv_row_taker, wv_text_rows, wv_text_rows_free, wv_text_rows_piece, wv_text_rows_read, wv_text_rules,
    wv_text_words,
)
from wv_cli.core.wordmap cimport wv_wordmap, wv_wordmap_add, wv_wordmap_free, wv_wordmap_init, wv_wordmap_reserve


cdef enum:
    NUMBERS_PER_SCORE = 8 # of a row, at least, where scores of rows are kept: they are so much less to read
    MOST_SCORE_BYTES = 1 << 26
    DIGITS = 6 # of a probability, which is printed as by "%g"
    MOST_SUM_BYTES = 1 << 25 # of the sums of words, in each thread; more where one block of text has more words


cdef class RowsRead:
    """What wv_text_rows_read works with, for one thread at a time, and the sums of its words' rows."""

    cdef wv_text_rows rows
    cdef uint8_t[::1] sums
    cdef int64_t room  # words that have room for a sum

    def __cinit__(self):
        memset(&self.rows, 0, sizeof(self.rows))

    cdef int make_room(self, int64_t words, int64_t bytes_each) except -1:
        cdef uint8_t[::1] larger
        if words > self.room:
            self.room = max(words, 2 * self.room)
            larger = aligned_zeros(self.room * bytes_each)
            if self.rows.words.old:
                memcpy(address(larger), address(self.sums), self.rows.words.old * bytes_each)
            self.sums = larger
        return 0

    def __dealloc__(self):
        wv_text_rows_free(&self.rows)


cdef class LineReader:
    """Lines of text -> rows and labels of a fastText model; see core/textrows.h for the rules.

    words and labels are (blob, starts); bucket_row is (buckets,) int32 or None.
    """

    cdef wv_wordmap map
    cdef wv_text_rules rules
    cdef object kept_alive

    def __cinit__(self, words: tuple[bytes, NDArray[np.int64]], labels: tuple[bytes, NDArray[np.int64]], *, int minn,
                  int maxn, int word_ngrams, uint32_t buckets, bucket_row: NDArray[np.int32] | None, bytes prefix):
        cdef const int32_t[::1] row_of_bucket
        cdef const unsigned char[::1] bits
        cdef int32_t expected = <int32_t>(len(words[1]) + len(labels[1]) - 2)
        self.add(words, expected)
        self.add(labels, expected)
        require(self.map.size == expected, "a word or label stands twice in the model's list")
        memset(&self.rules, 0, sizeof(self.rules))
        self.kept_alive = (bucket_row, prefix)
        self.rules.map, self.rules.words = &self.map, <int32_t>(len(words[1]) - 1)
        self.rules.minn, self.rules.maxn, self.rules.word_ngrams = minn, maxn, word_ngrams
        self.rules.buckets = buckets
        self.rules.prefix, self.rules.prefix_length = prefix, len(prefix)
        if bucket_row is not None:
            row_of_bucket = bucket_row
            require(row_of_bucket.shape[0] == <int64_t>buckets and buckets > 0,
                    f"bucket_row: expected {buckets} entries, found {row_of_bucket.shape[0]}")
            bits = np.packbits(np.asarray(bucket_row) >= 0, bitorder="little")
            self.rules.bucket_row, self.rules.has_row = &row_of_bucket[0], &bits[0]
            self.kept_alive += (bits,)

    cdef int add(self, words, int64_t expected) except -1:
        cdef const unsigned char[::1] blob = words[0]
        cdef const int64_t[::1] starts = words[1]
        cdef int64_t i
        cdef const unsigned char *first = &blob[0] if blob.shape[0] else NULL
        cdef bint failed = False
        if self.map.size == 0:
            failed = wv_wordmap_init(&self.map, expected) != 0 or wv_wordmap_reserve(&self.map, expected) != 0
        with nogil:
            for i in range(starts.shape[0] - 1):
                if failed or starts[i + 1] == starts[i]:
                    break
                # Ids follow the order of the list only when no word stands twice.
                if not wv_wordmap_add(&self.map, first + starts[i], starts[i + 1] - starts[i]):
                    failed = True
        if failed:
            raise MemoryError
        return 0

    def __dealloc__(self):
        wv_wordmap_free(&self.map)

    def read(
        self, const unsigned char[::1] text: bytes | memoryview, bint bare_end=False,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """(row_starts, rows, label_starts, labels, seen) of whole lines: int64 (lines + 1,) and int32; seen (lines, 2) are
        the words of each line and how many of them have a row. With `bare_end` a last line without a newline has no
        `</s>`."""
        cdef RowsRead read = RowsRead()
        starts, label_starts, labels, seen = self.fill(read, text, bare_end)
        rows = np.empty(starts[len(seen)], np.int32)
        copy(rows, read.rows.row)
        return starts, rows, label_starts, labels, seen

    cdef tuple fill(self, RowsRead read, const unsigned char[::1] text, bint bare_end):
        """The same, but the rows stay in `read`."""
        cdef wv_text_rows *out = &read.rows
        cdef int failure
        cdef int64_t[:, ::1] starts_view
        if text.shape[0] == 0:
            none = np.empty(0, np.int32)
            return np.zeros(1, np.int64), np.zeros(1, np.int64), none, none.reshape(0, 2)
        with nogil:
            failure = wv_text_rows_read(&self.rules, <const char *>&text[0], text.shape[0], bare_end, out)
        if failure:
            raise MemoryError
        starts = np.empty((out.lines + 1, 2), np.int64)
        starts_view = starts
        memcpy(&starts_view[0, 0], out.start, starts_view.shape[0] * 2 * sizeof(int64_t))
        row_starts, label_starts = starts.T.copy()
        labels = np.empty(label_starts[out.lines], np.int32)
        copy(labels, out.label)
        seen = np.empty((out.lines, 2), np.int32)
        copy(seen.reshape(-1), out.seen)
        return row_starts, label_starts, labels, seen


cdef void copy(int32_t[::1] to, const int32_t *source):
    if to.shape[0]:
        memcpy(&to[0], source, to.shape[0] * sizeof(int32_t))


cdef class Answers:
    """What the k best labels of lines are: labels and scores (lines, k), ln(p + 1e-5) as fastText has them, falling;
    found (lines,) of them count."""

    cdef readonly object labels, found  # NDArray[np.int32]
    cdef readonly object scores  # NDArray[np.float32]

    def __init__(self, labels: NDArray[np.int32], scores: NDArray[np.float32], found: NDArray[np.int32]):
        self.labels, self.scores, self.found = labels, scores, found

    def lines(self, const unsigned char[::1] blob: bytes, const int64_t[::1] starts, bint prob) -> memoryview:
        """The lines fastText's predict (predict-prob) prints: labels (and probabilities) divided by blanks."""
        cdef const int32_t[:, ::1] labels = self.labels
        cdef const float[:, ::1] scores = self.scores
        cdef const int32_t[::1] found = self.found
        cdef int64_t i, size = 0
        cdef int32_t k, label
        cdef unsigned char *out
        cdef const unsigned char[::1] view
        for i in range(found.shape[0]):
            size += 1
            for k in range(found[i]):
                label = labels[i, k]
                size += starts[label + 1] - starts[label] + 1 + (16 if prob else 0)
        buffer = bytearray(size + WV_FLOAT_CHARS)
        view = buffer
        out = <unsigned char *>&view[0]
        with nogil:
            for i in range(found.shape[0]):
                for k in range(found[i]):
                    label = labels[i, k]
                    if k:
                        out[0] = c" "
                        out += 1
                    memcpy(out, &blob[starts[label]], starts[label + 1] - starts[label])
                    out += starts[label + 1] - starts[label]
                    if prob:
                        out[0] = c" "
                        out += 1 + wv_format_float(<float>exp(<double>scores[i, k]), -DIGITS, <char *>out + 1)
                out[0] = c"\n"
                out += 1
        size = out - &view[0]
        return memoryview(buffer)[:size]


cdef class Predictor:
    """The two matrices of a model. `options` has the fields of wv_prediction_options as attributes: the model's
    FastTextArgs. `input` is (rows, 4 * dim) uint8, float32 bytes that begin anywhere, or with `quantizer`, which is (dsub,
    centroids (WV_CENTROIDS * dim,) float32), the codes (rows, blocks); its norms are (codes (rows,), centroids) or None.
    output is (labels, stride) float32, aligned and padded, with a tree (labels - 1, stride) or more. `tree` is (left,
    right): hierarchical softmax. `reader` reads what predict_text and predict_line are asked."""

    cdef wv_prediction_run run
    cdef const wv_kernels *kernel
    cdef int64_t rows
    cdef object kept_alive
    cdef LineReader reader
    cdef list spare  # RowsRead that no thread works with; they know words that have been read
    cdef uint8_t[::1] line_scratch # of predict_line, for line_k answers
    cdef int32_t line_k

    def __init__(
        self, options: object, const uint8_t[:, ::1] input, output: NDArray[np.float32], *, int dim, int labels,
        sigmoid: NDArray[np.float32], tree: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
        isa: str | None = None, quantizer: tuple[int, NDArray[np.float32]] | None = None,
        norms: tuple[NDArray[np.uint8], NDArray[np.float32]] | None = None, reader: LineReader | None = None,
    ):
        cdef const float[:, ::1] y = output
        cdef const float[::1] steps = sigmoid
        cdef const int32_t[::1] left, right
        self.kernel, self.reader, self.spare = table(isa), reader, []
        memset(&self.run, 0, sizeof(self.run))
        fill_wv_prediction_options(&self.run.options, options)
        require(y.shape[0] >= labels - (tree is not None) and y.shape[1] % WV_ROW_FLOATS == 0 and y.shape[1] >= dim
                and labels > 0, f"output: ({y.shape[0]}, {y.shape[1]}) does not fit {labels} labels and dim {dim}")
        if y.shape[0]:
            require_aligned(&y[0, 0], "output")
        require(steps.shape[0] == 513, "the sigmoid's table has 513 values")
        self.kept_alive = [output, sigmoid, tree]
        self.run.labels, self.run.dim, self.run.stride = labels, dim, <int32_t>y.shape[1]
        self.run.output = &y[0, 0] if y.shape[0] else NULL
        self.run.sigmoid = &steps[0]
        if tree is not None:
            left, right = tree
            require(left.shape[0] == right.shape[0] == 2 * labels - 1, "tree: expected an entry for every node")
            self.run.left, self.run.right = &left[0], &right[0]
        require(self.kernel.supervised_predict_scratch_bytes(&self.run) > 0,
                f"loss {options.loss}: a classifier has no such output layer, or its tree is missing")
        self.rows = input.shape[0]
        self.run.input = <const char *>&input[0, 0] if self.rows else NULL
        self.run.row_bytes = <int32_t>input.shape[1]
        self.kept_alive += [input, quantizer, norms]
        if tree is None and labels * NUMBERS_PER_SCORE <= dim and self.rows * labels * sizeof(uint32_t) <= MOST_SCORE_BYTES:
            self.keep_scores(np.zeros((self.rows, labels), np.uint32))
        if quantizer is None:
            require(self.run.row_bytes == 4 * dim, f"input: expected {4 * dim} bytes a row, found {self.run.row_bytes}")
            return
        self.set_quantizer(quantizer[0], quantizer[1])
        if norms is not None:
            self.set_norms(norms[0], norms[1])

    cdef int keep_scores(self, uint32_t[:, ::1] bits) except -1:
        self.kept_alive.append(bits)
        if self.rows:
            self.run.row_score = &bits[0, 0]
        return 0

    cdef int set_quantizer(self, int32_t dsub, const float[::1] centroids) except -1:
        require(0 < dsub and self.run.row_bytes == (self.run.dim + dsub - 1) // dsub
                and centroids.shape[0] == WV_CENTROIDS * <int64_t>self.run.dim, "input: the codes do not fit the quantizer")
        self.run.dsub, self.run.centroids = dsub, <const char *>&centroids[0]
        return 0

    cdef int set_norms(self, const uint8_t[::1] codes, const float[::1] centroids) except -1:
        require(codes.shape[0] == self.rows and centroids.shape[0] == WV_CENTROIDS, "input: expected a norm for each row")
        if self.rows:
            self.run.norm_code, self.run.norms = &codes[0], <const char *>&centroids[0]
        return 0

    def predict(self, const int64_t[::1] starts, const int32_t[::1] rows, int k, double threshold,
                const uint8_t[:, ::1] input=None, wanted: NDArray[np.uint8] | None = None) -> Answers:
        """Answers for lines with these rows; with `input`, (rows, 4 * dim) as above, they are rows of that matrix. `wanted`
        is as predict_text has it."""
        cdef wv_prediction_run run = self.run
        cdef int64_t lines = starts.shape[0] - 1, available = self.rows
        cdef wv_prediction_lines asked = wv_prediction_lines(lines=lines, start=&starts[0])
        if input is not None:
            require(input.shape[1] == 4 * run.dim and input.shape[0] > 0, "input: expected rows of dim floats")
            available, run.input, run.row_bytes = input.shape[0], <const char *>&input[0, 0], 4 * run.dim
            run.centroids, run.norm_code, run.row_score = NULL, NULL, NULL
        require_ids(rows, 0, available, f"rows of an input of {available}")
        require_starts(starts, lines, rows.shape[0], "lines")
        if rows.shape[0]:
            asked.row = &rows[0]
        return self.answers(&run, &asked, k, threshold, wanted)

    cdef Answers answers(self, wv_prediction_run *run, const wv_prediction_lines *asked, int k, double threshold,
                         const uint8_t[::1] wanted):
        cdef int32_t[:, ::1] label
        cdef float[:, ::1] score
        cdef int32_t[::1] count
        cdef int64_t lines = asked.lines
        cdef void *scratch
        require(k >= 1, "k must be 1 or more")
        run.k, run.threshold = min(k, run.labels), <float>threshold
        if wanted is not None:
            nodes = 2 * run.labels - 1 if run.left else run.labels
            require(wanted.shape[0] == nodes, f"wanted: expected {nodes} entries, found {wanted.shape[0]}")
            run.wanted = &wanted[0]
        labels, scores = np.zeros((lines, run.k), np.int32), np.zeros((lines, run.k), np.float32)
        found = np.zeros(lines, np.int32)
        if lines == 0:
            return Answers(labels, scores, found)
        label, score, count = labels, scores, found
        buffer = aligned_zeros(self.kernel.supervised_predict_scratch_bytes(run))
        scratch = address(buffer)
        cdef wv_prediction_answers answers = wv_prediction_answers(
            label=&label[0, 0], found=&count[0], score=&score[0, 0])
        with nogil:
            self.kernel.supervised_predict(run, asked, &answers, scratch)
        return Answers(labels, scores, found)

    cdef RowsRead take_read(self):
        cdef RowsRead read
        require(self.reader is not None, "expected a reader, found none")
        if self.spare:
            return self.spare.pop()
        read = RowsRead()
        if self.reader.rules.maxn and self.run.row_score == NULL:
            read.rows.most_words = max(1, MOST_SUM_BYTES // (self.run.stride * sizeof(float)))
        return read

    cdef int know_words(self, RowsRead read, wv_prediction_lines *asked) except -1:
        """Tells what rows the words and the lines have that have been read."""
        cdef const wv_text_words *words = &read.rows.words
        cdef int64_t i, first
        cdef bint right = True
        asked.row = read.rows.row
        with nogil:
            for i in range(asked.start[asked.lines]):
                right = right and asked.row[i] < self.rows
            if read.rows.most_words and words.count:
                for i in range(words.start[words.old], words.start[words.count]):
                    right = right and 0 <= words.row[i] < self.rows
        require(right, "a row of the reader is none of the input")
        if read.rows.most_words and words.count:
            read.make_room(words.count, self.run.stride * sizeof(float))
            asked.known = wv_prediction_words(words=words.count, summed=words.old, start=words.start, row=words.row,
                                              sum=<float *>address(read.sums))
        return 0

    def predict_text(
        self, const unsigned char[::1] text: bytes | memoryview, int k, double threshold, bint bare_end=False,
        wanted: NDArray[np.uint8] | None = None,
    ) -> tuple[Answers, NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """(answers, row_starts, label_starts, labels, seen) of whole lines; all but the first as LineReader.read has
        them, except that a word may count as one row. `wanted`, an entry for each label, or for each node of a tree, limits
        the answers to labels where it is not 0."""
        cdef RowsRead read = self.take_read()
        cdef wv_prediction_run run = self.run
        cdef const int64_t[::1] start
        starts, label_starts, labels, seen = self.reader.fill(read, text, bare_end)
        start = starts
        cdef wv_prediction_lines asked = wv_prediction_lines(lines=start.shape[0] - 1, start=&start[0])
        self.know_words(read, &asked)
        answers = self.answers(&run, &asked, k, threshold, wanted)
        self.spare.append(read)
        return answers, starts, label_starts, labels, seen

    def predict_line(self, bytes text, int k, double threshold) -> tuple[list[int], list[float]]:
        """(labels, their probabilities) of one short line, which ends with its newline. The call keeps the GIL and
        allocates nothing for words that have stood before: it takes as long as the line."""
        cdef RowsRead read = self.take_read()
        cdef wv_prediction_run run = self.run
        cdef wv_text_rows *out = &read.rows
        cdef int64_t start[2]
        cdef int32_t i, found = 0, *label
        cdef float *score
        require(k >= 1, "k must be 1 or more")
        run.k, run.threshold = min(k, run.labels), <float>threshold
        if wv_text_rows_read(&self.reader.rules, <const char *>text, len(text), False, out):
            raise MemoryError
        require(out.lines == 1, "expected one line")
        start[0], start[1] = 0, out.start[2]
        cdef wv_prediction_lines asked = wv_prediction_lines(lines=1, start=&start[0])
        self.know_words(read, &asked)
        if self.line_k != run.k:
            answers_bytes = 2 * run.k * sizeof(int32_t)
            self.line_scratch = aligned_zeros(self.kernel.supervised_predict_scratch_bytes(&run) + answers_bytes)
            self.line_k = run.k
        score = <float *>(<char *>address(self.line_scratch) + self.kernel.supervised_predict_scratch_bytes(&run))
        label = <int32_t *>(score + run.k)
        cdef wv_prediction_answers answers = wv_prediction_answers(label=label, found=&found, score=score)
        self.kernel.supervised_predict(&run, &asked, &answers, address(self.line_scratch))
        self.spare.append(read)
        return [label[i] for i in range(found)], [<double><float>exp(<double>score[i]) for i in range(found)]


cdef class LongLine:
    """A line that comes in pieces, cut between words: `add` sums their rows, so that its length takes no memory. `labels`
    are those that stand in it, `seen` its words and how many of them have a row, `rows` all of its rows."""

    cdef LineReader reader
    cdef Predictor predictor
    cdef wv_text_rows read
    cdef uint8_t[::1] sum, scratch
    cdef readonly int64_t rows
    cdef readonly list labels, seen  # list[int]
    cdef bint wrong

    def __init__(self, LineReader reader, Predictor predictor):
        self.reader, self.predictor, self.labels, self.seen = reader, predictor, [], [0, 0]
        self.sum = aligned_zeros((predictor.run.stride + WV_ROW_FLOATS) * sizeof(float))
        self.scratch = aligned_zeros(predictor.kernel.supervised_predict_scratch_bytes(&predictor.run))

    def __dealloc__(self):
        wv_text_rows_free(&self.read)

    def add(self, const unsigned char[::1] text: bytes | memoryview, bint last=False, bint bare_end=False) -> None:
        """Reads a piece; the `last` one may end with the line's newline. With `bare_end` it has no `</s>` then."""
        cdef wv_row_taker taker = wv_row_taker(take=sum_rows, context=<void *>self)
        cdef const char *begin = <const char *>&text[0] if text.shape[0] else NULL
        cdef int failure
        cdef int64_t i
        with nogil:
            failure = wv_text_rows_piece(&self.reader.rules, begin, text.shape[0], last, bare_end, taker, &self.read)
        if failure:
            raise MemoryError
        require(not self.wrong, "a row of the reader is none of the input")
        self.seen = [self.seen[0] + self.read.seen[0], self.seen[1] + self.read.seen[1]]
        self.labels += [self.read.label[i] for i in range(self.read.start[3])]

    def mean(self) -> NDArray[np.uint8]:
        """(1, 4 * dim) uint8: the vector of the line."""
        cdef float *sum = <float *>address(self.sum)
        if self.rows:
            self.predictor.kernel.supervised_mean(&self.predictor.run, self.rows, sum)
        return np.asarray(self.sum)[:4 * self.predictor.run.dim].reshape(1, -1)


cdef void sum_rows(void *context, const int32_t *row, int64_t rows) noexcept nogil:
    """A wv_row_taker of a LongLine."""
    cdef void *sum
    cdef int64_t i
    with gil:
        line = <LongLine>context
        for i in range(rows):
            if not 0 <= row[i] < line.predictor.rows:
                line.wrong = True
                return
        line.rows += rows
        sum = address(line.sum)
        line.predictor.kernel.supervised_sum(&line.predictor.run, row, rows, <float *>sum, address(line.scratch))
