"""Texts in another encoding than UTF-8: told from a text with a few damaged bytes, which is read as it is.

Words are bytes, so a text in Latin-1 could be trained on; but no question in UTF-8 would ever meet its words. Damage is
rare beside the characters that are whole (a text cut at a number of bytes has one at a line's end). In another encoding
nearly every character that is not ASCII is wrong. Both shares must be passed.
"""

from collections.abc import Callable, Iterable, Iterator

from wv_cli import _text

NO_UTF8 = "text that is no UTF-8"
SAMPLE = 1 << 20  # bytes that decide
_FEW = 8  # wrong bytes that every text may have
_WORDS = (
    100  # there is no more than one wrong byte in so many words: accents of German, French, Spanish stand in 7 to 20
)
_WHOLE = 4  # whole characters beside a wrong byte, at least
_FIRST = 1 << 14  # bytes that tell an encoding
_LIKELY = 0.4  # of what is not ASCII are letters that are frequent in the encoding's languages

# What iconv calls an encoding, and the letters outside of ASCII that its languages use most. Of
# equals the first is taken: every letter of Latin-1 is one of Cyrillic in WINDOWS-1251.
_CYRILLIC = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфіїєґў"
_HAN = "的一是不了在人有我他这個个们們中来來上大为為和国國地到以說说时時要就出会會可也你对對生能而子那得于於着著"
_LETTERS = {
    "ISO-8859-1": "äöüßéèàçêñóíáúåøæãõâôîëïìòùû«»",
    "WINDOWS-1252": "äöüßéèàçêñóíáúåøæãõâôîëïìòùû«»“”’‘„–—…€",
    "WINDOWS-1254": "ıİşŞğĞüöçÜÖÇ",
    "WINDOWS-1251": _CYRILLIC,
    "KOI8-R": _CYRILLIC,
    "ISO-8859-2": "ěščřžýáíéúůąęłńóśźżćőűöüăâîşţđ",
    "WINDOWS-1250": "ěščřžýáíéúůąęłńóśźżćőűöüăâîşţđ„”“–",
    "WINDOWS-1253": "αοιετσνηυρπκμλςωδγχθάέήίόύώβφξζψ",
    "GB18030": _HAN,
    "BIG5": _HAN,
    "SHIFT_JIS": "のにはをたがでとしいるなれさっもあこ",
    "EUC-JP": "のにはをたがでとしいるなれさっもあこ",
    "CP949": "이다는을의가에고하은지를한도로어사기아나서",
}


def is_foreign(sample: bytes) -> bool:
    """Whether a text that begins with `sample` is in another encoding than UTF-8."""
    wrong = _text.check_utf8(sample)[0]
    if wrong <= max(_FEW, len(sample.split()) // _WORDS):
        return False
    text = sample.decode("utf-8", "ignore")
    return wrong * _WHOLE > len(text) - len(text.encode("ascii", "ignore"))


def describe_foreign(sample: bytes) -> str:
    """What a foreign text is, and what to do."""
    first = _text.check_utf8(sample)[1]
    line = sample.count(b"\n", 0, first) + 1
    place = f"0x{sample[first]:02x} in line {line:,}"
    encoding = _likely_encoding(sample[first:])
    likely = f", likely {encoding}" if encoding else ""
    return f"{NO_UTF8}{likely} ({place}); convert it: iconv -f {encoding or 'ENCODING'} -t UTF-8 FILE"


def _likely_encoding(sample: bytes) -> str | None:
    """The encoding, as iconv calls it, in which most of what is not ASCII are frequent letters; None without one."""
    shares = {name: _share_of(sample, name, letters) for name, letters in _LETTERS.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _LIKELY else None


def _share_of(sample: bytes, encoding: str, letters: str) -> float:
    text = sample[:_FIRST].decode(encoding, "replace")
    foreign = [letter for letter in text if letter > "\x7f"]
    return sum(letter in letters for letter in foreign) / max(1, len(foreign))


class InvalidBytes:
    """The bytes of texts that are no UTF-8, counted while chunks are read."""

    def __init__(self) -> None:
        self.count = 0
        self._first = ""
        self._sample = b""  # from the first on
        self._rest = b""
        self._place = 0  # of the next byte in its text

    def add(self, chunk: bytes, name: str) -> None:
        """The next chunk of the text `name`, cut anywhere."""
        text = self._rest + chunk if self._rest else chunk
        wrong, first, rest = _text.check_utf8(text)
        self._take(text, wrong, first, name)
        self._rest = text[len(text) - rest :]
        self._place += len(text) - rest

    def end(self, name: str) -> None:
        """The text has no more chunks."""
        if self._rest:
            self._take(self._rest, len(self._rest), 0, name)
        self._rest, self._place = b"", 0

    def _take(self, text: bytes, wrong: int, first: int, name: str) -> None:
        if wrong and not self.count:
            self._first = f"{name}: byte {self._place + first}: 0x{text[first]:02x}"
            self._sample = text[first : first + _FIRST]
        self.count += wrong

    @property
    def note(self) -> str:
        """What is said of them, at the end."""
        if self.count == 1:
            return f"{self._first} is no UTF-8; the word is read as it is"
        encoding = _likely_encoding(self._sample) if is_foreign(self._sample) else None
        convert = f"; if they are {encoding}, convert them: iconv -f {encoding} -t UTF-8 FILE" if encoding else ""
        return (
            f"{self._first} is the first of {self.count:,} bytes that are no UTF-8, which are read as they are{convert}"
        )


def note_invalid(chunks: Iterable[bytes], name: str, log: Callable[[str], None]) -> Iterator[bytes]:
    """The chunks of a text, of which `log` is told at the end what is no UTF-8."""
    invalid = InvalidBytes()
    for chunk in chunks:
        invalid.add(chunk, name)
        yield chunk
    invalid.end(name)
    if invalid.count:
        log(invalid.note)
