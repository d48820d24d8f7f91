"""Near-duplicates that are verified: a text goes only if it has enough 5-word shingles of a text that stayed.

Candidates share the key of a band (csrc/core/shingles.h). What decides is the Jaccard similarity of the two sets of
shingles: nothing below the threshold is removed, and of the pairs at it 97.5 % are compared. Words are those of
wv_cli.filtering.near_duplicates, which has datatrove's rule, without the comparison.

Keys are in memory, 150 to 200 bytes a text. The shingles of the texts that stayed lie in a file, four bytes each.
"""

import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wv_cli._knowntexts import MOST_BINS, KnownTexts, Shingler
from wv_cli.errors import BadFile, WvError, cannot_read, reason
from wv_cli.filtering.cutting import open_cutter, require_recipe
from wv_cli.filtering.duplicates import Answer, Like, SavedKeys
from wv_cli.filtering.near_duplicates import KIND as NEAR_DUPLICATES
from wv_cli.filtering.near_duplicates import SHINGLE, Keys, character_page, simplify_bytes
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.io.output import open_output
from wv_cli.text.records.text_spans import TextSpans

KIND = "known-texts"
_WITHOUT_TEXTS = container.magic(NEAR_DUPLICATES)
_COMPARED = 0.975  # of the pairs at the threshold
_MOST_BANDS, _LEAST_ROWS, _MOST_ROWS = 14, 3, 32
_PIECE = 1 << 21  # numbers of 64 bits
_ALIGNED = 8


class Stored(NamedTuple):
    """Where sets of shingles lie already, the descriptor of a file and the byte of the first one; and for each text a
    bit for each band (n, bands / 8), set where another text of the corpus has its key, too."""

    file: int
    offset: int
    shared: NDArray[np.uint8]


class Sets(NamedTuple):
    """Of some texts: their keys (n, bands), where the shingles of each begin (n + 1,), and the shingles."""

    keys: Keys
    starts: NDArray[np.int64]
    shingles: NDArray[np.uint32]
    stored: Stored | None = None


