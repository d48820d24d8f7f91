"""BioHash: units that compete for the rows and become their centers; the k nearest centers are a row's code (Ryali,
Hopfield, Grinberg, Krotov 2020, arXiv 2001.04907).

Two ways to the weights. `sgd` is the paper's rule by minibatches (csrc/kernels/biohash.c) with its p, rank and delta; a
step of the run is STEP_ROWS rows, so it can stop, be saved and go on. `kmeans` is what the rule converges to for p = 2,
delta = 0, spherical k-means, computed directly: deterministic, no learning rate, and the default.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _hashing
from wv_cli.hashing.base import Train, require_rows
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.linear import Projections
from wv_cli.io import memory
from wv_cli.io.memory import allocate_aligned
from wv_cli.models.training.blocks import EpochOrder
from wv_cli.models.training.trainer import Immediate, StepResult
from wv_cli.transforms.clusters import Owner, nearest, spherical_kmeans, sums_of_classes

STEP_ROWS = 1 << 13
_STEPS_VERSION = 1  # raised when a step computes something else: no older checkpoint then goes on


def fit(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Projections | None:
    """None when the training of a BioHash, which `train` runs, stopped before the end."""
    units = config.expansion
    require_rows(len(x), units, method, f"{units} units")
    if config.rule == "kmeans":
        return Projections(kmeans_centers(x, units, config.epochs, config.seed, config.threads)[0])
    model = BioHash(x, config)
    return Projections(np.array(model.effective)) if train(model).is_finished else None


class BioHash(Immediate[HashConfig]):
    """The sgd rule in training. Satisfies training.saved_run.Savable. `weights` (units, dim) start at N(0, 1) divided
    by their p-norm (the authors' code starts at N(0, 1), from which it first shrinks to the unit sphere)."""

    def __init__(self, x: NDArray[np.float32], config: HashConfig, isa: str | None = None) -> None:
        self.x, self.config = x, config
        units, dim = config.expansion, x.shape[1]
        random = np.random.default_rng(config.seed)
        self._weights = memory.zeros(units, memory.pad_width(dim))
        self.weights = self._weights[:, :dim]
        start = random.standard_normal((units, dim))
        self.weights[:] = start / np.linalg.norm(start, config.p, axis=1, keepdims=True)
        self._isa = isa
        self._order = EpochOrder(config.seed, len(x))

    @property
    def effective(self) -> NDArray[np.float32]:
        """sign(w) |w|^(p - 1), (units, dim): activations are its inner products."""
        powers: NDArray[np.float32] = np.abs(self.weights) ** np.float32(self.config.p - 1)
        return np.sign(self.weights) * powers

    @property
    def epoch_steps(self) -> int:
        return -(-len(self.x) // self._step_rows)

    @property
    def _step_rows(self) -> int:
        return max(1, STEP_ROWS // self.config.batch) * self.config.batch

    def worker(self) -> tuple[_hashing.BioHash, NDArray[Any]]:
        config = self.config
        effective = self.weights
        if config.p != 2:
            padded = memory.zeros(*self._weights.shape)
            effective = padded[:, : self.x.shape[1]]
            effective[:] = self.effective
        run = _hashing.BioHash(
            self.weights, effective, config.rank, config.delta, config.p, config.normalize_weights, self._isa
        )
        scratch = allocate_aligned((run.scratch_bytes(config.batch),), np.uint8)
        scratch[:] = 0
        return run, scratch

    def train_step(self, step: int, worker: tuple[_hashing.BioHash, NDArray[Any]]) -> StepResult:
        epoch, block = divmod(step, self.epoch_steps)
        rows = self._order.for_epoch(epoch)[block * self._step_rows : (block + 1) * self._step_rows].astype(np.int32)
        lr = self.config.lr * (1 - epoch / self.epochs)
        run, scratch = worker
        energy = run.train(self.x, rows, self.config.batch, lr, scratch)
        return energy, len(rows), len(rows), lr

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued."""
        sample = self.x[:: max(1, len(self.x) // 64)]
        facts = {"rows": len(self.x), "dim": self.x.shape[1], "sum": float(sample.sum(dtype=np.float64))}
        return {**self.config.identity(), **facts}

    def schedule(self) -> dict[str, Any]:
        """See training.saved_run.Savable."""
        return {"version": _STEPS_VERSION, "step_rows": STEP_ROWS}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"weights": self._weights}


def kmeans_centers(
    x: NDArray[np.float32], units: int, iterations: int, seed: int, threads: int = 1, isa: str | None = None
) -> tuple[NDArray[np.float32], list[float]]:
    """(centers (units, dim) of unit length, the mean score <center, x> before each turn and after the last).

    Spherical k-means that starts from `units` rows drawn by the seed; a center becomes the direction of the sum of its
    rows, and one without rows the row that was worst served.
    """
    random = np.random.default_rng(seed)
    centers = _unit(x[np.sort(random.permutation(len(x))[:units])].astype(np.float64))
    served: NDArray[np.float64] = np.empty(0)
    scores: list[float] = []

    def assign(centers: NDArray[np.float32]) -> Owner:
        nonlocal served
        owner = nearest(x, centers, threads, isa)
        served = np.einsum("ij,ij->i", x, centers[owner], dtype=np.float64)
        scores.append(float(served.mean()))
        return owner

    def centers_of(owner: Owner) -> NDArray[np.float32]:
        sums, counts = sums_of_classes(x, owner, units)
        # float64 sums to unit rows; a sum of exactly zero keeps its old center.
        moved = _unit(sums)
        keep = moved.any(axis=1)
        centers[keep] = moved[keep]
        empty = np.flatnonzero(counts == 0)
        if len(empty):
            centers[empty] = _unit(x[np.argsort(served, kind="stable")[: len(empty)]].astype(np.float64))
        return centers

    spherical_kmeans(assign(centers), iterations, centers_of, assign)
    return centers, scores


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0).astype(np.float32)
    return unit
