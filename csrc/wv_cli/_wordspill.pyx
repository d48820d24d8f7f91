# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, auto_pickle=False, autotestdict=False
"""Words of a text counted in bounded memory: the Python face of core/wordspill and of core/tokenizer with it.

Which file holds the segments, and in which order streams are counted, is the business of wv_cli.text.counting.
"""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from wv_cli._words cimport check, dump_words, zeros
from wv_cli.core.tokenizer cimport wv_encoder, wv_encoder_feed, wv_encoder_finish, wv_encoder_free, wv_encoder_init
from wv_cli.core.wordspill cimport (
    WV_BAD_RECORD, WV_SPILL_PARTS, wv_spill, wv_spill_empty, wv_spill_init, wv_stream_counts, wv_stream_counts_add,
    wv_stream_counts_free, wv_stream_counts_init,
)


PARTS = WV_SPILL_PARTS


@cython.final
cdef class Spill:
    """Words that a table of at most `most_bytes` has no room for, in PARTS segments. Each `level` divides words in
    another way."""

    cdef wv_spill spill

    def __cinit__(self, int level, uint64_t most_bytes):
        wv_spill_init(&self.spill, level, most_bytes)

    def __dealloc__(self):
        wv_spill_empty(&self.spill)

    @property
    def nbytes(self) -> int:
        """Of all segments."""
        return self.spill.bytes

    def take(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """(bytes, starts (PARTS + 1,) int64): the segments end to end. What follows begins new ones."""
        cdef int part
        cdef int64_t[::1] begin
        cdef unsigned char[::1] out
        whole, starts = zeros(self.spill.bytes, "u1"), zeros(WV_SPILL_PARTS + 1, "i8")
        out, begin = whole, starts
        for part in range(WV_SPILL_PARTS):
            segment = &self.spill.segments[part]
            if segment.length:
                memcpy(&out[begin[part]], segment.bytes, segment.length)
            begin[part + 1] = begin[part] + <int64_t>segment.length
        wv_spill_empty(&self.spill)
        return whole, starts


@cython.final
cdef class TextCounts:
    """Counts the words of a text, those that the table has no room for into `spill`. Feed chunks, cut anywhere; then
    finish()."""

    cdef wv_encoder encoder
    cdef Spill spill

    def __cinit__(self, Spill spill not None):
        check(wv_encoder_init(&self.encoder, False, False, False, 0))
        self.spill = spill
        self.encoder.spill = &spill.spill

    def __dealloc__(self):
        wv_encoder_free(&self.encoder)

    def feed(self, const unsigned char[::1] chunk) -> None:
        cdef int failure = 0
        if chunk.shape[0]:
            with nogil:
                failure = wv_encoder_feed(&self.encoder, &chunk[0], chunk.shape[0])
        check(failure)

    def finish(self) -> None:
        check(wv_encoder_finish(&self.encoder))

    @property
    def tokens(self) -> int:
        """Words read, spilled ones included."""
        return self.encoder.tokens

    @property
    def lines(self) -> int:
        """Line ends read."""
        return self.encoder.lines

    def vocabulary(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        """(blob, starts, counts (n,) int64) of the words of the table in order of first sight. Each was seen before
        every word that was spilled."""
        blob, starts, counts = dump_words(&self.encoder.map)
        return bytes(blob), starts, counts


@cython.final
cdef class StreamCounts:
    """Counts the words of one stream of segments, those that the table has no room for into `deeper`."""

    cdef wv_stream_counts counts
    cdef Spill deeper

    def __cinit__(self, Spill deeper not None):
        check(wv_stream_counts_init(&self.counts))
        self.deeper = deeper

    def __dealloc__(self):
        wv_stream_counts_free(&self.counts)

    def add(self, const unsigned char[::1] segment: NDArray[np.uint8] | bytes) -> None:
        """The next segment of the stream. Raises ValueError for bytes that are no segment."""
        cdef int failure = 0
        if segment.shape[0]:
            with nogil:
                failure = wv_stream_counts_add(&self.counts, &self.deeper.spill, &segment[0], segment.shape[0])
        if failure == WV_BAD_RECORD:
            raise ValueError("expected a segment of counted words")
        check(failure)

    def vocabulary(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(blob, starts, counts, firsts) of the words of the table in order of first sight, counts and firsts (n,)
        int64: a word's first place in the text."""
        cdef int64_t[::1] out
        blob, starts, counts = dump_words(&self.counts.map)
        firsts = zeros(self.counts.map.size, "i8")
        out = firsts
        if out.shape[0]:
            memcpy(&out[0], self.counts.firsts, <size_t>out.shape[0] * sizeof(int64_t))
        return bytes(blob), starts, counts, firsts
