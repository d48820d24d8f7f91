"""Product codes: each block of a vector's coordinates becomes the byte that names its nearest centroid (Jegou, Douze,
Schmid 2011; wv_cli/vectors/quantizer.py). Unlike codes of bits they give the vector back, nearly, and are compared by
cosine.

A row is scaled to unit length first (normalize) and never centered: the decoded vector stands for the row itself. Saved
in a container (wv_cli.io.container) and applied later to other rows of the same dimension.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.hashing.base import LARGEST, NORMALIZE, Train, prepare_rows, require_dim
from wv_cli.hashing.config import HashConfig
from wv_cli.io import container
from wv_cli.vectors.codes import MAX_BITS, Codes, product_blocks, product_quantizer
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.quantizer import ProductQuantizer

_BLOCK_ROWS = 8192  # per thread


@dataclass(frozen=True, eq=False)
class ProductHasher:
    """`quantizer` has a byte of the code for each of its blocks."""

    method: str
    normalize: bool
    quantizer: ProductQuantizer
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def units(self) -> int:
        """Bits of a code."""
        return 8 * self.quantizer.nsub

    @property
    def active(self) -> int:
        return 0

    def encode(
        self,
        embeddings: Embeddings,
        *,
        name: str = "the vectors",
        threads: int = 1,
        isa: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Codes:
        """See hashing.base.VectorHasher."""
        require_dim(embeddings, self.quantizer.dim, name)
        data = np.empty((len(embeddings), self.quantizer.nsub), np.uint8)
        step = _BLOCK_ROWS * max(1, threads)
        for start in range(0, len(data), step):
            rows = prepare_rows(embeddings, slice(start, start + step), self.normalize, "none", name=name)
            data[start : start + step] = self.quantizer.encode(rows, threads=threads, isa=isa)
            if progress:
                progress(start + len(rows))
        return Codes(embeddings.words, self.method, self.units, 0, data, self.parameters, self.quantizer)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the hasher, whole or not at all. Raises WvError."""
        facts = {"method": self.method, "bits": self.units, NORMALIZE: self.normalize, "parameters": self.parameters}
        container.save(path, "hasher", facts, {"centroids": self.quantizer.centroids})


@dataclass(frozen=True, eq=False)
class Centroids:
    """What the method makes of rows."""

    quantizer: ProductQuantizer

    def hasher(
        self,
        method: str,
        x: NDArray[np.float32],
        mean: NDArray[np.float32],
        config: HashConfig,
        parameters: dict[str, Any],
    ) -> ProductHasher:
        """See hashing.base.Fitted."""
        return ProductHasher(method, config.normalize, self.quantizer, parameters)


def fit(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Centroids:
    """Raises UsageError for a length that is no blocks of coordinates, WvError when there are no rows."""
    dim = x.shape[1]
    dsub = product_blocks(dim, config.length)
    if dsub is None:
        every = [bits for bits in range(8, 8 * dim + 1, 8) if product_blocks(dim, bits)]
        near = sorted(every, key=lambda bits: abs(bits - config.length))[:2]
        message = (
            f"{method} has a byte for each block of equally many of the {dim} coordinates (the last may be shorter), "
            f"which cannot make --length {config.length}; the nearest it has: {' and '.join(map(str, sorted(near)))}"
        )
        raise UsageError(message)
    return Centroids(ProductQuantizer.fit(x, dsub, seed=config.seed, threads=config.threads))


def longest(dim: int, most: int) -> int:
    """The most bits, up to `most` or 8, that blocks of `dim` coordinates make."""
    return max(bits for bits in range(8, max(8, most) + 1, 8) if product_blocks(dim, bits))


def read_hasher(reader: container.Reader) -> ProductHasher:
    """What ProductHasher.save wrote. Raises BadFile."""
    numbers = reader.expect({"centroids": ("<f4", ("numbers",))}, "a hasher of product codes")["numbers"]
    method, bits = reader.fact("method", str), reader.fact("bits", int, 8, MAX_BITS)
    normalize, parameters = reader.fact(NORMALIZE, bool), reader.fact("parameters", dict)
    arrays = reader.read()
    reader.require_finite(arrays, LARGEST)
    quantizer = product_quantizer(arrays["centroids"], bits)
    if quantizer is None:
        reader.refuse(f"{numbers:,} numbers make no centroids of codes of {bits} bits")
    return ProductHasher(method, normalize, quantizer, parameters)
