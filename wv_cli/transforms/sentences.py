"""Sentence vectors made of word vectors: weighted means, and the common component that all of them share.

    mean   1/|s| sum v_w
    sif    1/|s| sum a / (a + p(w)) v_w, less its projection on the first singular vector of the given sentences
           (Arora, Liang & Ma 2017). p(w) is a word's share of a vocabulary file's words, 0 for a word not in it.
    idf    1/|s| sum idf(w) v_w, idf(w) = 1 + ln((1 + n) / (1 + n_w)): n_w of the n given sentences hold w, or, with a
           vocabulary file, n lines and as many of them as the word has occurrences

|s| is the number of words that have a vector. The common component is fitted on the sentences given together (those of
a data set, without their scores), so a sentence's SIF vector depends on its company.

Words: a sentence is parted at blanks; a field that is not listed loses the punctuation around it, and if it is still
not listed it is taken apart at all punctuation ("woman's" -> woman, s); parts that are not listed are composed of
subwords where the vectors can do that. Case is the look-up's. A sentence of which no word has a vector is the zero
vector.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.text.vocab import Vocab
from wv_cli.vectors.embeddings import Embeddings, OovRows

Pooling = Literal["mean", "sif", "idf"]
POOLINGS: tuple[Pooling, ...] = ("mean", "sif", "idf")
SIF_A = 1e-3

_EDGES = re.compile(r"^\W+|\W+$")
_PARTS = re.compile(r"\w+")


class WordLookup(Protocol):
    """evaluation.lookup.Lookup is one. `row`: a word's row, -1 without a vector; with `compose` perhaps a number of
    `oov`."""

    oov: OovRows

    def row(self, word: str, *, compose: bool = True) -> int: ...


def word_rows(sentence: str, lookup: WordLookup, stop_words: frozenset[str] = frozenset()) -> list[int]:
    """The rows of a sentence's words, as the module says. Words whose lower-case spelling is in `stop_words` are left
    out."""
    rows = []
    for field in sentence.split():
        bare = _EDGES.sub("", field)
        row = lookup.row(field, compose=False)
        if row < 0 and bare:
            row = lookup.row(bare, compose=False)
        found = [(bare, row)] if row >= 0 else [(part, lookup.row(part)) for part in _PARTS.findall(bare)]
        rows += [row for word, row in found if row >= 0 and word.lower() not in stop_words]
    return rows


@dataclass(frozen=True, eq=False)
class Sentences:
    """The word rows of sentences: those of sentence i are rows[starts[i]:starts[i + 1]]."""

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str], lookup: WordLookup, stop_words: frozenset[str] = frozenset()) -> "Sentences":
        found = [word_rows(text, lookup, stop_words) for text in texts]
        starts = np.zeros(len(found) + 1, np.int64)
        np.cumsum([len(rows) for rows in found], out=starts[1:])
        return cls(np.array([row for rows in found for row in rows], np.int64), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)


def counts_of(rows: int, lookup: WordLookup, vocab: Vocab) -> NDArray[np.float64]:
    """How often the word of each of `rows` rows stands in `vocab`, spellings that are one to the look-up added up; 0
    for words that are composed."""
    counts = np.zeros(rows)
    for word, count in zip(vocab.words, vocab.counts.tolist(), strict=True):
        row = lookup.row(word, compose=False)
        if row >= 0:
            counts[row] += count
    return counts


def row_weights(
    pooling: Pooling,
    sentences: Sentences,
    rows: int,
    lookup: WordLookup,
    vocab: Vocab | None = None,
    a: float = SIF_A,
) -> NDArray[np.float64]:
    """(rows,) weights of the words. Raises UsageError for sif without `vocab`, WvError for idf with
    a `vocab` that does not tell its number of lines."""
    if pooling == "mean":
        return np.ones(rows)
    if pooling == "sif":
        if vocab is None:
            message = "sif needs the words' frequencies: give --counts VOCAB (`wv build-vocab` makes one)"
            raise UsageError(message)
        share = counts_of(rows, lookup, vocab) / max(1, vocab.tokens)
        return a / (a + share)
    if vocab is not None:
        if not vocab.lines:
            message = (
                "idf needs a vocabulary file with the number of lines, a first row `</s> N`; or leave --counts out"
            )
            raise WvError(message)
        total, holding = float(vocab.lines), np.minimum(counts_of(rows, lookup, vocab), vocab.lines)
    else:
        number = np.repeat(np.arange(len(sentences)), sentences.lengths)
        once = np.unique(np.stack([number, sentences.rows]), axis=1)[1]
        total, holding = float(len(sentences)), np.bincount(once, minlength=rows).astype(np.float64)
    return 1 + np.log((1 + total) / (1 + holding))


def pooled(sentences: Sentences, matrix: NDArray[np.float32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
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
    """(dim,): the first right singular vector of the uncentred rows, its largest component positive."""
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    first: NDArray[np.float64] = directions[:, -1]
    return first if first[np.abs(first).argmax()] >= 0 else -first


def without_component(vectors: NDArray[np.float64], component: NDArray[np.float64]) -> NDArray[np.float64]:
    return vectors - np.outer(vectors @ component, component)


def sentence_vectors(
    texts: Sequence[str],
    embeddings: Embeddings,
    lookup: WordLookup,
    pooling: Pooling = "mean",
    *,
    vocab: Vocab | None = None,
    stop_words: frozenset[str] = frozenset(),
    a: float = SIF_A,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """((texts, dim) vectors, mask of the texts no word of which has a vector). Raises what row_weights raises."""
    sentences = Sentences.of(texts, lookup, stop_words)
    matrix = embeddings.matrix
    if len(lookup.oov):
        matrix = np.concatenate([matrix, lookup.oov.vectors()])
    weights = row_weights(pooling, sentences, len(matrix), lookup, vocab, a)
    vectors = pooled(sentences, matrix, weights)
    if pooling == "sif":
        vectors = without_component(vectors, common_component(vectors))
    return vectors, sentences.lengths == 0
