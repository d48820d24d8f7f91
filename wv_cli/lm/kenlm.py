"""KenLM's binary files, as its build_binary writes them: read where they lie, never written.

A header names the type, the order and the number of n-grams, from which the places of all tables follow
(csrc/core/kenlm.h says what they hold). The six types:

    0 probing   1 rest-probing   2 trie   3 quantized trie   4 trie with array-compressed pointers   5 both

Words are found by their hash. Their spellings stand at the end of the file, and may be missing (build_binary -v).
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from wv_cli import _kenlm
from wv_cli.errors import BadFile, UsageError, show_bytes
from wv_cli.io.input import Input
from wv_cli.lm.config import LARGEST_ORDER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.lm.model import NgramModel
    from wv_cli.words import WordList

_BEGINS = b"mmap lm http://kheafield.com/code "
_VERSION = b"format version 5\n\0"
_TITLE_BYTES = 56
# float32 0, 1 and -0.5, uint32 1, -1 and 0, uint64 1: how the machine that wrote the file keeps numbers.
_NUMBERS = struct.pack("<3f3IQ", 0.0, 1.0, -0.5, 1, 0xFFFFFFFF, 0, 1)
_FIXED = struct.Struct("<B3xfIB3xI")
_COUNTS_AT = 108
_TYPES = ("probing", "rest-probing", "trie", "quantized trie", "array trie", "quantized array trie")
_FIRST_TRIE = 2
_QUANTIZED = (3, 5)
_ARRAYS = (4, 5)
_ABSENT = -1
_ADVICE = "make it again with KenLM's build_binary"


@dataclass(frozen=True, eq=False)
class KenlmModel:
    """A model of n-grams in KenLM's binary file, whose `contents` are mapped where that can be. `strings` is where the
    spellings of the words begin, None where the file has none."""

    scorer: _kenlm.Model
    contents: memoryview
    type: str
    order: int
    size: int
    strings: int | None

    @property
    def name(self) -> str:
        return self.scorer.name

    def find(self, words: "WordList") -> "NDArray[np.int32]":
        """The ids of words, UNKNOWN for those that are not listed. Raises BadFile."""
        import numpy as np

        return np.asarray(self.scorer.find(words.blob, words.starts), np.int32)

    @cached_property
    def words(self) -> "WordList":
        """Raises UsageError for a file without spellings, BadFile for one that is damaged."""
        import numpy as np

        from wv_cli.words import WordList

        if self.strings is None:
            message = (
                f"{self.name}: a KenLM file without the spellings of its words (build_binary -v), which are needed "
                "here; give one with them, or the ARPA file"
            )
            raise UsageError(message)
        letters = np.frombuffer(self.contents[self.strings :], np.uint8)
        ends = np.flatnonzero(letters == 0)
        if len(ends) != self.size or ends[-1] != len(letters) - 1 or (np.diff(ends, prepend=-1) < 2).any():
            _refuse(self.name, f"expected {self.size:,} words, each with a NUL behind it", self.strings)
        words = WordList(letters[letters != 0].tobytes(), np.append(0, ends + 1 - np.arange(1, len(ends) + 1)))
        ids = self.find(words)
        if (np.bincount(ids, minlength=self.size) != 1).any():
            _refuse(self.name, "the words do not fit the vocabulary's hashes", self.strings)
        return words.take(np.argsort(ids))

    def unpack(self) -> "NgramModel":
        """The model in memory, with the n-grams that KenLM has added for its own use. Raises UsageError for files of
        which the n-grams cannot be listed, BadFile for a damaged one."""
        import numpy as np

        from wv_cli.lm.levels import Levels

        if self.type not in _TYPES[_FIRST_TRIE:]:
            message = (
                f"{self.name}: a {self.type} file of KenLM, which keeps hashes of its n-grams and not their words: it "
                "cannot be converted; give the ARPA file, or a trie (build_binary trie)"
            )
            raise UsageError(message)
        words = self.words
        first, probs, backoffs, children = self.scorer.unpack(1)
        order = np.argsort(first)
        levels = Levels(_clip(probs)[order], _clip(backoffs)[order])
        rows = first[:, None]
        for length in range(2, self.order + 1):
            # What the children of a node are preceded by in the trie follows them here.
            following = rows[np.repeat(np.arange(len(rows)), np.diff(children))]
            first, probs, backoffs, children = self.scorer.unpack(length)
            rows = np.column_stack([first, following])
            backoffs = _clip(backoffs) if length < self.order else np.zeros(len(first), np.float32)
            _, parents, twice = levels.add(rows, _clip(probs), backoffs)
            if twice >= 0 or (parents < 0).any():
                _refuse(self.name, f"the {length}-grams do not fit the shorter ones")
        return levels.model(words, self.name)


def _clip(logarithms: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """KenLM writes -inf, too, where we write LOG_ZERO."""
    from wv_cli.lm.model import LOG_ZERO

    return logarithms.clip(LOG_ZERO, -LOG_ZERO)


def read(source: Input) -> KenlmModel:
    """The model in a file. Raises BadFile for another version, an incomplete file, and one that is damaged; where only
    asking shows that, it raises then."""
    contents, name = source.contents(), source.name
    header = _Header.read(contents, name)
    layout = _Layout(contents, header, name)
    if header.has_words and not (layout.end < len(contents) and contents[-1] == 0):
        _refuse(name, "expected the words behind the tables, found the end of the file", min(layout.end, len(contents)))
    if not header.has_words and layout.end != len(contents):
        _refuse(
            name, f"expected a file of {layout.end:,} bytes, found {len(contents):,}", min(layout.end, len(contents))
        )
    try:
        asked = _kenlm.Model(
            contents, header.is_hashed, layout.words, layout.vocabulary, layout.unigrams, layout.levels, name
        )
    except ValueError as error:
        _refuse(name, str(error), _COUNTS_AT)
    strings = layout.end if header.has_words else None
    return KenlmModel(asked, contents, _TYPES[header.type], header.order, layout.words, strings)


def _refuse(name: str, problem: str, byte: int | None = None) -> NoReturn:
    raise BadFile(name, f"{problem}: the KenLM file is cut short or damaged; {_ADVICE}", byte=byte)


@dataclass(frozen=True)
class _Header:
    type: int
    order: int
    multiplier: float
    has_words: bool
    counts: tuple[int, ...]

    @property
    def is_hashed(self) -> bool:
        return self.type < _FIRST_TRIE

    @classmethod
    def read(cls, contents: memoryview, name: str) -> "_Header":
        title = bytes(contents[len(_BEGINS) : _TITLE_BYTES])
        if title.startswith(b"incomplete"):
            problem = f"KenLM had not finished writing this file; {_ADVICE}"
            raise BadFile(name, problem, byte=len(_BEGINS))
        if not title.startswith(_VERSION):
            found = show_bytes(title.partition(b"\n")[0].rstrip(b"\0"), 30)
            problem = f"expected a KenLM file of format version 5, found {found}; {_ADVICE} of today"
            raise BadFile(name, problem, byte=len(_BEGINS))
        if len(contents) < _COUNTS_AT:
            _refuse(name, "expected a header of 108 bytes, found the end of the file", len(contents))
        if contents[_TITLE_BYTES : _TITLE_BYTES + len(_NUMBERS)] != _NUMBERS:
            problem = f"the file was written on a machine with other numbers; {_ADVICE} here"
            raise BadFile(name, problem, byte=_TITLE_BYTES)
        order, multiplier, type_of, has_words, version = _FIXED.unpack_from(contents, _COUNTS_AT - _FIXED.size)
        if not 2 <= order <= LARGEST_ORDER:
            _refuse(name, f"expected an order from 2 to {LARGEST_ORDER}, found {order}", 88)
        if not 1 <= multiplier < 2**32:
            _refuse(name, f"expected a multiplier of 1 or more, found {multiplier:g}", 92)
        if type_of >= len(_TYPES):
            _refuse(name, f"expected a type from 0 to {len(_TYPES) - 1}, found {type_of}", 96)
        if has_words > 1 or version != (type_of >= _FIRST_TRIE):
            _refuse(name, f"expected version {int(type_of >= _FIRST_TRIE)} of the tables, found {version}", 100)
        if len(contents) < _COUNTS_AT + 8 * order:
            _refuse(name, f"expected {order} numbers of n-grams, found the end of the file", len(contents))
        counts = struct.unpack_from(f"<{order}Q", contents, _COUNTS_AT)
        return cls(type_of, order, multiplier, bool(has_words), counts)


def _round(number: float) -> float:
    """The float32 next to a number."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.inf


