"""Duplicates as rules: the first of several stays. What decides is the order of the records, so one thread asks.

Paragraphs are the lines of a document, known again by their digests (text/digests.py). They are compared as CCNet does:
without white space at their ends, in small letters, each digit as 0, without some punctuation and all controls. CCNet
takes two passes and leaves out every paragraph that comes twice. Here the first one stays.
"""

import hashlib
import re
from collections.abc import Callable
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, UsageError
from wv_cli.filtering.near_duplicates import Banding, Keys, NearDuplicates, clusters
from wv_cli.io.output import open_output
from wv_cli.text.digests import Digests, DigestSet, digests, read_digests

if TYPE_CHECKING:
    from wv_cli.filtering.rules import Judged


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


class Deduplicator(Protocol):
    """Keys are made by any number of threads; `first` and `insert` are for one, in the order of the records."""

    @property
    def name(self) -> str: ...
    @property
    def width(self) -> int:
        """Keys of a record."""
        ...

    def keys(self, texts: list[bytes]) -> Keys:
        """(n, width)"""
        ...

    def first_seen(self, keys: Keys) -> NDArray[np.bool_]:
        """(n,) whether each is no duplicate of an earlier one that stayed; those that stay are known from now on."""
        ...

    def insert(self, keys: Keys) -> None:
        """Makes known what stayed before."""
        ...


class ExactDuplicates:
    """Documents that are equal byte for byte."""

    name, width = "exact-duplicates", 1

    def __init__(self) -> None:
        self._seen = DigestSet()

    def keys(self, texts: list[bytes]) -> Keys:
        return digests(texts)[:, None]

    def first_seen(self, keys: Keys) -> NDArray[np.bool_]:
        return self._seen.first_seen(keys[:, 0])

    def insert(self, keys: Keys) -> None:
        self._seen.first_seen(keys[:, 0])


class NearDuplicateRule:
    """Documents of which most 5-word shingles are the same; `against` is an index of those of an older corpus. With
    `keep_numbers` not all numbers are one."""

    name = "near-duplicates"

    def __init__(self, threshold: float, against: str | None = None, *, keep_numbers: bool = False) -> None:
        banding = Banding.nearest(threshold)
        new = NearDuplicates(banding, keep_numbers=keep_numbers) if against is None else None
        self.known = new or NearDuplicates.load(str(against))
        if self.known.banding != banding:
            other = self.known.banding.threshold
            raise BadFile(against, f"expected an index for --near-duplicates {threshold:g}, found one for {other:.3g}")
        if self.known.keep_numbers != keep_numbers:
            its, step = ("with", "give it") if self.known.keep_numbers else ("without", "leave it out")
            raise BadFile(against, f"is an index made {its} --keep-numbers; {step}")
        self.width = banding.bands
        self.keys: Callable[[list[bytes]], Keys] = self.known.keys
        self.first_seen: Callable[[Keys], NDArray[np.bool_]] = self.known.first_seen
        self.insert: Callable[[Keys], None] = self.known.insert


class ParagraphRule:
    """Paragraphs that came before go; a document goes when all of its paragraphs do. Blank lines are no paragraphs."""

    name, width = "exact-duplicates", 1

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

    def insert(self, keys: Keys) -> None:
        self._seen.first_seen(keys[:, 0])


def opened_duplicates(
    exact: str | None, near: float | None, against: str | None, *, keep_numbers: bool = False
) -> list[Any]:
    """The rules of duplicate documents, the cheap one first. Raises UsageError, BadFile."""
    if against is not None and near is None:
        raise UsageError("--against needs --near-duplicates")
    rules: list[Any] = [ExactDuplicates()] if exact == "document" else []
    return [*rules, NearDuplicateRule(near, against, keep_numbers=keep_numbers)] if near is not None else rules


class Clusters:
    """Collects the keys of all records that reach the rule, and writes a line for each record of a cluster to the file
    `path`: its file, its number there, the number of its cluster, the records in it. Without `path` it does nothing."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._keys: list[Keys] = []
        self._places: list[tuple[str, int]] = []
        self._file, self._before = "", 0

    def add(self, file: str, judged: "Judged") -> None:
        """A block of records of a file."""
        if self._path is None:
            return
        self._before = self._before if file == self._file else 0
        self._file = file
        self._keys.append(judged.keys[-1])
        self._places += [(file, self._before + number) for number in (judged.alive + 1).tolist()]
        self._before += len(judged.reason)

    def write(self) -> None:
        """Raises WvError."""
        if self._path is None:
            return
        if self._keys:
            stays, sizes = (each.tolist() for each in clusters(np.concatenate(self._keys)))
        else:
            stays, sizes = [], []
        numbers: dict[int, int] = {}
        with open_output(self._path) as out:
            out.write(b"file\trecord\tcluster\tsize\n")
            for (file, record), head, size in zip(self._places, stays, sizes, strict=True):
                if size > 1:
                    number = numbers.setdefault(head, len(numbers) + 1)
                    out.write(f"{file}\t{record}\t{number}\t{size}\n".encode("utf-8", "surrogateescape"))
