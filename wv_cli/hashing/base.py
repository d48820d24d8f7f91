"""What all methods that hash vectors share: how rows are prepared, what a fit is given and makes, what a hasher
does."""

import os
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError, show_bytes
from wv_cli.hashing.config import HashConfig
from wv_cli.io import container
from wv_cli.models.training.run import Outcome
from wv_cli.models.training.saved_run import Savable
from wv_cli.vectors.codes import Codes
from wv_cli.vectors.embeddings import Embeddings

Worker = TypeVar("Worker")

_SHORTEST = 1e-37  # length of a row whose reciprocal is a float32
LARGEST = 1e15  # of one number: sums of their products stay finite in float32
NORMALIZE, CENTER = "normalise", "centre"  # as saved hashers spell it


class VectorHasher(Protocol):
    """A fitted hasher: vectors in, codes out. `units` is the bits of a code, `active` how many of them are on, 0 for
    dense and product codes; `parameters` are recorded with the codes."""

    @property
    def method(self) -> str: ...
    @property
    def units(self) -> int: ...
    @property
    def active(self) -> int: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    def encode(
        self,
        embeddings: Embeddings,
        *,
        name: str = "the vectors",
        threads: int = 1,
        isa: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Codes:
        """The codes of all rows, the same for every number of threads. Raises WvError for another dimension and for
        rows with NaN, infinity or numbers beyond 1e15; `name` is what messages call the vectors. progress is told how
        many rows are done, from any thread."""
        ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the hasher, whole or not at all. Raises WvError."""
        ...


class Fitted(Protocol):
    """What a method has made of the rows."""

    def hasher(
        self,
        method: str,
        x: NDArray[np.float32],
        mean: NDArray[np.float32],
        config: HashConfig,
        parameters: dict[str, Any],
    ) -> VectorHasher:
        """The hasher of rows `x` (n, dim), of which `mean` (dim) was taken off."""
        ...


class Train(Protocol):
    """Trains what learns by steps, as models.training.run.train does."""

    def __call__(self, model: Savable[Worker], /) -> Outcome: ...


class Fit(Protocol):
    """The learner of a row of HASHERS. `x` (n, dim) are prepared rows; config.length and config.expansion are set."""

    def __call__(self, method: str, x: NDArray[np.float32], config: HashConfig, train: Train, /) -> Fitted | None:
        """None when the training stopped before its end. Raises UsageError for options that the rows do not allow."""
        ...


class ReadHasher(Protocol):
    """`read_hasher` of the module that a row of HASHERS names as its loader."""

    def __call__(self, reader: container.Reader, /) -> VectorHasher:
        """What save() wrote. Raises BadFile."""
        ...


def prepare_rows(
    embeddings: Embeddings,
    rows: slice,
    normalize: bool,
    center: str,
    mean: NDArray[np.float32] | None = None,
    *,
    name: str = "the vectors",
) -> NDArray[np.float32]:
    """Rows as a hasher sees them, C-contiguous: scaled to unit length (zero rows stay zero), then centered. Raises
    WvError as VectorHasher.encode."""
    x = np.array(embeddings.matrix[rows], np.float32, order="C")
    wrong = ~(np.abs(x) <= LARGEST).all(axis=1)
    if wrong.any():
        row = (rows.start or 0) + int(wrong.argmax())
        value = x[wrong.argmax()][~(np.abs(x[wrong.argmax()]) <= LARGEST)][0]
        message = (
            f"{name}: row {row + 1}, the word {show_bytes(embeddings.words.bytes_at(row))}: expected finite numbers "
            f"up to {LARGEST:g}, found {value}; `wv check` lists such rows"
        )
        raise WvError(message)
    if normalize:
        norms = np.sqrt(np.einsum("ij,ij->i", x, x, dtype=np.float64))
        # A row so short that one over its length is no float32 is divided in float64.
        tiny = np.flatnonzero((norms > 0) & (norms < _SHORTEST))
        units = x[tiny] / norms[tiny, None]
        norms[tiny] = 1
        x *= np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0).astype(np.float32)[:, None]
        x[tiny] = units
    if center == "mean" and mean is not None:
        x -= mean
    elif center == "row":
        x -= x.mean(axis=1, dtype=np.float64, keepdims=True).astype(np.float32)
    return x


def require_dim(embeddings: Embeddings, dim: int, name: str) -> None:
    """Raises WvError for vectors of another dimension."""
    if embeddings.dim != dim:
        message = f"{name}: expected vectors of {dim} numbers, as the hasher was made for, found {embeddings.dim}"
        raise WvError(message)


def require_rows(n: int, least: int, method: str, what: str) -> None:
    """Raises UsageError when there are too few rows to fit on."""
    if n < least:
        message = f"{method} needs at least {least:,} vectors for {what}, found {n:,}; lower --length or --expansion"
        raise UsageError(message)
