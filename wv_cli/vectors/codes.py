"""Codes: short binary words for words, as `wv hash` makes them, `wv nn` searches them and vectors/formats/codes.py
stores them.

Three kinds. Dense codes are `bits` bits each, packed in 64-bit words, the lowest bit first (as in Faiss); they are
compared by the number of bits that differ (Hamming). Sparse codes have exactly `active` of `bits` bits set and are kept
as the positions of these, ascending; they are compared by how many they share (overlap; their Hamming distance is
2 (active - overlap)). Product codes are bytes that name centroids of blocks of coordinates (quantizer.py) and are
compared by the cosine of the vectors they stand for. How codes are made is in wv_cli/hashing, how they are searched in
wv_cli/vectors/neighbors/codes.py.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.io import memory
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.neighbors.codes import CodeNeighbors, pack_positions, unpack_bits, words_per_code
from wv_cli.vectors.neighbors.product import ProductNeighbors
from wv_cli.vectors.neighbors.reranking import Reranker
from wv_cli.vectors.neighbors.topk import Exact, Index
from wv_cli.vectors.quantizer import CENTROIDS, ProductQuantizer
from wv_cli.words import WordList

MAX_BITS = 1 << 20


@dataclass(frozen=True, eq=False)
class Codes:
    """`data` is (len(words), words_per_code(bits)) uint64 for dense codes (active 0; bits after the last are zero), and
    (len(words), active) int32 for sparse ones, each row ascending; with a `quantizer` (active 0) (len(words), bits / 8)
    uint8, what it encodes. `method` and `parameters` (what JSON can hold) say
    how they were made. Raises ValueError when these do not fit together."""

    words: WordList
    method: str
    bits: int
    active: int
    data: NDArray[Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    quantizer: ProductQuantizer | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MAX_BITS or not 0 <= self.active <= self.bits:
            message = f"codes of {self.active} active of {self.bits} bits; expected at most {MAX_BITS} bits"
            raise ValueError(message)
        width, kind = self.active or words_per_code(self.bits), np.dtype(np.int32 if self.active else np.uint64)
        if self.quantizer is not None:
            width, kind = self.quantizer.nsub, np.dtype(np.uint8)
            if self.active or self.bits != 8 * width:
                message = f"{self.bits} bits, {self.active} active, are no codes of {width} bytes"
                raise ValueError(message)
        if self.data.shape != (len(self.words), width) or self.data.dtype != kind:
            message = (
                f"{len(self.words)} words and {self.active or 'dense'} of {self.bits} bits do not fit "
                f"{self.data.dtype} codes of shape {self.data.shape}"
            )
            raise ValueError(message)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def sparse(self) -> bool:
        return self.active > 0

    @property
    def bits_per_word(self) -> int:
        """Bits one code takes: `bits`, or sparse `active` times the bits that name a position."""
        return self.active * max(1, (self.bits - 1).bit_length()) if self.sparse else self.bits

    def take(self, rows: slice) -> "Codes":
        return Codes(
            self.words[rows], self.method, self.bits, self.active, self.data[rows], self.parameters, self.quantizer
        )

    def pack_codes(self) -> NDArray[np.uint64]:
        """Dense or sparse codes as bits in 64-bit words, (n, words_per_code(bits)). Raises ValueError for product
        codes, whose bits do not compare."""
        if self.quantizer is not None:
            message = "product codes are compared by the vectors they stand for, not by bits"
            raise ValueError(message)
        return pack_positions(self.data, self.bits) if self.sparse else self.data


def product_blocks(dim: int, bits: int) -> int | None:
    """Coordinates per block of product codes of `bits` bits for `dim` coordinates; None when there are none such."""
    nsub, rest = divmod(bits, 8)
    if rest or not 1 <= nsub <= dim:
        return None
    dsub = -(-dim // nsub)
    return dsub if -(-dim // dsub) == nsub else None


def product_quantizer(centroids: NDArray[np.float32], bits: int) -> ProductQuantizer | None:
    """The quantizer of codes of so many bits with these centroids, flat; None when they do not fit."""
    dim, rest = divmod(centroids.size, CENTROIDS)
    dsub = product_blocks(dim, bits)
    sane = centroids.ndim == 1 and not rest and dsub and bool(np.isfinite(centroids).all())
    return ProductQuantizer(dim, dsub, centroids) if sane and dsub else None


class CodeVectors(Embeddings):
    """Codes where vectors are expected: +1 and -1 for the bits of dense codes, 1 and 0 for sparse ones, so that cosines
    are 1 - 2 Hamming / bits and overlap / active; for product codes the vectors they stand for. The matrix is made when
    it is first asked for."""

    def __init__(self, codes: Codes) -> None:
        object.__setattr__(self, "words", codes.words)
        object.__setattr__(self, "codes", codes)

    codes: Codes

    def keep_rows(self, rows: NDArray[np.int64]) -> "CodeVectors":
        """The codes of these rows alone."""
        return CodeVectors(replace(self.codes, words=self.words.take(rows), data=self.codes.data[rows]))

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        return self._decode(self.codes.data)

    @property
    def dim(self) -> int:
        return self.codes.quantizer.dim if self.codes.quantizer is not None else self.codes.bits

    def row(self, row: int) -> NDArray[np.float32]:
        return self._decode(self.codes.data[[row]]).reshape(-1)

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return self._decode(self.codes.data[rows])

    def search(self, *, threads: int = 0) -> Exact:
        """An index of the codes, product codes by the vectors they stand for."""
        codes = self.codes
        if codes.quantizer is not None:
            quantizer = codes.quantizer
            return ProductNeighbors(codes.data, quantizer.dim, quantizer.dsub, quantizer.centroids, threads=threads)
        return CodeNeighbors(codes.bits, codes.active, codes.data, threads=threads)

    def _decode(self, data: NDArray[Any]) -> NDArray[np.float32]:
        codes = self.codes
        if codes.quantizer is not None:
            return codes.quantizer.decode(data)
        numbers = f"{codes.bits:,} bits of each word as numbers"
        memory.require(4 * len(data) * codes.bits, numbers, "make shorter codes, or search these as they are")
        if not codes.sparse:
            return np.where(unpack_bits(data, codes.bits), np.float32(1), np.float32(-1))
        out = np.zeros((len(data), codes.bits), np.float32)
        np.put_along_axis(out, data.astype(np.int64), np.float32(1), axis=1)
        return out


def rerank_codes(
    first: Index, words: WordList, vectors: Embeddings, name: str, candidates: int | None = None
) -> Reranker:
    """`first`, an index of codes of `words`, whose `candidates` nearest (10 k by default) are put in the order of the
    cosines of `vectors`. Raises WvError when a word has no vector there;
    `name` is what the message calls them."""
    rows = np.arange(len(words)) if words == vectors.words else vectors.words.find_all(words)
    if (rows < 0).any():
        lost = words[int((rows < 0).argmax())]
        message = f"{name}: has no vector for {lost!r}, which has a code; rerank with the vectors that were hashed"
        raise WvError(message)
    return Reranker(first, vectors.exact(), rows, candidates)
