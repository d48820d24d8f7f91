"""Whether the bytes at a file's start are text in UTF-8.

A text in another encoding is told from one with a few damaged bytes, which is read as it is. Words are bytes, so a text
in Latin-1 could be trained on; but no question in UTF-8 would ever meet its words. Damage is rare beside the characters
that are whole (a text cut at a number of bytes has one at a line's end). In another encoding nearly every character
that is not ASCII is wrong. Both shares must be passed.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from wv_cli import _text
from wv_cli.io.kinds import HEAD_BYTES, encoding_of, name_encoding

_MORE_NULS = 8  # than these, and than one in _NUL_SHARE bytes, are binary data
_NUL_SHARE = 1000
NO_UTF8 = "text that is no UTF-8"
SAMPLE = 1 << 20  # bytes that decide
_FEW = 8  # wrong bytes that every text may have
_WORDS = 100  # have no more than one wrong byte: 5 to 15 of as many in German, French or Spanish have an accent
_WHOLE = 4  # whole characters beside a wrong byte, at least
_FIRST = 1 << 14  # bytes that tell an encoding
_LIKELY = 0.4  # of what is not ASCII are letters that are frequent in the encoding's languages

# What iconv calls an encoding, and the letters outside of ASCII that its languages use most. Of equals
# the first is taken: every letter of Latin-1 is one of Cyrillic in WINDOWS-1251.
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
}
# GB2312, EUC-JP and EUC-KR write each letter in two bytes from 0xa1 on: what stands between ASCII is even in length. Of
# words in one byte a letter, half are odd. The first byte tells the alphabet: kana, all of Hangul, the common Han.
_PAIR_BYTES = 40  # that tell, at least
_RARE = 0.1  # of the runs may be odd, and of the bytes lower: a rare character has other bytes
_NO_LETTERS, _KANA, _HANGUL, _COMMON_HAN = b"\xa1\xa2\xa3", b"\xa4\xa5", range(0xB0, 0xC9), range(0xB0, 0xD8)
_KANA_SHARE, _HANGUL_SHARE, _COMMON_SHARE = 0.2, 0.9, 0.6


def foreign_encoding(head: bytes) -> str | None:
    """What a text that begins with `head` is when it is UTF-16 or UTF-32, None otherwise."""
    head = head[:HEAD_BYTES]
    encoding = encoding_of(head) or _encoding_by_nuls(head)
    return name_encoding(encoding) if encoding else None


def binary(head: bytes) -> str | None:
    """What the bytes at a file's start are when they are no text in UTF-8, or in any code that is ASCII or more."""
    head = head[:HEAD_BYTES]
    return foreign_encoding(head) or ("binary data (NUL bytes)" if _too_many_nuls(head) else None)


def _too_many_nuls(head: bytes) -> bool:
    return head.count(0) > max(_MORE_NULS, len(head) // _NUL_SHARE)


def _encoding_by_nuls(head: bytes) -> str | None:
    """Every second byte of Latin letters in UTF-16 is NUL, and never the other one; of UTF-32 every fourth of any text,
    and mostly its neighbor."""
    if not _too_many_nuls(head):
        return None
    first, second, third, fourth = (head[place::4].count(0) / (len(head) / 4) for place in range(4))
    if fourth > 0.99 and third > 0.5 and first < 0.1:
        return "UTF-32LE"
    if first > 0.99 and second > 0.5 and fourth < 0.1:
        return "UTF-32BE"
    even, odd = (first + third) / 2, (second + fourth) / 2
    if max(even, odd) > 0.3 and min(even, odd) <= max(even, odd) / 100:
        return "UTF-16LE" if odd > even else "UTF-16BE"
    return None


def is_foreign(sample: bytes) -> bool:
    """Whether a text that begins with `sample` is in another encoding than UTF-8."""
    wrong = _text.check_utf8(sample)[0]
    if wrong <= _FEW or wrong <= len(sample.split()) // _WORDS:  # to split takes longer than all else here
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
    if encoding := _encoding_of_pairs(sample[:_FIRST]):
        return encoding
    shares = {name: _share_of(sample, name, letters) for name, letters in _LETTERS.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _LIKELY else None


def _encoding_of_pairs(sample: bytes) -> str | None:
    """The encoding of a text whose letters are pairs of bytes, None of another one."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    size, odd = sum(map(len, runs)), sum(len(run) % 2 for run in runs[:-1])  # the sample may cut the last one
    low = sum(len(each) for each in re.findall(rb"[\x80-\xa0]+", sample))
    if size < _PAIR_BYTES or odd > _RARE * len(runs) or low > _RARE * size:
        return None
    first = [byte for run in runs for byte in run[::2] if byte not in _NO_LETTERS]
    kana, hangul, han = (sum(byte in each for byte in first) for each in (_KANA, _HANGUL, _COMMON_HAN))
    if kana >= _KANA_SHARE * len(first):
        return "EUC-JP"
    if hangul >= _HANGUL_SHARE * len(first):
        return "CP949"
    return "GB18030" if han >= _COMMON_SHARE * len(first) else None


def _share_of(sample: bytes, encoding: str, letters: str) -> float:
    text = sample[:_FIRST].decode(encoding, "replace")
    foreign = [letter for letter in text if letter > "\x7f"]
    return sum(letter in letters for letter in foreign) / max(1, len(foreign))


class InvalidBytes:
    """The bytes of texts that are no UTF-8, counted while chunks are read. Where they are `replaced` they become
    U+FFFD, as in web pages, else they stay."""

    def __init__(self, *, replaced: bool = False) -> None:
        self.count, self._replaced = 0, replaced
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
            way = "it is read as U+FFFD" if self._replaced else "the word is read as it is"
            return f"{self._first} is no UTF-8; {way}"
        encoding = _likely_encoding(self._sample) if is_foreign(self._sample) else None
        convert = f"; if they are {encoding}, convert them: iconv -f {encoding} -t UTF-8 FILE" if encoding else ""
        read = f"read as {'U+FFFD' if self._replaced else 'they are'}{convert}"
        return f"{self._first} is the first of {self.count:,} bytes that are no UTF-8, which are {read}"


def note_invalid(chunks: Iterable[bytes], log: Callable[[str], None]) -> Iterator[bytes]:
    """The chunks of standard input, of which `log` is told at the end what is no UTF-8."""
    invalid = InvalidBytes()
    for chunk in chunks:
        invalid.add(chunk, "standard input")
        yield chunk
    invalid.end("standard input")
    if invalid.count:
        log(invalid.note)
