"""Smaller fastText models: rows dropped, the others kept as codes (Joulin et al. 2016, arXiv 1612.03651). Classifiers,
and word vectors with subwords. The result is a model of fastText's .ftz files, which fastText reads.

A classifier is made smaller as fastText does it: the rows of the largest norms stay, `</s>` first among them. Word
vectors need other rules, which are ours. A word that is dropped would vanish from neighbor lists, so words go before
buckets, the most frequent first. Since a word's vector is the mean of its own row and its n-grams' rows, its own row is
set anew so that this mean, over the n-grams that are left and as their codes give them, is again the vector of the
word: what pruning and coding do to the n-grams then only reaches words that are not known. The output matrix, which
serves training alone, is dropped there: zeros of one byte a row, since fastText wants to see one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords
from wv_cli.errors import WvError
from wv_cli.transforms.config import QuantizeConfig
from wv_cli.vectors.fasttext import END_OF_LINE, DenseMatrix, FastTextModel, Matrix
from wv_cli.vectors.quantizer import CENTROIDS, ProductQuantizer, QuantMatrix, Rows, fit_quantizers

OUTPUT_DSUB = 2  # as fastText, whatever --dsub says
_BYTES_AT_ONCE = 1 << 26
_WORDS_AT_ONCE = 1 << 15


def require_dense(model: FastTextModel, name: str = "the model") -> None:
    """Raises WvError for a model that is quantized."""
    if isinstance(model.input, QuantMatrix):
        message = f"{name} is quantized already; start from the .bin it was made of"
        raise WvError(message)


def prune(model: FastTextModel, cutoff: int) -> FastTextModel:
    """The model with `cutoff` rows of its input matrix, dense (0 keeps all rows). fastText reads such a model only when
    it has been quantized; retraining wants it before. Raises WvError when the model is quantized."""
    require_dense(model)
    if not 0 < cutoff < model.input.shape[0]:
        return model
    words, buckets = _choose(model, cutoff)
    rows = np.concatenate([words, buckets.astype(np.int64) + len(model.words)])
    output = model.output if model.is_classifier else DenseMatrix(model.output.take(words))
    return replace(
        model,
        words=model.words.take(words),
        counts=model.counts[words],
        kept_buckets=np.stack([buckets, np.arange(len(buckets), dtype=np.int32)], axis=1),
        input=DenseMatrix(np.ascontiguousarray(model.input.take(rows))),
        output=output,
    )


def _choose(model: FastTextModel, cutoff: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(words ascending, buckets): the rows to keep."""
    kept = _order(model)[:cutoff]
    words = kept < len(model.words)
    return np.sort(kept[words]), (kept[~words] - len(model.words)).astype(np.int32)


def _order(model: FastTextModel) -> NDArray[np.int64]:
    """The rows of the input matrix, those to keep first."""
    nwords = len(model.words)
    norms = _norms(model.input)
    if not model.is_classifier:
        norms[:nwords] = np.inf
    # Stable, so that of equal rows the first stays: among words the most frequent.
    order = np.argsort(-norms, kind="stable")
    if not model.is_classifier and not model.has_subwords:
        order = order[:nwords]
    end_of_line = model.words.find(END_OF_LINE)
    return order if end_of_line < 0 else np.concatenate([[end_of_line], order[order != end_of_line]])


