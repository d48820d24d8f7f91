"""A fastText classifier for prediction: lines of text in, labels and their probabilities out.

Works on every model file fastText wrote (dense, quantized, pruned) and on models just trained. The answers are those
of fastText's predict; see csrc/kernels/prediction.c for how equal they are. Training is wv_cli.models.supervised.
"""

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _prediction
from wv_cli.errors import WvError
from wv_cli.io import memory, meta
from wv_cli.io.arguments import path_text
from wv_cli.io.input import open_input
from wv_cli.io.remote import is_remote
from wv_cli.models.layers import LAYERS
from wv_cli.models.text_classifier import ALL, LONG_LINE, Answered, TextClassifier, blocks_of_lines, is_pooled
from wv_cli.vectors.fasttext import LABEL_PREFIX, DenseMatrix, FastTextModel, Matrix, SparseRows
from wv_cli.vectors.formats.fasttext_bin import read_model
from wv_cli.vectors.quantizer import QuantMatrix

_DENSE_BYTES = 1 << 25  # quantized matrices become dense up to this size; of larger ones the codes are read
_ROWS_AT_ONCE = 1 << 12


class Classifier(TextClassifier):
    """A text classifier, made by `wv train --model supervised` or fastText. Threads may share it."""

    def __init__(
        self,
        model: FastTextModel,
        name: str = "the model",
        among: NDArray[np.int32] | None = None,
        label_prefix: str = LABEL_PREFIX.decode(),
    ) -> None:
        """Answers have only labels with the numbers `among`, None: all. The file does not say what labels begin with.
        Raises WvError for a model that is no classifier or whose parts do not fit together."""
        if not model.is_classifier:
            message = (
                f"{name}: holds word vectors ({model.args.model}), not a classifier, so it has no labels to predict; "
                "train one with wv train --model supervised, or use wv vectors"
            )
            raise WvError(message)
        if len(model.labels) == 0:
            raise WvError(f"{name}: the classifier has no labels")
        self._model, self.name, self.label_prefix = model, name, label_prefix
        self.labels = model.labels
        self._output = memory.zeros(model.output.shape[0], memory.pad_width(model.input.shape[1]))
        for first in range(0, len(self._output), 1 << 16):
            part = self._output[first : first + (1 << 16)]
            part[:, : model.input.shape[1]] = model.output.take(np.arange(first, first + len(part)))
        self._engine = self._new_engine()
        self._among, self._wanted = among, None if among is None else self._engine.label_mask(among, len(self.labels))

    def among(self, labels: NDArray[np.int32]) -> "Classifier":
        narrow = object.__new__(Classifier)
        narrow.__dict__.update(self.__dict__)
        narrow._among, narrow._wanted = labels, self._engine.label_mask(labels, len(self.labels))
        return narrow

    def _new_engine(self) -> "_Engine":
        model, args = self._model, self._model.args
        buckets, bucket_row = args.buckets, None
        if model.kept_buckets is not None:
            memory.require(4 * buckets, f"a table of {buckets:,} buckets", "quantize a model that has fewer")
            bucket_row = memory.zeros(1, buckets).view(np.int32)[0]  # huge pages: any row of it may be next
            bucket_row[:] = -1
            kept = model.kept_buckets[(model.kept_buckets[:, 0] >= 0) & (model.kept_buckets[:, 0] < buckets)]
            bucket_row[kept[:, 0]] = kept[:, 1]
            if len(kept) == 0:
                buckets, bucket_row = 0, None
        matrix: Matrix | NDArray[np.float32] = model.input
        if isinstance(matrix, SparseRows) and bucket_row is None and buckets:
            matrix, bucket_row = _stored_rows(matrix, len(model.words), buckets)
        minn, maxn = model.char_ngrams
        try:
            reader = _prediction.LineReader(
                (model.words.blob, model.words.starts),
                (model.labels.blob, model.labels.starts),
                minn=minn,
                maxn=maxn,
                word_ngrams=args.word_ngrams,
                buckets=buckets,
                bucket_row=bucket_row,
                prefix=LABEL_PREFIX,
            )
        except ValueError as error:
            raise WvError(f"{self.name}: {error}") from error
        nodes = tree(model.label_counts) if LAYERS[args.loss].tree else None
        predictor = _prediction.Predictor(
            args,
            output=self._output,
            dim=model.input.shape[1],
            labels=len(model.labels),
            sigmoid=_sigmoid_table(),
            tree=nodes,
            reader=reader,
            **_rows_of(matrix),
        )
        return _Engine(reader, predictor, nodes)

    def __reduce__(self) -> tuple[type["Classifier"], tuple[FastTextModel, str, NDArray[np.int32] | None, str]]:
        """The model, pickled as its file where that is mapped, from which the rest is made again."""
        return Classifier, (self._model, self.name, self._among, self.label_prefix)

    def __copy__(self) -> "Classifier":
        return self  # it does not change

    def __deepcopy__(self, memo: dict[int, Any]) -> "Classifier":
        return self

    def answer_line(self, line: bytes, k: int = 1, threshold: float = 0.0) -> tuple[list[int], list[float]]:
        """(labels, their probabilities) of one line, which ends with its newline: those of answer(), with less to do
        around them."""
        if len(line) > LONG_LINE or self._wanted is not None:
            return super().answer_line(line, k, threshold)
        k = len(self.labels) if k == ALL else k
        return self._engine.predictor.predict_line(line, k, threshold)

    def _answer(self, text: bytes | _prediction.LongLine, k: int, threshold: float, bare_end: bool) -> Answered:
        """Answers for a block of lines, or for one that is too long for a block."""
        predictor, wanted = self._engine.predictor, self._wanted
        most = len(self.labels) if self._among is None else len(self._among)
        k = most if k == ALL else min(k, most)
        if isinstance(text, bytes):
            answers, starts, true_starts, true_labels, seen = predictor.predict_text(
                text, k, threshold, bare_end, wanted=wanted
            )
        else:
            known = min(text.rows, 1)
            starts, rows = np.array([0, known]), np.zeros(known, np.int32)
            true_starts, true_labels = np.array([0, len(text.labels)]), np.array(text.labels, np.int32)
            seen = np.array([text.seen], np.int32)
            answers = predictor.predict(starts, rows, k, threshold, text.mean(), wanted=wanted)
        reads = starts[1:] > starts[:-1]
        return Answered(answers.labels, answers.scores, answers.found, reads, seen, true_starts, true_labels, answers)

    def _blocks(self, chunks: Iterable[bytes | memoryview], bare_end: bool) -> Iterator[bytes | _prediction.LongLine]:
        """The text in blocks of whole lines, and the lines longer than LONG_LINE."""
        line: _prediction.LongLine | None = None
        piece = b""  # of a line whose end has not come
        for block in blocks_of_lines(chunks):
            if piece:
                line = line or _prediction.LongLine(self._engine.reader, self._engine.predictor)
                line.add(piece)
            piece, end = block, block.find(b"\n") + 1
            if end and (line or end > LONG_LINE):
                line = line or _prediction.LongLine(self._engine.reader, self._engine.predictor)
                line.add(block[:end], last=True)
                yield line
                line, block = None, block[end:]
            if end:
                piece = b""
                if block:
                    yield block
        if piece and (line or len(piece) > LONG_LINE):
            line = line or _prediction.LongLine(self._engine.reader, self._engine.predictor)
            line.add(piece, last=True, bare_end=bare_end)
            yield line
        elif piece:
            yield piece


