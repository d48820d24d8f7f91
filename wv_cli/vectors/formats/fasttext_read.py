"""Reads fastText's model files: .bin (dense), .ftz (quantized, mostly pruned); versions 11, 12 and the layout before.

Little-endian, nothing aligned (fasttext.cc, args.cc, dictionary.cc, densematrix.cc, quantmatrix.cc of fastText 0.9.2):

    int32 magic, version          absent in the oldest layout
    int32 x 12, float64           the arguments, FIELDS
    int32 size, words, labels; int64 tokens; int64 pruned buckets, -1: not pruned (absent in the oldest layout)
    word table                    core/fasttexttable.h: words first, then labels
    int32 pairs                   bucket, row behind the words
    bool quantized; matrix        input (the oldest layout has no bool)
    bool quantized; matrix        output: rows of labels for a classifier, else of words

Dense matrices of a plain file are mapped, not read: a 7 GB model answers a query from the few pages it needs (a file
that another process cuts short in the meantime ends ours, with a message). Every size is held against the bytes
that are there before anything is allocated. floret's files, which have the same magic number and two more arguments,
are refused by name. What a model is says wv_cli.vectors.fasttext; writing in fasttext_write.
"""

import math
import os
import struct
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords
from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.input import Input, open_input
from wv_cli.io.kinds import HEAD_BYTES, kind_of
from wv_cli.vectors.fasttext import DenseMatrix, FastTextArgs, FastTextModel, Kind, Loss, Matrix
from wv_cli.vectors.formats.header import MAX_DIM
from wv_cli.vectors.quantizer import CENTROIDS, ProductQuantizer, QuantMatrix
from wv_cli.words import WordList

if TYPE_CHECKING:
    from typing_extensions import Buffer  # collections.abc has it from Python 3.12 on

MAGIC = struct.pack("<i", 793712314)
VERSIONS = (11, 12)
ARGS = struct.Struct("<12id")
LOSSES: tuple[Loss, ...] = ("hs", "ns", "softmax", "ova")  # numbered from 1
MODELS: tuple[Kind, ...] = ("cbow", "skipgram", "supervised")
COUNTS = struct.Struct("<3iq")
# Longer n-grams would be longer than words; in a damaged file they would take for ever.
_MOST_NGRAM = 255
ENTRY_BYTES = 10  # of a word table, at least


def load_model(path: str | os.PathLike[str]) -> FastTextModel:
    """Reads a model from a file or `-`. A plain file is mapped, a compressed one or a pipe is read whole.

    Raises BadFile with the offset of what is wrong, WvError when the file cannot be read."""
    with open_input(path) as source:
        return read_model(source)


def read_model(source: Input) -> FastTextModel:
    """load_model from an open file."""
    origin = source.origin(load_model)
    model = ModelReader(source.name, source.contents()).model()
    object.__setattr__(model, "origin", origin)
    return model


