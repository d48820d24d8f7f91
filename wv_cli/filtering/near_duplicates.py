"""Near-duplicates: texts that share most of their 5-word shingles, found by MinHash with datatrove's numbers.

A text's shingles give `bands * rows` numbers, and each band a key (csrc/core/minhash.h). Two texts whose shingles have
the Jaccard similarity s share a key with the probability 1 - (1 - s^rows)^bands. This curve rises around the threshold
(1 / bands)^(1 / rows). With 14 bands of 8 rows the threshold is 0.72:

    similarity    0.5   0.6   0.7   0.75  0.8   0.85  0.9
    probability   0.05  0.21  0.57  0.77  0.92  0.99  0.9996

A text of fewer than five words has no shingle: it is compared as a whole, byte for byte, and equal ones are duplicates.

A letter of a script without blanks, such as Chinese or Thai, is a word of its own, unless the text has been cut into
words before. datatrove has the words of a package for each language.

The first of several near-duplicates stays. A text is compared with earlier texts that stayed, not with those that were
left out. `clusters` has datatrove's rule instead: all texts that are connected by shared keys are one cluster.

Near-duplicates are compared by the words of datatrove's `simplify_text`, divided at white space.

Capitals become small letters, a number becomes 0 unless it is kept, punctuation and controls become spaces, accents go.
`simplify` does this to a whole text in Python. `character_page` says it of single characters, for the C code that does
the same (csrc/core/simplify.c).
"""

import itertools
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wv_cli import _keysets
from wv_cli._minhash import (
    BYTES,
    CASED,
    DIGIT,
    GROWTH,
    HARD,
    IGNORED,
    LETTER,
    MARK,
    MOST_HASHES,
    PAGE,
    SIGMA,
    SPACE,
    WORD,
    Signer,
    xxhash64,
)
from wv_cli.errors import UsageError
from wv_cli.filtering.cutting import open_cutter
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.text.raw_text import UNSEGMENTED

Keys = NDArray[np.uint64]

KIND = "near-duplicates"
SHINGLE = 5
_LEAST_HASHES = 96  # of MOST_HASHES: the fewer there are, the flatter is the curve
_PRIME = (1 << 61) - 1


@dataclass(frozen=True)
class Banding:
    """How the numbers of a text are cut into bands."""

    bands: int = 14
    rows: int = 8

    @property
    def threshold(self) -> float:
        """The similarity around which the probability of a shared key rises."""
        return float((1 / self.bands) ** (1 / self.rows))

    @classmethod
    def nearest(cls, threshold: float) -> Self:
        """The banding of 96 to 112 numbers with the nearest threshold. For 0.72 that is datatrove's: 14 bands of 8.
        Raises UsageError."""
        if not 0 < threshold < 1:
            raise UsageError(f"expected a similarity between 0 and 1, such as 0.72, found {threshold:g}")
        shapes = itertools.product(range(1, MOST_HASHES + 1), repeat=2)
        choices = (cls(bands, rows) for bands, rows in shapes if _LEAST_HASHES <= bands * rows <= MOST_HASHES)
        return min(choices, key=lambda choice: (abs(choice.threshold - threshold), -choice.bands * choice.rows))

    def signer(self, *, keep_numbers: bool = False, separate: bool = True) -> Signer:
        """Makes the keys of texts; any number of threads may use it. With `separate` each letter of a script without
        blanks is a word."""
        page = partial(character_page, keep_numbers=keep_numbers, separate=separate)
        words = partial(simplify_bytes, keep_numbers=keep_numbers, separate=separate)
        return Signer(page, words, SHINGLE, self.bands, self.rows, *self.permutations())

    def permutations(self) -> tuple[Keys, Keys]:
        """a and b of the numbers, as datatrove draws them: the stream of RandomState(1) is fixed for ever."""
        random, size = np.random.RandomState(1), self.bands * self.rows
        a = random.randint(1, _PRIME, size, np.uint64)
        return a, random.randint(0, _PRIME, size, np.uint64)


