"""The stems of English words, by Snowball's `english` stemmer (Porter2) as its version 3.1 has it.

R1 is the part of a word behind the first consonant that follows a vowel, R2 the part of R1 behind the next such place.
A suffix is taken off where it lies in R1 or R2. A `y` at the start or after a vowel is a consonant, written `Y`.
"""

import re

_VOWELS = frozenset("aeiouy")
_BEFORE_LI = frozenset("cdeghkmnrt")
_REGION = re.compile("[^aeiouy]*[aeiouy]+[^aeiouy]", re.DOTALL)
_FIRST_REGION = re.compile("arsen|commun|emerg|gener|inter|later|organ|past|univers")
_SHORT_END = re.compile("[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$|past$", re.DOTALL)
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_WHOLE_BEFORE_ING = ("even", "cann", "inn", "earr", "herr", "out")
_WHOLE_BEFORE_EED = ("succ", "proc", "exc")

_EXCEPTIONS = {
    **{word: word for word in ("andes", "atlas", "bias", "cosmos", "howe", "news", "sky")},
    "early": "earli", "gently": "gentl", "idly": "idl", "only": "onli", "singly": "singl", "skies": "sky",
    "skis": "ski", "ugly": "ugli",
}  # fmt: skip
_STEP_2 = {
    "anci": "ance", "enci": "ence", "ogi": "og", "li": "", "bli": "ble", "abli": "able", "alli": "al", "fulli": "ful",
    "lessli": "less", "ousli": "ous", "entli": "ent", "aliti": "al", "biliti": "ble", "iviti": "ive", "tional": "tion",
    "ational": "ate", "alism": "al", "ation": "ate", "ization": "ize", "izer": "ize", "ator": "ate", "iveness": "ive",
    "fulness": "ful", "ousness": "ous", "ogist": "og",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "tional": "tion", "ational": "ate",
    "ful": "", "ness": "",
}  # fmt: skip
# The longest first, as in all tuples of suffixes.
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ate", "ive", "ize", "iti", "ism", "ion", "ous", "ant", "ent",
    "ic", "al", "er",
)  # fmt: skip
_STEP_1B = ("eedly", "ingly", "edly", "eed", "ing", "ed")
_SUFFIXES_2, _SUFFIXES_3 = (tuple(sorted(step, key=len, reverse=True)) for step in (_STEP_2, _STEP_3))


def stem_english(word: str) -> str:
    """The stem of a word in lower case."""
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    if len(word) < 3:
        return word
    word = _mark_consonants(word.removeprefix("'"))
    first = _FIRST_REGION.match(word) or _REGION.match(word)
    r1 = first.end() if first else len(word)
    second = _REGION.match(word, r1)
    r2 = second.end() if second else len(word)
    word = _step_1b(_step_1a(word), r1)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _step_4(_step_3(_step_2(word, r1), r1, r2), r2)
    return _step_5(word, r1, r2).replace("Y", "y")


def _mark_consonants(word: str) -> str:
    if "y" not in word:
        return word
    letters, after_vowel = [], True
    for letter in word:
        marked = "Y" if letter == "y" and after_vowel else letter
        letters.append(marked)
        after_vowel = marked in _VOWELS
    return "".join(letters)


def _longest(word: str, suffixes: tuple[str, ...]) -> str | None:
    """The first of the suffixes, which come the longest first."""
    return next(filter(word.endswith, suffixes)) if word.endswith(suffixes) else None


def _has_vowel(part: str) -> bool:
    return not _VOWELS.isdisjoint(part)


def _step_1a(word: str) -> str:
    """Plural and genitive."""
    word = word.removesuffix(_longest(word, ("'s'", "'s", "'")) or "")
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _step_1b(word: str, r1: int) -> str:
    """Past and participle."""
    suffix = _longest(word, _STEP_1B)
    if suffix is None:
        return word
    head = word[: -len(suffix)]
    if suffix.startswith("eed"):
        return head + "ee" if len(head) >= r1 and head not in _WHOLE_BEFORE_EED else word
    if suffix == "ing":
        if head in _WHOLE_BEFORE_ING:
            return word
        if len(head) == 2 and head[1] == "y" and head[0] not in _VOWELS:
            return head[0] + "ie"
    if not _has_vowel(head):
        return word
    if head.endswith(("at", "bl", "iz")):
        return head + "e"
    if head.endswith(_DOUBLES):
        return head if len(head) == 3 and head[0] in "aeo" else head[:-1]
    return head + "e" if len(head) == r1 and _SHORT_END.search(head) else head


def _step_2(word: str, r1: int) -> str:
    suffix = _longest(word, _SUFFIXES_2)
    if suffix is None or len(word) - len(suffix) < r1:
        return word
    head = word[: -len(suffix)]
    if (suffix == "ogi" and not head.endswith("l")) or (suffix == "li" and head[-1:] not in _BEFORE_LI):
        return word
    return head + _STEP_2[suffix]


def _step_3(word: str, r1: int, r2: int) -> str:
    suffix = _longest(word, _SUFFIXES_3)
    if suffix is None or len(word) - len(suffix) < (r2 if suffix == "ative" else r1):
        return word
    return word[: -len(suffix)] + _STEP_3[suffix]


def _step_4(word: str, r2: int) -> str:
    suffix = _longest(word, _STEP_4)
    if suffix is None or len(word) - len(suffix) < r2:
        return word
    head = word[: -len(suffix)]
    return word if suffix == "ion" and not head.endswith(("s", "t")) else head


def _step_5(word: str, r1: int, r2: int) -> str:
    """A last e, and one of two l."""
    end, head = len(word) - 1, word[:-1]
    if word.endswith("e") and (end >= r2 or (end >= r1 and not _SHORT_END.search(head))):
        return head
    return head if word.endswith("ll") and end >= r2 else word
