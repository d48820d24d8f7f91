"""Product quantization: a vector as one byte per block of its coordinates, as fastText's .ftz files hold it.

Jegou, Douze, Schmid 2011 (Product quantization for nearest neighbor search); for matrices of text models Joulin et al.
2016, arXiv 1612.03651. A vector of `dim` coordinates is cut into blocks of `dsub` (the last may be shorter); each block
is replaced by the nearest of CENTROIDS centroids found by k-means (csrc/kernels/product.c). Not a search index: see
wv_cli.vectors.neighbors.exact for exact search.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli import _product
from wv_cli.errors import WvError
from wv_cli.io.memory import allocate_aligned
from wv_cli.io.threads import run_all

CENTROIDS = _product.CENTROIDS  # 256 per block: a code is one byte
ITERATIONS = 25  # of k-means, at most; and
SAMPLE = 65_536  # rows it learns from, at most: both as fastText
_ROWS_AT_ONCE = 8192  # rows per task when encoding
_BYTES_AT_ONCE = 1 << 26  # of rows taken from a matrix


class Rows(Protocol):
    """A matrix (rows, dim) of which `take` gives the rows with these numbers as float32 (len(rows), dim)."""

    @property
    def shape(self) -> tuple[int, int]: ...
    def take(self, rows: NDArray[np.int64], /) -> NDArray[np.float32]: ...


@dataclass(frozen=True, eq=False)
class ProductQuantizer:
    """`centroids` is flat float32 of length CENTROIDS * dim in the order of fastText's files: block after block, in a
    block centroid after centroid. Block m starts at CENTROIDS * dsub * m; the last has a smaller stride when dsub does
    not divide dim. It may be memory-mapped and read-only."""

    dim: int
    dsub: int
    centroids: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.dim < 1 or self.dsub < 1 or self.centroids.shape != (CENTROIDS * self.dim,):
            message = f"{self.centroids.shape} centroids do not fit dim {self.dim} in blocks of {self.dsub}"
            raise ValueError(message)

    @property
    def nsub(self) -> int:
        """Blocks, which is bytes per vector."""
        return -(-self.dim // self.dsub)

    @property
    def last_dsub(self) -> int:
        """Coordinates in the last block."""
        return self.dim - (self.nsub - 1) * self.dsub

    def block(self, m: int) -> NDArray[np.float32]:
        """The centroids of block m: (CENTROIDS, dsub), for the last block (CENTROIDS, last_dsub); a view."""
        start = CENTROIDS * self.dsub * m
        width = self.dsub if m < self.nsub - 1 else self.last_dsub
        return self.centroids[start : start + CENTROIDS * width].reshape(CENTROIDS, width)

    @classmethod
    def fit(
        cls,
        x: NDArray[np.float32],
        dsub: int,
        *,
        seed: int = 1,
        threads: int = 1,
        iterations: int = ITERATIONS,
        sample: int = SAMPLE,
        isa: str | None = None,
    ) -> "ProductQuantizer":
        """Learns the centroids from at most `sample` rows of x (n, dim) by at most `iterations` of k-means. The result
        depends on seed and instruction set, not on `threads`. With CENTROIDS rows or fewer the codes are exact: every
        row is a centroid.

        Raises WvError when x has no rows or holds NaN or infinity.
        """
        rows, dim = x.shape
        _require_finite(x)
        if not rows:
            message = "there are no vectors to learn a quantizer from"
            raise WvError(message)
        chosen = _choose(np.random.default_rng(seed), rows, sample)
        centroids = np.empty(CENTROIDS * dim, np.float32)

        def block(first: int) -> None:
            width = min(dsub, dim - first)
            scratch = allocate_aligned((_product.train_scratch_bytes(len(chosen), width, isa),), np.uint8)
            part = centroids[CENTROIDS * first : CENTROIDS * (first + width)]
            _product.train(x, chosen, first, width, seed, part, np.empty(iterations), scratch, isa)

        run_all(block, range(0, dim, dsub), threads)
        return cls(dim, dsub, centroids)

    def encode(self, x: NDArray[np.float32], *, threads: int = 1, isa: str | None = None) -> NDArray[np.uint8]:
        """The codes (n, nsub) of the rows of x (n, dim): the nearest centroid of each block, the first of equals.

        Raises WvError when x holds NaN or infinity."""
        if x.ndim != 2 or x.shape[1] != self.dim:
            message = f"rows of shape {x.shape} do not fit a quantizer of dim {self.dim}"
            raise ValueError(message)
        _require_finite(x)
        codes = np.empty((len(x), self.nsub), np.uint8)

        def part(start: int) -> None:
            scratch = allocate_aligned((_product.encode_scratch_bytes(self.dim, self.dsub, isa),), np.uint8)
            end = min(start + _ROWS_AT_ONCE, len(x))
            _product.encode(x, self.dsub, self.centroids, codes, start, end, scratch, isa)

        run_all(part, range(0, len(x), _ROWS_AT_ONCE), threads)
        return codes

    def decode(self, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The vectors (n, dim) that codes (n, nsub) stand for."""
        return self._rows(codes, np.arange(len(codes)), np.empty(0, np.float32))

    def _rows(
        self, codes: NDArray[np.uint8], rows: NDArray[np.int64], scales: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        out = np.empty((len(rows), self.dim), np.float32)
        _product.decode(codes, rows, self.dim, self.dsub, self.centroids, scales, out)
        return out


@dataclass(frozen=True, eq=False)
class QuantMatrix:
    """A matrix whose rows are kept as codes; the rows of fastText's quantized matrices.

    `codes` is (rows, quantizer.nsub) uint8. With norms kept apart, row i is norm_quantizer's centroid norm_codes[i]
    times the decoded codes; norm_codes is (rows,) uint8 and norm_quantizer has dim 1. Arrays may be memory-mapped and
    read-only.
    """

    codes: NDArray[np.uint8]
    quantizer: ProductQuantizer
    norm_codes: NDArray[np.uint8] | None = None
    norm_quantizer: ProductQuantizer | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != self.quantizer.nsub:
            message = f"codes of shape {self.codes.shape} do not fit {self.quantizer.nsub} blocks"
            raise ValueError(message)
        if (self.norm_codes is None) != (self.norm_quantizer is None):
            message = "norm codes and their quantizer belong together"
            raise ValueError(message)
        if self.norm_codes is not None and self.norm_codes.shape != (len(self.codes),):
            message = f"norm codes of shape {self.norm_codes.shape} do not fit {len(self.codes)} rows"
            raise ValueError(message)
        if self.norm_quantizer is not None and self.norm_quantizer.dim != 1:
            message = f"norms have one number each, their quantizer has dim {self.norm_quantizer.dim}"
            raise ValueError(message)

    @classmethod
    def fit(
        cls, matrix: Rows, dsub: int, *, norms_apart: bool = False, seed: int = 1, threads: int = 1
    ) -> "QuantMatrix":
        """Quantizes `matrix`, a part of it at a time; with `norms_apart` the directions and the norms of its rows each
        for themselves. Raises WvError as ProductQuantizer.fit."""
        quantizers = fit_quantizers(matrix, dsub, norms_apart=norms_apart, seed=seed, threads=threads)
        return cls.encode(matrix, *quantizers, threads=threads)

    @classmethod
    def encode(
        cls,
        matrix: Rows,
        quantizer: ProductQuantizer,
        norm_quantizer: ProductQuantizer | None = None,
        *,
        threads: int = 1,
    ) -> "QuantMatrix":
        """Quantizes `matrix` with quantizers that are there."""
        codes = np.empty((matrix.shape[0], quantizer.nsub), np.uint8)
        norm_codes = None if norm_quantizer is None else np.empty(len(codes), np.uint8)
        step = max(_ROWS_AT_ONCE * threads, _BYTES_AT_ONCE // (4 * quantizer.dim))
        for start in range(0, len(codes), step):
            end = min(start + step, len(codes))
            values = np.ascontiguousarray(matrix.take(np.arange(start, end)))
            if norm_quantizer is not None and norm_codes is not None:
                values, norms = _split(values)
                norm_codes[start:end] = norm_quantizer.encode(norms, threads=threads)[:, 0]
            codes[start:end] = quantizer.encode(values, threads=threads)
        return cls(codes, quantizer, norm_codes, norm_quantizer)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.codes), self.quantizer.dim

    def take(self, rows: ArrayLike) -> NDArray[np.float32]:
        """The rows with these numbers, (len(rows), dim) float32."""
        rows = np.ascontiguousarray(rows, np.int64)
        scales = np.empty(0, np.float32)
        if self.norm_codes is not None and self.norm_quantizer is not None:
            scales = self.norm_quantizer.centroids[self.norm_codes[rows]]
        return self.quantizer._rows(self.codes, rows, scales)

    def dense(self) -> NDArray[np.float32]:
        """All rows."""
        return self.take(np.arange(len(self.codes)))


def fit_quantizers(
    matrix: Rows, dsub: int, *, norms_apart: bool = False, seed: int = 1, threads: int = 1
) -> tuple[ProductQuantizer, ProductQuantizer | None]:
    """The quantizers of QuantMatrix.fit: of the rows, or with `norms_apart` of their directions and of their norms."""
    learned = _sample(matrix, seed)
    norm_quantizer = None
    if norms_apart:
        learned, norms = _split(learned)
        norm_quantizer = ProductQuantizer.fit(norms, 1, seed=seed, threads=threads)
    return ProductQuantizer.fit(learned, dsub, seed=seed, threads=threads), norm_quantizer


def _sample(matrix: Rows, seed: int) -> NDArray[np.float32]:
    """At most SAMPLE rows to learn from. Rows of zeros, of which a table of buckets may have many, would leave too few
    of the others; one of them is enough."""
    random = np.random.default_rng(seed)
    values = np.ascontiguousarray(matrix.take(_choose(random, matrix.shape[0], 4 * SAMPLE)))
    filled = values.any(axis=1)
    if filled.all():
        return values[_choose(random, len(values), SAMPLE)]
    rows = np.flatnonzero(filled)
    rows = rows[_choose(random, len(rows), SAMPLE - 1)]
    return values[np.append(rows, np.argmin(filled))]


def _choose(random: "np.random.Generator", rows: int, most: int) -> NDArray[np.int64]:
    """At most `most` of the numbers 0 .. rows - 1, ascending."""
    return np.arange(rows) if rows <= most else np.sort(random.choice(rows, most, replace=False, shuffle=False))


def _split(x: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The rows of x as unit vectors (n, dim) and norms (n, 1); rows of zeros stay zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", x, x, dtype=np.float64))[:, None]
    return (x / np.where(norms > 0, norms, 1)).astype(np.float32), norms.astype(np.float32)


def _require_finite(x: NDArray[np.float32]) -> None:
    for start in range(0, len(x), _ROWS_AT_ONCE):
        finite = np.isfinite(x[start : start + _ROWS_AT_ONCE]).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            message = f"row {row:,} holds NaN or infinity, which cannot be quantized; train again with a lower --lr"
            raise WvError(message)
