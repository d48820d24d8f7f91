"""Phrases: pairs of words that occur together far more often than chance would have it, joined to one word.

The method is word2vec's word2phrase (Mikolov, Sutskever, Chen, Corrado, Dean: Distributed Representations of Words and
Phrases and their Compositionality, 2013, section 4), with these departures, all on purpose:
  - a pair must be in one line: word2phrase counts pairs across line ends (and never joins them), --across-lines does;
  - in later passes a word `new_york` and the pair `new york` are counted apart (word2phrase adds their counts);
  - words have any length, the last word of a file without a final newline counts, and lines do not begin with a space.
The text is read once, into ids. A pass counts pairs of ids (exactly, see core/phrases.h), scores them and joins the
chosen ones from the left; the right word of a joined pair does not begin another. The next pass sees the joined text.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli import _phrases, _text
from wv_cli.system.spill import Spool
from wv_cli.text.config import DEFAULT_THRESHOLD, PhrasesConfig, ScoreName
from wv_cli.text.corpus import require_words
from wv_cli.text.id_stream import read_ids
from wv_cli.text.input_files import Inputs
from wv_cli.text.joining import JoinedIds
from wv_cli.text.saved_phrases import PhrasePass, SavedPhrases, phrase_rows
from wv_cli.text.source import Progress, Source
from wv_cli.words import WordList, encode

Counts = NDArray[np.int64]


def falling_thresholds(last: float, passes: int, score: ScoreName) -> tuple[float, ...]:
    """`passes` thresholds that end with `last`, each half the one before (word2vec's demo: 200, 100); for npmi, whose
    scale ends at 1, each twice as far from 1 as the one before (0.875, 0.75, 0.5)."""
    steps = range(passes - 1, -1, -1)
    if score == "npmi":
        return tuple(1 - (1 - last) / 2**step for step in steps)
    return tuple(last * 2**step for step in steps)


def all_thresholds(given: tuple[float, ...], passes: int | None, score: ScoreName) -> tuple[float, ...]:
    """Those of every pass: the ones `given`, or as many as `passes` that end with the only one or the score's own."""
    last = given[-1] if given else DEFAULT_THRESHOLD[score]
    return falling_thresholds(last, passes, score) if passes is not None else given or (last,)


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


class JoinedText:
    """A text with its phrases joined. Use as a context: it may hold a file.

    with JoinedText(inputs, config) as text: ... text.passes, text.chunks()

    `words_seen`: different words of the text, those seen min_count times.

    Raises UsageError, and WvError when there is no text or the ids cannot be kept; what Source raises.
    """

    def __init__(
        self,
        inputs: Inputs,
        config: PhrasesConfig,
        *,
        spool_beside: str | None = None,
        progress: Progress | None = None,
        after_pass: Callable[[Pass], None] | None = None,
        count_pairs: bool = False,
        saved: SavedPhrases | None = None,
    ) -> None:
        """With `count_pairs` the first pass counts all pairs, whatever they can score: `pairs` are (all, those seen
        min_count times) afterwards. `saved` phrases are joined instead of those of this text; there are no `passes`
        then."""
        config.validate()
        self.config = config
        self.passes: list[Pass] = []
        self.pairs: tuple[int, int] | None = None
        self._count_pairs = count_pairs
        self._spool = Spool(spool_beside)
        try:
            source = Source(inputs, lowercase=config.lowercase, progress=progress)
            self._words = _text.Encoder(every_line=True)
            read_ids(source, self._words, config.memory // 2, self._spool)
            require_words(self._words, source.inputs)
            self.lines = self._words.lines
            self.tokens_read = self._words.tokens
            self._text = JoinedIds(self._words, self._spool)
            self.words_seen = len(self._text.words), int((self._text.counts >= config.min_count).sum())
            if saved is not None:
                self._text.apply(saved)
            for threshold in config.thresholds if saved is None else ():
                self.passes.append(self._pass(threshold))
                if after_pass is not None:
                    after_pass(self.passes[-1])
        except BaseException:
            self._spool.__exit__(None, None, None)
            raise

    def __enter__(self) -> "JoinedText":
        return self

    def __exit__(self, *error: object) -> None:
        self._spool.__exit__(None, None, None)

    @property
    def tokens(self) -> int:
        """Words in the joined text, a phrase being one."""
        return int(self._text.counts.sum())

    def chunks(self) -> Iterator[bytes | bytearray]:
        """The joined text: one space between words, every line in its place, empty ones included."""
        return self._text.chunks()

    def rows(self) -> Iterator[bytes]:
        """The phrases of every pass, as saved_phrases keeps them."""
        for number, one in enumerate(self.passes, 1):
            yield from phrase_rows(number, one.found, one.scores)

    def _pass(self, threshold: float) -> Pass:
        words = self._text.words
        scoring = _SCORES[self.config.score](self._text.counts, threshold, self.config.min_count)
        first, second, counts, scores = self._find(scoring, threshold)
        order = np.lexsort((second, first, -scores))
        first, second, counts, scores = first[order], second[order], counts[order], scores[order]
        delimiter = encode(self.config.delimiter)
        phrases = WordList.of(
            words.bytes_at(a) + delimiter + words.bytes_at(b)
            for a, b in zip(first.tolist(), second.tolist(), strict=True)
        )
        found = PhrasePass(words.take(first), words.take(second), phrases)
        return Pass(threshold, found, scores, counts, self._text.join(first, second, phrases))

    def _find(self, scoring: "_Scoring", threshold: float) -> tuple[Counts, Counts, Counts, NDArray[np.float64]]:
        """(first words, second words, counts, scores) of the pairs that score above the threshold."""
        count_pairs = self._count_pairs and not self.passes
        bounds = scoring.bounds()
        table = _phrases.PairCounts(_no_bounds(bounds) if count_pairs else bounds, self.config.memory // 2)
        found: list[tuple[Counts, Counts, Counts, NDArray[np.float64]]] = []
        every = often = 0
        while True:
            for block in self._text.stream.blocks():
                table.add(block[block >= 0] if self.config.across_lines else block)
            if count_pairs:
                every += sum(len(counts) for _, _, counts in table.selected(1))
            for first, second, counts in table.selected(self.config.min_count):
                scores = scoring.score(first, second, counts)
                good = scores > threshold
                found.append((first[good], second[good], counts[good], scores[good]))
                often += len(counts)
            if not table.next_part():
                break
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
            narrow_most = most.astype(np.float32)
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
    """Normalised pointwise mutual information (Bouma 2009): ln(p_ab / (p_a p_b)) / -ln p_ab, from -1 to 1."""

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