def _norms(matrix: Matrix) -> NDArray[np.float64]:
    rows, dim = matrix.shape
    norms = np.empty(rows)
    step = max(1, _BYTES_AT_ONCE // (4 * dim))
    for start in range(0, rows, step):
        values = matrix.take(np.arange(start, min(start + step, rows)))
        norms[start : start + len(values)] = np.einsum("ij,ij->i", values, values, dtype=np.float64)
    return np.sqrt(norms)


def quantize(
    model: FastTextModel, config: QuantizeConfig, retrain: Callable[[FastTextModel], FastTextModel] | None = None
) -> FastTextModel:
    """The model with `config.cutoff` rows of its input matrix; these, and with `qout` those of its output matrix, as
    codes. A classifier that was pruned goes through `retrain` between the two.

    Raises WvError when the model is quantized already, or holds NaN.
    """
    require_dense(model)
    pruned = prune(model, config.cutoff)
    if model.is_classifier:
        pruned = retrain(pruned) if retrain and pruned is not model else pruned
        input_ = QuantMatrix.fit(
            pruned.input, config.dsub, norms_apart=config.qnorm, seed=config.seed, threads=config.threads
        )
    else:
        vectors = model.all_word_vectors()
        if len(pruned.words) < len(vectors):
            vectors = vectors[model.words.find_all(pruned.words)]
        input_ = _quantize_subwords(pruned, vectors, config)
    return replace(pruned, input=input_, output=_quantize_output(pruned, config), version=12)


def _quantize_output(model: FastTextModel, config: QuantizeConfig) -> Matrix:
    rows, dim = model.output.shape
    if not config.qout:
        if model.is_classifier:
            return model.output
        return QuantMatrix(
            np.zeros((rows, 1), np.uint8), ProductQuantizer(dim, dim, np.zeros(CENTROIDS * dim, np.float32))
        )
    if model.is_classifier and _output_bytes(model, 0, config) == 16 + 4 * rows * dim:
        return model.output  # few labels: the codebook would be larger than the matrix
    return QuantMatrix.fit(
        model.output, OUTPUT_DSUB, norms_apart=config.qnorm, seed=config.seed, threads=config.threads
    )


@dataclass(frozen=True)
class _Stacked:
    """The rows of `words`, then those of `below` from row len(words) on."""

    words: NDArray[np.float32]
    below: Rows

    @property
    def shape(self) -> tuple[int, int]:
        return self.below.shape

    def take(self, rows: NDArray[np.int64], /) -> NDArray[np.float32]:
        values = self.below.take(rows).copy()
        values[rows < len(self.words)] = self.words[rows[rows < len(self.words)]]
        return values


def _quantize_subwords(model: FastTextModel, vectors: NDArray[np.float32], config: QuantizeConfig) -> QuantMatrix:
    """Codes of a model of word vectors such that its words get `vectors`."""
    own = _own_rows(model, vectors, model.input)
    learned_from = _Stacked(own, model.input)
    quantizers = fit_quantizers(
        learned_from, config.dsub, norms_apart=config.qnorm, seed=config.seed, threads=config.threads
    )
    coded = QuantMatrix.encode(learned_from, *quantizers, threads=config.threads)
    own = _own_rows(model, vectors, coded)
    words = QuantMatrix.encode(DenseMatrix(own), *quantizers, threads=config.threads)
    coded.codes[: len(own)] = words.codes
    if coded.norm_codes is not None and words.norm_codes is not None:
        coded.norm_codes[: len(own)] = words.norm_codes
    return coded


def _own_rows(model: FastTextModel, vectors: NDArray[np.float32], matrix: Rows) -> NDArray[np.float32]:
    """The row each word needs for its vector to be the mean of that row and its n-grams' rows in `matrix`."""
    own = np.array(vectors, np.float32)
    if not model.has_subwords:
        return own
    starts = model.words.starts
    end_of_line = model.words.find(END_OF_LINE)
    for first in range(0, len(own), _WORDS_AT_ONCE):
        last = min(first + _WORDS_AT_ONCE, len(own))
        blob = model.words.blob[starts[first] : starts[last]]
        ends, buckets = _subwords.of_words(
            blob, starts[first : last + 1] - starts[first], *model.char_ngrams, model.args.buckets
        )
        word = np.repeat(np.arange(last - first), np.diff(ends))
        rows = model.rows_of_buckets(buckets)
        known = (rows >= 0) & (word + first != end_of_line)
        counts = np.bincount(word[known], minlength=last - first)
        groups = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=groups[1:])
        distinct, index = np.unique(rows[known], return_inverse=True)
        means = np.empty((last - first, own.shape[1]), np.float32)
        values = np.ascontiguousarray(matrix.take(distinct))
        _subwords.mean_rows(values.view(np.uint8), groups, index.astype(np.int64), means)
        own[first:last] *= (counts[:, None] + 1).astype(np.float32)
        own[first:last] -= means * counts[:, None].astype(np.float32)
    return own


