"""Sentence vectors made of word vectors: the table POOLINGS.

    mean       1/|s| sum v_w
    sif        1/|s| sum a / (a + p(w)) v_w, less its projection on the first singular vector of the given sentences
               (Arora, Liang & Ma 2017). p(w) is a word's share of a vocabulary file's words, 0 for a word not in it.
    idf        1/|s| sum idf(w) v_w, idf(w) = 1 + ln((1 + n) / (1 + n_w)): n_w of the n given sentences hold w, or, with
               a vocabulary file, n lines and as many of them as the word has occurrences
    fasttext   1/|s| sum v_w / |v_w|, in float32, zero vectors left out: what fastText's models of word vectors do

|s| is the number of words that have a vector. The common component is fitted on the sentences given together (those of
a data set, without their scores), so a sentence's SIF vector depends on its company.

Words: a sentence is cut at blanks; a field that is not listed loses the punctuation around it, and if it is still
not listed it is taken apart at all punctuation ("woman's" -> woman, s); parts that are not listed are composed of
subwords where the vectors can do that. Case is the look-up's. A sentence of which no word has a vector is the zero
vector.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.registry import Registry
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import unit_mean
from wv_cli.vectors.lookup import Lookup
from wv_cli.words import WordList

if TYPE_CHECKING:
    from wv_cli.text.vocab import Vocab

SIF_A = 1e-3

_EDGES = re.compile(r"^\W+|\W+$")
_PARTS = re.compile(r"\w+")


def word_rows(
    sentence: str,
    lookup: Lookup,
    stop_words: frozenset[str] = frozenset(),
    seen: dict[str, list[int]] | None = None,
) -> list[int]:
    """The rows of a sentence's words, as the module says. Words whose lower-case spelling is in `stop_words` are left
    out. `seen` keeps the rows of fields for further sentences."""
    rows: list[int] = []
    seen = {} if seen is None else seen
    for field in sentence.split():
        found = seen.get(field)
        if found is None:
            found = seen[field] = _field_rows(field, lookup, stop_words)
        rows += found
    return rows


def _field_rows(field: str, lookup: Lookup, stop_words: frozenset[str]) -> list[int]:
    bare = _EDGES.sub("", field)
    row = lookup.row(field, compose=False)
    if row < 0 and bare:
        row = lookup.row(bare, compose=False)
    found = [(bare, row)] if row >= 0 else [(part, lookup.row(part)) for part in _PARTS.findall(bare)]
    return [row for word, row in found if row >= 0 and word.lower() not in stop_words]


@dataclass(frozen=True, eq=False)
class Sentences:
    """The word rows of sentences: those of sentence i are rows[starts[i]:starts[i + 1]]."""

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def from_texts(cls, texts: Sequence[str], lookup: Lookup, stop_words: frozenset[str] = frozenset()) -> "Sentences":
        seen: dict[str, list[int]] = {}
        return cls.of_rows([word_rows(text, lookup, stop_words, seen) for text in texts])

    @classmethod
    def of_rows(cls, found: Sequence[Sequence[int]]) -> "Sentences":
        starts = np.zeros(len(found) + 1, np.int64)
        np.cumsum([len(rows) for rows in found], out=starts[1:])
        return cls(np.array([row for rows in found for row in rows], np.int64), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)


@dataclass(frozen=True, eq=False)
class Counts:
    """How often words occur: a vocabulary file, whose words are found by `lookup`."""

    vocab: "Vocab"
    lookup: Lookup

    def of_rows(self, rows: int) -> NDArray[np.float64]:
        """(rows,): how often each row's word stands in the file, spellings that are one to the look-up added up; 0 for
        words that are composed."""
        counts = np.zeros(rows)
        for word, count in zip(self.vocab.words, self.vocab.counts.tolist(), strict=True):
            row = self.lookup.row(word, compose=False)
            if row >= 0:
                counts[row] += count
        return counts


def sif_weights(words: WordList, vocab: "Vocab", a: float = SIF_A) -> NDArray[np.float64]:
    """(words,): a / (a + p(w)) of words as they are spelled."""
    ids = vocab.words.find_all(words)
    counts = np.where(ids >= 0, vocab.counts[np.maximum(ids, 0)], 0)
    weights: NDArray[np.float64] = a / (a + counts / max(1, vocab.tokens))
    return weights


def pool_rows(sentences: Sentences, matrix: NDArray[np.float32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(sentences, dim): the weighted means; zero where a sentence has no words."""
    result = np.zeros((len(sentences), matrix.shape[1]))
    step = max(1, (1 << 24) // max(1, matrix.shape[1] * 16))
    for first in range(0, len(sentences), step):
        last = min(first + step, len(sentences))
        starts = sentences.starts[first : last + 1]
        rows = sentences.rows[starts[0] : starts[-1]]
        filled = np.flatnonzero(np.diff(starts))
        if len(filled):
            values = matrix[rows].astype(np.float64) * weights[rows, None]
            result[first + filled] = np.add.reduceat(values, starts[filled] - starts[0], axis=0)
    return result / np.maximum(sentences.lengths, 1)[:, None]


def common_component(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """(dim,): the first right singular vector of the uncentered rows, its largest component positive."""
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    first: NDArray[np.float64] = directions[:, -1]
    return first if first[np.abs(first).argmax()] >= 0 else -first


def without_component(vectors: NDArray[np.float64], component: NDArray[np.float64]) -> NDArray[np.float64]:
    return vectors - np.outer(vectors @ component, component)


# (sentences, the vectors of their rows (rows, dim), counts if there are any, SIF's a) -> (sentences, dim); zero for a
# sentence without words.
Pooling = Callable[[Sentences, NDArray[np.float32], Counts | None, float], NDArray[np.float64]]


def _mean(sentences: Sentences, matrix: NDArray[np.float32], counts: Counts | None, a: float) -> NDArray[np.float64]:
    return pool_rows(sentences, matrix, np.ones(len(matrix)))


def _sif(sentences: Sentences, matrix: NDArray[np.float32], counts: Counts | None, a: float) -> NDArray[np.float64]:
    """Raises UsageError without counts, WvError where nothing of the sentences is left."""
    if counts is None:
        message = "sif needs the words' frequencies: give --counts VOCAB (`wv build-vocab` makes one)"
        raise UsageError(message)
    share = counts.of_rows(len(matrix)) / max(1, counts.vocab.tokens)
    vectors = pool_rows(sentences, matrix, a / (a + share))
    own = without_component(vectors, common_component(vectors))
    if vectors.any() and np.abs(own).max() < 1e-9 * np.abs(vectors).max():  # rounding
        message = "sif removes what all texts share, and these share all; give more texts, or take --pooling idf"
        raise WvError(message)
    return own


def _idf(sentences: Sentences, matrix: NDArray[np.float32], counts: Counts | None, a: float) -> NDArray[np.float64]:
    """Raises WvError for a vocabulary file that does not tell its number of lines."""
    if counts is not None:
        total = counts.vocab.lines
        if not total:
            message = (
                "idf needs a vocabulary file with the number of lines, a first row `</s> N`; or leave --counts out"
            )
            raise WvError(message)
        holding = np.minimum(counts.of_rows(len(matrix)), total)
    else:
        total = len(sentences)
        number = np.repeat(np.arange(total), sentences.lengths)
        once = np.unique(np.stack([number, sentences.rows]), axis=1)[1]
        holding = np.bincount(once, minlength=len(matrix)).astype(np.float64)
    return pool_rows(sentences, matrix, 1 + np.log((1 + float(total)) / (1 + holding)))


def _fasttext(
    sentences: Sentences, matrix: NDArray[np.float32], counts: Counts | None, a: float
) -> NDArray[np.float64]:
    result = np.zeros((len(sentences), matrix.shape[1]))
    for i in np.flatnonzero(sentences.lengths).tolist():
        rows = sentences.rows[sentences.starts[i] : sentences.starts[i + 1]]
        result[i] = unit_mean([matrix[rows]], matrix.shape[1])
    return result


POOLINGS: Registry[Pooling] = Registry(
    "pooling", [("mean", _mean), ("sif", _sif), ("idf", _idf), ("fasttext", _fasttext)]
)


def sentence_vectors(
    texts: Sequence[str],
    embeddings: Embeddings,
    lookup: Lookup,
    pooling: str = "mean",
    *,
    vocab: "Vocab | None" = None,
    stop_words: frozenset[str] = frozenset(),
    a: float = SIF_A,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """((texts, dim) vectors, mask of the texts no word of which has a vector). Raises UsageError for a pooling that is
    not in POOLINGS and for sif without `vocab`, WvError for sif of a single text, and for idf with a `vocab` without
    its number of lines."""
    sentences = Sentences.from_texts(texts, lookup, stop_words)
    matrix = embeddings.matrix
    if len(lookup.oov):
        matrix = np.concatenate([matrix, lookup.oov.vectors()])
    counts = Counts(vocab, lookup) if vocab is not None else None
    return POOLINGS.find(pooling)(sentences, matrix, counts, a), sentences.lengths == 0
