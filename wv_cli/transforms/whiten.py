"""Whitening and its relatives: affine maps of vectors, made from the mean and covariance of a set of rows.

With covariance U diag(l) U^T, eigenvalues l falling, y = (x - mean) W and

    whiten  W = U l^-1/2               covariance I (Su et al. 2021, arXiv 2103.15316)
    zca     W = U l^-1/2 U^T           the same turned back to the old axes, so that the vectors move least
    pca     W = U                      only turned; distances and cosines of the centered vectors stay
    soft    W = U l^-beta/2            between pca (0) and whiten (1)
    abtt    W = I - U_D U_D^T          all but the top D directions (Mu & Viswanath 2018, arXiv 1702.01417)
    project y = x W, W normal with variance 1 / new dim: inner products stay in expectation, whatever the rows (Johnson
            & Lindenstrauss 1984); the mean is not taken off and no covariance is used

Decisions: a direction counts as varying when l > tolerance x the largest l, and more than float32 rounds numbers of
that size; the others are cut, because rounding noise divided by its own size would fill them. An eigenvector's largest
component is positive, so that files are reproducible. Too few rows are an error (see _require_rows). Not here: which
rows, and files of vectors.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _affine
from wv_cli.errors import UsageError, WvError
from wv_cli.io import container
from wv_cli.io.host import processors
from wv_cli.io.input import open_input
from wv_cli.io.memory import allocate_aligned
from wv_cli.io.threads import run_all
from wv_cli.text.vocab import Vocab
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import LARGEST, Moments
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.streams import RowSource
from wv_cli.words import WordList

_THREAD_ROWS = 2048  # are worth packing the matrix for
_LARGEST_DOUBLE = 1e100  # of a matrix that is no damage: 1 over the square root of the least variance of float32
# Eigenvalues below 0 by more than this share of the largest are no rounding.
_ROUNDING = 1e-6
_DIVIDES_BY_VARIANCE = ("whiten", "zca")
FEWEST_ROWS = 5  # of a dimension that is kept; 1.5 took 74.1 to 30.3 on STS, where soft had 80.9


@dataclass(frozen=True, eq=False)
class Transform:
    """y = (x - mean) @ matrix: `mean` (dim,), `matrix` (dim, new dim), `eigenvalues` (dim,) of the covariance, falling.
    `rank` directions vary. `facts` say how it was made: method, rows, weight, tolerance, source, ..."""

    mean: NDArray[np.float64]
    matrix: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]
    rank: int
    facts: dict[str, Any]

    @property
    def dim(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def new_dim(self) -> int:
        return int(self.matrix.shape[1])

    def overfits(self, rows: int) -> bool:
        """Whether noise decides a transform that is fitted on so many different rows. It divides by variances, and the
        least of few rows are far too small."""
        return self.facts.get("method") in _DIVIDES_BY_VARIANCE and rows < FEWEST_ROWS * self.new_dim

    def require_dim(self, dim: int, name: object) -> None:
        """Raises WvError unless vectors of `dim` numbers can be transformed; `name` is where they come from."""
        if dim != self.dim:
            message = f"{name}: the transform is for vectors of {self.dim} numbers, these have {dim}"
            raise WvError(message)

    def apply(self, rows: NDArray[np.floating], *, threads: int = 0, isa: str | None = None) -> NDArray[np.float32]:
        """(n, dim) -> (n, new dim), computed in float64 whatever the size of the mean and however far the eigenvalues
        lie apart (csrc/kernels/affine.c). Rows far from those that were fitted may come out beyond float32, as
        infinity, which no writer takes. `threads` 0 means all processors; `isa` names an instruction set, for tests.
        Raises WvError as require_dim."""
        self.require_dim(rows.shape[1], "apply")
        result = np.empty((len(rows), self.new_dim), np.float32)
        if rows.dtype != np.float32:  # numbers that the kernel would round first
            with np.errstate(over="ignore", invalid="ignore"):
                result[:] = (rows - self.mean) @ self.matrix
            return result
        if not len(rows):
            return result
        matrix = np.ascontiguousarray(self.matrix, np.float64)
        job = _affine.Affine(np.ascontiguousarray(rows), np.ascontiguousarray(self.mean), matrix, result, isa)

        def part(first: int) -> None:
            job.apply(first, min(first + _THREAD_ROWS, len(rows)), allocate_aligned((job.scratch_bytes,), np.uint8))

        run_all(part, range(0, len(rows), _THREAD_ROWS), min(threads or processors(), -(-len(rows) // _THREAD_ROWS)))
        return result

    def save(self, path: str | os.PathLike[str]) -> None:
        """Raises WvError."""
        arrays = {"mean": self.mean, "matrix": self.matrix, "eigenvalues": self.eigenvalues}
        container.save(path, "transform", {**self.facts, "rank": self.rank}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Transform":
        """Raises BadFile, WvError."""
        with open_input(path, "a transform") as source:
            reader = container.Reader(source, "transform")
            layout = {"mean": ("<f8", ("dim",)), "matrix": ("<f8", ("dim", "new")), "eigenvalues": ("<f8", ("dim",))}
            sizes = reader.expect(layout, "a transform")
            if not sizes["dim"] or not sizes["new"]:
                reader.refuse(f"expected one or more dimensions, found {sizes['dim']} to {sizes['new']}")
            rank = reader.fact("rank", int, 0, sizes["dim"])
            arrays = reader.read()
            reader.require_finite({"mean": arrays["mean"]}, LARGEST)
            reader.require_finite({name: arrays[name] for name in ("matrix", "eigenvalues")}, _LARGEST_DOUBLE)
            values = arrays["eigenvalues"]
            if (np.diff(values) > 0).any() or values[-1] < 0:
                reader.refuse("expected falling eigenvalues of 0 or more, found others", reader.offset("eigenvalues"))
        facts = {key: value for key, value in reader.header.items() if key != "rank"}
        return cls(arrays["mean"], arrays["matrix"], arrays["eigenvalues"], rank, facts)


def directions(moments: Moments, name: str = "the rows") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(eigenvalues (dim,), eigenvectors (dim, dim) as columns) of the covariance, the largest first, none below 0, the
    largest component of every vector positive. Raises WvError for a covariance that is none."""
    covariance = moments.covariance
    try:
        if not np.isfinite(covariance).all():
            raise np.linalg.LinAlgError
        values, vectors = np.linalg.eigh(covariance)
    except np.linalg.LinAlgError:
        message = f"{name}: the covariance has no eigenvalues: its numbers are too large, or the moments are damaged"
        raise WvError(message) from None
    if values[0] < -_ROUNDING * values[-1]:
        message = (
            f"{name}: the covariance has a negative variance, {values[0]:.3g}: the moments are damaged; make them again"
        )
        raise WvError(message)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return values, vectors * np.where(largest < 0, -1.0, 1.0)


