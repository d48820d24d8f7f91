"""A fitted hasher: vectors -> codes by projections. All methods but pq (product.py) end in one of these.

A row is scaled to unit length (normalise), centred by its own mean or the mean of the rows it was fitted on, and
projected; bits are projections above a threshold, or the `active` highest of them. Saved in a container
(formats/container.py) and applied later to other rows of the same dimension.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _hashing, _search
from wv_cli.errors import UsageError, WvError, shown
from wv_cli.search.packed import words_per_code
from wv_cli.system import container
from wv_cli.system.memory import aligned
from wv_cli.system.output import open_output
from wv_cli.system.threads import run_all
from wv_cli.vectors.codes import MAX_BITS, Codes
from wv_cli.vectors.embeddings import Embeddings

CENTRES = ("none", "mean", "row")
_BLOCK_ROWS = 4096
_LARGEST = 1e15  # of one number: sums of their products stay finite in float32


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a method's fit(method, x, config, train) makes of the prepared rows x: weights (units, dim) and, for dense
    codes, thresholds (units); None: 0."""

    weights: NDArray[np.float32]
    thresholds: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class LinearHasher:
    """`weights` (units, dim) and `thresholds` (units) float32; `active` 0: a bit per unit. `mean` (dim) is what
    `centre` "mean" takes off."""

    method: str
    active: int
    normalise: bool
    centre: str
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
        place: str = "the vectors",
        threads: int = 1,
        isa: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Codes:
        """The codes of all rows, the same for every number of threads. Raises WvError for another dimension and for
        rows with NaN, infinity or numbers beyond 1e15; `place` is what messages call the vectors. progress is told how
        many rows are done, from any thread."""
        require_dim(embeddings, self.dim, place)
        n = len(embeddings)
        lanes = _search.lanes(isa)
        panels = aligned((-(-self.units // lanes), self.dim, lanes))
        _search.pack(np.ascontiguousarray(self.weights), panels, isa)
        kernel = _hashing.LinearHash(panels, self.units, self.active, self.thresholds, isa)
        shape, kind = ((n, self.active), np.int32) if self.active else ((n, words_per_code(self.units)), np.uint64)
        data = np.empty(shape, kind)
        done = 0

        def work(start: int) -> None:
            nonlocal done
            rows = prepared(
                embeddings, slice(start, start + _BLOCK_ROWS), self.normalise, self.centre, self.mean, place=place
            )
            scratch = aligned((kernel.scratch_bytes,), np.uint8)
            (kernel.active if self.active else kernel.bits)(rows, data[start : start + len(rows)], scratch)
            done += len(rows)
            if progress:
                progress(done)

        run_all(work, range(0, n, _BLOCK_ROWS), threads)
        return Codes(embeddings.words, self.method, self.units, self.active, data, self.parameters)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the hasher, whole or not at all. Raises WvError."""
        facts = {name: getattr(self, name) for name in ("method", "active", "normalise", "centre", "parameters")}
        arrays = {"mean": self.mean, "weights": self.weights, "thresholds": self.thresholds}
        with open_output(path) as stream:
            container.write(stream, "hasher", facts, arrays)


def prepared(
    embeddings: Embeddings,
    rows: slice,
    normalise: bool,
    centre: str,
    mean: NDArray[np.float32] | None = None,
    *,
    place: str = "the vectors",
) -> NDArray[np.float32]:
    """Rows as a hasher sees them, C-contiguous: scaled to unit length (zero rows stay zero), then centred. Raises
    WvError as LinearHasher.encode."""
    x = np.array(embeddings.matrix[rows], np.float32, order="C")
    wrong = ~(np.abs(x) <= _LARGEST).all(axis=1)
    if wrong.any():
        row = (rows.start or 0) + int(wrong.argmax())
        value = x[wrong.argmax()][~(np.abs(x[wrong.argmax()]) <= _LARGEST)][0]
        message = (
            f"{place}: row {row + 1}, the word {shown(embeddings.words.bytes_at(row))}: expected finite numbers up to "
            f"{_LARGEST:g}, found {value}; `wv check` lists such rows"
        )
        raise WvError(message)
    if normalise:
        norms = np.sqrt(np.einsum("ij,ij->i", x, x, dtype=np.float64))
        x *= np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0).astype(np.float32)[:, None]
    if centre == "mean" and mean is not None:
        x -= mean
    elif centre == "row":
        x -= x.mean(axis=1, dtype=np.float64, keepdims=True).astype(np.float32)
    return x


def linear_hasher(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> LinearHasher | None:
    """What save() wrote; None for what it would not have written."""
    try:
        mean, weights, thresholds = (arrays[name] for name in ("mean", "weights", "thresholds"))
        units, dim = weights.shape
        fits = mean.shape == (dim,) and thresholds.shape == (units,) and 1 <= units <= MAX_BITS and dim >= 1
        fits = fits and all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values())
        hasher = LinearHasher(mean=mean, weights=weights, thresholds=thresholds, **facts)
        fits = fits and type(hasher.active) is int and 0 <= hasher.active <= units and hasher.centre in CENTRES
        fits = fits and isinstance(hasher.method, str) and isinstance(hasher.parameters, dict)
    except (KeyError, TypeError, ValueError):
        return None
    return hasher if fits else None


def require_dim(embeddings: Embeddings, dim: int, place: str) -> None:
    """Raises WvError for vectors of another dimension."""
    if embeddings.dim != dim:
        message = f"{place}: expected vectors of {dim} numbers, as the hasher was made for, found {embeddings.dim}"
        raise WvError(message)


def require_rows(n: int, least: int, method: str, what: str) -> None:
    """Raises UsageError when there are too few rows to fit on."""
    if n < least:
        message = f"{method} needs at least {least:,} vectors for {what}, found {n:,}; lower --length or --expansion"
        raise UsageError(message)
