# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, auto_pickle=False, autotestdict=False
"""Pairs of words in an id stream: the Python face of core/phrases. Which pairs are phrases is wv_cli.text.phrases' say."""

import numpy as np

cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

from wv_cli.core.phrases cimport (
    WV_MOST_CONNECTORS, WV_NO_WORD, wv_chain_id, wv_chains, wv_pair, wv_pair_bound, wv_pair_place, wv_pair_table,
    wv_pair_walk, wv_pairs_begin_part, wv_pairs_count, wv_pairs_free, wv_pairs_init, wv_pairs_join, wv_pairs_next_part, wv_pairs_select,
    wv_pairs_set, wv_render,
)


MOST_CONNECTORS = WV_MOST_CONNECTORS


@cython.final
cdef class Chains:
    """Ids for what may stand between the words of a pair: connectors, and the word after them. `connects` (words,)
    uint8 marks the ids of connectors; None: there are none."""

    cdef wv_chains chains
    cdef const unsigned char[::1] connects
    cdef int64_t words

    def __cinit__(self, int64_t words, const unsigned char[::1] connects: NDArray[np.uint8] | None = None):
        if wv_pairs_init(&self.chains.table, 0):
            raise MemoryError
        if words >= 2**31 or (connects is not None and connects.shape[0] < words):
            raise ValueError("expected a mark for every word")
        self.words, self.connects, self.chains.next = words, connects, <int32_t>words
        self.chains.connects = &connects[0] if connects is not None and words else NULL

    def __dealloc__(self):
        wv_pairs_free(&self.chains.table)

    def chain(self, ids: Iterable[int]) -> int:
        """The id of a chain of word ids, which for one word is its own."""
        cdef int32_t made = -1, id
        for i, id in enumerate(ids):
            made = id if i == 0 else wv_chain_id(&self.chains, made, id, 1)
            if made < 0:
                raise MemoryError
        return made

    def steps(self) -> NDArray[np.int32]:
        """(chains, 2) int32: the id before the last word, and that word, of each chain from the id `words` on."""
        cdef int64_t made = self.chains.next - self.words
        cdef uint64_t slot = 0
        out = np.zeros((made, 2), np.int32)
        pairs = np.empty((max(1, made), 2), np.int64)
        cdef int64_t[:, ::1] found = pairs
        wv_pairs_select(&self.chains.table, &slot, 0, <wv_pair *>&found[0, 0], made)
        places = pairs[:made, 1] - self.words
        out[places, 0], out[places, 1] = (pairs[:made, 0] >> 32) - 1, (pairs[:made, 0] & 0xFFFFFFFF) - 1
        return out


@cython.final
cdef class PairCounts:
    """Exact counts of neighboring pairs in at most `limit` bytes (64 kB at least), perhaps in several walks:

        while True:
            for block in stream: counts.add(block)
            for first, second, count in counts.selected(least): ...
            if not counts.next_part(): break

    `bounds` (n, 2) float32: pairs are counted only where max of the two [:, 0] < min of the two [:, 1]. With `bits` only
    those of part `part` of 2^bits: a table for each counts all, each in its own walk.
    The second word of a pair with connectors between is the id of a chain."""

    cdef wv_pair_table table
    cdef const float[:, ::1] bounds
    cdef Chains chains
    cdef wv_pair_place place

    def __cinit__(self, const float[:, ::1] bounds, uint64_t limit, Chains chains=None, *, int part=0, int bits=0):
        if wv_pairs_init(&self.table, limit):
            raise MemoryError
        if not (0 <= bits < 31 and 0 <= part < 1 << bits):
            raise ValueError("no such part")
        wv_pairs_begin_part(&self.table, part, bits)
        self.bounds = bounds
        self.chains = Chains(bounds.shape[0]) if chains is None else chains
        self.place = wv_pair_place(last=-1, chain=-1, connectors=0)

    def __dealloc__(self):
        wv_pairs_free(&self.table)

    def add(self, const int32_t[::1] ids) -> None:
        """Counts a piece of the stream; pieces of one walk follow each other."""
        cdef int failure = 0
        if ids.shape[0]:
            with nogil:
                failure = wv_pairs_count(&self.table, <const wv_pair_bound *>&self.bounds[0, 0], &self.chains.chains,
                                         &ids[0], ids.shape[0], &self.place)
        if failure:
            raise MemoryError

    def next_part(self) -> bool:
        """Forgets the counts; True when the stream must be walked again for pairs not counted yet."""
        self.place = wv_pair_place(last=-1, chain=-1, connectors=0)
        return bool(wv_pairs_next_part(&self.table))

    def selected(self, int64_t least) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """Yields (first words, second words, counts), int64 arrays, of the pairs seen `least` times or more."""
        cdef uint64_t slot = 0
        cdef int64_t found, block = 1 << 16
        cdef int64_t[:, ::1] pairs
        while slot < self.table.capacity:
            array = np.empty((block, 2), np.int64)
            pairs = array
            with nogil:
                found = wv_pairs_select(&self.table, &slot, least, <wv_pair *>&pairs[0, 0], block)
            array = array[:found]
            yield (array[:, 0] >> 32) - 1, (array[:, 0] & 0xFFFFFFFF) - 1, array[:, 1]


