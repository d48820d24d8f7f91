"""Duplicates as rules: the first of several stays. What decides is the order of the records, so one thread asks.

Paragraphs are the lines of a document, known again by their digests (text/digests.py). They are compared as CCNet does:
without white space at their ends, in small letters, each digit as 0, without some punctuation and all controls. CCNet
takes two passes and leaves out every paragraph that comes twice. Here the first one stays.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.filtering.cutting import require_recipe
from wv_cli.filtering.near_duplicates import Banding, Keys, NearDuplicates
from wv_cli.text.digests import Digests, DigestSet, digests, read_digests

_PUNCTUATION = "，。、„”“«»１」「《》´∶：？！（）；–—．～’…━〈〉【】％►"
_CONTROLS = "".join(map(chr, [*range(0x00, 0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0)]))  # but for the line feed
_REMOVED = re.compile(f"[{re.escape(_PUNCTUATION + _CONTROLS)}]+")
_DIGIT = re.compile(r"\d")
_ASCII_CONTROLS = "".join(c for c in _CONTROLS if c.isascii()).encode()
_ASCII_SPACE = b" \t\n\r\v\f\x1c\x1d\x1e\x1f"
_ASCII_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def paragraph_digests(texts: list[bytes]) -> tuple[Digests, NDArray[np.int64]]:
    """(paragraphs,), (n + 1,) the digests of the paragraphs of all documents, and where each document's begin."""
    paragraphs = [normalize_paragraphs(text) for text in texts]
    whole = (hashlib.sha1(each, usedforsecurity=False) for lines in paragraphs for each in lines)
    octets = b"".join(each.digest()[:8] for each in whole)
    return read_digests(octets), np.cumsum([0, *map(len, paragraphs)], dtype=np.int64)


def normalize_paragraphs(text: bytes) -> list[bytes]:
    """The lines of a document as CCNet's `normalize_for_dedup` compares them. Bytes that are no UTF-8 become U+FFFD."""
    if text.isascii():
        lines = b"\n".join(line.strip(_ASCII_SPACE) for line in text.split(b"\n"))
        return lines.lower().translate(_ASCII_DIGITS, _ASCII_CONTROLS).split(b"\n")
    stripped = "\n".join(line.strip() for line in text.decode("utf-8", "replace").split("\n"))
    return _REMOVED.sub("", _DIGIT.sub("0", stripped.lower())).encode("utf-8").split(b"\n")


def left_over(texts: list[bytes], starts: NDArray[np.int64], stays: NDArray[np.bool_]) -> list[bytes]:
    """The documents with only the paragraphs that stay: `starts` is from
    paragraph_digests(), `stays` from DigestSet.first(). A document that
    lost nothing is the same object. One that lost everything is empty."""
    kept = []
    for text, (begin, end) in zip(texts, pairwise(starts.tolist()), strict=True):
        lines = stays[begin:end]
        kept.append(text if lines.all() else b"\n".join(compress(text.split(b"\n"), lines.tolist())))
    return kept


class Like(NamedTuple):
    """A text that stayed, its file and its number there, and how similar another one is to it."""

    file: str
    record: int
    similarity: float


class Answer(NamedTuple):
    """What a rule says of (m,) texts: whether each is no duplicate of an earlier one that stayed, what of those that
    stay is kept for restore(), and what the others are like, where the rule knows it."""

    first: NDArray[np.bool_]
    kept: bytes
    like: Sequence[Like] = ()


class SavedKeys(Protocol):
    """A part file of a run (wv_cli.filtering.part_files), to which goes what answers keep."""

    part: Path

    def read_saved(self) -> Iterator[bytes]: ...
    def fileno(self) -> int: ...
    def tell(self) -> int: ...
    def flush(self) -> None: ...


class Deduplicator(Protocol):
    """Keys are made by any number of threads; the rest is for one, in the order of the records."""

    @property
    def name(self) -> str: ...

    @property
    def has_evidence(self) -> bool:
        """Whether answers say what texts are like that do not stay."""
        ...

    def keys(self, texts: Sequence[bytes]) -> Any:
        """Of all texts."""
        ...

    def first_seen(self, keys: Any, asked: NDArray[np.int64], shard: int, records: NDArray[np.int64]) -> Answer:
        """About the texts of these numbers, which are `records` of the file `shard`, each by its number; those that
        stay are known from now on."""
        ...

    def restore(self, saved: SavedKeys) -> None:
        """Makes known what stayed before."""
        ...


