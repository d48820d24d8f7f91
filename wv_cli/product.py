"""Product quantisation: a vector as one byte per block of its coordinates, as fastText's .ftz files hold it.

Jegou, Douze, Schmid 2011 (Product quantization for nearest neighbor search); for matrices of text models Joulin et al.
2016, arXiv 1612.03651. A vector of `dim` coordinates is cut into blocks of `dsub` (the last may be shorter); each block
is replaced by the nearest of CENTROIDS centroids found by k-means (csrc/kernels/product.c). Not a search index: see
wv_cli.neighbours for exact search.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

CENTROIDS = 256  # per block: a code is one byte


@dataclass(frozen=True, eq=False)
class ProductQuantizer:
    """`centroids` is flat float32 of length CENTROIDS * dim in the order of fastText's files: block after block, within a
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

    def decode(self, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The vectors (n, dim) that codes (n, nsub) stand for."""
        if codes.ndim != 2 or codes.shape[1] != self.nsub:
            message = f"codes of shape {codes.shape} do not fit {self.nsub} blocks"
            raise ValueError(message)
        out = np.empty((len(codes), self.dim), np.float32)
        whole = self.dim // self.dsub
        table = self.centroids[: whole * CENTROIDS * self.dsub].reshape(whole * CENTROIDS, self.dsub)
        rows = codes[:, :whole] + np.arange(whole, dtype=np.int32) * CENTROIDS
        out[:, : whole * self.dsub] = table[rows].reshape(len(codes), whole * self.dsub)
        if whole < self.nsub:
            out[:, whole * self.dsub :] = self.block(whole)[codes[:, whole]]
        return out


@dataclass(frozen=True, eq=False)
class QuantMatrix:
    """A matrix whose rows are kept as codes; the rows of fastText's quantised matrices.

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

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.codes), self.quantizer.dim

    def take(self, rows: ArrayLike) -> NDArray[np.float32]:
        """The rows with these numbers, (len(rows), dim) float32."""
        rows = np.asarray(rows, np.int64)
        values = self.quantizer.decode(self.codes[rows])
        if self.norm_codes is not None and self.norm_quantizer is not None:
            values *= self.norm_quantizer.centroids[self.norm_codes[rows]][:, None]
        return values

    def dense(self) -> NDArray[np.float32]:
        """All rows."""
        return self.take(np.arange(len(self.codes)))
