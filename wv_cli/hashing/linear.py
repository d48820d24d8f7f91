"""A fitted hasher: vectors -> codes by projections. All methods but pq (product.py) end in one of these.

A row is scaled to unit length (normalize), centered by its own mean or the mean of the rows it was fitted on, and
projected; bits are projections above a threshold, or the `active` highest of them. Saved in a container
(wv_cli.io.container) and applied later to other rows of the same dimension.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _hashing, _search
from wv_cli.errors import show_value
from wv_cli.hashing.base import CENTER, LARGEST, NORMALIZE, prepare_rows, require_dim
from wv_cli.hashing.config import HashConfig
from wv_cli.io import container
from wv_cli.io.memory import allocate_aligned
from wv_cli.io.threads import run_all
from wv_cli.vectors.codes import MAX_BITS, Codes
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.neighbors.codes import words_per_code

CENTERS = ("none", "mean", "row")
_BLOCK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class LinearHasher:
    """`weights` (units, dim) and `thresholds` (units) float32; `active` 0: a bit per unit. `mean` (dim) is what
    `center` "mean" takes off."""

    method: str
    active: int
    normalize: bool
    center: str
    mean: NDArray[np.float32]
    weights: NDArray[np.float32]
    thresholds: NDArray[np.float32]
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def dim(self) -> int:
        return int(self.weights.shape[1])

    @property
    def units(self) -> int:
        return int(self.weights.shape[0])

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
        require_dim(embeddings, self.dim, name)
        n = len(embeddings)
        lanes = _search.lanes(isa)
        panels = allocate_aligned((-(-self.units // lanes), self.dim, lanes))
        _search.pack(np.ascontiguousarray(self.weights), panels, isa)
        kernel = _hashing.LinearHash(panels, self.units, self.active, self.thresholds, isa)
        shape, kind = ((n, self.active), np.int32) if self.active else ((n, words_per_code(self.units)), np.uint64)
        data = np.empty(shape, kind)
        done = 0

        def work(start: int) -> None:
            nonlocal done
            rows = prepare_rows(
                embeddings, slice(start, start + _BLOCK_ROWS), self.normalize, self.center, self.mean, name=name
            )
            scratch = allocate_aligned((kernel.scratch_bytes,), np.uint8)
            (kernel.active if self.active else kernel.bits)(rows, data[start : start + len(rows)], scratch)
            done += len(rows)
            if progress:
                progress(done)

        run_all(work, range(0, n, _BLOCK_ROWS), threads)
        return Codes(embeddings.words, self.method, self.units, self.active, data, self.parameters)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the hasher, whole or not at all. Raises WvError."""
        facts = {"method": self.method, "active": self.active, NORMALIZE: self.normalize, CENTER: self.center}
        facts["parameters"] = self.parameters
        arrays = {"mean": self.mean, "weights": self.weights, "thresholds": self.thresholds}
        container.save(path, "hasher", facts, arrays)


@dataclass(frozen=True, eq=False)
class Projections:
    """What a method makes of rows: weights (units, dim) and, for dense codes, thresholds (units); None: 0."""

    weights: NDArray[np.float32]
    thresholds: NDArray[np.float32] | None = None

    def hasher(
        self,
        method: str,
        x: NDArray[np.float32],
        mean: NDArray[np.float32],
        config: HashConfig,
        parameters: dict[str, Any],
    ) -> LinearHasher:
        """See hashing.base.Fitted."""
        thresholds = np.zeros(len(self.weights), np.float32) if self.thresholds is None else self.thresholds
        if config.threshold == "median":
            for unit, weights in enumerate(self.weights):
                thresholds[unit] = np.median(x @ weights)
        return LinearHasher(
            method=method,
            active=config.length if config.expansion else 0,
            normalize=config.normalize,
            center=config.center,
            mean=mean,
            weights=np.ascontiguousarray(self.weights),
            thresholds=np.ascontiguousarray(thresholds),
            parameters=parameters,
        )


def read_hasher(reader: container.Reader) -> LinearHasher:
    """What LinearHasher.save wrote. Raises BadFile."""
    layout = {"mean": ("<f4", ("dim",)), "weights": ("<f4", ("units", "dim")), "thresholds": ("<f4", ("units",))}
    sizes = reader.expect(layout, "a hasher of projections")
    units, center = sizes["units"], reader.fact(CENTER, str)
    if not 1 <= units <= MAX_BITS or sizes["dim"] < 1 or center not in CENTERS:
        reader.refuse(f"{units} units of {sizes['dim']} numbers, center {show_value(center)} make no hasher")
    active = reader.fact("active", int, 0, units)
    method, normalize = reader.fact("method", str), reader.fact(NORMALIZE, bool)
    parameters, arrays = reader.fact("parameters", dict), reader.read()
    mean, weights, thresholds = arrays.values()
    # Sums of products with rows, whose numbers have the same bound (prepared), stay finite.
    reader.require_finite({"mean": mean, "weights": weights}, LARGEST)
    reader.require_finite({"thresholds": thresholds})
    return LinearHasher(method, active, normalize, center, mean, weights, thresholds, parameters)
