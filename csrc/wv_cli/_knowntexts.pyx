# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Sets of shingles for Python (core/shingles.h), and which known text another one is like (core/knowntexts.h)."""

cimport cython
import numpy as np
import os

from libc.errno cimport errno
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from wv_cli._arguments cimport require, require_starts
from wv_cli._characters cimport add_page, new_characters
from wv_cli._texts cimport free_texts, point_to_list, point_to_spans, texts_at
from wv_cli.core.knowntexts cimport (
    WV_KNOWN_COMPARED, WV_KNOWN_NO_MEMORY, WV_KNOWN_NONE, WV_KNOWN_OF_KEY, wv_known, wv_known_add, wv_known_free,
    wv_known_init, wv_known_like, wv_known_put_at, wv_known_reserve, wv_known_text,
)
from wv_cli.core.shingles cimport (
    WV_SHINGLES_MOST_BINS, WV_SHINGLES_NO_MEMORY, wv_shingles, wv_shingles_free, wv_shingles_keys, wv_shingles_of,
)
from wv_cli.core.simplify cimport WV_SIMPLIFY_HARD, WV_SIMPLIFY_PAGE, wv_characters, wv_characters_free


COMPARED, OF_KEY, MOST_BINS = WV_KNOWN_COMPARED, WV_KNOWN_OF_KEY, WV_SHINGLES_MOST_BINS
cdef str TOO_FAR = "expected a descriptor below 65,536 and a file of less than 2^48 bytes"
cdef enum: FACTS = 2  # numbers of 64 bits between the keys of a text and its shingles


cdef struct gathered:
    void *values  # of 32 or 64 bits
    int64_t used, capacity


cdef int gather(gathered *found, const wv_shingles *shingles, int bands, int rows, uint64_t *keys) noexcept nogil:
    """Appends the distinct shingles of a text and makes its keys; without `bands` appends the hashes of all shingles. 0, or
    WV_SHINGLES_NO_MEMORY."""
    cdef int64_t count = shingles.count if bands else shingles.shingles
    cdef size_t each = sizeof(uint32_t) if bands else sizeof(uint64_t)
    cdef const void *values = <const void *>shingles.set if bands else <const void *>shingles.hash
    cdef int64_t capacity = (found.used + count) * 2
    cdef void *larger
    if found.used + count > found.capacity:
        larger = realloc(found.values, <size_t>capacity * each)
        if larger == NULL:
            return WV_SHINGLES_NO_MEMORY
        found.values, found.capacity = larger, capacity
    memcpy(<char *>found.values + <size_t>found.used * each, values, <size_t>count * each)
    found.used += count
    if bands:
        wv_shingles_keys(shingles, bands, rows, keys)
    return 0



