"""A tokenizer.json without the `tokenizers` package: texts -> numbers of tokens, by csrc/core/wordpiece.c.

It understands these parts, and the result is then the package's, token by token:

    normalizer       BertNormalizer that cleans text, Lowercase, none
    pre_tokenizer    BertPreTokenizer, Whitespace, WhitespaceSplit
    model            WordPiece, WordLevel
    added_tokens     entries of the vocabulary that are found in the text as it was written
    post_processor   any that only adds tokens around a text, which are left out here

The properties of characters are those that the package has. Its tables of punctuation and marks are of Unicode 8, its
decompositions of Unicode 12.1, its small letters of Unicode 17.
"""

import functools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._wordpiece import ALONE, BYTES, HARD, LETTER, MOST_CHARACTERS, PAGE, SPACE, SYMBOL, PieceReader
from wv_cli.encoders.limits import WORD

_CUTS = ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")
_POST_PROCESSORS = ("BertProcessing", "RobertaProcessing", "TemplateProcessing", "ByteLevel")
_MOST_ADDED = 64
_SURROGATES = range(0xD800, 0xE000)


class _Ranges:
    """The code points of ranges such as 300-36f, which share none."""

    def __init__(self, text: str) -> None:
        parts = [part.split("-") for part in text.split()]
        self._bounds = sorted(bound for part in parts for bound in (int(part[0], 16), int(part[-1], 16) + 1))

    def __contains__(self, code: int) -> bool:
        return bisect_right(self._bounds, code) % 2 == 1


