"""A fastText model in memory: words, labels and two matrices, and the vectors it gives to words and lines.

Vectors are fastText's own (fasttext.cc, dictionary.cc of version 0.9.2): a word is the mean of the rows of the word, if
it is known, and of its character n-grams; OOV words have n-grams alone. Rows 0 .. len(words) - 1 of the input matrix
belong to the words, those behind them to the buckets. Not here: files (wv_cli.vectors.formats.fasttext_bin), training,
and the answers of a classifier (wv_cli.models.supervised).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any, Literal, Protocol, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli import _subwords
from wv_cli._text import SEPARATORS
from wv_cli.errors import WvError
from wv_cli.io.origin import Origin
from wv_cli.words import WordList, encode

Rows = NDArray[np.int64]
Loss = Literal["hs", "ns", "softmax", "ova"]
Kind = Literal["cbow", "skipgram", "supervised"]

END_OF_LINE = b"</s>"  # the word that fastText reads at every line end
LABEL_PREFIX = b"__label__"  # not kept in the file; fastText takes its default, too, for words a model does not know

# Rows gathered at once when a matrix is not dense; characters of words whose n-grams are made at once.
_BLANKS = b" \t\n\r\v\f"  # of ASCII
_GATHERED_BYTES = 1 << 26
_BLOCK_CHARACTERS = 1 << 18
_LONGEST = 1 << 20  # bytes of a word that is composed: the rows of its n-grams take a hundred times as much
_WORDS_AT_ONCE = 10_000  # of a line
_LEAST_SQUARE = 1e-30  # of a vector's length: below, its terms may be too small for float32


class Matrix(Protocol):
    """A matrix of a fastText model, which may be dense, sparse or quantized. `shape` is (rows, dim); `take` gives the
    rows with these numbers as (len(rows), dim) float32."""

    @property
    def shape(self) -> tuple[int, int]: ...
    def take(self, rows: Rows, /) -> NDArray[np.float32]: ...


@dataclass(frozen=True, eq=False)
class DenseMatrix:
    """A matrix whose numbers are all stored. `values` is (rows, dim) float32, C-ordered. It may be memory-mapped,
    read-only and not aligned: numpy computes with such arrays, kernels should be given take()'s."""

    values: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.values.shape[1]

    def take(self, rows: ArrayLike, /) -> NDArray[np.float32]:
        return self.values[np.asarray(rows, np.int64)]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix with few rows that are not zero. Row kept[i] (ascending, int64) is row source[i] of `values`, or row i
    where there is no `source`. All other rows are zero. `values` (n, dim) float32 may be a part of wider rows."""

    shape: tuple[int, int]
    kept: NDArray[np.int64]
    values: NDArray[np.float32]
    source: NDArray[np.int32] | None = None

    def take(self, rows: ArrayLike, /) -> NDArray[np.float32]:
        rows = np.asarray(rows, np.int64)
        result = np.zeros((len(rows), self.shape[1]), np.float32)
        if len(self.kept):
            position = np.searchsorted(self.kept, rows).clip(max=len(self.kept) - 1)
            found = self.kept[position] == rows
            position = position[found]
            result[found] = self.values[position if self.source is None else self.source[position]]
        return result

    def stored_rows(self, begin: int, end: int) -> NDArray[np.float32]:
        """The rows kept[begin:end]."""
        return self.values[begin:end] if self.source is None else self.values[self.source[begin:end]]


@dataclass(frozen=True)
class FastTextArgs:
    """The arguments that a model file keeps, with fastText's names and, as defaults, its values for word vectors."""

    dim: int = 100
    window: int = 5
    epochs: int = 5
    min_count: int = 5
    negative: int = 5
    word_ngrams: int = 1
    loss: Loss = "ns"
    model: Kind = "skipgram"
    buckets: int = 2_000_000
    minn: int = 3
    maxn: int = 6
    lr_update_rate: int = 100
    sample: float = 1e-4


