"""Which rows of the input matrix make a word when words have subwords, and a trained model as fastText holds it.

fastText allocates a row for every bucket of its hash table, two million by default, though few are ever used. Here only
the buckets that occur in the vocabulary have rows: first the words' own, then the buckets in order of first use, so
that the n-grams of frequent words lie together. The n-grams themselves and the hash are in _subwords; the arithmetic is
csrc/kernels/word2vec/subwords.h.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords, _word2vec
from wv_cli.io import memory
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.text.vocab import Vocab
from wv_cli.vectors.fasttext import END_OF_LINE, FastTextArgs, FastTextModel, SparseRows
from wv_cli.words import WordList

_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Subwords:
    """Word w is the mean of the rows rows[starts[w]:starts[w + 1]] (int32; int64, len(words) + 1): w itself, then its
    n-grams, repeated when they repeat. Row len(words) + k belongs to bucket buckets[k] (int32)."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    buckets: NDArray[np.int32]

    @classmethod
    def from_words(cls, words: WordList, config: Word2vecConfig) -> "Subwords | None":
        """None when the config asks for no subwords. A word without n-grams is its row alone. Raises WvError when the
        table of buckets, 4 bytes each for a moment, does not fit in memory."""
        if config.maxn == 0:
            return None
        memory.require(4 * config.buckets, "the table of n-grams", "lower --buckets")
        starts, buckets = _subwords.of_words(words.blob, words.starts, config.minn, config.maxn, config.buckets)
        line_end = words.find(END_OF_LINE.decode())
        if line_end >= 0:  # the one word that has no n-grams in fastText, whatever its letters
            drop = slice(starts[line_end], starts[line_end + 1])
            starts[line_end + 1 :] -= drop.stop - drop.start
            buckets = np.delete(buckets, drop)
        return cls(*_word2vec.subword_rows(starts, buckets, config.buckets))

    @property
    def nbytes(self) -> int:
        return self.starts.nbytes + self.rows.nbytes + self.buckets.nbytes

    def updates(self, words: NDArray[np.float64]) -> NDArray[np.float64]:
        """How often each row changes, where word w does words[w] times."""
        rows = len(self.starts) - 1 + len(self.buckets)
        return np.bincount(self.rows, np.repeat(words, np.diff(self.starts)), rows).astype(np.float64)

    def means(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """The words' vectors (len(words), columns) from an input matrix (len(words) + len(buckets), columns)."""
        out = np.empty((len(self.starts) - 1, matrix.shape[1]), np.float32)
        for first in range(0, len(out), _ROWS_AT_ONCE):
            part = out[first : first + _ROWS_AT_ONCE]
            starts = self.starts[first : first + len(part) + 1]
            rows = self.rows[starts[0] : starts[-1]].astype(np.int64)
            _subwords.mean_rows(matrix.view(np.uint8), starts - starts[0], rows, part)
        return out


def line_end_index(vocab: Vocab) -> int | None:
    """Where fastText's `</s>`, counted once per line, stands among the words by falling count, before its equals. None
    when it is a word of the text already or there are no lines to count."""
    if vocab.lines == 0 or vocab.words.find(END_OF_LINE.decode()) >= 0:
        return None
    return int(np.searchsorted(-vocab.counts, -vocab.lines))


def counts_with_line_end(vocab: Vocab) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the counts of fastText's words, the index of each of ours among them)."""
    own, line_end = np.arange(len(vocab)), line_end_index(vocab)
    if line_end is None:
        return vocab.counts, own
    return np.insert(vocab.counts, line_end, vocab.lines), own + (own >= line_end)


def fasttext_model(
    config: Word2vecConfig,
    min_count: int,
    vocab: Vocab,
    subwords: Subwords | None,
    input_rows: NDArray[np.float32],
    output_rows: NDArray[np.float32],
) -> FastTextModel:
    """A trained run as fastText would hold it. input_rows is (words + used buckets, dim), output_rows (words, dim), or
    with hierarchical softmax (inner nodes, dim).

    `</s>` stands among the words as fastText expects, but line ends are not trained: its rows are zero but for the
    first number of the input row, 1e-6 (programs that divide by the norm would make NaN of a zero vector). It is left
    out with hierarchical softmax without subwords: that tree (Word2vec) is word2vec's, and fastText makes its own anew
    from the counts.
    """
    words, counts, own, line_end = vocab.words, vocab.counts, np.arange(len(vocab)), None
    layer = LAYERS[config.loss]
    assert layer.fasttext is not None, config.loss
    if subwords is not None or not layer.tree:
        counts, own = counts_with_line_end(vocab)
        line_end = line_end_index(vocab)
    total = len(counts)
    if line_end is not None:
        at = int(words.starts[line_end])
        starts = np.insert(words.starts, line_end + 1, at + len(END_OF_LINE))
        starts[line_end + 2 :] += len(END_OF_LINE)
        words = WordList(words.blob[:at] + END_OF_LINE + words.blob[at:], starts)
    dim, order, buckets = config.dim, np.empty(0, np.int64), 0
    kept = np.arange(total)
    if subwords is not None:
        order, buckets = np.argsort(subwords.buckets), config.buckets
        kept = np.concatenate([kept, total + subwords.buckets[order].astype(np.int64)])
    values = np.zeros((len(kept), dim), np.float32)
    values[own] = input_rows[: len(vocab)]
    if line_end is not None:
        values[line_end, 0] = 1e-6
    for first in range(0, len(order), _ROWS_AT_ONCE):
        part = order[first : first + _ROWS_AT_ONCE]
        values[total + first : total + first + len(part)] = input_rows[len(vocab) + part]
    predicted = np.arange(len(output_rows)) if layer.tree else own
    return FastTextModel(
        args=FastTextArgs(
            dim=dim,
            window=config.window,
            epochs=config.epochs,
            min_count=min_count,
            negative=config.negative,
            loss=layer.fasttext,
            model=config.model,
            buckets=buckets,
            minn=config.minn,
            maxn=config.maxn,
            sample=config.sample,
        ),
        words=words,
        counts=counts,
        labels=WordList.from_words([]),
        label_counts=np.empty(0, np.int64),
        tokens=vocab.tokens_read + vocab.lines,
        kept_buckets=None,
        input=SparseRows((total + buckets, dim), kept, values),
        output=SparseRows((total, dim), predicted, output_rows),
    )