_BLANKS = _Ranges("9-d 20 85 a0 1680 2000-200a 2028-2029 202f 205f 3000")
_CHINESE = _Ranges("3400-4dbf 4e00-9fff f900-faff 20000-2a6df 2a700-2b81f 2b920-2ceaf 2f800-2fa1f")
_CLEANED = _Ranges("""
    0-8 b-c e-1f 7f-9f ad 600-605 61c 6dd 70f 180e 200b-200f 202a-202e 2060-2064 2066-206f e000-f8ff feff fff9-fffb
    fffd 110bd 1bca0-1bca3 1d173-1d17a e0001 e0020-e007f f0000-ffffd 100000-10fffd
""")
# ASCII punctuation, then that of category P.
_PUNCTUATION = _Ranges("""
    21-2f 3a-40 5b-60 7b-7e
    a1 a7 ab b6-b7 bb bf 37e 387 55a-55f 589-58a 5be 5c0 5c3 5c6 5f3-5f4 609-60a 60c-60d 61b 61e-61f 66a-66d 6d4
    700-70d 7f7-7f9 830-83e 85e 964-965 970 af0 df4 e4f e5a-e5b f04-f12 f14 f3a-f3d f85 fd0-fd4 fd9-fda 104a-104f
    10fb 1360-1368 1400 166d-166e 169b-169c 16eb-16ed 1735-1736 17d4-17d6 17d8-17da 1800-180a 1944-1945 1a1e-1a1f
    1aa0-1aa6 1aa8-1aad 1b5a-1b60 1bfc-1bff 1c3b-1c3f 1c7e-1c7f 1cc0-1cc7 1cd3 2010-2027 2030-2043 2045-2051
    2053-205e 207d-207e 208d-208e 2308-230b 2329-232a 2768-2775 27c5-27c6 27e6-27ef 2983-2998 29d8-29db 29fc-29fd
    2cf9-2cfc 2cfe-2cff 2d70 2e00-2e2e 2e30-2e42 3001-3003 3008-3011 3014-301f 3030 303d 30a0 30fb a4fe-a4ff
    a60d-a60f a673 a67e a6f2-a6f7 a874-a877 a8ce-a8cf a8f8-a8fa a8fc a92e-a92f a95f a9c1-a9cd a9de-a9df aa5c-aa5f
    aade-aadf aaf0-aaf1 abeb fd3e-fd3f fe10-fe19 fe30-fe52 fe54-fe61 fe63 fe68 fe6a-fe6b ff01-ff03 ff05-ff0a
    ff0c-ff0f ff1a-ff1b ff1f-ff20 ff3b-ff3d ff3f ff5b ff5d ff5f-ff65 10100-10102 1039f 103d0 1056f 10857 1091f 1093f
    10a50-10a58 10a7f 10af0-10af6 10b39-10b3f 10b99-10b9c 11047-1104d 110bb-110bc 110be-110c1 11140-11143
    11174-11175 111c5-111c9 111cd 111db 111dd-111df 11238-1123d 112a9 114c6 115c1-115d7 11641-11643 1173c-1173e
    12470-12474 16a6e-16a6f 16af5 16b37-16b3b 16b44 1bc9f 1da87-1da8b
""")
# Category Mn.
_MARKS = _Ranges("""
    300-33f 342 345-36f 483-487 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e4 6e7-6e8 6ea-6ed
    711 730-74a 7a6-7b0 7eb-7f3 816-819 81b-823 825-827 829-82d 859-85b 8e3-902 93a 93c 941-948 94d 951-957 962-963
    981 9bc 9c1-9c4 9cd 9e2-9e3 a01-a02 a3c a41-a42 a47-a48 a4b-a4d a51 a70-a71 a75 a81-a82 abc ac1-ac5 ac7-ac8 acd
    ae2-ae3 b01 b3c b3f b41-b44 b4d b56 b62-b63 b82 bc0 bcd c00 c3e-c40 c46-c47 c4a-c4d c55-c56 c62-c63 c81 cbc cbf
    cc6 ccc-ccd ce2-ce3 d01 d41-d44 d4d d62-d63 dca dd2-dd4 dd6 e31 e34-e3a e47-e4e eb1 eb4-eb9 ebb-ebc ec8-ecd
    f18-f19 f35 f37 f39 f71-f72 f74 f77 f79-f7e f80 f82-f84 f86-f87 f8d-f92 f94-f97 f99-f9c f9e-fa1 fa3-fa6 fa8-fab
    fad-fb8 fba-fbc fc6 102d-1030 1032-1037 1039-103a 103d-103e 1058-1059 105e-1060 1071-1074 1082 1085-1086 108d
    109d 135d-135f 1712-1714 1732-1734 1752-1753 1772-1773 17b4-17b5 17b7-17bd 17c6 17c9-17d3 17dd 180b-180d 18a9
    1920-1922 1927-1928 1932 1939-193b 1a17-1a18 1a1b 1a56 1a58-1a5e 1a60 1a62 1a65-1a6c 1a73-1a7c 1a7f 1ab0-1abd
    1b00-1b03 1b34 1b36-1b3a 1b3c 1b42 1b6b-1b73 1b80-1b81 1ba2-1ba5 1ba8-1ba9 1bab-1bad 1be6 1be8-1be9 1bed
    1bef-1bf1 1c2c-1c33 1c36-1c37 1cd0-1cd2 1cd4-1ce0 1ce2-1ce8 1ced 1cf4 1cf8-1cf9 1dc0-1df5 1dfc-1dff 20d0-20dc
    20e1 20e5-20f0 2cef-2cf1 2d7f 2de0-2dff 302a-302d 3099-309a a66f a674-a67d a69e-a69f a6f0-a6f1 a802 a806 a80b
    a825-a826 a8c4 a8e0-a8f1 a926-a92d a947-a951 a980-a982 a9b3 a9b6-a9b9 a9bc a9e5 aa29-aa2e aa31-aa32 aa35-aa36
    aa43 aa4c aa7c aab0 aab2-aab4 aab7-aab8 aabe-aabf aac1 aaec-aaed aaf6 abe5 abe8 abed fb1e fe00-fe0f fe20-fe2f
    101fd 102e0 10376-1037a 10a01-10a03 10a05-10a06 10a0c-10a0f 10a38-10a3a 10a3f 10ae5-10ae6 11001 11038-11046
    1107f-11081 110b3-110b6 110b9-110ba 11100-11102 11127-1112b 1112d 11130-11134 11173 11180-11181 111b6-111be
    111ca-111cc 1122f-11231 11234 11236-11237 112df 112e3-112ea 11300-11301 1133c 11340 11366-1136c 11370-11374
    114b3-114b8 114ba 114bf-114c0 114c2-114c3 115b2-115b5 115bc-115bd 115bf-115c0 115dc-115dd 11633-1163a 1163d
    1163f-11640 116ab 116ad 116b0-116b5 116b7 1171d-1171f 11722-11725 11727-1172b 16af0-16af4 16b30-16b36
    16f8f-16f92 1bc9d-1bc9e 1d167-1d169 1d17b-1d182 1d185-1d18b 1d1aa-1d1ad 1d242-1d244 1da00-1da36 1da3b-1da6c
    1da75 1da84 1da9b-1da9f 1daa1-1daaf 1e8d0-1e8d6 e0100-e01ef
""")
# Those that NFD puts in order and that are not of category Mn.
_ORDERED = _Ranges("""
    8d4-8e1 1b44 1baa 1bf2-1bf3 1dfb 302e-302f a953 a9c0 111c0 11235 1134d 11442 11446 116b6 11c3f 1d165-1d166
    1d16d-1d172 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e944-1e94a
""")
# Their decompositions came after Unicode 12.1.
_UNDIVIDED = _Ranges("11938 105c9 105e4 11383 11385 1138e 11391 113c5 113c7-113c8 16121-16128 16d68-16d6a")
# Their small letters came after Unicode 14.
_LATE_CAPITALS = {0x1C89: 0x1C8A, 0xA7CB: 0x264, 0xA7CC: 0xA7CD, 0xA7CE: 0xA7CF, 0xA7D2: 0xA7D3, 0xA7D4: 0xA7D5,
                  0xA7DA: 0xA7DB, 0xA7DC: 0x19B, **{code: code + 0x20 for code in range(0x10D50, 0x10D66)},
                  **{code: code + 0x1B for code in range(0x16EA0, 0x16EB9)}}  # fmt: skip
