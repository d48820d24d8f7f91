"""Phrases: pairs of words that occur together far more often than chance would have it.

The method is word2vec's word2phrase (Mikolov, Sutskever, Chen, Corrado, Dean: Distributed Representations of Words and
Phrases and their Compositionality, 2013, section 4), with these departures, all on purpose:
  - a pair must be in one line: word2phrase counts pairs across line ends (and never joins them), --across-lines does;
  - in later passes a word `new_york` and the pair `new york` are counted apart (word2phrase adds their counts);
  - words have any length, the last word of a file without a final newline counts, and lines do not begin with a space.
A pass counts pairs of ids (exactly, see core/phrases.h), scores them and joins the chosen ones from the left; the right
word of a joined pair does not begin another. The next pass sees the joined text.

Connectors are gensim's (models.phrases, connector_words): they begin and end no phrase, and any of them may stand
between its two words. The score is that of the two words, whose count as a pair is that of the whole phrase.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.text.config import PhrasesConfig, ScoreName
from wv_cli.text.connectors import read_connectors
from wv_cli.text.joining import Joinable
from wv_cli.text.saved_phrases import PhrasePass, SavedPhrases, phrase_rows
from wv_cli.words import WordList, encode

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Pass:
    """What one pass did: the pairs `found` and what they become, best first, with their `scores` (float64) and the
    `counts` of the pairs; `joined` pairs were replaced in the text."""

    threshold: float
    found: PhrasePass
    scores: NDArray[np.float64]
    counts: Counts
    joined: int

    @property
    def phrases(self) -> WordList:
        return self.found.phrases

    @property
    def metadata(self) -> dict[str, float]:
        return {"threshold": self.threshold, "phrases": len(self.phrases), "joined": self.joined}

    @property
    def summary(self) -> str:
        """The same in words."""
        return f"threshold {self.threshold:g}: {len(self.phrases):,} phrases, joined {self.joined:,} times"


class PhraseFinder:
    """Finds the phrases of a text that has been read, and joins them in it: one finder, one text.

    `passes` are what was found. With `count_pairs` the first pass counts all pairs, whatever they can score: `pairs`
    are (all, those seen min_count times) afterwards. Words that begin with `apart` are in no phrase; they count as
    words all the same.
    """

    def __init__(
        self,
        config: PhrasesConfig,
        *,
        after_pass: Callable[[Pass], None] | None = None,
        count_pairs: bool = False,
        apart: str = "",
    ) -> None:
        """Raises UsageError."""
        config.validate()
        self.config = config
        self.passes: list[Pass] = []
        self.pairs: tuple[int, int] | None = None
        self._after_pass = after_pass
        self._count_pairs = count_pairs
        self._apart = apart
        self._connectors = read_connectors(config.connectors)

    def join_in(self, text: Joinable) -> None:
        """Each pass finds its phrases in what the one before has left, and joins them."""
        for threshold in self.config.of_passes:
            self.passes.append(self._pass(text, threshold))
            if self._after_pass is not None:
                self._after_pass(self.passes[-1])

    def to_saved(self) -> SavedPhrases:
        """What was found, as it is read from a file of `rows`."""
        return SavedPhrases.from_passes(one.found for one in self.passes)

    @property
    def digest(self) -> str:
        """That of the phrases, known once they are joined."""
        return self.to_saved().digest

    def rows(self) -> Iterator[bytes]:
        """The phrases of every pass, as saved_phrases keeps them."""
        for number, one in enumerate(self.passes, 1):
            yield from phrase_rows(number, one.found, one.scores)

    def _pass(self, text: Joinable, threshold: float) -> Pass:
        words = text.words
        scoring = _SCORES[self.config.score](text.counts, threshold, self.config.min_count)
        first, second, counts, scores = self._find(text, scoring, threshold)
        order = np.lexsort((second, first, -scores))
        first, second, counts, scores = first[order], second[order], counts[order], scores[order]
        delimiter = encode(self.config.delimiter)
        last, middle = text.last_words(second), text.middles(second)
        phrases = WordList.from_words(
            delimiter.join([words.bytes_at(a), *encode(between).split(), words.bytes_at(b)])
            for a, between, b in zip(first.tolist(), middle, last.tolist(), strict=True)
        )
        found = PhrasePass(words.take(first), words.take(last), phrases, middle if middle.blob else None)
        return Pass(threshold, found, scores, counts, text.join(first, second, phrases))

    def _find(
        self, text: Joinable, scoring: "_Scoring", threshold: float
    ) -> tuple[Counts, Counts, Counts, NDArray[np.float64]]:
        """(first words, second words, counts, scores) of the pairs that score above the threshold."""
        count_pairs = self._count_pairs and not self.passes
        bounds = scoring.bounds()
        if self._apart:
            bounds[text.words.beginning_with(encode(self._apart)), 0] = np.inf
        pairs = text.pairs(
            _no_bounds(bounds) if count_pairs else bounds,
            1 if count_pairs else self.config.min_count,
            self.config.memory // 2,
            across_lines=self.config.across_lines,
            connectors=self._connectors,
        )
        none = np.empty(0, np.int64)
        found = [(none, none, none, np.empty(0, np.float64))]
        every = often = 0
        for pair in pairs:
            frequent = pair[2] >= self.config.min_count
            first, second, counts = (each[frequent] for each in pair)
            scores = scoring.score(first, text.last_words(second), counts)
            good = scores > threshold
            found.append((first[good], second[good], counts[good], scores[good]))
            every, often = every + len(frequent), often + len(counts)
        if count_pairs:
            self.pairs = every, often
        first, second, counts, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return first, second, counts, scores


class _Scoring:
    """A score of pairs from their counts. `counts` are those of the words, `total` their sum."""

    def __init__(self, counts: Counts, threshold: float, min_count: int) -> None:
        self.counts = counts.astype(np.float64)
        self.total = float(counts.sum())
        self.threshold = threshold
        self.min_count = min_count

    def score(self, first: Counts, second: Counts, pairs: Counts) -> NDArray[np.float64]:
        """Scores of pairs seen min_count times or more."""
        raise NotImplementedError

    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(least, most) per word, such that a pair seen as often as its rarer word, and so any, scores above the
        threshold only if the larger `least` is below the smaller `most`."""
        raise NotImplementedError

    def bounds(self) -> NDArray[np.float32]:
        """The limits as the (n, 2) float32 that PairCounts wants, rounded to the safe side."""
        with np.errstate(divide="ignore", over="ignore"):
            least, most = self.limits()
            least = np.where(self.counts >= self.min_count, least, np.inf)
            narrow_least = np.nextafter(least.astype(np.float32) * np.float32(1 - 1e-6), np.float32(-np.inf))
            # -inf, a negative limit over a tiny threshold, and a share of it would be NaN.
            narrow_most = np.maximum(most, np.finfo(np.float32).min).astype(np.float32)
            narrow_most = np.nextafter(narrow_most + np.abs(narrow_most) * np.float32(1e-6), np.float32(np.inf))
        narrow_least[np.isinf(least)] = np.inf
        return np.ascontiguousarray(np.stack([narrow_least, narrow_most], axis=1))