# ---------------------------------------------------------------- sizes


def matrix_bytes(rows: int, dim: int, dsub: int, qnorm: bool) -> int:
    """What a quantized matrix takes in a file."""
    return 21 + rows * (-(-dim // dsub) + qnorm) + (16 + 4 * CENTROIDS * dim) + qnorm * (16 + 4 * CENTROIDS)


def dense_bytes(model: FastTextModel) -> int:
    """The size of the model's .bin file."""
    rows = model.input.shape[0] + model.output.shape[0]
    return _table_bytes(model) + 2 * 17 + 4 * rows * model.dim


def quantized_bytes(model: FastTextModel) -> int:
    """The size of a quantized model's .ftz file."""
    size = _table_bytes(model) + 2 + 8 * (0 if model.kept_buckets is None else len(model.kept_buckets))
    for matrix in (model.input, model.output):
        rows, dim = matrix.shape
        if isinstance(matrix, QuantMatrix):
            size += matrix_bytes(rows, dim, matrix.quantizer.dsub, matrix.norm_codes is not None)
        else:
            size += 16 + 4 * rows * dim
    return size


def _table_bytes(model: FastTextModel) -> int:
    """Arguments, counts, words and labels."""
    names = len(model.words) + len(model.labels)
    return 8 + 56 + 28 + len(model.words.blob) + len(model.labels.blob) + 10 * names


def cutoff_for_size(model: FastTextModel, size: int, config: QuantizeConfig) -> int:
    """The largest cutoff with which `config` makes a file of at most `size` bytes; 0 (all rows) when all fit.

    Raises WvError with the least possible size when `size` is less than that: CENTROIDS rows, as in fastText.
    """
    rows, dim = model.input.shape
    nwords = len(model.words)
    lengths = np.diff(model.words.starts) + 10
    fixed = _table_bytes(model) - int(lengths.sum()) + 2 + matrix_bytes(0, dim, config.dsub, config.qnorm)
    per_row = matrix_bytes(1, dim, config.dsub, config.qnorm) - matrix_bytes(0, dim, config.dsub, config.qnorm)
    if fixed + rows * per_row + lengths.sum() + _output_bytes(model, nwords, config) <= size:
        return 0
    order = _order(model)
    words = order < nwords
    sizes = np.full(len(order), per_row + 8, np.int64)
    sizes[words] = per_row + lengths[order[words]]
    if not model.is_classifier:
        sizes[words] += _output_bytes(model, 1, config) - _output_bytes(model, 0, config)
    totals = fixed + _output_bytes(model, 0, config) + np.cumsum(sizes)
    least = min(CENTROIDS, len(order))
    if totals[least - 1] > size:
        message = (
            f"a model of {size:,} bytes cannot be made: with {least} rows it would have {totals[least - 1]:,}; ask for "
            "more, or lower --dim or raise --dsub"
        )
        raise WvError(message)
    return int(np.searchsorted(totals, size, side="right"))


def _output_bytes(model: FastTextModel, words: int, config: QuantizeConfig) -> int:
    """What the output matrix will take when `words` words are left."""
    dim = model.dim
    if not model.is_classifier:
        return matrix_bytes(words, dim, OUTPUT_DSUB if config.qout else dim, config.qnorm and config.qout)
    rows = model.output.shape[0]
    dense = 16 + 4 * rows * dim
    return min(dense, matrix_bytes(rows, dim, OUTPUT_DSUB, config.qnorm)) if config.qout else dense
