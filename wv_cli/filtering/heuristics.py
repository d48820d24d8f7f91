"""Heuristics of Gopher, C4 and FineWeb: one number per document, and the range of it that each recipe keeps.

The definitions are those of datatrove 0.10.1: what is counted, what it is divided by, and that the bound itself is
kept. The numbers are float64, so that a ratio compares with its bound as it does in Python.

Tokens are those of spaCy's English tokenizer, by rules (csrc/core/wordtokens.h) and its list of exceptions. 4,998 of
5,000 documents had spaCy's tokens, and all had datatrove's decision and reason in every recipe. The two others have
letters of scripts without case beside a hyphen or a dot. All languages are split by the same rules, but exceptions of
English hold for no other. A stretch of Chinese or Thai without spaces is one token. With --tokenize tokens are the
words of another tokenizer.

A document with both lorem ipsum and a curly bracket has the former as its reason. datatrove tells what it meets first.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli import _textstatistics
from wv_cli.errors import UsageError
from wv_cli.filtering.languages import rules_of_language
from wv_cli.text.records.text_spans import TextSpans
from wv_cli.words import encode, is_utf8


class Heuristic(NamedTuple):
    """One number per document, a count or a fraction."""

    help: str
    is_count: bool = False


class Bound(NamedTuple):
    """Keep a document if its number is at least (`>=`) or at most (`<=`) the bound."""

    heuristic: str
    comparison: str
    bound: float

    def keeps(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return values >= self.bound if self.comparison == ">=" else values <= self.bound


def _count(what: str) -> Heuristic:
    return Heuristic(what, is_count=True)


def _repetition(what: str) -> Heuristic:
    return Heuristic(f"{what} that occurred before in the document")


# A fraction is of all lines, paragraphs, characters or tokens. A token is a word or a punctuation mark.
HEURISTICS: Mapping[str, Heuristic] = {
    "characters": _count("characters"),
    "words": _count("tokens, punctuation not counted"),
    "mean-word-length": Heuristic("characters per token, punctuation not counted"),
    "longest-word": _count("characters of the longest word between white space"),
    "hashes-per-word": Heuristic("number signs per token"),
    "ellipses-per-word": Heuristic("ellipses (... or …) per token"),
    "newlines-per-word": Heuristic("line feeds per token"),
    "words-with-letter": Heuristic("fraction of tokens with a letter"),
    "stop-words": _count(
        "different stop words of the language, English: the be to of and that have with",
    ),
    "bullet-lines": Heuristic("fraction of lines that begin with - or •"),
    "ellipsis-lines": Heuristic("fraction of lines that end with an ellipsis"),
    "lines": _count("lines that are not blank"),
    "long-lines": _count("lines of at least 200 characters"),
    "short-lines": Heuristic("fraction of lines of at most 30 characters, without blank lines"),
    "terminal-lines": Heuristic("fraction of lines that end with a terminal mark (. ? ! 。 ...), without blank lines"),
    "repeated-characters": _repetition("fraction of characters, line feeds not counted, in lines"),
    "repeated-lines": _repetition("fraction of lines"),
    "repeated-line-characters": _repetition("fraction of characters in lines"),
    "repeated-paragraphs": _repetition("fraction of paragraphs"),
    "repeated-paragraph-characters": _repetition("fraction of characters in paragraphs"),
    **{f"top-{n}-gram": Heuristic(f"fraction of characters in the most frequent {n}-gram") for n in (2, 3, 4)},
    **{f"repeated-{n}-grams": _repetition(f"fraction of characters in {n}-grams") for n in (5, 6, 7, 8, 9, 10)},
    "curly-brackets": _count("lines with a {, of those of 3 words or more"),
    "lorem-ipsum": _count("lines with lorem ipsum, of those of 3 words or more"),
    "javascript-lines": Heuristic("fraction of lines with the word javascript"),
    "policy-lines": Heuristic("fraction of lines about cookies, privacy or terms of use"),
    "sentences": _count("sentences in the lines that C4 keeps, and in those without a terminal mark"),
    "terminal-curly-brackets": _count("lines with a {, of those of 3 words or more and a terminal mark"),
    "terminal-lorem-ipsum": _count("lines with lorem ipsum, of those of 3 words or more and a terminal mark"),
    "terminal-sentences": _count("sentences in the lines that C4 keeps"),
}

# Those of tokens, which --tokenize changes.
WORD_STATISTICS = frozenset(
    {"words", "mean-word-length", "longest-word", "hashes-per-word", "ellipses-per-word", "newlines-per-word"}
    | {"words-with-letter", "stop-words"}
    | {name for name in HEURISTICS if "-gram" in name}
)

_GOPHER_STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
OF_LANGUAGE = math.nan  # a bound that each language has its own of, or none

# In datatrove's order, so that the first bound that is missed gives datatrove's reason.
RECIPES: Mapping[str, tuple[Bound, ...]] = {
    "gopher-quality": (
        Bound("words", ">=", 50),
        Bound("words", "<=", 100_000),
        Bound("mean-word-length", ">=", 3),
        Bound("mean-word-length", "<=", 10),
        Bound("hashes-per-word", "<=", 0.1),
        Bound("ellipses-per-word", "<=", 0.1),
        Bound("bullet-lines", "<=", 0.9),
        Bound("ellipsis-lines", "<=", 0.3),
        Bound("words-with-letter", ">=", 0.8),
        Bound("stop-words", ">=", 2),
    ),
    "gopher-repetition": (
        Bound("characters", ">=", 1),
        Bound("repeated-paragraphs", "<=", 0.3),
        Bound("repeated-paragraph-characters", "<=", 0.2),
        Bound("repeated-lines", "<=", 0.3),
        Bound("repeated-line-characters", "<=", 0.2),
        *(Bound(f"top-{n}-gram", "<=", bound) for n, bound in ((2, 0.2), (3, 0.18), (4, 0.16))),
        *(
            Bound(f"repeated-{n}-grams", "<=", bound)
            for n, bound in ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.1))
        ),
    ),
    "c4": (
        Bound("terminal-lorem-ipsum", "<=", 0),
        Bound("terminal-curly-brackets", "<=", 0),
        Bound("terminal-sentences", ">=", 5),
    ),
    # FineWeb's C4: lines need no terminal mark
    "c4-without-terminal": (
        Bound("lorem-ipsum", "<=", 0),
        Bound("curly-brackets", "<=", 0),
        Bound("sentences", ">=", 5),
    ),
    "mc4": (Bound("long-lines", ">=", 3),),
    "fineweb": (
        Bound("lines", ">=", 1),
        Bound("terminal-lines", ">=", 0.12),
        Bound("short-lines", "<=", 0.67),
        Bound("repeated-characters", "<=", 0.01),
        Bound("newlines-per-word", "<=", 0.3),
    ),
    "fineweb2": (
        Bound("characters", ">=", 1),
        Bound("repeated-lines", "<=", OF_LANGUAGE),
        *(Bound(f"top-{n}-gram", "<=", OF_LANGUAGE) for n in (2, 3, 4)),
        *(Bound(f"repeated-{n}-grams", "<=", OF_LANGUAGE) for n in range(5, 11)),
        Bound("lines", ">=", 1),
        Bound("terminal-lines", ">=", OF_LANGUAGE),
        Bound("repeated-characters", "<=", 0.1),
        Bound("newlines-per-word", "<=", OF_LANGUAGE),
        Bound("words", ">=", 50),
        Bound("words", "<=", 100_000),
        Bound("mean-word-length", ">=", OF_LANGUAGE),
        Bound("mean-word-length", "<=", OF_LANGUAGE),
        Bound("hashes-per-word", "<=", 0.1),
        Bound("ellipses-per-word", "<=", 0.1),
        Bound("bullet-lines", "<=", 0.9),
        Bound("ellipsis-lines", "<=", 0.3),
        Bound("words-with-letter", ">=", OF_LANGUAGE),
        Bound("stop-words", ">=", 2),
    ),
}


def recipe_bounds(recipe: str, language: str) -> list[Bound]:
    """The bounds of a recipe for a language; "": English. Raises UsageError for an unknown language, or without one
    where the recipe needs it."""
    own = rules_of_language(language).bounds if language else {}
    found = []
    for bound in RECIPES[recipe]:
        if not math.isnan(bound.bound):
            found.append(bound)
        elif not language:
            raise UsageError(f"expected a language, such as {recipe}:deu_Latn")
        elif (column := bound.heuristic + bound.comparison) in own:
            found.append(bound._replace(bound=own[column]))
    return found


@cache
def _language(name: str) -> _textstatistics.Language:
    """What the statistics of words must know of a language."""
    if not name:
        return _textstatistics.Language([word.encode() for word in _GOPHER_STOP_WORDS], 0)
    own, rules = rules_of_language(name), _textstatistics.FOREIGN
    rules += _textstatistics.KEEP_HYPHENS if own.keeps_hyphens else 0
    rules += _textstatistics.CUT_APOSTROPHES if own.cuts_apostrophes else 0
    return _textstatistics.Language([word.encode() for word in own.stop_words], rules)


def statistics(
    texts: Sequence[bytes], names: Sequence[str], words: Sequence[bytes] | None = None, language: str = ""
) -> dict[str, NDArray[np.float64]]:
    """The numbers of the named heuristics, one per text. Threads may call this at the same time: the GIL is released.

    A text is UTF-8; each byte of it that is not counts as the character U+FFFD. Tokens are the `words` of each text,
    with white space between two, where these are given. The `language`, such as deu_Latn, has its stop words; "":
    English.
    """
    columns = [_textstatistics.NAMES.index(name) for name in names]
    own = [each if is_utf8(each) else encode(each.decode("utf-8", "replace")) for each in words] if words else None
    if isinstance(texts, TextSpans) and own is None:
        found = _textstatistics.statistics_of_spans(texts.blob, texts.begins, texts.ends, columns, _language(language))
    else:
        found = _textstatistics.statistics(list(texts), columns, _language(language), own)
    return dict(zip(names, found, strict=True))