class ModelReader:
    """One model in `data`. `at` is the offset there, moved by every reading; `table_at` that of the word table."""

    def __init__(self, name: str, data: "Buffer") -> None:
        self.name, self.data = name, memoryview(data)
        self.at = self.table_at = 0

    def error(self, problem: str, at: int | None = None) -> BadFile:
        return BadFile(self.name, problem, byte=self.at if at is None else at)

    def need(self, size: int, what: str) -> None:
        """Raises BadFile unless `size` more bytes are there."""
        left = len(self.data) - self.at
        if size > left:
            problem = (
                f"expected {what} ({size:,} bytes), found {left:,} bytes: the file was cut short or damaged before"
            )
            raise self.error(problem)

    def take(self, layout: struct.Struct, what: str) -> tuple[int, ...]:
        self.need(layout.size, what)
        values = layout.unpack_from(self.data, self.at)
        self.at += layout.size
        return values

    def array(self, dtype: str, count: int, what: str) -> NDArray[np.generic]:
        """`count` numbers, a view of the data."""
        size = count * np.dtype(dtype).itemsize
        self.need(size, what)
        values = np.frombuffer(self.data, dtype, count, self.at)
        self.at += size
        return values

    def flag(self, what: str) -> bool:
        (value,) = self.take(_BYTE, what)
        if value > 1:
            raise self.error(f"expected {what}, 0 or 1, found {value}; the damage is here or before", self.at - 1)
        return bool(value)

    def model(self) -> FastTextModel:
        has_magic = self.data[:4] == MAGIC
        if not has_magic and (kind := kind_of(bytes(self.data[:HEAD_BYTES]))) not in (None, "a fastText model"):
            step = "; wv nn and wv vectors read these" if kind.endswith(" vectors") else ""
            raise self.error(f"expected a fastText model, found {kind}{step}", 0)
        version = self._version() if has_magic else 0
        args_at = self.at
        self.need(ARGS.size + COUNTS.size, "the arguments of a fastText model")
        problem = header_problem(self.data, args_at)
        if problem and has_magic and not header_problem(self.data, args_at, extra=8):
            step = "; write its table in floret, model.save_floret_vectors('NAME.floret'), which wv reads"
            raise self.error(f"this is a floret model, which only begins like one of fastText's{step}", 0)
        if problem:
            what, at = problem
            raise self.error(f"{what}; this is no fastText model, or damaged", at)
        args = _args(self.take(ARGS, "arguments"))
        _, nwords, nlabels, tokens = self.take(COUNTS, "word counts")
        pruned = self._pruned_buckets() if has_magic else -1
        words, counts, labels, label_counts = self._table(nwords, nlabels)
        pairs = self.array("<i4", 2 * max(pruned, 0), f"{pruned} pruned buckets").reshape(-1, 2)
        kept = None if pruned < 0 else self._checked_pairs(pairs)
        quantized = has_magic and self.flag("the flag of a quantized input matrix")
        if pruned >= 0 and not quantized:
            # fastText refuses it, too: an early version wrote such files, and they cannot be right.
            raise self.error("a pruned model that is not quantized cannot be read, by fastText neither; get it again")
        input_rows = nwords + (args.buckets if kept is None else len(kept))
        input_ = self._matrix(quantized, input_rows, args.dim, "input")
        quantized_output = has_magic and self.flag("the flag of a quantized output matrix")
        rows = nlabels if args.model == "supervised" else nwords
        output = self._matrix(quantized and quantized_output, rows, args.dim, "output")
        if self.at != len(self.data):
            left = len(self.data) - self.at
            raise self.error(f"expected the end of the file after the output matrix, found {left:,} more bytes")
        return FastTextModel(
            args, words, counts, labels, label_counts, tokens, kept, input_, output, version or VERSIONS[-1]
        )

    def _version(self) -> int:
        _, version = self.take(struct.Struct("<2i"), "a version")
        if version not in VERSIONS:
            known = " and ".join(map(str, VERSIONS))
            raise self.error(f"expected a fastText model of version {known}, found version {version}", 4)
        return version

    def _pruned_buckets(self) -> int:
        (pruned,) = self.take(struct.Struct("<q"), "the number of pruned buckets")
        if pruned < -1 or 8 * pruned > len(self.data) - self.at:
            raise self.error(f"expected a number of kept buckets, found {pruned}", self.at - 8)
        return pruned

    def _table(self, nwords: int, nlabels: int) -> tuple[WordList, NDArray[np.int64], WordList, NDArray[np.int64]]:
        self.table_at = start = self.at
        size = nwords + nlabels
        self.need(size * ENTRY_BYTES, f"{size:,} words and labels")
        blob, starts, counts, types, self.at = _subwords.read_table(self.data, start, size)
        if len(types) < size:
            raise self.error(f"expected {size:,} words and labels, found the end of the file after {len(types):,}")
        wrong = types != (np.arange(size) >= nwords)
        wrong |= counts < 0
        if wrong.any():
            i = int(wrong.argmax())
            expected = "a label" if i >= nwords else "a word"
            word, at = blob[starts[i] : starts[i + 1]], start + int(starts[i]) + ENTRY_BYTES * i
            found = f"{show_bytes(word)} with count {counts[i]} and type {types[i]}"
            raise self.error(f"entry {i + 1} of {size:,}: expected {expected} and its count, found {found}", at)
        listed = WordList(blob, starts)
        return listed[:nwords], counts[:nwords], listed[nwords:], counts[nwords:]

    def _checked_pairs(self, pairs: NDArray[np.generic]) -> NDArray[np.int32]:
        kept: NDArray[np.int32] = pairs.astype(np.int32)
        rows = kept[:, 1]
        if len(rows) and (rows.min() < 0 or rows.max() >= len(rows)):
            i = int(((rows < 0) | (rows >= len(rows))).argmax())
            at = self.at - kept.nbytes + 8 * i
            raise self.error(f"expected rows 0 to {len(rows) - 1} for the kept buckets, found {rows[i]}", at)
        return kept

    def _matrix(self, quantized: bool, rows: int, dim: int, what: str) -> Matrix:
        if quantized:
            return self._quantized_matrix(rows, dim, what)
        self._shape(self.take(struct.Struct("<2q"), f"the {what} matrix"), rows, dim, what)
        values = self.array("<f4", rows * dim, f"an {what} matrix of {rows:,} x {dim}")
        return DenseMatrix(values.reshape(rows, dim))  # type: ignore[arg-type]

    def _shape(self, found: tuple[int, ...], rows: int, dim: int, what: str, size: int = 16) -> None:
        if found != (rows, dim):
            expected = f"expected an {what} matrix of {rows:,} x {dim}, as the arguments promise"
            raise self.error(f"{expected}, found {found[0]} x {found[1]}", self.at - size)

    def _quantized_matrix(self, rows: int, dim: int, what: str) -> QuantMatrix:
        has_norms = self.flag(f"the flag of norms in the {what} matrix")
        found_rows, found_dim, code_bytes = self.take(struct.Struct("<2qi"), f"the {what} matrix")
        self._shape((found_rows, found_dim), rows, dim, what, 20)
        if code_bytes < 0 or (code_bytes % rows if rows else code_bytes):
            raise self.error(f"expected whole codes for {rows:,} rows, found {code_bytes} bytes", self.at - 4)
        nsub = code_bytes // rows if rows else 0
        codes = self.array("u1", code_bytes, f"the codes of the {what} matrix")
        quantizer = self._quantizer(dim, nsub, what)
        norm_codes = norm_quantizer = None
        if has_norms:
            norm_codes = self.array("u1", rows, f"the norms of the {what} matrix")
            norm_quantizer = self._quantizer(1, 1, what)
        return QuantMatrix(codes.reshape(rows, quantizer.nsub), quantizer, norm_codes, norm_quantizer)  # type: ignore[arg-type]

    def _quantizer(self, dim: int, nsub: int, what: str) -> ProductQuantizer:
        at = self.at
        found = self.take(struct.Struct("<4i"), f"a quantizer of the {what} matrix")
        dsub = found[2]
        blocks = -(-dim // dsub) if dsub > 0 else 0
        if not blocks or (nsub and nsub != blocks) or found != (dim, blocks, dsub, dim - (blocks - 1) * dsub):
            expected = f"a quantizer of {dim} numbers" + (f" in {nsub} blocks" if nsub else "")
            raise self.error(f"expected {expected}, found dim, blocks, block, last block {found}", at)
        return ProductQuantizer(dim, dsub, self.array("<f4", CENTROIDS * dim, "centroids"))  # type: ignore[arg-type]


_BYTE = struct.Struct("<B")


def _args(values: tuple[float, ...]) -> FastTextArgs:
    dim, window, epochs, min_count, negative, word_ngrams, loss, kind = (int(value) for value in values[:8])
    buckets, minn, maxn, lr_update_rate = (int(value) for value in values[8:12])
    first = (dim, window, epochs, min_count, negative, word_ngrams, LOSSES[loss - 1], MODELS[kind - 1])
    return FastTextArgs(*first, buckets, minn, maxn, lr_update_rate, values[12])


def header_problem(data: memoryview, at: int, *, extra: int = 0) -> tuple[str, int] | None:
    """What is wrong with the arguments and word counts that begin at byte `at`, and where; None when nothing is.
    `extra`: so many bytes more come before lr_update_rate."""
    if len(data) < at + extra + ARGS.size + COUNTS.size:
        return "expected the arguments of a fastText model, found the end of the file", len(data)
    first = struct.unpack_from("<11i", data, at)
    dim, ngrams, loss, model, buckets, minn, maxn = first[0], *first[5:11]
    sample_at = at + extra + ARGS.size - 8
    (sample,) = struct.unpack_from("<d", data, sample_at)
    size, nwords, nlabels, tokens = COUNTS.unpack_from(data, sample_at + 8)
    for name, value, low, high, field in [
        ("dim", dim, 1, MAX_DIM, 0),
        ("word n-grams", ngrams, 0, _MOST_NGRAM, 5),
        ("a loss", loss, 1, len(LOSSES), 6),
        ("a model", model, 1, len(MODELS), 7),
        ("buckets", buckets, 0, 2**31 - 1, 8),
        ("minn", minn, 0, _MOST_NGRAM, 9),
        ("maxn", maxn, 0, _MOST_NGRAM, 10),
    ]:
        if not low <= value <= high:
            return f"expected {name} of {low} to {high}, found {value}", at + 4 * field
    # A sample of 1e-310 is two of floret's integers.
    if not math.isfinite(sample) or (sample and not 1e-30 < sample < 1e30):
        return f"expected a sampling threshold, found {sample}", sample_at
    if min(size, nwords, nlabels) < 0 or size != nwords + nlabels or tokens < 0:
        found = f"size {size}, words {nwords}, labels {nlabels}, tokens {tokens}"
        return f"expected numbers of words and labels, found {found}", sample_at + 8
    return None