class _Layout:
    """Where the tables lie, as the arguments of _kenlm.Model. `end` is the byte behind them."""

    def __init__(self, contents: memoryview, header: _Header, name: str) -> None:
        self._contents, self._header, self._name = contents, header, name
        self.end = (_COUNTS_AT + 8 * header.order + 7) // 8 * 8
        self._require(8)
        rows = list(self._read_hashed() if header.is_hashed else self._trie())
        self._require(0)
        numbers = [number for row in rows for number in row]
        self.levels = memoryview(struct.pack(f"{len(numbers)}q", *numbers)).cast("q", [len(rows), len(rows[0])])

    def _require(self, more: int) -> None:
        """Raises BadFile where the file ends before `more` bytes behind what was laid out."""
        if self.end + more > len(self._contents):
            promised = f"the header promises {self.end + more:,} bytes and more"
            _refuse(self._name, f"{promised}, found {len(self._contents):,}", len(self._contents))

    def _take(self, size: int) -> int:
        """Where the next `size` bytes begin."""
        begin = self.end
        self.end += size
        return begin

    def _buckets(self, entries: int) -> int:
        # As KenLM multiplies: in float32.
        product = _round(_round(self._header.multiplier) * _round(entries))
        return max(entries + 1, int(min(product, 2.0**62)))

    def _read_hashed(self) -> Iterator[list[int]]:
        counts, rest = self._header.counts, 4 * (self._header.type == 1)
        version, words = struct.unpack_from("<2I", self._contents, self.end)
        if version or not counts[0] <= words <= counts[0] + 1:
            _refuse(self._name, f"expected a vocabulary of {counts[0]:,} words, found {words:,}", self.end)
        self.words, size = words, self._buckets(counts[0])
        self._take(8)
        self.vocabulary = (self._take(12 * size), size)
        self.unigrams = (self._take((8 + rest) * (counts[0] + 1)), counts[0] + 1, 8 + rest)
        for length in range(2, self._header.order + 1):
            record = 16 + rest if length < self._header.order else 12
            size = self._buckets(counts[length - 1])
            yield [self._take(record * size), size, record, *[_ABSENT] * 12]

    def _trie(self) -> Iterator[list[int]]:
        counts, order = self._header.counts, self._header.order
        (hashes,) = struct.unpack_from("<Q", self._contents, self.end)
        if hashes != counts[0] - 1:
            _refuse(self._name, f"expected a vocabulary of {counts[0] - 1:,} words, found {hashes:,}", self.end)
        self.words = counts[0]
        self.vocabulary = (self._take(8 + 8 * counts[0]) + 8, hashes)
        tables, widths = self._quantizer()
        self.unigrams = (self._take(16 * (counts[0] + 2)), counts[0] + 1, 16)
        word = counts[0].bit_length()
        for length in range(2, order + 1):
            size, inner, (prob, backoff) = counts[length - 1], length < order, widths
            following, pointers = 0, [_ABSENT, 0]
            if inner:
                following = counts[length].bit_length()
                if self._header.type in _ARRAYS:
                    following, pointers = self._pointers(size, counts[length])
            backoff = backoff if inner else 0
            quantized = self._header.type in _QUANTIZED
            prob_at, backoff_at = (word + backoff, word) if quantized else (word, word + prob)
            record = word + prob + backoff + following
            start = self._take(((1 + size) * record + 7) // 8 + 8)
            columns = [0, word, prob_at, prob, backoff_at, backoff, word + prob + backoff, following]
            yield [start, size, record, *columns, *tables[length], *pointers]

    def _quantizer(self) -> tuple[dict[int, tuple[int, int]], tuple[int, int]]:
        """(the tables of log10 p and back-offs of each length, the widths of both numbers)."""
        order = self._header.order
        if self._header.type not in _QUANTIZED:
            return dict.fromkeys(range(2, order + 1), (_ABSENT, _ABSENT)), (31, 32)
        self._require(8)
        version, prob, backoff = self._contents[self.end : self.end + 3]
        if version != 2 or not 0 < prob <= 25 or backoff > 25:
            found = f"version {version}, {prob} and {backoff} bits"
            _refuse(self._name, f"expected quantized numbers of version 2 with up to 25 bits, found {found}", self.end)
        self._take(8)
        tables = {}
        for length in range(2, order + 1):
            probs = self._take(4 << prob)
            tables[length] = (probs, self._take(4 << backoff) if length < order else _ABSENT)
        return tables, (prob, backoff)

    def _pointers(self, size: int, below: int) -> tuple[int, list[int]]:
        """(bits of a pointer that stand in the record, [offset, size] of the array with the others)."""
        self._require(2)
        version, most = self._contents[self.end : self.end + 2]
        if version:
            _refuse(self._name, f"expected an array of pointers of version 0, found {version}", self.end)
        bits = below.bit_length()
        chop = min(range(min(bits, most) + 1), key=lambda c: (below >> (bits - c)) * 64 - (size + 1) * c)
        entries = (below >> (bits - chop)) + 1
        begin = self._take(8 * (1 + entries) + 7)
        return bits - chop, [(begin + 7) // 8 * 8 + 8, entries]