@cython.final
cdef class Shingler:
    """Makes the shingles of texts; any number of threads may use one.

    `page(number)` is asked for the rows of the characters from PAGE * number on, when the first of them comes.
    `words(text)` is asked for the words of a text that has a hard character, or is no UTF-8."""

    cdef wv_characters *_characters
    cdef int _width
    cdef object _page
    cdef object _words

    def __cinit__(self, page: Callable[[int], bytes], words: Callable[[bytes], bytes], int width):
        require(width > 0, "expected a width of 1 or more")
        self._page, self._words, self._width = page, words, width
        self._characters = new_characters()

    def __dealloc__(self):
        wv_characters_free(self._characters)

    def sets(self, list texts: list[bytes], int bands, int rows) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint32]]:
        """(n, bands), (n + 1,), (shingles,) the keys of each text, where its shingles begin, and the distinct shingles of
        all texts. The GIL is not held."""
        cdef texts_at at
        memset(&at, 0, sizeof(at))
        try:
            point_to_list(&at, texts)
            return self._sets(&at, bands, rows)
        finally:
            free_texts(&at)

    def sets_of_spans(self, bytes blob, const int64_t[::1] begins, const int64_t[::1] ends, int bands,
                      int rows) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint32]]:
        """The same of the texts blob[begins[i]:ends[i]]."""
        cdef texts_at at
        memset(&at, 0, sizeof(at))
        try:
            point_to_spans(&at, blob, begins, ends)
            return self._sets(&at, bands, rows)
        finally:
            free_texts(&at)

    def hashes(self, list texts: list[bytes]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """(shingles,), (n + 1,) the hashes of all shingles of each text in their order, and where each text's begin. The
        GIL is not held."""
        cdef texts_at at
        cdef gathered found
        cdef uint64_t[::1] view
        starts = np.zeros(len(texts) + 1, np.int64)
        memset(&at, 0, sizeof(at))
        memset(&found, 0, sizeof(found))
        try:
            point_to_list(&at, texts)
            self._gather(&at, 0, 0, NULL, starts, &found)
            all = np.empty(found.used, np.uint64)
            view = all
            if found.used:
                memcpy(&view[0], found.values, <size_t>found.used * sizeof(uint64_t))
            return all, starts
        finally:
            free_texts(&at)
            free(found.values)

    cdef tuple _sets(self, const texts_at *at, int bands, int rows):
        require(bands > 0 and rows > 0 and bands * rows <= WV_SHINGLES_MOST_BINS, "expected bands and rows")
        keys, starts = np.empty((at.count, bands), np.uint64), np.zeros(at.count + 1, np.int64)
        cdef uint64_t[:, ::1] key = keys
        cdef uint32_t[::1] view
        cdef gathered found
        memset(&found, 0, sizeof(found))
        try:
            self._gather(at, bands, rows, &key[0, 0] if at.count else NULL, starts, &found)
            all = np.empty(found.used, np.uint32)
            view = all
            if found.used:
                memcpy(&view[0], found.values, <size_t>found.used * sizeof(uint32_t))
            return keys, starts, all
        finally:
            free(found.values)

    cdef int _gather(self, const texts_at *at, int bands, int rows, uint64_t *key, int64_t[::1] start,
                     gathered *found) except -1:
        """The distinct shingles of all texts and the keys of each; without `bands` the hashes of all shingles."""
        cdef int64_t i = 0, status = 0
        cdef wv_shingles shingles
        cdef bytes words
        memset(&shingles, 0, sizeof(shingles))
        try:
            while i < at.count:
                with nogil:
                    while i < at.count:
                        status = wv_shingles_of(&shingles, self._width, self._characters, at.text[i], at.length[i], NULL, 0)
                        if status == 0:
                            status = gather(found, &shingles, bands, rows, key + i * bands)
                        if status:
                            break
                        i += 1
                        start[i] = found.used
                if status <= WV_SIMPLIFY_PAGE:
                    add_page(self._characters, self._page, status)
                elif status == WV_SIMPLIFY_HARD:
                    words = self._words((<const char *>at.text[i])[:at.length[i]])
                    status = wv_shingles_of(&shingles, self._width, NULL, at.text[i], at.length[i], words, len(words))
                    if status == 0:
                        status = gather(found, &shingles, bands, rows, key + i * bands)
                    i += 1
                    start[i] = found.used
                if status == WV_SHINGLES_NO_MEMORY:
                    raise MemoryError
            return 0
        finally:
            wv_shingles_free(&shingles)


@cython.final
cdef class KnownTexts:
    """Texts that stayed, each with its keys (bands,), its place and a set of shingles that lies in a file. One thread at a
    time uses it.

    A text is packed as its keys, 64 bits each, two numbers of its place, the number of its shingles and 0, 32 bits each,
    and its shingles; an even number of these."""

    cdef wv_known _known

    def __cinit__(self, int bands, double threshold):
        require(0 < bands <= WV_SHINGLES_MOST_BINS and 0 < threshold <= 1, "expected bands and a threshold")
        if wv_known_init(&self._known, bands, threshold):
            raise MemoryError

    def __dealloc__(self):
        wv_known_free(&self._known)

    def __len__(self) -> int:
        return self._known.texts

    @property
    def memory(self) -> int:
        """Bytes that the keys and places take."""
        cdef int band
        cdef uint64_t slots = 0
        for band in range(self._known.bands):
            slots += self._known.keys[band].capacity
        return slots * sizeof(uint64_t) + <uint64_t>self._known.capacity * sizeof(wv_known_text)

    def place(self, int64_t number) -> tuple[int, int]:
        """The two numbers of a text's place."""
        require(0 <= number < self._known.texts, "expected the number of a text")
        return self._known.text[number].place[0], self._known.text[number].place[1]

    cdef int _reserve(self, int64_t more) except -1:
        if self._known.texts + more >= 0xFFFFFFFF:
            raise OverflowError("more than 4,294,967,294 texts")
        if wv_known_reserve(&self._known, more):
            raise MemoryError
        return 0

    def insert(self, const uint64_t[::1] packed, int file, uint64_t offset, uint32_t first, uint32_t shards) -> int:
        """Makes packed texts known, which lie in a file of this descriptor from a byte on; the first number of their
        place, which is one of `shards`, is moved on by `first`. The numbers of 64 bits that were read: whole texts only.
        Raises ValueError for what is no packed text."""
        cdef int64_t size = packed.shape[0], at = 0, bands = self._known.bands, whole
        cdef const uint32_t *facts
        cdef wv_known_text text
        while at + bands + FACTS <= size:
            facts = <const uint32_t *>&packed[at + bands]
            require(facts[0] < shards and facts[2] > 0 and facts[3] == 0, "expected a text with a place and shingles")
            whole = bands + FACTS + (facts[2] + 1) // 2
            if at + whole > size:
                break
            require(wv_known_put_at(&text, file, offset + <uint64_t>(8 * (at + bands + FACTS))) == 0, TOO_FAR)
            text.count, text.place[0], text.place[1] = facts[2], facts[0] + first, facts[1]
            self._reserve(1)
            wv_known_add(&self._known, &packed[at], NULL, &text)
            at += whole
        return at

    def first_seen(self, const uint64_t[:, ::1] keys, const int64_t[::1] starts, const uint32_t[::1] shingles,
                   const int64_t[::1] asked, uint32_t shard, const uint32_t[::1] records, int file, uint64_t offset,
                   const unsigned char[:, ::1] shared: NDArray[np.uint8] | None=None) -> tuple[NDArray[np.int64], NDArray[np.float64], bytes]:
        """(m,), (m,), packed of the texts that are `asked` about, (m,) ascending numbers of rows: the number of the known
        text that each is like, or -1, how similar the two are, and those that are like none. These are known from now
        on, with the place (shard, record), and lie in the file of this descriptor from the byte `offset` on, where the
        caller writes them before it asks again. Raises OSError.

        With (n, bands / 8) `shared`, bits of the bands whose key other texts have, too, all `shingles` lie in the file
        from the byte `offset` on already, and nothing is packed. A text that shares no key is not kept."""
        cdef int64_t n = keys.shape[0], m = asked.shape[0], i, row, number = 0, first, count
        cdef int64_t bands = self._known.bands, used = 0, beside = self._known.texts, capacity = 0, whole, octet
        cdef const unsigned char *bits = NULL
        cdef int any_bit
        cdef double similarity
        cdef wv_known_text text
        cdef uint32_t *facts
        require(keys.shape[1] == bands and records.shape[0] == m, "the keys have other bands")
        require(shared is None or (shared.shape[0] == n and shared.shape[1] == (bands + 7) // 8), "expected a bit a band")
        require_starts(starts, n, shingles.shape[0], "shingles")
        like, similarities = np.full(m, WV_KNOWN_NONE, np.int64), np.zeros(m)
        cdef int64_t[::1] likes = like
        cdef double[::1] found = similarities
        for i in range(m):
            require(0 <= asked[i] < n and starts[asked[i]] < starts[asked[i] + 1], "expected numbers of texts")
            if shared is None:
                capacity += bands + FACTS + (starts[asked[i] + 1] - starts[asked[i]] + 1) // 2
        require(wv_known_put_at(&text, file, offset + <uint64_t>(8 * capacity + 4 * shingles.shape[0])) == 0, TOO_FAR)
        self._reserve(m)
        packed = np.zeros(capacity, np.uint64)
        cdef uint64_t[::1] out = packed
        cdef const uint32_t **memory = <const uint32_t **>malloc(<size_t>(m + 1) * sizeof(void *))
        if memory == NULL:
            raise MemoryError
        try:
            with nogil:
                for i in range(m):
                    row = asked[i]
                    first, count = starts[row], starts[row + 1] - starts[row]
                    if shared is not None:
                        bits, any_bit = &shared[row, 0], 0
                        for octet in range(shared.shape[1]):
                            any_bit |= bits[octet]
                        if not any_bit:
                            continue
                    number = wv_known_like(&self._known, &keys[row, 0], bits, &shingles[first], count, beside, memory,
                                           &similarity)
                    if number >= 0:
                        likes[i], found[i] = number, similarity
                        continue
                    if number != WV_KNOWN_NONE:
                        break
                    memory[self._known.texts - beside] = &shingles[first]
                    text.count = <uint32_t>count
                    text.place[0], text.place[1] = shard, records[i]
                    if bits != NULL:
                        wv_known_put_at(&text, file, offset + <uint64_t>(4 * first))
                        wv_known_add(&self._known, &keys[row, 0], bits, &text)
                        continue
                    whole = bands + FACTS + (count + 1) // 2
                    memcpy(&out[used], &keys[row, 0], <size_t>bands * sizeof(uint64_t))
                    facts = <uint32_t *>&out[used + bands]
                    facts[0], facts[1], facts[2] = shard, records[i], <uint32_t>count
                    memcpy(facts + 2 * FACTS, &shingles[first], <size_t>count * sizeof(uint32_t))
                    wv_known_put_at(&text, file, offset + <uint64_t>(8 * (used + bands + FACTS)))
                    wv_known_add(&self._known, &keys[row, 0], NULL, &text)
                    used += whole
        finally:
            free(memory)
        if number == WV_KNOWN_NO_MEMORY:
            raise MemoryError
        if number < WV_KNOWN_NONE:
            raise OSError(errno, os.strerror(errno) if errno else "the file ends too early")
        return like, similarities, packed[:used].tobytes()