# Of letters, numbers and marks in csrc/core/segments.h, these are none for the regular expression \\w.
_NO_WORD = _Ranges("5f3 600-605 66b-66c 6dd 890-891 8e2 110bd 110cd 1f3fb-1f3ff e0020-e007f")


@dataclass(frozen=True)
class _Characters:
    """What becomes of characters. `cleans` takes controls out, `chinese` makes each such character a word, `strips`
    takes accents off, `lowers` makes small letters; `cuts` is the kind of the pre-tokenizer."""

    cleans: bool
    chinese: bool
    strips: bool
    lowers: bool
    cuts: str

    def page(self, number: int) -> bytes:
        """What becomes of the characters from PAGE * number on, as csrc/core/simplify.h has it."""
        return b"".join(self._row(code) for code in range(number * PAGE, (number + 1) * PAGE))

    def _row(self, code: int) -> bytes:
        if code in _SURROGATES:
            return bytes(2 + BYTES)
        kind, text = self._fate(code)
        octets = text.encode() if text != "\0" else b"\xff"  # which no token has
        return bytes([kind, len(octets)]) + octets.ljust(BYTES, b"\0")

    def _fate(self, code: int) -> tuple[int, str]:
        """The kind of a character, and what it becomes."""
        if self.cleans and code in _CLEANED:
            return LETTER, ""
        if code in _BLANKS:
            return SPACE, ""
        text = _decompose(code) if self.strips else chr(code)
        if self.strips:
            text = "".join(each for each in text if ord(each) not in _MARKS)
        if self.lowers:
            text = "".join(_lower(each) for each in text)
        if self.chinese and code in _CHINESE:
            return ALONE, text
        if self.strips and any(ord(each) in _ORDERED for each in text):
            return HARD, text
        return (self._kind(ord(text[0])) if text else LETTER), text

    def _kind(self, code: int) -> int:
        if self.cuts == "BertPreTokenizer":
            return ALONE if code in _PUNCTUATION else LETTER
        return LETTER if self.cuts == "WhitespaceSplit" or _is_word(code) else SYMBOL


def _decompose(code: int) -> str:
    return chr(code) if code in _UNDIVIDED else unicodedata.normalize("NFD", chr(code))


def _lower(character: str) -> str:
    late = _LATE_CAPITALS.get(ord(character))
    return character.lower() if late is None else chr(late)


@functools.cache
def _kinds() -> NDArray[np.uint16]:
    from wv_cli import _segments

    return _segments.kinds()


def _is_word(code: int) -> bool:
    """Whether \\w of regular expressions is this character."""
    kind = int(_kinds()[code])
    word_break, sentence_break = kind & 31, kind >> 5 & 15
    letter = kind & 1024 and sentence_break in (7, 8, 9, 10)
    return bool(letter or (word_break in (4, 5, 17) and code != 0x202F)) and code not in _NO_WORD


def open_reader(settings: Mapping[str, Any], dropped: str | None = None) -> PieceReader | None:
    """Of a tokenizer.json's settings without padding and truncation; None for one with other parts. `dropped` is a
    token that is left out."""
    model, added = settings["model"], settings.get("added_tokens") or []
    characters, vocabulary = _characters(settings), model["vocab"]
    if characters is None or not _is_plain(model) or not all(_is_plain_token(each, vocabulary) for each in added):
        return None
    post = settings.get("post_processor") or {"type": "BertProcessing"}
    names = {each["content"]: each["id"] for each in sorted(added, key=lambda each: -len(each["content"].encode()))}
    if not isinstance(post, dict) or post.get("type") not in _POST_PROCESSORS or len(names) > _MOST_ADDED:
        return None
    is_whole = model["type"] == "WordLevel"
    longest = max(map(len, vocabulary))
    mark = model.get("continuing_subword_prefix", "")
    rest = (
        {}
        if is_whole
        else {name.removeprefix(mark): number for name, number in vocabulary.items() if name.startswith(mark)}
    )
    split = re.compile("(" + "|".join(map(re.escape, names)) + ")") if names else None
    return PieceReader(
        _list_tokens(vocabulary),
        _list_tokens(rest),
        _list_tokens(names),
        characters.page,
        lambda text: _order_marks(text, split),
        is_whole=is_whole,
        unknown=vocabulary[model["unk_token"]],
        dropped=vocabulary.get(dropped, -1),
        most_characters=longest if is_whole else model["max_input_chars_per_word"],
    )