@dataclass(frozen=True, eq=False)
class FastTextModel:
    """A fastText model: `words` (nwords) and `labels` (nlabels) with their counts (int64),
    most frequent first; `tokens` is how many the corpus had. `input` is (nwords + buckets, dim), or after pruning
    (nwords + len(kept_buckets), dim): `kept_buckets` (n, 2) int32 holds pairs (bucket, its row behind the words);
    None when nothing was pruned. `output` is (nlabels, dim) for a classifier, (nwords, dim) for word vectors.
    `version` is that of the file.

    fastText and gensim expect `</s>` among the words; END_OF_LINE.
    """

    args: FastTextArgs
    words: WordList
    counts: NDArray[np.int64]
    labels: WordList
    label_counts: NDArray[np.int64]
    tokens: int
    kept_buckets: NDArray[np.int32] | None
    input: Matrix
    output: Matrix
    version: int = 12
    # The file whose pages the matrices are; a model changed by replace() has none.
    origin: Origin | None = field(default=None, init=False, repr=False)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """A mapped model is pickled as its file, another one whole."""
        return (self.origin.reduce() if self.origin is not None else None) or super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("origin", "_bucket_rows")}

    def __copy__(self) -> "FastTextModel":
        return self  # it does not change

    def __deepcopy__(self, memo: dict[int, Any]) -> "FastTextModel":
        return self

    @property
    def dim(self) -> int:
        return self.args.dim

    @property
    def is_classifier(self) -> bool:
        return self.args.model == "supervised"

    @property
    def char_ngrams(self) -> tuple[int, int]:
        """(minn, maxn) as they count: classifiers in files of version 11 have none, whatever the file says."""
        old = self.version < 12 and self.is_classifier
        return (0, 0) if old else (self.args.minn, self.args.maxn)

    @property
    def has_subwords(self) -> bool:
        """Whether a word that is not known can have a vector."""
        pruned_away = self.kept_buckets is not None and len(self.kept_buckets) == 0
        return self.char_ngrams[1] > 0 and self.args.buckets > 0 and not pruned_away

    @cached_property
    def _bucket_rows(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(kept buckets ascending, their rows). Of a bucket listed twice the last counts."""
        assert self.kept_buckets is not None
        buckets, last = np.unique(self.kept_buckets[::-1, 0], return_index=True)
        return buckets, self.kept_buckets[::-1, 1][last]

    def rows_of_buckets(self, buckets: NDArray[np.int32]) -> Rows:
        """The rows of the input matrix for n-grams with these buckets; -1 for those that pruning dropped."""
        if self.kept_buckets is None:
            return buckets.astype(np.int64) + len(self.words)
        known, rows = self._bucket_rows
        if not len(known):
            return np.full(len(buckets), -1, np.int64)
        position = np.searchsorted(known, buckets).clip(max=len(known) - 1)
        return np.where(known[position] == buckets, rows[position].astype(np.int64) + len(self.words), -1)

    def word_rows(self, word: str | bytes) -> Rows:
        """The rows whose mean is the word's vector: its own, if it is known, then those of its n-grams."""
        return self._rows_of_words(WordList.from_words([word]), np.array([self.words.find(word)]))[1]

    def ngrams(self, word: str | bytes) -> list[tuple[bytes, int]]:
        """(n-gram, row of the input matrix) for every character n-gram of a word that has one, in fastText's order."""
        text = encode(word) if isinstance(word, str) else word
        if text == END_OF_LINE or not self.has_subwords:
            return []
        found = _subwords.ngrams(text, *self.char_ngrams, self.args.buckets)
        rows = self.rows_of_buckets(np.array([bucket for _, bucket in found], np.int32))
        return [(ngram, row) for (ngram, _), row in zip(found, rows.tolist(), strict=True) if row >= 0]

    def word_vector(self, word: str | bytes) -> NDArray[np.float32]:
        """The vector of a word, (dim,). It is zero for an unknown word without n-grams."""
        return self.mean([self.word_rows(word)]).reshape(-1)

    def oov_vector(self, word: str | bytes) -> NDArray[np.float32] | None:
        """The vector of an unknown word; None for a known word, and for a word without known n-grams."""
        if not self.has_subwords or self.words.find(word) >= 0:
            return None
        vector = self.word_vector(word)
        return vector if vector.any() else None

    def word_vectors(self, words: Sequence[str | bytes]) -> NDArray[np.float32]:
        """The vectors of several words, (len(words), dim); see word_vector."""
        listed = WordList.from_words(words)
        return self._vectors(listed, self.words.find_all(listed))

    def line_rows(self, line: Iterable[str | bytes]) -> Rows:
        """The rows whose mean is the hidden vector of a classifier for a line of tokens: words with their n-grams, the
        line end, and the n-grams of words. Labels are left out."""
        listed = WordList.from_words(chain(line, [END_OF_LINE]))
        own, is_label = self.words.find_all(listed), self.labels.find_all(listed) >= 0
        if is_label.any() or LABEL_PREFIX in listed.blob:
            begins_as_one = np.isin(np.arange(len(listed)), listed.beginning_with(LABEL_PREFIX))
            kept = np.flatnonzero(~(is_label | ((own < 0) & begins_as_one)))  # the line end is none
            listed, own = listed.take(kept), own[kept]
        rows = self._rows_of_words(listed, own)[1]
        if self.args.word_ngrams <= 1:
            return rows
        hashes = _subwords.word_hashes(listed.blob, listed.starts)
        ngram_rows = self.rows_of_buckets(_subwords.line_ngrams(hashes, self.args.word_ngrams, self.args.buckets))
        return np.concatenate([rows, ngram_rows[ngram_rows >= 0]])

    def sentence_vector(self, line: str | bytes) -> NDArray[np.float32]:
        """The vector of a line, (dim,). For a classifier it is the mean of the line's rows; else it is the mean of the
        unit vectors of its words, without words that have no vector."""
        if self.is_classifier:
            return self.mean([self.line_rows(tokens_of(line, classifier=True))]).reshape(-1)
        return unit_mean((self.word_vectors(block) for block in token_blocks(line)), self.dim)

    def mean(self, groups: Sequence[Rows]) -> NDArray[np.float32]:
        """The mean of each group of input rows, (len(groups), dim); zero for an empty group."""
        starts = np.zeros(len(groups) + 1, np.int64)
        np.cumsum([len(rows) for rows in groups], out=starts[1:])
        out = np.empty((len(groups), self.dim), np.float32)
        self._mean_into(out, starts, np.concatenate(groups) if groups else np.empty(0, np.int64))
        return out

    def _mean_into(self, out: NDArray[np.float32], starts: NDArray[np.int64], rows: Rows) -> None:
        if isinstance(self.input, DenseMatrix):
            _subwords.mean_rows(self.input.values.view(np.uint8), starts, rows, out)
            return
        most, first = max(1, _GATHERED_BYTES // (4 * self.dim)), 0
        while first < len(out):
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
            part = starts[first : last + 1]
            gathered = np.ascontiguousarray(self.input.take(rows[part[0] : part[-1]]))
            _subwords.mean_rows(gathered.view(np.uint8), part - part[0], None, out[first:last])
            first = last

    def all_word_vectors(self, limit: int | None = None) -> NDArray[np.float32]:
        """The vectors of the known words, or of the first `limit` of them, (len(words), dim), subwords included."""
        count = len(self.words) if limit is None else min(limit, len(self.words))
        return self._vectors(self.words, np.arange(count, dtype=np.int64))

    def _vectors(self, words: WordList, own: Rows) -> NDArray[np.float32]:
        """The vectors of the first len(own) of `words`, whose rows are `own`, -1 for unknown ones."""
        out = np.empty((len(own), self.dim), np.float32)
        first, ends = 0, words.starts
        while first < len(own):
            last = max(first + 1, int(np.searchsorted(ends, ends[first] + _BLOCK_CHARACTERS, side="right")) - 1)
            last = min(last, len(own), first + _BLOCK_CHARACTERS)
            block = WordList(words.blob[ends[first] : ends[last]], ends[first : last + 1] - ends[first])
            self._mean_into(out[first:last], *self._rows_of_words(block, own[first:last]))
            first = last
        return out

    def _rows_of_words(self, words: WordList, own: Rows) -> tuple[NDArray[np.int64], Rows]:
        """(starts, rows): word_rows of word i are rows[starts[i]:starts[i + 1]]."""
        listed = own >= 0
        starts = np.zeros(len(words) + 1, np.int64)
        if not self.has_subwords:
            np.cumsum(listed, out=starts[1:])
            return starts, own[listed]
        longest = int(np.diff(words.starts)[~listed].max(initial=0))
        if longest > _LONGEST:
            message = f"expected a word of at most {_LONGEST:,} bytes for its n-grams, found one of {longest:,}"
            raise WvError(message)
        ends, buckets = _subwords.of_words(words.blob, words.starts, *self.char_ngrams, self.args.buckets)
        ngram_rows = self.rows_of_buckets(buckets)
        keep = ngram_rows >= 0
        for i in np.flatnonzero(np.diff(words.starts) == len(END_OF_LINE)).tolist():
            if words.bytes_at(i) == END_OF_LINE:
                keep[ends[i] : ends[i + 1]] = False
        word = np.repeat(np.arange(len(words)), np.diff(ends))[keep]
        np.cumsum(np.bincount(word, minlength=len(words)) + listed, out=starts[1:])
        is_own = np.zeros(int(starts[-1]), np.bool_)
        is_own[starts[:-1][listed]] = True
        rows = np.empty(len(is_own), np.int64)
        rows[is_own], rows[~is_own] = own[listed], ngram_rows[keep]
        return starts, rows


def tokens_of(line: str | bytes, *, classifier: bool = False) -> Iterator[bytes]:
    """The words of a line, as fastText separates them: for a classifier at SEPARATORS (Dictionary::readWord), else at
    ASCII white space (C++ streams), which is the same without NUL."""
    pattern = b"[^" + re.escape(_BLANKS + (SEPARATORS if classifier else b"")) + b"]+"
    if isinstance(line, bytes):
        return (match.group() for match in re.finditer(pattern, line))
    return (encode(match.group()) for match in re.finditer(pattern.decode(), line))


def token_blocks(line: str | bytes) -> Iterator[list[bytes]]:
    """The words of a line in blocks, not for classifiers."""
    tokens = tokens_of(line)
    while block := list(islice(tokens, _WORDS_AT_ONCE)):
        yield block


def unit_mean(blocks: Iterable[NDArray[np.float32]], dim: int) -> NDArray[np.float32]:
    """The mean of the unit vectors of blocks (n, dim), as (dim,). Zero vectors are left out; without others the mean
    is zero."""
    total, count = np.zeros(dim, np.float32), 0
    for vectors in blocks:
        squares = np.einsum("ij,ij->i", vectors, vectors)
        norms = np.sqrt(squares)
        odd = np.flatnonzero(~((squares > _LEAST_SQUARE) & (squares < np.inf)))
        if len(odd):  # float32 squares of these numbers have lost their digits, or are none
            exact = vectors[odd].astype(np.float64)
            lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
            vectors, norms = vectors.copy(), norms.copy()
            vectors[odd] = np.divide(exact, lengths[:, None], out=np.zeros_like(exact), where=lengths[:, None] > 0)
            norms[odd] = lengths > 0
        known = norms > 0
        total += (vectors[known] / norms[known, None]).sum(axis=0)
        count += int(known.sum())
    return total / np.float32(max(count, 1))
