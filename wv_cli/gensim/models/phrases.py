"""gensim's Phrases: pairs of words that stand together oftener than by chance, with gensim's scores and answers.

Pairs are counted in C (wv_cli.text.joining). `wv phrases` has word2vec's own score, and joins whole texts in C.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder, _text
from wv_cli.errors import UsageError
from wv_cli.gensim.refusals import missing_attribute, name_old_arguments, refuse
from wv_cli.io.output import open_output
from wv_cli.io.spill import Spool
from wv_cli.text.id_stream import read_ids
from wv_cli.text.joining import JoinedIds
from wv_cli.text.saved_phrases import PhrasePass, phrase_rows, read_phrases
from wv_cli.text.sentences import Sentences, spool_sentences
from wv_cli.text.source import Source
from wv_cli.words import WordList, decode, split_words

Path = str | PathLike[str]
Scorer = Callable[..., float]
Counts = NDArray[np.int64]
Parts = tuple[str, ...]  # the words of a phrase: the first, connector words, the last
Found = dict[Parts, tuple[str, float]]  # phrases, each with its score
ENGLISH_CONNECTOR_WORDS = frozenset(
    ["a", "an", "the", "for", "of", "with", "without", "at", "from", "to", "in", "on", "by", "and", "or"]
)
_INSIDE = "\x01"  # between the words of a phrase with connector words while it is counted
_MEMORY = 1 << 30  # bytes of a table of pairs, and of ids


def original_scorer(
    worda_count: Any, wordb_count: Any, bigram_count: Any, len_vocab: int, min_count: float, corpus_word_count: int
) -> Any:
    """word2vec's score, with gensim's factor: (count of the pair - min_count) / (count a * count b) * len_vocab. Counts
    may be arrays."""
    return (bigram_count - min_count) / (worda_count * wordb_count * 1.0) * len_vocab


def npmi_scorer(
    worda_count: Any, wordb_count: Any, bigram_count: Any, len_vocab: int, min_count: float, corpus_word_count: int
) -> Any:
    """Normalized pointwise mutual information, -1 to 1; -inf for fewer than min_count pairs."""
    a, b, both = (count / corpus_word_count for count in (worda_count, wordb_count, bigram_count))
    return np.where(bigram_count >= min_count, np.log(both / (a * b)) / -np.log(both), -math.inf)


_SCORERS: dict[str, Scorer] = {"default": original_scorer, "npmi": npmi_scorer}


class _Joining:
    """Joins phrases in sentences. `phrasegrams` are the phrases with their scores, `connector_words` those that may
    stand inside a phrase."""

    connector_words: frozenset[str] = frozenset()

    @property
    def phrasegrams(self) -> dict[str, float]:
        return dict(self._pairs.values())

    @property
    def _pairs(self) -> Found:
        raise NotImplementedError

    def analyze_sentence(self, sentence: Iterable[str]) -> Iterator[tuple[str, float | None]]:
        """The tokens of a sentence with its phrases joined, from the left; each with its score if it is a phrase."""
        pairs = self._pairs
        waiting: Parts = ()
        for token in sentence:
            if token in self.connector_words:
                if waiting:
                    waiting = (*waiting, token)
                else:
                    yield token, None
                continue
            found = pairs.get((*waiting, token)) if waiting else None
            if found is not None:
                yield found
                waiting = ()
                continue
            for each in waiting:
                yield each, None
            waiting = (token,)
        for each in waiting:
            yield each, None

    def __getitem__(self, sentence: Iterable[Any]) -> Any:
        """The tokens of a sentence with its phrases joined, a list; of several sentences an iterable of such lists.
        Raises TypeError for a str."""
        if isinstance(sentence, str):
            message = "sentence: expected a list of tokens, found a str; split it"
            raise TypeError(message)
        each = iter(sentence)
        first = next(each, "")
        whole = chain([first], each) if each is sentence else sentence
        if isinstance(first, str):
            return [token for token, _ in self.analyze_sentence(whole)] if first else []
        return _Joined(self, whole)

    def find_phrases(self, sentences: Iterable[Iterable[str]]) -> dict[str, float]:
        """The phrases that occur in sentences, with their scores."""
        tokens = chain.from_iterable(map(self.analyze_sentence, sentences))
        return {phrase: score for phrase, score in tokens if score is not None}

    def save(self, fname: Path) -> None:
        """Writes the phrases as `wv phrases --save-phrases` does, for `wv phrases --apply`; the counts are not kept.
        Raises UsageError for phrases with connector words or white space, WvError."""
        if self.connector_words:
            message = f"{fname}: the file has no place for connector words; pickle the object instead"
            raise UsageError(message)
        spaced = next((phrase for phrase, _ in self._pairs.values() if split_words(phrase) != [phrase]), None)
        if spaced is not None:
            message = f"{fname}: the file has no place for {spaced!r:.60}; give a delimiter without white space"
            raise UsageError(message)
        rows = sorted(((score, pair, phrase) for pair, (phrase, score) in self._pairs.items()), reverse=True)
        lists = (
            WordList.from_words(words) for words in zip(*((*pair, phrase) for _, pair, phrase in rows), strict=True)
        )
        with open_output(fname) as stream:
            if rows:
                stream.writelines(phrase_rows(1, PhrasePass(*lists), np.array([score for score, _, _ in rows])))

    @staticmethod
    def load(fname: Path) -> "FrozenPhrases":
        """Reads the phrases of one pass. Raises WvError."""
        path = fspath(fname)
        read_phrases(path)
        found: Found = {}
        for line in b"".join(Source([path])).splitlines():
            phrase, score, _, pair = line.split(b"\t")
            a, b = decode(pair).split(" ")
            found[a, b] = decode(phrase), float(score)
        return FrozenPhrases._from_found(found)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, name)


@dataclass(frozen=True)
class _Joined:
    """Sentences whose phrases are joined each time they are iterated."""

    joining: _Joining
    sentences: Iterable[Iterable[str]]

    def __iter__(self) -> Iterator[list[str]]:
        return (self.joining[list(sentence)] for sentence in self.sentences)


@dataclass(frozen=True)
class _Counted:
    """Words and pairs of neighbors, by the numbers of their words, with their counts; `tokens` were read."""

    words: WordList
    counts: Counts
    first: Counts
    second: Counts
    pairs: Counts
    tokens: int

    @classmethod
    def from_file(cls, path: str) -> "_Counted":
        encoder = _encoder.Encoder()
        with Spool(None) as spool:
            read_ids(Source([path]), encoder, _MEMORY, spool)
            text = JoinedIds(encoder, spool)
            unbounded = np.tile(np.array([-np.inf, np.inf], np.float32), (len(text.words), 1))
            blocks = list(text.pairs(unbounded, 1, _MEMORY)) if len(text.words) else []
        none = np.empty((3, 0), np.int64)
        first, second, pairs = np.concatenate([none, *map(np.array, blocks)], axis=1)
        return cls(text.words, text.counts, first, second, pairs, text.tokens_read)

    def plus(self, other: "_Counted") -> "_Counted":
        """The counts of both."""
        words = _text.WordMap()
        ids = [np.asarray(words.add(each.words.blob, each.words.starts), np.int64) for each in (self, other)]
        both = list(zip(ids, (self, other), strict=True))
        counts = np.zeros(len(words), np.int64)
        for own, each in both:
            counts[own] += each.counts
        keys = np.concatenate([own[each.first] << 32 | own[each.second] for own, each in both])
        keys, place = np.unique(keys, return_inverse=True)
        pairs = np.zeros(len(keys), np.int64)
        np.add.at(pairs, place, np.concatenate([self.pairs, other.pairs]))
        return _Counted(
            WordList(*words.words()), counts, keys >> 32, keys & 0xFFFFFFFF, pairs, self.tokens + other.tokens
        )


@name_old_arguments
class Phrases(_Joining):
    """Phrases of two words found in sentences; those above `threshold` are joined. Arguments are gensim's.

    >>> phrases = Phrases(sentences, min_count=1, threshold=1)
    >>> phrases[["new", "york", "is", "big"]]

    scoring: "default" (original_scorer), "npmi" (npmi_scorer) or a function of the same arguments. Raises ValueError
    for values that cannot be, UsageError for those that have no effect.
    """

    def __init__(
        self,
        sentences: Sentences | None = None,
        min_count: float = 5,
        threshold: float = 10.0,
        max_vocab_size: int = 40000000,
        delimiter: str = "_",
        progress_per: int = 10000,
        scoring: str | Scorer = "default",
        connector_words: Iterable[str] = frozenset(),
    ) -> None:
        refuse(max_vocab_size=None if max_vocab_size == 40000000 else max_vocab_size)
        if min_count <= 0:
            message = f"min_count: expected at least 1, found {min_count}"
            raise ValueError(message)
        low, high = (0, math.inf) if scoring == "default" else (-1, 1) if scoring == "npmi" else (-math.inf, math.inf)
        if not low <= threshold <= high or (scoring == "default" and not threshold):
            message = (
                f"threshold: expected a number above {low:g}, found {threshold}"
                if not low
                else (f"threshold: expected a number between -1 and 1 for npmi, found {threshold}")
            )
            raise ValueError(message)
        if isinstance(scoring, str) and scoring not in _SCORERS:
            message = f"scoring: expected {' or '.join(_SCORERS)} or a function, found {scoring!r}"
            raise ValueError(message)
        self.min_count, self.threshold, self.delimiter = min_count, threshold, delimiter
        self.scoring: Scorer = _SCORERS[scoring] if isinstance(scoring, str) else scoring
        if isinstance(connector_words, str):
            message = "connector_words: expected a list of words, found a str; split it"
            raise TypeError(message)
        self.connector_words = frozenset(connector_words)
        self._with_connectors: set[Parts] = set()
        self._connectors = 0
        self._counted: _Counted | None = None
        self._found: Found | None = None
        if sentences is not None:
            self.add_vocab(sentences)

    def add_vocab(self, sentences: Sentences) -> None:
        """Counts the words and pairs of more sentences. Raises what wv_cli.text.sentences does."""
        parts = self._without_connectors(sentences) if self.connector_words else sentences
        with spool_sentences(parts, may_be_empty=True) as path:
            counted = _Counted.from_file(path)
        self._counted, self._found = self._counted.plus(counted) if self._counted else counted, None

    def _without_connectors(self, sentences: Sentences) -> Iterator[list[str]]:
        """The sentences without connector words, cut where one stood. A phrase with connector words is a sentence of
        its own, one word: so it is counted like one."""
        for sentence in sentences:
            run: list[str] = []
            waiting: Parts = ()
            for token in sentence:
                if token in self.connector_words:
                    self._connectors += 1
                    waiting = (*waiting, token) if waiting else ()
                    continue
                if len(waiting) > 1:
                    parts = (*waiting, token)
                    self._with_connectors.add(parts)
                    self._connectors -= 1  # the phrase is no word of the text
                    yield run
                    yield [_INSIDE.join(parts)]
                    run = []
                run.append(token)
                waiting = (token,)
            yield run

    @property
    def corpus_word_count(self) -> int:
        """Words that were counted."""
        return self._counted.tokens + self._connectors if self._counted else 0

    @property
    def vocab(self) -> dict[str, int]:
        """The counts of all words and pairs, a new dict."""
        counted = self._counted
        if counted is None:
            return {}
        words = [word.replace(_INSIDE, self.delimiter) for word in counted.words]
        pairs = zip(counted.first.tolist(), counted.second.tolist(), counted.pairs.tolist(), strict=True)
        found = dict(zip(words, counted.counts.tolist(), strict=True))
        for a, b, number in pairs:
            found[words[a] + self.delimiter + words[b]] = number
        return found

    @property
    def _pairs(self) -> Found:
        if self._found is None:
            self._found = self._score(self._counted) if self._counted else {}
        return self._found

    def _score(self, counted: _Counted) -> Found:
        words, counts = counted.words, counted.counts
        firsts, seconds, numbers = counted.first, counted.second, counted.pairs
        longer = sorted(self._with_connectors)
        if longer:
            ends = [words.find_all(WordList.from_words(parts[place] for parts in longer)) for place in (0, -1)]
            own = counts[words.find_all(WordList.from_words(map(_INSIDE.join, longer)))]
            columns = zip((firsts, seconds, numbers), (*ends, own), strict=True)
            firsts, seconds, numbers = (np.concatenate(both) for both in columns)
        scores = self._scores(counts[firsts], counts[seconds], numbers, len(words) + len(counted.pairs))
        found: Found = {}
        for place in np.flatnonzero(scores > self.threshold).tolist():
            at = place - len(counted.pairs)
            parts = longer[at] if at >= 0 else (words[int(firsts[place])], words[int(seconds[place])])
            found[parts] = self.delimiter.join(parts), float(scores[place])
        return found

    def _scores(self, first: Counts, second: Counts, pairs: Counts, len_vocab: int) -> NDArray[np.float64]:
        names = ("worda_count", "wordb_count", "bigram_count")
        facts = {
            "len_vocab": len_vocab,
            "min_count": self.min_count,
            "corpus_word_count": self.corpus_word_count,
        }
        if self.scoring in _SCORERS.values():
            return np.asarray(
                self.scoring(**dict(zip(names, (first, second, pairs), strict=True)), **facts), np.float64
            )
        rows = zip(first.tolist(), second.tolist(), pairs.tolist(), strict=True)
        each = (self.scoring(**dict(zip(names, row, strict=True)), **facts) for row in rows)
        return np.fromiter(each, np.float64, len(pairs))

    def export_phrases(self) -> dict[str, float]:
        """The phrases with their scores."""
        return self.phrasegrams

    def __repr__(self) -> str:
        size = len(self.vocab)
        return f"Phrases<{size} vocab, min_count={self.min_count}, threshold={self.threshold}, max_vocab_size=40000000>"

    def freeze(self) -> "FrozenPhrases":
        """The phrases without the counts."""
        return FrozenPhrases(self)


class FrozenPhrases(_Joining):
    """The phrases of a Phrases, without its counts."""

    def __init__(self, phrases_model: Phrases) -> None:
        self._found = dict(phrases_model._pairs)
        self.min_count, self.threshold = phrases_model.min_count, phrases_model.threshold
        self.delimiter, self.scoring = phrases_model.delimiter, phrases_model.scoring
        self.connector_words = phrases_model.connector_words

    def __repr__(self) -> str:
        return f"FrozenPhrases<{len(self._found)} phrases, min_count={self.min_count}, threshold={self.threshold}>"

    @classmethod
    def _from_found(cls, found: Found) -> "FrozenPhrases":
        made = cls.__new__(cls)
        made._found = found
        return made

    @property
    def _pairs(self) -> Found:
        return self._found


Phraser = FrozenPhrases