def _no_bounds(bounds: NDArray[np.float32]) -> NDArray[np.float32]:
    """Bounds under which every pair is counted."""
    return np.broadcast_to(np.array([-np.inf, np.inf], np.float32), bounds.shape).copy()


class _Word2vecScoring(_Scoring):
    """(count_ab - min_count) * total / (count_a * count_b)."""

    def score(self, first: Counts, second: Counts, pairs: Counts) -> NDArray[np.float64]:
        return (pairs - self.min_count) * (self.total / (self.counts[first] * self.counts[second]))

    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # With count_ab = the smaller count: (1 - min_count / smaller) * total / threshold > larger.
        most = (1 - self.min_count / np.maximum(self.counts, 1)) * self.total
        return self.counts, most / self.threshold if self.threshold > 0 else np.full_like(most, np.inf)


class _NpmiScoring(_Scoring):
    """Normalized pointwise mutual information (Bouma 2009): ln(p_ab / (p_a p_b)) / -ln p_ab, from -1 to 1."""

    def score(self, first: Counts, second: Counts, pairs: Counts) -> NDArray[np.float64]:
        if self.total == 1:
            return np.zeros(len(pairs))
        mutual = np.log(pairs * self.total / (self.counts[first] * self.counts[second]))
        return mutual / -np.log(pairs / self.total)

    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # With count_ab = the smaller count: L - ln(larger) > threshold * (L - ln(smaller)), L = ln(total).
        logs = np.log(np.maximum(self.counts, 1))
        whole = math.log(self.total)
        most = whole - self.threshold * (whole - logs) if self.threshold >= 0 else np.full_like(logs, np.inf)
        return logs, most


_SCORES: dict[ScoreName, type[_Scoring]] = {"word2vec": _Word2vecScoring, "npmi": _NpmiScoring}