def load_classifier(path: str | os.PathLike[str]) -> TextClassifier:
    """The classifier in a file: of fastText, .bin or .ftz, or of `wv train --model pooled`. Raises WvError when it
    cannot be read or holds none."""
    path = path_text(path, "path")
    if is_remote(path):
        from wv_cli.io.remote_copies import local_copy

        path = local_copy(path)
    with open_input(path) as source:
        if not is_pooled(source):
            return Classifier(read_model(source), path, label_prefix=prefix_of(path))
        from wv_cli.models.pooled_classifier import PooledClassifier
        from wv_cli.models.pooled_files import read_pooled

        return PooledClassifier(read_pooled(source), path)


def prefix_of(path: str) -> str:
    """What the labels of a file of fastText begin with: what its sidecar says, else fastText's prefix."""
    return meta.label_prefix(path) or LABEL_PREFIX.decode()


@dataclass(frozen=True, eq=False)
class _Engine:
    """A reader and the predictor for its rows, with the tree of the labels if it has one; see tree()."""

    reader: _prediction.LineReader
    predictor: _prediction.Predictor
    tree: tuple[NDArray[np.int32], NDArray[np.int32]] | None

    def label_mask(self, labels: NDArray[np.int32], count: int) -> NDArray[np.uint8]:
        """What limits the predictor's answers to these of `count` labels: 1 for them, and for nodes above them."""
        result = np.zeros(count if self.tree is None else 2 * count - 1, np.uint8)
        result[labels] = 1
        if self.tree is not None:
            left, right = self.tree
            for node in range(count, len(result)):
                result[node] = result[left[node]] | result[right[node]]
        return result