@dataclass(frozen=True)
class Bands:
    """How many keys a text has, and from how many numbers each is made."""

    bands: int
    rows: int

    @classmethod
    def for_threshold(cls, threshold: float) -> Self:
        """Of up to 14 bands those with the most rows, 3 at least: the more rows, the fewer texts are compared."""
        chosen = _LEAST_ROWS
        while chosen < _MOST_ROWS and _bands_for(threshold, chosen + 1) <= _MOST_BANDS:
            chosen += 1
        return cls(min(_bands_for(threshold, chosen), MOST_BINS // chosen), chosen)


def _bands_for(threshold: float, rows: int) -> int:
    """The bands of which one at least is shared with the wanted probability."""
    return math.ceil(math.log(1 - _COMPARED) / math.log1p(-(threshold**rows)))


class VerifiedDuplicates:
    """Texts are compared with those that stayed before, of the files `shards` and of the indexes `against`. With
    `keep_numbers` not all numbers are one; `tokenize` are the settings that cut words."""

    name = "near-duplicates"
    has_evidence = True

    def __init__(
        self,
        threshold: float,
        shards: Sequence[str] = (),
        against: Sequence[str] = (),
        *,
        keep_numbers: bool = False,
        tokenize: str | None = None,
    ) -> None:
        self.threshold, self.keep_numbers, self.tokenize = threshold, keep_numbers, tokenize
        self._cut = open_cutter(tokenize)
        self.bands = Bands.for_threshold(threshold)
        page = partial(character_page, keep_numbers=keep_numbers, separate=self._cut is None)
        words = partial(simplify_bytes, keep_numbers=keep_numbers, separate=self._cut is None)
        self._shingler = Shingler(page, words, SHINGLE)
        self._known = KnownTexts(self.bands.bands, threshold)
        self._file: SavedKeys | BinaryIO | None = None
        self._temporary: BinaryIO | None = None
        self._own, self._shards = len(shards), [*shards]
        self._indexes = [_Index(path, self) for path in against]
        for index in self._indexes:
            for part in index.parts:
                with _damage_told(index.path):
                    first, count = len(self._shards), len(part.shards)
                    self._insert(part.pieces(), index.file.fileno(), part.offset, first, count)
                self._shards += part.shards

    @property
    def memory(self) -> int:
        """Bytes that keys and places take."""
        return self._known.memory

    def keys(self, texts: Sequence[bytes]) -> Sets:
        """Any number of threads may ask."""
        bands, rows = self.bands.bands, self.bands.rows
        if isinstance(texts, TextSpans) and self._cut is None:
            return Sets(*self._shingler.sets_of_spans(texts.blob, texts.begins, texts.ends, bands, rows))
        cut = self._cut([*texts]) if self._cut is not None else [*texts]
        return Sets(*self._shingler.sets(cut, bands, rows))

    def first_seen(self, keys: Sets, asked: NDArray[np.int64], shard: int, records: NDArray[np.int64]) -> Answer:
        """See Deduplicator. Raises WvError where the file of shingles cannot be read."""
        numbers, bits = records.astype(np.uint32), None
        if keys.stored is not None:
            descriptor, at, bits = keys.stored
        else:
            file = self._opened_file()
            descriptor, at = file.fileno(), file.tell()
        try:
            like, similarity, packed = self._known.first_seen(*keys[:3], asked, shard, numbers, descriptor, at, bits)
            if self._temporary is not None:
                self._temporary.write(packed)
        except OSError as error:
            message = f"cannot keep the shingles of texts that stayed in a file: {reason(error)}"
            raise WvError(message) from error
        gone = like >= 0
        places = map(self._known.place, like[gone].tolist())
        found = zip(places, similarity[gone].tolist(), strict=True)
        return Answer(~gone, packed, [Like(self._shards[file], record, score) for (file, record), score in found])

    def restore(self, saved: SavedKeys) -> None:
        """See Deduplicator. The shingles are read from this file, which grows by what answers keep. Raises BadFile."""
        self._file = saved
        with _damage_told(str(saved.part)):
            self._insert(saved.read_saved(), saved.fileno(), 0, 0, self._own)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an index of all known texts. Raises WvError."""
        file = self._opened_file()
        size = file.tell()
        texts = np.frombuffer(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b"", "<i8")
        own = _Part(texts, self._shards[: self._own])
        arrays: dict[str, NDArray[np.generic]] = {}
        for number, part in enumerate([own, *(part for index in self._indexes for part in index.parts)], 1):
            names = "\n".join(part.shards).encode("utf-8", "surrogateescape")
            names += b"\n" * (-len(names) % _ALIGNED)  # so that texts behind it are read where they lie
            arrays |= {f"texts-{number}": part.texts, f"shards-{number}": np.frombuffer(names, np.uint8)}
        header: dict[str, Any] = {"shingle": SHINGLE, "bands": self.bands.bands, "rows": self.bands.rows}
        header |= {"parts": len(arrays) // 2, "keep_numbers": self.keep_numbers}
        if self.tokenize is not None:
            header["tokenize"] = self.tokenize
        with open_output(path) as stream:
            container.write(stream, KIND, header, arrays, aligned=True)

    def _opened_file(self) -> SavedKeys | BinaryIO:
        """The file of the shingles, with all that was written. A run without outputs has one without a name."""
        if self._file is None:
            self._temporary = tempfile.TemporaryFile(prefix="wv-")  # noqa: SIM115
            self._file = self._temporary
            weakref.finalize(self, self._temporary.close)
        self._file.flush()
        return self._file

    def _insert(self, pieces: Iterable[bytes], file: int, offset: int, first: int, shards: int) -> None:
        left = b""
        for piece in pieces:
            data = left + piece
            numbers = np.frombuffer(data, np.uint64, len(data) // 8)
            read = 8 * self._known.insert(numbers, file, offset, first, shards)
            left, offset = data[read:], offset + read
        if left:
            raise ValueError("a text is cut short")


@contextmanager
def _damage_told(path: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise BadFile(path, f"expected texts that stayed, found damage ({error}); make it again") from error


@dataclass(frozen=True, eq=False)
class _Part:
    """Packed texts of an index, from a byte of its file on, and the files that they come from."""

    texts: NDArray[np.int64]
    shards: list[str]
    offset: int = 0

    def pieces(self) -> Iterator[bytes]:
        for at in range(0, len(self.texts), _PIECE):
            yield self.texts[at : at + _PIECE].tobytes()


class _Index:
    """An index of texts for rules with the same bands, which stays open. Raises BadFile, WvError."""

    def __init__(self, path: str, rules: VerifiedDuplicates) -> None:
        self.path, refuse = path, partial(BadFile, path)
        with open_input(path) as source:
            if source.peek(len(_WITHOUT_TEXTS)) == _WITHOUT_TEXTS:
                raise refuse("has keys only, so nothing can be verified; make it again, or give --no-verify")
            reader = container.Reader(source, KIND, "make the index again with wv filter")
            facts = {name: reader.fact(name, int, 1, MOST_BINS) for name in ("shingle", "bands", "rows", "parts")}
            keep_numbers = reader.fact("keep_numbers", bool)
            tokenize = reader.fact("tokenize", str) if "tokenize" in reader.header else None
            if facts["shingle"] != SHINGLE:
                reader.refuse(f"expected shingles of {SHINGLE} words")
            if (bands := Bands(facts["bands"], facts["rows"])) != rules.bands:
                such = next(
                    (f", such as {n / 100}" for n in range(1, 100) if Bands.for_threshold(n / 100) == bands), ""
                )
                step = f"give the threshold of --near-duplicates that it was made with{such}"
                raise refuse(f"is an index with {bands.bands} keys of {bands.rows} numbers; {step}")
            if keep_numbers != rules.keep_numbers:
                its, step = ("with", "give it") if keep_numbers else ("without", "leave it out")
                raise refuse(f"is an index made {its} --keep-numbers; {step}")
            require_recipe(path, tokenize, rules.tokenize)
            if len(reader.layout) != 2 * facts["parts"]:
                reader.refuse(f"expected {2 * facts['parts']} arrays, found {len(reader.layout)}")
            numbers = range(1, facts["parts"] + 1)
            layout = {f"texts-{i}": ("<i8", (f"numbers {i}",)) for i in numbers}
            layout |= {f"shards-{i}": ("|u1", (f"letters {i}",)) for i in numbers}
            reader.expect({name: layout[name] for i in numbers for name in (f"texts-{i}", f"shards-{i}")}, "the texts")
            views = reader.views(checked=True)
            self.parts = []
            for i in numbers:
                names = views[f"shards-{i}"].tobytes().decode("utf-8", "surrogateescape").rstrip("\n").split("\n")
                self.parts.append(_Part(views[f"texts-{i}"], names, reader.offset(f"texts-{i}")))
        try:
            self.file = Path(path).open("rb")  # noqa: SIM115, open as long as the rules are asked
        except OSError as error:
            raise cannot_read(path, error) from error
        weakref.finalize(self, self.file.close)
        if self.file.read(len(container.magic(KIND))) != container.magic(KIND):
            raise refuse("is compressed, and texts are read at their places; decompress it")
