"""Vocab: the words of a text and how often they occur; word2vec's and GloVe's vocabulary files; sums of vocabularies.

Words are in order of falling count, equal counts in order of first sight, so an id is also a frequency rank. Line ends
are no word here: word2vec's `</s>` row is the field `lines`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wv_cli import _text
from wv_cli.errors import BadFile, UsageError, WvError, show_bytes
from wv_cli.io.events import OnProgress
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.io.output import open_output
from wv_cli.text.config import VocabConfig
from wv_cli.text.source import Source
from wv_cli.words import WordList

SENTENCE_END = b"</s>"
MOST_COUNTED = 2**63 - 1  # of all counts together


class EmptyVocabulary(WvError):
    """A text has no word, or none that is frequent enough."""


@dataclass(frozen=True, eq=False)
class Vocab:
    """`counts` is (len(words),) int64, falling. `lines` is the number of line ends seen, `tokens_read` that of all
    words read, those not kept included."""

    words: WordList
    counts: NDArray[np.int64]
    lines: int = 0
    tokens_read: int = 0

    def __len__(self) -> int:
        return len(self.words)

    @property
    def tokens(self) -> int:
        """Occurrences of the words kept."""
        return int(self.counts.sum())

    @property
    def nbytes(self) -> int:
        return self.words.nbytes + self.counts.nbytes

    @cached_property
    def digest(self) -> str:
        """Fingerprint of words and counts, 32 hexadecimal digits."""
        state = hashlib.blake2b(digest_size=16)
        for part in (self.words.starts, self.counts):
            state.update(part.astype("<i8").tobytes())
        state.update(self.words.blob)
        return state.hexdigest()

    def cut(self, config: VocabConfig) -> "Vocab":
        """The words with at least `config.min_count` occurrences, of those the first `config.max_vocab` (0: all).

        Raises WvError when no word is left.
        """
        config.validate()
        kept = self.often(config.min_count)
        if kept == 0:
            if len(self):
                raise too_rare(config, self.words.bytes_at(0), int(self.counts[0]))
            message = "the vocabulary is empty"
            raise EmptyVocabulary(message)
        if config.max_vocab:
            kept = min(kept, config.max_vocab)
        return self.most_frequent(kept)

    def often(self, min_count: int) -> int:
        """How many words occur `min_count` times or more; they come first."""
        return int(np.count_nonzero(self.counts >= min_count))

    def most_frequent(self, count: int) -> "Vocab":
        """The `count` most frequent words, perhaps none."""
        if count == len(self):
            return self
        return Vocab(self.words[:count], self.counts[:count], self.lines, self.tokens_read)


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def too_rare(config: VocabConfig, word: bytes, count: int) -> EmptyVocabulary:
    """What to raise when even the most frequent word does not reach min_count."""
    return EmptyVocabulary(
        f"no word occurs {config.min_count} times (--min-count {config.min_count}); the most frequent, "
        f"{show_bytes(word)}, occurs {times(count)}: lower --min-count or give more text"
    )


def order_words(
    blob: bytes, starts: NDArray[np.int64], counts: NDArray[np.int64], *, lines: int, tokens_read: int
) -> tuple[Vocab, NDArray[np.int64]]:
    """The vocabulary of words listed in order of first sight, and the index in that list of each of its words."""
    order = np.argsort(-counts, kind="stable")
    words = WordList(blob, starts).take(order)
    return Vocab(words, np.ascontiguousarray(counts[order]), lines, tokens_read), order


@dataclass(frozen=True, eq=False)
class Tally:
    """Words in order of first sight and their counts (len(words),) int64; `lines` and `tokens_read` as in Vocab."""

    words: WordList
    counts: NDArray[np.int64]
    lines: int
    tokens_read: int

    def vocab(self) -> Vocab:
        return order_words(
            self.words.blob, self.words.starts, self.counts, lines=self.lines, tokens_read=self.tokens_read
        )[0]


def add_up(tallies: Sequence[Tally]) -> Tally:
    """Counts, lines and tokens summed word by word, in the order of one pass over the texts that were counted. Raises
    WvError, with the word, for sums of 2^63 or more."""
    words = _text.WordMap()
    ids = [words.add(tally.words.blob, tally.words.starts) for tally in tallies]
    counts = np.zeros(len(words), np.int64)
    for tally, own_ids in zip(tallies, ids, strict=True):
        too_many = np.flatnonzero(counts[own_ids] > MOST_COUNTED - tally.counts)
        if len(too_many):
            message = f"the counts of {tally.words[int(too_many[0])]!r} add up to 2^63 or more, which no count can be"
            raise WvError(message)
        counts[own_ids] += tally.counts
    lines, tokens = sum(tally.lines for tally in tallies), sum(tally.tokens_read for tally in tallies)
    for what, total in (("words", tokens), ("lines", lines)):
        if total > MOST_COUNTED:
            message = f"the vocabularies have {total:,} {what} in all; 2^63 or more cannot be counted"
            raise WvError(message)
    return Tally(WordList(*words.words()), counts, lines, tokens)


def merge_vocabs(vocabs: Sequence[Vocab]) -> Vocab:
    """Counts, lines and tokens summed word by word. "First seen" is first in the first vocabulary that has the word.

    Words with equal sums stand as in one pass over the texts, but for one case: a file is sorted by count, so of words
    that the first file which has them counts differently, the one with more there comes first, seen first or not.
    Raises WvError, with the word, for sums of 2^63 or more.
    """
    return add_up([Tally(vocab.words, vocab.counts, vocab.lines, vocab.tokens_read) for vocab in vocabs]).vocab()


def read_vocab(path: str, progress: OnProgress | None = None) -> Vocab:
    """Reads lines of `word count`, in any order, as word2vec (-save-vocab) and GloVe (vocab_count) write them.

    A first row `</s>` is the number of lines. `tokens_read` is the sum of the counts: what was cut before is not known.
    Compressed files and `-` are read like texts. Raises BadFile with the line for a line of another form, a word given
    twice, a count of 0, an empty file; WvError when the file cannot be read.
    """
    text, blob, starts, counts = _split(path, progress)
    first = 0
    lines = 0
    if len(counts) and blob[: starts[1]] == SENTENCE_END:
        first, lines = 1, int(counts[0])
        blob, starts, counts = blob[starts[1] :], starts[1:] - starts[1], counts[1:]
    if len(counts) == 0:
        problem = "expected lines of `word count`, found none"
        raise BadFile(path, problem)
    if counts.min() < 1:
        line = first + int(np.argmin(counts))
        raise _bad_line(path, text, line)
    _require_sum(path, counts, WordList(blob, starts), first)
    words = _text.WordMap(len(counts))
    ids = words.add(blob, starts)
    if len(words) < len(counts):
        second = int(np.flatnonzero(ids != np.arange(len(ids)))[0])
        word = show_bytes(WordList(blob, starts).bytes_at(second))
        problem = f"the word {word} was already given in line {int(ids[second]) + first + 1}; remove one of them"
        raise BadFile(path, problem, line=second + first + 1)
    return order_words(blob, starts, counts, lines=lines, tokens_read=int(counts.sum()))[0]


def read_ranked_vocab(path: str) -> Vocab:
    """Reads a vocabulary as GloVe's programs do: a word's id is the number of its line, whatever the counts (which are
    1 here), the first row is a word even if it is `</s>`, and a word may stand there again. Perhaps there are none.

    Raises BadFile with the line for a line that is not `word count`, WvError when the file cannot be read.
    """
    _, blob, starts, counts = _split(path)
    return Vocab(WordList(blob, starts), np.ones(len(counts), np.int64))


def _split(path: str, progress: OnProgress | None = None) -> tuple[bytes, bytes, NDArray[np.int64], NDArray[np.int64]]:
    """A file of lines `word count`: its text, the words, where each begins, the counts."""
    text = b"".join(Source([path], progress=progress))
    refuse_other_kinds(text[:HEAD_BYTES], path, "lines of `word count`")
    blob, starts, counts, bad = _text.split_counts(text)
    if bad >= 0:
        raise _bad_line(path, text, bad)
    return text, blob, starts, counts


def _require_sum(path: str, counts: NDArray[np.int64], words: WordList, first: int) -> None:
    """Raises BadFile when the counts (none below 0) add up to 2^63 or more, exactly: with the line that is too much."""
    with np.errstate(over="ignore"):
        wrapped = np.flatnonzero(np.cumsum(counts) < 0)
    if len(wrapped):
        row = int(wrapped[0])
        problem = (
            f"with {counts[row]:,} of {words[row]!r} the counts add up to 2^63 or more; give the counts of this text"
        )
        raise BadFile(path, problem, line=row + first + 1)


def _bad_line(path: str, text: bytes, index: int) -> BadFile:
    line = text.split(b"\n", index + 1)[index]
    shown = line[:60].decode("utf-8", "backslashreplace") + ("..." if len(line) > 60 else "")
    problem = (
        f"expected a word and its count (1 or more), found {shown!r}"
        if line.strip()
        else "expected a word and its count, found an empty line"
    )
    return BadFile(path, problem, line=index + 1)


def write_vocab(path: str, vocab: Vocab, *, sentence_end: bool = True) -> None:
    """Writes lines of `word count`, with `</s> LINES` first as word2vec does, or without it as GloVe does.

    Raises WvError when the file cannot be written, UsageError when a GloVe file would begin with a word `</s>`, which
    every reader would take for the number of lines.
    """
    write_pieces(path, [vocab], vocab.lines, sentence_end=sentence_end)


def write_pieces(path: str, pieces: Iterable[Vocab], lines: int, *, sentence_end: bool = True) -> tuple[int, int]:
    """write_vocab() of a vocabulary in pieces, one after the other; how many words and how many tokens it has."""
    words = tokens = 0
    with open_output(path) as stream:
        if sentence_end:
            stream.write(b"%s %d\n" % (SENTENCE_END, lines))
        for piece in pieces:
            if not sentence_end and words == 0 and len(piece) and piece.words.bytes_at(0) == SENTENCE_END:
                message = "the most frequent word is `</s>`, which cannot stand in the first row; use --sentence-end"
                raise UsageError(message)
            stream.writelines(vocab_lines(piece))
            words, tokens = words + len(piece), tokens + piece.tokens
    return words, tokens


def vocab_lines(vocab: Vocab) -> Iterator[bytes]:
    """Lines of `word count`, many at a time."""
    blob = vocab.words.blob
    for first in range(0, len(vocab), 10_000):
        starts = vocab.words.starts[first : first + 10_001].tolist()
        counts = vocab.counts[first : first + 10_000].tolist()
        yield b"".join(b"%s %d\n" % (blob[starts[i] : starts[i + 1]], count) for i, count in enumerate(counts))