def _characters(settings: Mapping[str, Any]) -> _Characters | None:
    normalizer, cut = settings.get("normalizer") or {"type": None}, settings.get("pre_tokenizer")
    if not isinstance(cut, dict) or cut.get("type") not in _CUTS or len(cut) > 1 or not isinstance(normalizer, dict):
        return None
    kind, options = normalizer.get("type"), {name: value for name, value in normalizer.items() if name != "type"}
    if kind in (None, "Lowercase"):
        return None if options else _Characters(False, False, False, kind is not None, cut["type"])
    lowers, strips = options.get("lowercase"), options.get("strip_accents")
    chinese, cleans = options.get("handle_chinese_chars"), options.get("clean_text")
    flags = (lowers, chinese, lowers if strips is None else strips)
    if (
        kind != "BertNormalizer"
        or cleans is not True
        or len(options) != 4
        or any(type(each) is not bool for each in flags)
    ):
        return None
    return _Characters(True, bool(chinese), bool(flags[2]), bool(lowers), cut["type"])


def _is_plain(model: Mapping[str, Any]) -> bool:
    """Whether this is a model that is understood."""
    vocabulary = model["vocab"]
    unknown = model.get("unk_token")
    if not isinstance(vocabulary, dict) or not isinstance(unknown, str) or unknown not in vocabulary:
        return False
    numbers = set(vocabulary.values())
    if len(numbers) < len(vocabulary) or any(type(each) is not int or not 0 <= each < 1 << 31 for each in numbers):
        return False
    names = set(model) - {"vocab", "unk_token", "type"}
    try:
        "".join(vocabulary).encode()
    except UnicodeEncodeError:
        return False
    if any("\0" in name for name in vocabulary):
        return False
    if model.get("type") == "WordLevel":
        return not names and max(map(len, vocabulary)) <= MOST_CHARACTERS
    most, mark = model.get("max_input_chars_per_word"), model.get("continuing_subword_prefix")
    fits = type(most) is int and 0 <= most <= WORD and isinstance(mark, str)
    return model.get("type") == "WordPiece" and fits and len(names) == 2


def _is_plain_token(token: Any, vocabulary: Mapping[str, int]) -> bool:
    """Whether this is an added token that is found as it is written."""
    if not isinstance(token, dict) or not isinstance(token.get("content"), str) or not token["content"]:
        return False
    rules = (token.get(name) for name in ("single_word", "lstrip", "rstrip", "normalized"))
    return all(rule is False for rule in rules) and vocabulary.get(token["content"], -1) == token.get("id")


def _list_tokens(tokens: Mapping[str, int]) -> tuple[bytes, NDArray[np.int64], NDArray[np.int32]]:
    """Tokens end to end, where each begins, and their numbers; an empty one is none."""
    names = [name.encode() for name in tokens if name]
    starts = np.zeros(len(names) + 1, np.int64)
    np.cumsum([len(name) for name in names], out=starts[1:])
    return b"".join(names), starts, np.array([number for name, number in tokens.items() if name], np.int32)


def _order_marks(text: str, added: "re.Pattern[str] | None") -> str:
    """The text with its marks in the order of NFD, each stretch between `added` tokens for itself."""
    parts = [text] if added is None else added.split(text)
    parts[::2] = ["".join(_in_order(part)) for part in parts[::2]]
    return "".join(parts)


def _in_order(text: str) -> Iterable[str]:
    letters: list[str] = []
    for each in text:
        whole = _decompose(ord(each))
        letters += whole if any(map(_order, whole)) else each if ord(each) not in _CLEANED else ""
    begin = 0
    for end, each in enumerate([*letters, "a"]):
        if not _order(each):
            letters[begin:end] = sorted(letters[begin:end], key=_order)
            begin = end + 1
    return letters


def _order(character: str) -> int:
    """The combining class of a character that NFD puts in order, 0 of others."""
    known = ord(character) in _ORDERED or ord(character) in _MARKS
    return unicodedata.combining(character) if known else 0