FIRST = "no earlier record is like it"  # what rules of duplicates keep


def ranges_of(rules: "Iterable[Any]") -> dict[str, tuple[str, str]]:
    """(statistic, range) of each rule, by its name."""
    return {rule.name: (rule.name, FIRST) for rule in rules}


def pack_keys(keys: Keys) -> bytes:
    return keys.astype("<u8").tobytes()


def read_keys(saved: SavedKeys, width: int = 1) -> Keys:
    """(n, width) what pack_keys() made. Raises BadFile."""
    return np.frombuffer(b"".join(saved.read_saved()), "<u8").astype(np.uint64).reshape(-1, width)


class ExactDuplicates:
    """Documents that are equal byte for byte."""

    name = "exact-duplicates"
    has_evidence = False

    def __init__(self) -> None:
        self._seen = DigestSet()

    def keys(self, texts: Sequence[bytes]) -> Keys:
        return digests(texts)

    def first_seen(self, keys: Keys, asked: NDArray[np.int64], shard: int, records: NDArray[np.int64]) -> Answer:
        first = self._seen.first_seen(keys[asked])
        return Answer(first, pack_keys(keys[asked][first]))

    def restore(self, saved: SavedKeys) -> None:
        self._seen.first_seen(read_keys(saved)[:, 0])


class NearDuplicateRule:
    """Documents that share a key, which most of those with the same 5-word shingles do; `against` are indexes of those
    of older corpora. With `keep_numbers` not all numbers are one; `tokenize` are the settings that cut words."""

    name = "near-duplicates"
    has_evidence = False

    def __init__(
        self, threshold: float, against: Sequence[str] = (), *, keep_numbers: bool = False, tokenize: str | None = None
    ) -> None:
        banding = Banding.nearest(threshold)
        self._known = NearDuplicates(banding, keep_numbers=keep_numbers, tokenize=tokenize)
        for path in against:
            index = NearDuplicates.load(path)
            if index.banding != banding:
                found = f"{index.banding.threshold:.3g}"
                raise BadFile(path, f"expected an index for --near-duplicates {threshold:g}, found one for {found}")
            if index.keep_numbers != keep_numbers:
                its, step = ("with", "give it") if index.keep_numbers else ("without", "leave it out")
                raise BadFile(path, f"is an index made {its} --keep-numbers; {step}")
            require_recipe(path, index.tokenize, tokenize)
            self._known.add(index)
        self.keys: Callable[[Sequence[bytes]], Keys] = self._known.keys
        self.save = self._known.save

    def first_seen(self, keys: Keys, asked: NDArray[np.int64], shard: int, records: NDArray[np.int64]) -> Answer:
        first = self._known.first_seen(keys[asked])
        return Answer(first, pack_keys(keys[asked][first]))

    def restore(self, saved: SavedKeys) -> None:
        self._known.insert(read_keys(saved, self._known.banding.bands))


class ParagraphRule:
    """Paragraphs that came before go; a document goes when all of its paragraphs do. Blank lines are no paragraphs."""

    name = "exact-duplicates"

    def __init__(self) -> None:
        self._seen = DigestSet()
        self.keys = paragraph_digests
        self._blank = self.keys([b""])[0]

    def stays(
        self, keys: Keys, starts: NDArray[np.int64], asked: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Keys]:
        """(paragraphs,) which stay, (n,) which of the documents that are `asked` do, and the keys that are new."""
        document = np.repeat(np.arange(len(asked)), np.diff(starts))
        blank = keys == self._blank
        counts = asked[document] & ~blank
        first = np.zeros(len(keys), np.bool_)
        first[counts] = self._seen.first_seen(keys[counts])
        new, had = np.zeros(len(asked), np.bool_), np.zeros(len(asked), np.bool_)
        new[document[first]] = True
        had[document[counts]] = True
        return first | blank, asked & (new | ~had), keys[first]

    def restore(self, saved: SavedKeys) -> None:
        self._seen.first_seen(read_keys(saved)[:, 0])