def _rows_of(matrix: Matrix | NDArray[np.float32]) -> dict[str, Any]:
    """The input of a _prediction.Predictor, where it lies. Small quantized matrices become dense, which is faster."""
    if isinstance(matrix, DenseMatrix):
        matrix = matrix.values
    if isinstance(matrix, QuantMatrix) and 4 * math.prod(matrix.shape) > _DENSE_BYTES:
        norms = (matrix.norm_codes, matrix.norm_quantizer.centroids) if matrix.norm_quantizer is not None else None
        return {
            "input": matrix.codes,
            "quantizer": (matrix.quantizer.dsub, matrix.quantizer.centroids),
            "norms": norms,
        }
    if not isinstance(matrix, np.ndarray):
        matrix = matrix.take(np.arange(matrix.shape[0]))
    return {"input": matrix.view(np.uint8)}


def _stored_rows(matrix: SparseRows, words: int, buckets: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """(rows, row of every bucket behind the words): those of the words, of the buckets that are stored, and last one of
    zeros for all others. A model just trained thus needs no more memory than its training did."""
    own = int(np.searchsorted(matrix.kept, words))
    row_of_kept = np.concatenate([matrix.kept[:own], words + np.arange(len(matrix.kept) - own)])
    dense = memory.zeros(words + len(matrix.kept) - own + 1, matrix.shape[1])
    for first in range(0, len(matrix.kept), _ROWS_AT_ONCE):
        last = first + _ROWS_AT_ONCE
        dense[row_of_kept[first:last]] = matrix.stored_rows(first, last)
    bucket_row = np.full(buckets, len(matrix.kept) - own, np.int32)
    bucket_row[matrix.kept[own:] - words] = np.arange(len(matrix.kept) - own, dtype=np.int32)
    return dense, bucket_row


def _sigmoid_table() -> NDArray[np.float32]:
    """fastText's: 512 steps over -8 .. 8, and the end."""
    x = np.arange(513, dtype=np.float32) * 16 / np.float32(512) - 8
    return (1.0 / (1.0 + np.exp(-x.astype(np.float64)))).astype(np.float32)


def tree(counts: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(left, right) of every node of fastText's Huffman tree over labels with these counts: leaves first, with -1, the
    root last. Bit 1 of a code leads to the right."""
    n = len(counts)
    weight = [*counts.tolist(), *[0] * (n - 1)]
    left, right = np.full(2 * n - 1, -1, np.int32), np.full(2 * n - 1, -1, np.int32)
    leaf, inner = n - 1, n
    for node in range(n, 2 * n - 1):
        for side in (left, right):
            if leaf >= 0 and (inner >= node or weight[leaf] < weight[inner]):
                side[node] = leaf
                leaf -= 1
            else:
                side[node] = inner
                inner += 1
        weight[node] = weight[left[node]] + weight[right[node]]
    return left, right
