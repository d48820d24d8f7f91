"""Tokens of texts and queries for search: words by Unicode's annex 29, in one normal form and without case.

A token is a word, or a part of it of two letters or more that stands between marks, such as `eau` of `l'eau`. Letters
of Han, Kana, Thai, Lao, Khmer, Burmese and other scripts without blanks come in runs. The tokens of a run are its pairs
of neighboring letters, as in Lucene's analyzer for such languages. A text has its single letters, too, so that a query
of one letter is answered. Korean words, which have endings, are found whole and by pairs of syllables.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from wv_cli import _segments, _tokencounts
from wv_cli.text.stemming import stem_english

_LUCENE_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
"""
STOP_WORDS = frozenset(_LUCENE_WORDS.split())
# Values of Word_Break, and one of Sentence_Break: a letter without case. As in csrc/core/segments.h.
_OTHER, _EXTEND, _ZWJ, _FORMAT, _KATAKANA = 0, 4, 5, 7, 8
_LETTER = 9
_REPEATED = "\u3005\u303b"  # marks that repeat a Han letter
# Characters that change no word: hyphens that are not shown, joiners, orders of direction, choices of a glyph.
_IGNORED = re.compile("[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_KOREAN = re.compile("[\uac00-\ud7a3]{3,}")  # two syllables are their own pair
_APOSTROPHE = re.compile("[\u2018\u2019\u02bc\u02bb]")
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
_ACCENTS_OF_GREEK = re.compile("[\u0300\u0301\u0313\u0314\u0342]")  # capital letters have none
_INNER = re.compile(r"[^\W_]_+[^\W_]|[a-z\d][A-Z]|[A-Z]{2}[a-z]")  # of an identifier: a border between its parts
_SPACED = re.compile(r"\S+")
_PART = re.compile(r"\w+")
_BORDER = re.compile(r"_+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def fold(word: str) -> str:
    """A word as it is compared: NFKC, without case, without characters that nobody sees."""
    if word.isascii():
        return word.lower()
    word = _APOSTROPHE.sub("'", unicodedata.normalize("NFKC", _IGNORED.sub("", word))).casefold()
    word = word.replace("i\u0307", "i").replace("\u0131", "i")  # Turkish: I and İ are the capitals of both
    if _GREEK.search(word):
        word = _ACCENTS_OF_GREEK.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFKC", word)


class TokenReader:
    """The tokens of texts by the settings of an index. Those of each different word are made once. Of one thread."""

    def __init__(self, stem: str, stop_words: str, identifiers: str = "whole") -> None:
        self._stem = stem_english if stem == "english" else None
        self._stop_words = STOP_WORDS if stop_words == "drop" else frozenset()
        self._splits = identifiers == "split"
        self._writer = _segments.WordWriter(blanks=False, drop_punctuation=True, digits=0, sentences=False)
        self._of_word = functools.cache(self._tokens_of_word)

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text."""
        words, runs = self._cut(text)
        return [*itertools.chain.from_iterable(map(self._of_word, words)), *_tokens_of_runs(runs)]

    def counter(self, numbers: dict[str, int]) -> Callable[[bytes], tuple[int, bytes, bytes]]:
        """A function from a text to how many tokens it has, the numbers of its different ones as int32, in order of
        first sight, and how often each stands there as uint16, 65,535 at most. `numbers` takes those of tokens."""
        counter = _tokencounts.TokenCounter(self._tokens_of_word, numbers)

        def count(text: bytes) -> tuple[int, bytes, bytes]:
            if text.isascii():
                return counter.count(self._writer.write(text))
            words, runs = self._cut(text.decode("utf-8", "surrogateescape"))
            return counter.count(" ".join(words).encode("utf-8", "surrogateescape"), list(_tokens_of_runs(runs)))

        return count

    def query_tokens(self, query: str) -> list[str]:
        """The tokens of a query, of which single letters are those of a run of one."""
        words, runs = self._cut(query)
        found = list(itertools.chain.from_iterable(map(self._of_word, words)))
        for run in runs:
            letters = _letters(run)
            found += letters if len(letters) == 1 else map("".join, itertools.pairwise(letters))
        return found

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        """The places in a line of its words, and in runs of letters and pairs of them, which overlap."""
        begins = _segments.boundaries(line.encode("utf-8", "surrogateescape")) & 1
        inside = np.zeros(len(line) + 1, bool)
        for run in _patterns().run.finditer(line):
            inside[run.start() : run.end()] = True
            letters = [letter.start() for letter in _patterns().letter.finditer(line, run.start(), run.end())]
            yield from itertools.pairwise(letters)
            yield from zip(letters, letters[2:], strict=False)
        for begin, end in itertools.pairwise([*np.flatnonzero(begins).tolist(), len(line)]):
            if not inside[begin]:
                yield begin, end

    def _cut(self, text: str) -> tuple[list[str], list[str]]:
        """(the words of a text, the runs of letters that are written without blanks)."""
        if text.isascii():
            return self._writer.write(text.encode()).decode().split(), []
        from wv_cli.words import encode  # most queries are ASCII, and load fewer modules

        if runs := _patterns().run.findall(text):
            text = _patterns().run.sub(" ", text)
        words = self._writer.write(encode(text))
        return words.decode("utf-8", "surrogateescape").split(), runs

    def _tokens_of_word(self, word: str) -> tuple[str, ...]:
        found = [fold(word)]
        if not found[0].isalnum():
            found += [part for part in _parts(found[0]) if len(part) > 1]
        for syllables in _KOREAN.findall(found[0]):
            found += map("".join, itertools.pairwise(syllables))
        if self._splits and _INNER.search(word):
            pieces = filter(_INNER.search, _parts(unicodedata.normalize("NFKC", word)))
            found += [fold(part) for piece in pieces for part in _BORDER.split(piece) if len(part) > 1]
        kept = (each for each in dict.fromkeys(found) if each and each not in self._stop_words)
        return tuple(dict.fromkeys(map(self._stem, kept) if self._stem is not None else kept))


def count_words(text: bytes) -> int:
    """The words of a text by blanks. Of letters that are written without blanks two are a word."""
    if text.isascii():
        return len(text.split())
    return len(_patterns().words.findall(text.decode("utf-8", "surrogateescape")))


def cut_words(text: bytes, words: int) -> list[bytes]:
    """A text in pieces of at most so many words, as they are counted. A piece ends behind a blank or a mark where its
    second half has one."""
    line = text.decode("utf-8", "surrogateescape")
    counted = _SPACED if line.isascii() else _patterns().words
    starts = [found.start() for found in counted.finditer(line)]
    cuts, first = [0], 0
    while first + words < len(starts):
        last = first + words
        places = range(last, first + words // 2, -1)
        first = next((i for i in places if unicodedata.category(line[starts[i] - 1])[0] in "ZPC"), last)
        cuts.append(starts[first])
    pairs = itertools.pairwise([*cuts, len(line)])
    return [line[begin:end].encode("utf-8", "surrogateescape") for begin, end in pairs]


class _Patterns:
    """Regular expressions of Unicode's classes, each made when it is needed."""

    def __init__(self) -> None:
        kinds = _segments.kinds()
        breaks, letters = kinds & 31, (kinds >> 5 & 15) == _LETTER
        self._marks = _ranges((breaks == _EXTEND) | (breaks == _ZWJ) | (breaks == _FORMAT))
        self._unspaced = _ranges(((breaks == _OTHER) & letters) | (breaks == _KATAKANA)) + _REPEATED

    @functools.cached_property
    def run(self) -> re.Pattern[str]:
        """Letters that are written without blanks between words."""
        return re.compile(f"[{self._unspaced}][{self._unspaced}{self._marks}]*")

    @functools.cached_property
    def letter(self) -> re.Pattern[str]:
        """One of them with its marks."""
        return re.compile(f"[{self._unspaced}]?[{self._marks}]*")

    @functools.cached_property
    def part(self) -> re.Pattern[str]:
        """What punctuation inside a word leaves of it."""
        return re.compile(f"[\\w{self._marks}]+")

    @functools.cached_property
    def words(self) -> re.Pattern[str]:
        """What counts as a word of a chunk."""
        letter = f"[{self._unspaced}][{self._marks}]*"
        return re.compile(f"{letter}(?:{letter})?[^\\w\\s]*|[^\\s{self._unspaced}]+")


@functools.cache
def _patterns() -> _Patterns:
    return _Patterns()


def _ranges(chosen: NDArray[np.bool_]) -> str:
    """Characters as they stand between the brackets of a regular expression."""
    edges = np.flatnonzero(np.diff(chosen.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return "".join(f"\\U{first:08x}-\\U{end - 1:08x}" for first, end in edges.tolist())


def _parts(word: str) -> list[str]:
    """What stands between the marks of punctuation in a word."""
    return (_PART if word.isascii() else _patterns().part).findall(word)


def _tokens_of_runs(runs: list[str]) -> Iterator[str]:
    """The letters of each run, then its pairs of them."""
    for run in runs:
        letters = _letters(run)
        yield from letters
        yield from map("".join, itertools.pairwise(letters))


def _letters(run: str) -> list[str]:
    """The letters of a run, each with its marks."""
    return [letter for letter in _patterns().letter.findall(fold(run)) if letter]
