"""Writes fastText's model files, byte for byte as fastText does; fasttext_read explains the layout.

A file read and written again is the same file. The layout before version 11 is not written: such a model becomes one of
version 12.

The files of one fastText run: the model, the vectors of its words as text (.vec), its output rows as text (.output).

The text is word2vec's, with five significant digits and the words of the model, so `</s>` among them.
"""

import dataclasses
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords
from wv_cli.errors import WvError
from wv_cli.io.host import processors
from wv_cli.io.output import open_output
from wv_cli.io.places import is_stream
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import DenseMatrix, FastTextArgs, FastTextModel, Matrix, SparseRows
from wv_cli.vectors.formats.base import FASTTEXT_PRECISION, WriteOptions
from wv_cli.vectors.formats.fasttext_read import ARGS, LOSSES, MAGIC, MODELS, VERSIONS
from wv_cli.vectors.formats.word2vec_text import write
from wv_cli.vectors.quantizer import ProductQuantizer, QuantMatrix
from wv_cli.words import WordList

_BLOCK_BYTES = 1 << 20
_SPARSE_BLOCK_BYTES = 1 << 18
_LEAST_HOLE = 1 << 16
_LARGEST = 2**31 - 1


def save_model(target: str | os.PathLike[str] | BinaryIO, model: FastTextModel) -> None:
    """Writes a model to a path (whole or not at all), to `-`, or to an open binary stream. Long runs of zeros in a
    SparseRows become holes in a file, where the file system has them. Raises WvError for a word with a NUL or an
    option that the file cannot hold, and when writing fails; ValueError for a model whose parts do not fit together."""
    _require_fit(model)
    if isinstance(target, (str, os.PathLike)):
        with open_output(target) as stream:
            _write(stream, model, holes=not is_stream(target) and stream.seekable())
    else:
        _write(target, model, holes=False)


def dense(model: FastTextModel, name: str) -> FastTextModel:
    """The model with its matrices decoded, as version 12. Raises WvError, with the file's `name`, for a pruned one:
    n-grams that pruning dropped are left out of a mean, in a dense model they would count as zeros and change every
    answer."""
    if model.kept_buckets is not None:
        message = f"{name}: a pruned model has no dense form with the same answers; its vectors: wv convert IN OUT.vec"
        raise WvError(message)
    minn, maxn = model.char_ngrams
    args = dataclasses.replace(model.args, minn=minn, maxn=maxn)
    input_, output = (
        DenseMatrix(matrix.dense()) if isinstance(matrix, QuantMatrix) else matrix
        for matrix in (model.input, model.output)
    )
    return dataclasses.replace(model, args=args, input=input_, output=output, version=VERSIONS[-1])


def _require_fit(model: FastTextModel) -> None:
    for words in (model.words, model.labels):
        if b"\0" in words.blob:
            bad = next(i for i in range(len(words)) if b"\0" in words.bytes_at(i))
            message = f"{words[bad]!r} holds a NUL character, which no fastText model can keep"
            raise WvError(message)
    kept = model.args.buckets if model.kept_buckets is None else len(model.kept_buckets)
    rows = len(model.labels if model.is_classifier else model.words)
    for matrix, expected in ((model.input, len(model.words) + kept), (model.output, rows)):
        if matrix.shape != (expected, model.dim):
            message = f"a matrix of {matrix.shape} does not fit ({expected}, {model.dim})"
            raise ValueError(message)
    if isinstance(model.output, QuantMatrix) and not isinstance(model.input, QuantMatrix):
        message = "a quantized output matrix needs a quantized input matrix"
        raise ValueError(message)
    if model.kept_buckets is not None and not isinstance(model.input, QuantMatrix):
        message = "fastText reads no pruned model that is not quantized"
        raise ValueError(message)


def _write(stream: BinaryIO, model: FastTextModel, *, holes: bool) -> None:
    nwords, nlabels, kept = len(model.words), len(model.labels), model.kept_buckets
    stream.write(MAGIC + struct.pack("<i", model.version) + _packed_args(model.args))
    stream.write(struct.pack("<3iq", nwords + nlabels, nwords, nlabels, model.tokens))
    stream.write(struct.pack("<q", -1 if kept is None else len(kept)))
    for words, counts, kind in ((model.words, model.counts, 0), (model.labels, model.label_counts, 1)):
        for piece in _table(words, counts, kind):
            stream.write(piece)
    if kept is not None:
        stream.write(kept.astype("<i4").tobytes())
    for matrix in (model.input, model.output):
        quantized = isinstance(matrix, QuantMatrix)
        stream.write(struct.pack("<B", quantized))
        if isinstance(matrix, QuantMatrix):
            _write_quantized(stream, matrix)
        else:
            stream.write(struct.pack("<2q", *matrix.shape))
            _write_rows(stream, matrix, holes)


