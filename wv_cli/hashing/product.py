"""Product codes: each block of a vector's coordinates becomes the byte that names its nearest centroid (Jegou, Douze,
Schmid 2011; wv_cli/vectors/quantizer.py). Unlike codes of bits they give the vector back, nearly, and are compared by
cosine.

A row is scaled to unit length first (normalise) and never centred: the decoded vector stands for the row itself. Saved
in a container (formats/container.py) and applied later to other rows of the same dimension.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.linear import prepared, require_dim
from wv_cli.system import container
from wv_cli.system.output import open_output
from wv_cli.vectors.codes import Codes, product_blocks, product_quantizer
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.quantizer import ProductQuantizer

_BLOCK_ROWS = 8192  # per thread


@dataclass(frozen=True, eq=False)
class ProductHasher:
    """`quantizer` has a byte of the code for each of its blocks."""

    method: str
    normalise: bool
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
        place: str = "the vectors",
        threads: int = 1,
        isa: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Codes:
        """As LinearHasher.encode."""
        require_dim(embeddings, self.quantizer.dim, place)
        data = np.empty((len(embeddings), self.quantizer.nsub), np.uint8)
        step = _BLOCK_ROWS * max(1, threads)
        for start in range(0, len(data), step):
            rows = prepared(embeddings, slice(start, start + step), self.normalise, "none", place=place)
            data[start : start + step] = self.quantizer.encode(rows, threads=threads, isa=isa)
            if progress:
                progress(start + len(rows))
        return Codes(embeddings.words, self.method, self.units, 0, data, self.parameters, self.quantizer)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the hasher, whole or not at all. Raises WvError."""
        facts = {"method": self.method, "bits": self.units, "normalise": self.normalise, "parameters": self.parameters}
        with open_output(path) as stream:
            container.write(stream, "hasher", facts, {"centroids": self.quantizer.centroids})


def product_hasher(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ProductHasher | None:
    """What save() wrote; None for what it would not have written."""
    method, bits, normalise, parameters = (facts.get(key) for key in ("method", "bits", "normalise", "parameters"))
    centroids = arrays["centroids"]
    if type(bits) is not int or centroids.dtype != np.float32 or type(normalise) is not bool:
        return None
    quantizer = product_quantizer(centroids, bits)
    if quantizer is None or not isinstance(method, str) or not isinstance(parameters, dict):
        return None
    return ProductHasher(method, normalise, quantizer, parameters)


def product_length(length: int, dim: int, default: int) -> int:
    """Bits of a code of `dim` coordinates: `length`, or for 0 the most up to `default`. Raises UsageError for bits that
    are no blocks of coordinates."""
    if not length:
        return max(bits for bits in range(8, max(8, default) + 1, 8) if product_blocks(dim, bits))
    if product_blocks(dim, length) is None:
        every = [bits for bits in range(8, 8 * dim + 1, 8) if product_blocks(dim, bits)]
        near = sorted(every, key=lambda bits: abs(bits - length))[:2]
        message = (
            f"pq has a byte for each block of equally many of the {dim} coordinates (the last may be shorter), which "
            f"cannot make --length {length}; the nearest it has: {' and '.join(map(str, sorted(near)))}"
        )
        raise UsageError(message)
    return length


def fit(method: str, x: NDArray[np.float32], config: HashConfig, train: Any = None) -> ProductQuantizer:
    """Raises WvError when there are no rows."""
    dsub = product_blocks(x.shape[1], config.length)
    assert dsub, "product_length chose it"
    return ProductQuantizer.fit(x, dsub, seed=config.seed, threads=config.threads)