def fit(moments: Moments, config: WhitenConfig, source: str = "") -> Transform:
    """The transform of `config.method` from the moments of a set of rows, called `source` in messages and facts.

    Raises UsageError for a config that makes no sense, WvError for rows that are too few, do not vary, or vary in fewer
    directions than config.dim asks for.
    """
    config.validate()
    if config.method == "project":
        return _projection(moments, config, source)
    name, dim = source or "the rows", moments.dim
    _require_rows(moments, config, name)
    values, vectors = directions(moments, name)
    # float32 numbers of this size are rounded by about so much: no variance of the data either.
    squares = moments.mean**2 + np.diagonal(moments.covariance)
    noise = float(squares.max()) * 2.0**-46
    rank = int(np.count_nonzero(values > max(config.tolerance * values[0], noise)))
    if rank == 0:
        message = f"{name}: all {moments.rows:,} rows are equal; there is nothing to fit"
        raise WvError(message)
    if config.dim > rank:
        what = f"vary in only {rank} of {dim} directions (eigenvalues above {config.tolerance:g} x the largest)"
        message = f"{name}: --dim {config.dim} is more than the data have: the rows {what}; give at most --dim {rank}"
        raise WvError(message)
    removed = 0
    if config.method == "abtt":
        removed = config.remove or max(1, dim // 100)
        if removed >= rank:
            message = f"{name}: --remove {removed} would leave nothing: the rows vary in {rank} directions"
            raise UsageError(message)
        matrix = np.eye(dim) - vectors[:, :removed] @ vectors[:, :removed].T
    else:
        kept = vectors[:, : config.dim or rank]
        power = {"pca": 0.0, "soft": config.beta}.get(config.method, 1.0)
        matrix = kept * values[: kept.shape[1]] ** (-power / 2)
        if config.method == "zca":
            matrix = matrix @ kept.T
    facts = {
        "method": config.method,
        "beta": config.beta if config.method == "soft" else None,
        "removed": removed,
        "tolerance": config.tolerance,
        "rows": moments.rows,
        "weight": moments.weight,
        "source": source,
    }
    return Transform(moments.mean, matrix, values, rank, facts)


def _projection(moments: Moments, config: WhitenConfig, source: str) -> Transform:
    """Of the dimension of the moments, of which nothing else is used."""
    dim, new_dim = moments.dim, config.dim or moments.dim
    drawn = np.random.default_rng(config.seed).standard_normal((dim, new_dim)) / np.sqrt(new_dim)
    facts: dict[str, Any] = {"method": config.method, "beta": None, "removed": 0, "seed": config.seed}
    facts |= {"rows": moments.rows, "weight": moments.weight, "source": source}
    return Transform(np.zeros(dim), drawn, np.zeros(dim), dim, facts)


def _require_rows(moments: Moments, config: WhitenConfig, name: str) -> None:
    """N rows, centered, span at most N - 1 dimensions. With N <= dim all of them whiten to vectors of the same cosine,
    -1 / (N - 1): nothing of what they were is left. pca and abtt divide by no eigenvalue and need two rows."""
    if moments.rows < 2:
        message = f"{name}: a covariance needs at least 2 rows, found {moments.rows}"
        raise WvError(message)
    divides = config.method in ("whiten", "zca") or (config.method == "soft" and config.beta > 0)
    if divides and moments.rows <= moments.dim:
        message = (
            f"{name}: {moments.rows:,} rows of {moments.dim} numbers cannot be whitened: with no more rows than "
            "dimensions every pair of them would come out with the same cosine; fit on more rows (--fit FILE) or use "
            "--method pca or abtt"
        )
        raise WvError(message)


def moments_of(source: RowSource, vocab: Vocab | None = None, top: int | None = None) -> tuple[Moments, int]:
    """The moments of the distinct rows, and how many of them `vocab` does not list. Only the first `top` count (None:
    all). With `vocab` each row has the weight of its word's count, 0 for an unlisted word."""
    moments, unknown = Moments.none(source.dim), 0
    for block in source.distinct(top):
        weights = None
        if vocab is not None:
            weights = _counts(block.words, vocab)
            unknown += int(np.count_nonzero(weights == 0))
        moments = moments.with_rows(block.matrix, weights)
    return moments, unknown


def _counts(words: WordList, vocab: Vocab) -> NDArray[np.float64]:
    ids = vocab.words.find_all(words)
    return np.where(ids >= 0, vocab.counts[np.maximum(ids, 0)], 0).astype(np.float64)


class TransformedRows:
    """The distinct rows of a file, transformed. `count` is how many there are; `zero`, when they were read, how many of
    them became zero, which have no direction."""

    def __init__(self, source: RowSource, transform: Transform) -> None:
        source.look_for_repeated()  # a header says how many rows there are
        self.count, self.zero = source.rows - source.repeated_rows, 0
        self._source, self._transform = source, transform

    def __iter__(self) -> Iterator[Embeddings]:
        for block in self._source.distinct():
            result = self._transform.apply(block.matrix)
            self.zero += int(np.count_nonzero(~result.any(axis=1)))
            yield Embeddings(block.words, result)
