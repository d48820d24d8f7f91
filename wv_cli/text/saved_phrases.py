"""Phrases kept in a file: which pairs of words were joined, in which pass, and to what.

Lines of four fields with tabs between, the best phrase of a pass first:

    new_york    245.1    1    new york
    new_york_times    131.7    2    new_york times

The phrase, its score, the pass it was found in, and its two words, since a delimiter may stand in words too; what
stands between the first and the last of more words are connectors. Version
0.2 wrote the first two fields only, which do not tell these; such files are refused.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli._phrases import MOST_CONNECTORS
from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.io.marks import split_lines
from wv_cli.text.config import is_one_word
from wv_cli.text.joining import JoinedIds
from wv_cli.text.source import Source
from wv_cli.words import WordList, decode


@dataclass(frozen=True, eq=False)
class PhrasePass:
    """first[i] and second[i] become phrases[i], one list each, with the connectors middle[i] between (blanks separate
    them; none without the list)."""

    first: WordList
    second: WordList
    phrases: WordList
    middle: WordList | None = None


@dataclass(frozen=True, eq=False)
class SavedPhrases:
    """What is joined pass by pass; `digest` tells it from others, whatever the scores."""

    passes: tuple[PhrasePass, ...]
    digest: str

    @classmethod
    def from_passes(cls, passes: Iterable[PhrasePass]) -> "SavedPhrases":
        """What a file keeps of them: not the passes that found nothing."""
        kept = tuple(one for one in passes if len(one.phrases))
        state = hashlib.blake2b(digest_size=16)
        for one in kept:
            between = [one.middle] if one.middle is not None and one.middle.blob else []
            for words in (one.first, one.second, one.phrases, *between):
                state.update(words.starts.astype("<i8").tobytes() + words.blob)
        return cls(kept, state.hexdigest())

    def join_in(self, text: JoinedIds) -> None:
        """Joins the phrases of every pass, in the order in which they were found."""
        for one in self.passes:
            text.join_words(one.first, one.second, one.phrases, one.middle)

    def find_word(self, prefix: str) -> str | None:
        """The first word in a pair that begins with `prefix`, which "" never finds."""
        pairs = (words for one in self.passes for words in (one.first, one.second) if prefix)
        return next((word for words in pairs for word in words if word.startswith(prefix)), None)

    def __len__(self) -> int:
        return sum(len(one.phrases) for one in self.passes)


def phrase_rows(number: int, found: PhrasePass, scores: NDArray[np.float64]) -> Iterator[bytes]:
    """The lines of one pass, which are numbered from 1."""
    for i, value in enumerate(scores.tolist()):
        middle = found.middle.bytes_at(i) if found.middle is not None else b""
        words = b" ".join(filter(None, (found.first.bytes_at(i), middle, found.second.bytes_at(i))))
        yield b"%s\t%.6g\t%d\t%s\n" % (found.phrases.bytes_at(i), value, number, words)


def read_phrases(path: str) -> SavedPhrases:
    """Reads what `wv phrases --save-phrases` wrote; perhaps compressed, `-` is standard input. A file without a line
    has no phrases. Raises BadFile with the line for a line of another form, a pair given twice in a pass, a pass that
    stands after a later one; WvError when the file cannot be read."""
    passes: dict[int, dict[tuple[bytes, ...], bytes]] = {}
    text = b"".join(Source([path]))
    refuse_other_kinds(text[:HEAD_BYTES], path, "lines of `phrase score pass first second`")
    for number, line in enumerate(split_lines(text), 1):
        phrase, which, pair = _fields(path, number, line)
        if passes and which < next(reversed(passes)):
            raise BadFile(path, f"expected passes to ascend, found pass {which} after a later one", line=number)
        if pair in passes.setdefault(which, {}):
            raise BadFile(path, f"the pair {show_bytes(b' '.join(pair))} stands in this pass twice", line=number)
        passes[which][pair] = phrase
    return SavedPhrases.from_passes(_pass(pairs) for pairs in passes.values())


def _pass(pairs: dict[tuple[bytes, ...], bytes]) -> PhrasePass:
    first, second = WordList.from_words(words[0] for words in pairs), WordList.from_words(words[-1] for words in pairs)
    middle = WordList.from_words(b" ".join(words[1:-1]) for words in pairs)
    return PhrasePass(first, second, WordList.from_words(pairs.values()), middle if middle.blob else None)


def _fields(path: str, number: int, line: bytes) -> tuple[bytes, int, tuple[bytes, ...]]:
    """(phrase, pass, pair) of one line. Raises BadFile."""
    fields = line.split(b"\t")
    if len(fields) == 2 and _is_score(fields[1]):
        problem = "expected `phrase score pass first second`, found a phrase and its score only, as version 0.2 wrote"
        raise BadFile(path, f"{problem}; save the phrases again", line=number)
    words = [*fields[:1], *fields[-1].split(b" ")]
    chained = len(words) == 3 or _holds(words[0], words[1:])
    sane = (
        len(fields) == 4
        and chained
        and 3 <= len(words) <= 3 + MOST_CONNECTORS
        and _are_words(words)
        and _is_score(fields[1])
    )
    if not (sane and fields[2].isdigit() and 0 < int(fields[2]) < 1000):
        raise BadFile(path, f"expected `phrase score pass first second`, found {show_bytes(line)}", line=number)
    return words[0], int(fields[2]), tuple(words[1:])


def _holds(phrase: bytes, words: Sequence[bytes]) -> bool:
    """Whether the phrase holds all words, one behind the other."""
    place = 0
    for word in words:
        if (place := phrase.find(word, place)) < 0:
            return False
        place += len(word)
    return True


def _are_words(words: Sequence[bytes]) -> bool:
    return all(is_one_word(decode(word)) for word in words)


def _is_score(field: bytes) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False