def _packed_args(args: FastTextArgs) -> bytes:
    loss, kind = LOSSES.index(args.loss) + 1, MODELS.index(args.model) + 1
    first = (args.dim, args.window, args.epochs, args.min_count, args.negative, args.word_ngrams)
    if max(first) > _LARGEST:
        message = f"a fastText model holds no option above {_LARGEST:,}, found {max(first):,}; write another format"
        raise WvError(message)
    return ARGS.pack(*first, loss, kind, args.buckets, args.minn, args.maxn, args.lr_update_rate, args.sample)


def _table(words: WordList, counts: NDArray[np.int64], kind: int) -> Iterator[bytes]:
    step = 1 << 16
    for first in range(0, len(words), step):
        last = min(first + step, len(words))
        yield _subwords.write_table(words.blob, words.starts, np.ascontiguousarray(counts, np.int64), kind, first, last)


def _write_rows(stream: BinaryIO, matrix: Matrix, holes: bool) -> None:
    rows, dim = matrix.shape
    if isinstance(matrix, SparseRows):
        _write_sparse(stream, matrix, holes)
        return
    step = max(1, _BLOCK_BYTES // (4 * dim))
    for first in range(0, rows, step):
        last = min(first + step, rows)
        block = matrix.values[first:last] if isinstance(matrix, DenseMatrix) else matrix.take(np.arange(first, last))
        stream.write(np.ascontiguousarray(block, "<f4").view(np.uint8).data)


def _write_sparse(stream: BinaryIO, matrix: SparseRows, holes: bool) -> None:
    """The rows in blocks small enough for the cache. A block ends where one of the file does, since the system writes
    whole pages sooner."""
    start, size = stream.tell() if holes else 0, 4 * matrix.shape[1]
    block = memoryview(bytearray(_SPARSE_BLOCK_BYTES))
    for first, last in _stretches(matrix, holes):
        within = (start + first * size) % len(block)
        edges = [first * size, *range(first * size + len(block) - within, last * size, len(block)), last * size]
        first_rows = np.searchsorted(matrix.kept, np.floor_divide(edges, size)).tolist()
        last_rows = np.searchsorted(matrix.kept, np.floor_divide(edges, -size) * -1).tolist()
        if holes:
            stream.seek(start + edges[0])
        for (begin, end), first_row, last_row in zip(pairwise(edges), first_rows, last_rows[1:], strict=False):
            filled, rows = block[: end - begin], slice(first_row, last_row)
            if matrix.source is None:
                _subwords.spread_rows(matrix.values[rows], matrix.kept[rows], None, begin, filled)
            else:
                _subwords.spread_rows(matrix.values, matrix.kept[rows], matrix.source[rows], begin, filled)
            stream.write(filled)


def _stretches(matrix: SparseRows, holes: bool) -> list[tuple[int, int]]:
    """(first, last + 1) of the rows to write: all, or those between `holes`, the last row among them: a file does not
    end with a hole."""
    (rows, dim), kept = matrix.shape, matrix.kept
    if not holes or rows == 0:
        return [(0, rows)]
    stored = kept if len(kept) and kept[-1] == rows - 1 else np.append(kept, rows - 1)
    behind = np.flatnonzero(4 * dim * np.diff(stored) > _LEAST_HOLE)
    firsts = np.concatenate([stored[:1], stored[behind + 1]])
    lasts = np.concatenate([stored[behind], stored[-1:]]) + 1
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _write_quantized(stream: BinaryIO, matrix: QuantMatrix) -> None:
    stream.write(struct.pack("<B2qi", matrix.norm_codes is not None, *matrix.shape, matrix.codes.size))
    stream.write(np.ascontiguousarray(matrix.codes).data)
    _write_quantizer(stream, matrix.quantizer)
    if matrix.norm_codes is not None and matrix.norm_quantizer is not None:
        stream.write(np.ascontiguousarray(matrix.norm_codes).data)
        _write_quantizer(stream, matrix.norm_quantizer)


def _write_quantizer(stream: BinaryIO, quantizer: ProductQuantizer) -> None:
    stream.write(struct.pack("<4i", quantizer.dim, quantizer.nsub, quantizer.dsub, quantizer.last_dsub))
    stream.write(quantizer.centroids.astype("<f4", copy=False).tobytes())


VECTORS, OUTPUT = ".vec", ".output"


def file_writers(paths: Sequence[str], model: FastTextModel) -> list[tuple[str, Callable[[str], None]]]:
    """The `paths`, each with what writes to it what its ending says, the model where it is another one."""

    def save(path: str) -> None:
        if path.endswith(VECTORS):
            _save_text(path, Embeddings(model.words, model.all_word_vectors()))
        elif path.endswith(OUTPUT):
            names = model.labels if model.is_classifier else model.words
            _save_text(path, Embeddings(names, model.output.take(np.arange(len(names)))))
        else:
            save_model(path, model)

    return [(path, save) for path in paths]


def _save_text(path: str, vectors: Embeddings) -> None:
    with open_output(path) as stream:
        write(stream, vectors, WriteOptions(FASTTEXT_PRECISION, processors()))