class NearDuplicates:
    """The keys of the texts that stayed: 150 to 230 bytes a text with 14 bands. Any number of threads may ask for keys.
    The other methods are for one thread, in the order of the texts. With `keep_numbers` texts that differ in their
    numbers differ; datatrove takes all numbers for one. `tokenize` are the settings by which texts are cut into words
    before."""

    def __init__(
        self, banding: Banding | None = None, *, keep_numbers: bool = False, tokenize: str | None = None
    ) -> None:
        self.banding, self.keep_numbers, self.tokenize = banding or Banding(), keep_numbers, tokenize
        self._cut = open_cutter(tokenize)
        self._signer = self.banding.signer(keep_numbers=keep_numbers, separate=self._cut is None)
        self._seen = _keysets.KeySets(self.banding.bands)

    def keys(self, each: Sequence[bytes]) -> Keys:
        """(n, bands) the keys of UTF-8 texts, none of them 0. Two texts share a band if they share its key."""
        texts = self._cut([*each]) if self._cut is not None else [*each]
        keys = self._signer.keys(texts)
        for i in np.flatnonzero(keys[:, 0] == 0).tolist():
            keys[i] = xxhash64(texts[i]) or 1
        return keys

    def first_seen(self, keys: Keys) -> NDArray[np.bool_]:
        """(n,) whether each text is unlike every earlier one that stayed; those that stay are known from now on."""
        return self._seen.first(keys)

    def insert(self, keys: Keys) -> None:
        """Makes texts known that stayed in another run, or in one that was interrupted."""
        for band in range(self.banding.bands):
            self._seen.insert(band, keys[:, band])

    def add(self, other: "NearDuplicates") -> None:
        """Makes known what another one of the same banding knows."""
        for band in range(self.banding.bands):
            self._seen.insert(band, other._seen.keys(band))

    @property
    def memory(self) -> int:
        """Bytes that the keys take."""
        return self._seen.memory

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the known keys, in ascending order for each band, whole or not at all. Raises WvError."""
        header: dict[str, Any] = {"shingle": SHINGLE, "bands": self.banding.bands, "rows": self.banding.rows}
        if self.keep_numbers:
            header["keep_numbers"] = True
        if self.tokenize is not None:
            header["tokenize"] = self.tokenize
        container.save(path, KIND, header, _Sorted(self._seen))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads what save() wrote. Raises BadFile."""
        with open_input(path) as source:
            reader = container.Reader(source, KIND, "make the index again with wv filter")
            bands, rows = (reader.fact(name, int, 1, MOST_HASHES) for name in ("bands", "rows"))
            if reader.fact("shingle", int, 1) != SHINGLE or bands * rows > MOST_HASHES:
                reader.refuse(f"expected shingles of {SHINGLE} words and up to {MOST_HASHES} numbers a text")
            reader.expect({_name(band): ("<i8", (f"keys {band + 1}",)) for band in range(bands)}, "the bands")
            kept = "keep_numbers" in reader.header and reader.fact("keep_numbers", bool)
            tokenize = reader.fact("tokenize", str) if "tokenize" in reader.header else None
            loaded = cls(Banding(bands, rows), keep_numbers=kept, tokenize=tokenize)
            for band, keys in enumerate(reader.views(checked=True).values()):
                loaded._seen.insert(band, keys.view(np.uint64))
        return loaded


