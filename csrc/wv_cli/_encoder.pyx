# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, auto_pickle=False, autotestdict=False
"""A text as word ids and counts: the Python face of core/tokenizer, idbuffer, idstream and wordspill.

Only pointers, sizes and errors are handled here; the loops are in C and run without the GIL. Files, options and messages
are the business of wv_cli.text.corpus; which file holds spilled words, and in which order they are counted, that of
wv_cli.text.counting.
"""

import os

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from wv_cli._buffers cimport new_numbers
from wv_cli._words cimport check, dump_words, word_ids, zeros
from wv_cli.core.idbuffer cimport wv_idbuffer, wv_idbuffer_fit, wv_idbuffer_free
from wv_cli.core.idstream cimport (
    wv_fingerprint, wv_fingerprint_finish, wv_fingerprint_init, wv_fingerprint_update, wv_remap, wv_remap_state,
)
from wv_cli.core.tokenizer cimport (
    wv_block_masks, wv_block_masks_portable, wv_encoder, wv_encoder_feed, wv_encoder_finish,
    wv_encoder_free, wv_encoder_init, wv_masks,
)
from wv_cli.core.wordmap cimport (
    wv_wordmap_blob_bytes, wv_wordmap_bytes, wv_wordmap_dump, wv_wordmap_free, wv_wordmap_reserve,
)
from wv_cli.core.wordspill cimport (
    WV_BAD_RECORD, WV_SPILL_PARTS, wv_spill, wv_spill_empty, wv_spill_init, wv_stream_counts, wv_stream_counts_add,
    wv_stream_counts_free, wv_stream_counts_init,
)


PARTS = WV_SPILL_PARTS


@cython.final
cdef class IdBuffer:
    """Owns an id stream made in C; hands it out through the buffer protocol."""

    cdef wv_idbuffer stream
    cdef bint writable
    cdef Py_ssize_t shape[1]

    def __dealloc__(self):
        wv_idbuffer_free(&self.stream)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE and not self.writable:
            raise BufferError("an id stream is read-only")
        self.shape[0] = self.stream.length
        buffer.buf = self.stream.ids
        buffer.obj = self
        buffer.len = self.stream.length * sizeof(int32_t)
        buffer.readonly = not self.writable
        buffer.itemsize = sizeof(int32_t)
        buffer.format = b"i"
        buffer.ndim = 1
        buffer.shape = self.shape
        buffer.strides = &buffer.itemsize
        buffer.suboffsets = NULL
        buffer.internal = NULL