@cython.final
cdef class Joiner:
    """Replaces pairs by the id that stands for them, from the left, a stream given in pieces."""

    cdef wv_pair_table table
    cdef const unsigned char[::1] begins
    cdef int64_t[::1] counts
    cdef Chains chains
    cdef wv_pair_walk walk

    def __cinit__(self, const int64_t[::1] first, const int64_t[::1] second, const int32_t[::1] phrase,
                  int64_t[::1] counts, Chains chains=None):
        """Pair (first[i], second[i]) becomes phrase[i]; `counts` of all ids are kept up to date."""
        cdef int64_t i
        if wv_pairs_init(&self.table, 0):
            raise MemoryError
        marks = np.zeros(counts.shape[0], np.uint8)
        marks[first] = 1
        self.begins = marks
        self.counts = counts
        self.chains = Chains(counts.shape[0]) if chains is None else chains
        self.walk.begins, self.walk.counts, self.walk.joined = &self.begins[0], &counts[0], 0
        self.walk.pending, self.walk.chain, self.walk.connectors = WV_NO_WORD, -1, 0
        self.walk.chains = &self.chains.chains
        for i in range(first.shape[0]):
            if wv_pairs_set(&self.table, <uint64_t>(first[i] + 1) << 32 | <uint64_t>(second[i] + 1), phrase[i]):
                raise MemoryError

    def __dealloc__(self):
        wv_pairs_free(&self.table)

    def join(self, const int32_t[::1] ids, int32_t[::1] out) -> int:
        """Writes the joined ids to out and returns how many. `out` holds 1 + MOST_CONNECTORS more than `ids`
        (what ends the piece before), or begins at or before `ids` in the same memory with no more than its own output between."""
        cdef int64_t written = 0
        if ids.shape[0]:
            with nogil:
                written = wv_pairs_join(&self.table, &self.walk, &ids[0], ids.shape[0], &out[0])
        return written

    @property
    def joined(self) -> int:
        """Pairs replaced so far."""
        return self.walk.joined


@cython.final
cdef class Renderer:
    """Text of an id stream given in pieces: words separated by one space, lines by a newline."""

    cdef const unsigned char[::1] blob
    cdef const int64_t[::1] starts
    cdef int at_start

    def __cinit__(self, const unsigned char[::1] blob, const int64_t[::1] starts):
        self.blob = blob
        self.starts = starts
        self.at_start = 1

    def text(self, const int32_t[::1] ids, at_start: bool | None = None) -> bytearray:
        """Of the next piece; with `at_start`, which says whether it begins a line, of any piece, in any thread."""
        cdef uint64_t size
        cdef int start = self.at_start if at_start is None else at_start
        cdef unsigned char[::1] out
        if ids.shape[0] == 0:
            return bytearray()
        with nogil:
            size = wv_render(&ids[0], ids.shape[0], &self.blob[0], &self.starts[0], NULL, &start)
        rendered = bytearray(size)
        out = rendered
        if size:
            with nogil:
                wv_render(&ids[0], ids.shape[0], &self.blob[0], &self.starts[0], &out[0], &start)
        if at_start is None:
            self.at_start = start
        return rendered