def clusters(keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,), (n,) for each text: the text that stands for its cluster, and how many texts are in the cluster. Texts are
    in one cluster if they share a key, or are connected by others that do. Which text stands for a cluster is
    datatrove's choice, and often not the first: when two clusters are joined, the larger one's text stays."""
    stays = _keysets.clusters(keys)
    return stays, np.bincount(stays, minlength=len(stays))[stays]


def _name(band: int) -> str:
    return f"band-{band + 1}"


class _Sorted(Mapping[str, NDArray[np.generic]]):
    """The arrays of an index, made one at a time."""

    def __init__(self, seen: _keysets.KeySets) -> None:
        self._columns = {_name(band): band for band in range(seen.columns)}
        self._seen = seen

    def __getitem__(self, name: str) -> NDArray[np.generic]:
        return np.sort(self._seen.keys(self._columns[name]), kind="stable").view(np.int64)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


_ASCII_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_PUNCTUATION = "«´»–—’“”„…∶━►、。〈〉《》「」【】！％（），．１：；？～"
_CONTROLS = [*range(0x00, 0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)]
_TO_SPACE = dict.fromkeys([*map(ord, _ASCII_PUNCTUATION + _PUNCTUATION), *_CONTROLS], " ")
_NUMBER_MARKS = ".,،٫⎖⎗⎘"
_UNSEGMENTED = re.compile(f"[{UNSEGMENTED}\U00020000-\U0003ffff]")
_NUMBER = re.compile(rf"\d+(?:[{_NUMBER_MARKS}]\d+)?")


def simplify(text: str, *, keep_numbers: bool = False, separate: bool = False) -> str:
    """The words of a text, with a space between two."""
    lower = text.lower()
    spaced = (lower if keep_numbers else _NUMBER.sub("0", lower)).translate(_TO_SPACE)
    plain = _without_accents(spaced)
    return " ".join((_UNSEGMENTED.sub(_separate_letter, plain) if separate else plain).split())


def simplify_bytes(text: bytes, *, keep_numbers: bool = False, separate: bool = False) -> bytes:
    """The same of bytes, of which those that are no UTF-8 become U+FFFD."""
    text_of = text.decode("utf-8", "replace")
    return simplify(text_of, keep_numbers=keep_numbers, separate=separate).encode("utf-8")


def character_page(number: int, *, keep_numbers: bool = False, separate: bool = False) -> bytes:
    """What becomes of the characters from PAGE * number on, as core/simplify.h has it."""
    return b"".join(_row(chr(code), keep_numbers, separate) for code in range(number * PAGE, (number + 1) * PAGE))


def _separate_letter(found: re.Match[str]) -> str:
    """A letter as a word; other characters of these scripts stay where they are."""
    return f" {found[0]} " if unicodedata.category(found[0]) == "Lo" else found[0]


def _without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def _row(character: str, keep_numbers: bool, separate: bool) -> bytes:
    kind, replacement = _fate(character, keep_numbers)
    if (
        separate
        and kind == LETTER
        and (found := _UNSEGMENTED.search(replacement))
        and _separate_letter(found) != found[0]
    ):
        kind, replacement = (WORD, replacement) if len(replacement) == 1 else (HARD, "")
    octets = replacement.encode("utf-8")
    # What the rule of the sigma sees: str.lower knows it, and makes of it what a sigma before or behind becomes.
    cased = (character + "Σ").lower().endswith("ς")
    ignored = not cased and ("A" + character + "Σ").lower().endswith("ς")
    flags = kind | MARK * (character in _NUMBER_MARKS) | CASED * cased | IGNORED * ignored
    return bytes([flags, len(octets)]) + octets.ljust(BYTES, b"\0")


def _fate(character: str, keep_numbers: bool) -> tuple[int, str]:
    """The kind of a character, and what it becomes."""
    if unicodedata.category(character) == "Nd" and not keep_numbers:
        return DIGIT, "0"
    if character == "Σ":
        return SIGMA, "σ"
    spaced = character.lower().translate(_TO_SPACE)
    if spaced.isspace():
        return SPACE, ""
    replacement = _without_accents(spaced)
    # NFD puts marks in order among each other. UTF-8 has no surrogates. The rest does not happen in Unicode 16.
    ordered = any(map(unicodedata.combining, replacement)) or any(map(str.isspace, replacement))
    if ordered or "\ud800" <= character <= "\udfff":
        return HARD, ""
    octets = len(replacement.encode("utf-8"))
    return (LETTER, replacement) if octets <= min(BYTES, GROWTH * len(character.encode("utf-8"))) else (HARD, "")