@cython.final
cdef class Encoder:
    """Text in, counts and the id stream out. Feed chunks, cut anywhere; then finish(); then take the results.

    With `known` (blob, starts) only those words are kept, under their positions in that list; otherwise ids are given in
    order of first sight. With keep_ids=False words are only counted, and those that the map has no room for go into the
    `spill`, if there is one; with every_line=True lines without a word have their line end in the stream, too.
    """

    cdef wv_encoder encoder
    cdef Spill spill

    def __cinit__(self, known: tuple[bytes, NDArray[np.int64]] | None = None, *, bint keep_ids=True,
                  bint every_line=False, Spill spill=None):
        cdef int64_t expected = len(known[1]) if known is not None else 0
        if spill is not None and (keep_ids or known is not None):
            raise ValueError("expected keep_ids=False and no known words with a spill")
        check(wv_encoder_init(&self.encoder, known is not None, keep_ids, every_line, expected))
        if known is not None:
            blob, starts = known
            word_ids(&self.encoder.map, blob, starts, zeros(len(starts) - 1, "i4"), False)
        self.spill = spill
        self.encoder.spill = &spill.spill if spill is not None else NULL

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
        """Words read, dropped and spilled ones included."""
        return self.encoder.tokens

    @property
    def words(self) -> int:
        """Different words so far, known ones included."""
        return self.encoder.map.size

    @property
    def lines(self) -> int:
        """Line ends read."""
        return self.encoder.lines

    @property
    def ids_bytes(self) -> int:
        """Size of the id stream held."""
        return self.encoder.stream.length * sizeof(int32_t)

    @property
    def words_bytes(self) -> int:
        """Memory that the word map takes."""
        return wv_wordmap_bytes(&self.encoder.map)

    def vocabulary(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        """(blob, starts, counts (n,) int64) of the words of the map in order of id. Each was seen before every
        word that was spilled."""
        blob, starts, counts = dump_words(&self.encoder.map)
        return bytes(blob), starts, counts

    def words_from(self, int32_t first) -> tuple[bytes, memoryview]:
        """(blob, starts (n + 1,) int64) of the words with the id `first` and those behind it, as buffers."""
        cdef int32_t begin = max(0, min(first, self.encoder.map.size))
        starts = new_numbers(self.encoder.map.size - begin + 1, "q", sizeof(int64_t))
        blob = bytearray(wv_wordmap_blob_bytes(&self.encoder.map, begin) + 1)  # never empty, so that it has an address
        cdef int64_t[::1] starts_view = starts
        cdef unsigned char[::1] out = blob
        with nogil:
            wv_wordmap_dump(&self.encoder.map, begin, &out[0], &starts_view[0], NULL)
        return bytes(blob[:-1]), starts

    def add_words(self, const unsigned char[::1] blob, const int64_t[::1] starts) -> memoryview:
        """Ids (n,) int32 of words, those not seen before added with count 0, as a buffer."""
        ids = new_numbers(starts.shape[0] - 1, "i", sizeof(int32_t))
        check(wv_wordmap_reserve(&self.encoder.map, ids.shape[0]))
        word_ids(&self.encoder.map, blob, starts, ids, False)
        return ids

    def forget_words(self) -> None:
        """Frees the word map. Nothing can be fed afterwards."""
        wv_wordmap_free(&self.encoder.map)

    def drain(self, int descriptor) -> None:
        """Appends the id stream to a file and empties it. Raises OSError."""
        write_ids(descriptor, self.encoder.stream.ids, self.encoder.stream.length)
        self.encoder.stream.length = 0
        wv_idbuffer_fit(&self.encoder.stream)

    def take_ids(self, const int32_t[::1] lookup, Fingerprint fingerprint not None, *,
                 bint every_line=False) -> tuple[IdBuffer, int, int]:
        """(ids, tokens, lines): the id stream, as a read-only IdBuffer, with the words and line ends in it. `lookup` (n,)
        gives the final id of each provisional one, -1 to drop it; lines without a word go, too, unless `every_line`. The
        encoder's stream is empty afterwards; the new one goes into `fingerprint`."""
        cdef wv_idbuffer *stream = &self.encoder.stream
        cdef wv_remap_state state = start_remap(every_line)
        if stream.length:
            with nogil:
                stream.length = wv_remap(stream.ids, stream.length, &lookup[0] if lookup.shape[0] else NULL, &state,
                                         &fingerprint.state)
        return self.taken(False), state.tokens, state.lines

    def take_stream(self) -> IdBuffer:
        """The id stream as it is, as a writable IdBuffer. The encoder's stream is empty afterwards."""
        return self.taken(True)

    cdef IdBuffer taken(self, bint writable):
        cdef IdBuffer buffer = IdBuffer.__new__(IdBuffer)
        buffer.stream, self.encoder.stream = self.encoder.stream, buffer.stream
        wv_idbuffer_fit(&buffer.stream)
        buffer.writable = writable
        return buffer


cdef int write_ids(int descriptor, const int32_t *ids, int64_t length) except -1:
    """Raises OSError. Goes through os.write, which retries after signals and lets Ctrl-C through."""
    cdef int64_t done = 0, total = length * sizeof(int32_t), piece
    while done < total:
        piece = min(total - done, 1 << 24)
        done += os.write(descriptor, (<const unsigned char *>ids)[done:done + piece])
    return 0


cdef wv_remap_state start_remap(bint every_line) noexcept nogil:
    """What wv_remap knows at the start of a stream."""
    cdef wv_remap_state state
    state.last_id = -1
    state.tokens = state.lines = 0
    state.every_line = every_line
    return state


def remap(int32_t[::1] ids, const int32_t[::1] lookup, Fingerprint fingerprint not None, *,
          bint every_line=False) -> tuple[int, int, int]:
    """The same as Encoder.take_ids for an id stream in memory, in place. Returns (length, tokens, lines): the first so
    many ids are the new stream."""
    cdef wv_remap_state state = start_remap(every_line)
    cdef int64_t length = ids.shape[0]
    if length:
        with nogil:
            length = wv_remap(&ids[0], length, &lookup[0], &state, &fingerprint.state)
    return length, state.tokens, state.lines


def remap_file(int descriptor, const int32_t[::1] lookup, Fingerprint fingerprint not None, *,
               bint every_line=False) -> tuple[int, int, int]:
    """The same as Encoder.take_ids for an id stream in a file, block by block and in place; the file is cut to its new
    length. Returns (length, tokens, lines). Raises OSError."""
    cdef wv_remap_state state = start_remap(every_line)
    cdef int64_t block = 1 << 20, read_at = 0, write_at = 0, kept
    cdef int32_t[::1] ids
    buffer = zeros(block, "i4")
    ids = buffer
    while True:
        got = os.preadv(descriptor, [buffer], read_at)
        if got == 0:
            break
        while got % sizeof(int32_t):
            more = os.preadv(descriptor, [memoryview(buffer).cast("B")[got:]], read_at + got)
            if more == 0:
                raise OSError("the spool file ends in the middle of an id")
            got += more
        read_at += got
        kept = got // sizeof(int32_t)
        with nogil:
            kept = wv_remap(&ids[0], kept, &lookup[0], &state, &fingerprint.state)
        done = memoryview(buffer).cast("B")[: kept * sizeof(int32_t)]
        while len(done):
            written = os.pwrite(descriptor, done, write_at)
            write_at += written
            done = done[written:]
    os.ftruncate(descriptor, write_at)
    return write_at // sizeof(int32_t), state.tokens, state.lines


@cython.final
cdef class Fingerprint:
    """A fast 256-bit fingerprint of an id stream (not cryptographic), the same however the stream is cut."""

    cdef wv_fingerprint state

    def __cinit__(self):
        wv_fingerprint_init(&self.state)

    def update(self, const int32_t[::1] ids) -> None:
        with nogil:
            if ids.shape[0]:
                wv_fingerprint_update(&self.state, &ids[0], ids.shape[0])

    def digest(self) -> bytes:
        """40 bytes: the fingerprint and the number of ids."""
        cdef wv_fingerprint final = self.state
        wv_fingerprint_finish(&final)
        return b"".join(int(lane).to_bytes(8, "little") for lane in final.lanes) + int(final.length).to_bytes(8, "little")


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


def masks(const unsigned char[::1] block, bint portable=False) -> tuple[int, int]:
    """(separators, newlines): one bit per byte of a 64-byte block. For tests."""
    cdef wv_masks result
    if block.shape[0] != 64:
        raise ValueError("a block has 64 bytes")
    result = wv_block_masks_portable(&block[0]) if portable else wv_block_masks(&block[0])
    return result.separators, result.newlines
