"""Indexes for approximate search, by faiss: their kinds, how one is built, and the number that trades time for recall.

An index holds unit vectors and compares by inner product, so its scores are cosines. What is built here is faiss's own:
`faiss.write_index` writes it (formats/index_file.py), and every program with faiss reads it. Not here: words, files,
and what the answers are worth (approximate.py).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.registry import Registry
from wv_cli.search.config import IndexConfig
from wv_cli.search.neighbours import Neighbours
from wv_cli.system import memory
from wv_cli.system.events import OnProgress
from wv_cli.system.extra import require
from wv_cli.system.host import processors

_BLOCK = 1 << 14  # rows added at a time
_CENTROIDS = 256  # of a byte of a product code
_LEAST_PER_CENTROID = 39  # rows to learn from, below which faiss warns
_MOST_PER_CENTROID = 64
_ROUNDS = 10  # of k-means
_MOST_VISITED = 1 << 14  # of a graph: beyond, reading every row is quicker


@dataclass(frozen=True)
class Kind:
    """`new(faiss, n, dim, config)` makes one for n rows, empty; `made` is what faiss calls it. `bytes_per_row(dim,
    config)` is what a row takes. `knob` names the number that trades time for recall, "" when every answer is exact,
    and `most` is its largest of an index. `codes`: rows are not kept as they are, so that the order of what is found is
    not exact."""

    made: str
    new: Callable[[Any, int, int, IndexConfig], Any]
    bytes_per_row: Callable[[int, IndexConfig], int]
    knob: str = ""
    most: Callable[[Any], int] = lambda index: 1
    codes: bool = False

    def set(self, index: Any, value: int) -> None:
        setattr(*self._holder(index), value)

    def get(self, index: Any) -> int:
        return int(getattr(*self._holder(index)))

    def _holder(self, index: Any) -> tuple[Any, str]:
        *path, name = self.knob.split(".")
        for part in path:
            index = getattr(index, part)
        return index, name


def block_size(dim: int, most: int) -> int:
    """Coordinates of a block of a product code: the largest divisor of `dim` that is at most `most`."""
    return next(size for size in range(min(most, dim), 0, -1) if dim % size == 0)


def _new_graph(faiss: Any, n: int, dim: int, config: IndexConfig) -> Any:
    index = faiss.IndexHNSWFlat(dim, config.links, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = config.ef_construction
    return index


def _new_lists(faiss: Any, n: int, dim: int, config: IndexConfig) -> Any:
    most = n // _LEAST_PER_CENTROID
    if most < _CENTROIDS:
        message = (
            f"--kind ivf-pq learns {_CENTROIDS} centroids, for which {_CENTROIDS * _LEAST_PER_CENTROID:,} rows are the "
            f"least, and found {n:,}; choose hnsw or flat"
        )
        raise WvError(message)
    lists = min(config.lists or round(4 * math.sqrt(n)), most)
    blocks = dim // block_size(dim, config.dsub)
    index = faiss.IndexIVFPQ(faiss.IndexFlatIP(dim), dim, lists, blocks, 8, faiss.METRIC_INNER_PRODUCT)
    for parameters in (index.cp, index.pq.cp):
        parameters.seed = config.seed % (1 << 31)
        parameters.niter = _ROUNDS
        parameters.max_points_per_centroid = _MOST_PER_CENTROID
    return index


KINDS: Registry[Kind] = Registry(
    "kind of index",
    [
        (
            "hnsw",
            Kind(
                "IndexHNSWFlat",
                _new_graph,
                lambda dim, config: 4 * dim + 9 * config.links,
                "hnsw.efSearch",
                lambda index: min(int(index.ntotal), _MOST_VISITED),
            ),
        ),
        (
            "ivf-pq",
            Kind(
                "IndexIVFPQ",
                _new_lists,
                lambda dim, config: dim // block_size(dim, config.dsub) + 8,
                "nprobe",
                lambda index: int(index.nlist),
                codes=True,
            ),
        ),
        ("flat", Kind("IndexFlat", lambda faiss, n, dim, config: faiss.IndexFlatIP(dim), lambda dim, _: 4 * dim)),
    ],
)


def library(what: str = "an index") -> Any:
    """faiss. Raises WvError naming the extra when it is not installed."""
    return require("faiss", what, "faiss-cpu")


def kind_of(index: Any) -> Kind | None:
    """The row of an index of faiss, None when it is of no kind that is built here, or not compared by inner product."""
    faiss = library()
    if index.metric_type != faiss.METRIC_INNER_PRODUCT:
        return None
    return next((row for row in KINDS.values() if isinstance(index, getattr(faiss, row.made))), None)


def use_threads(count: int) -> None:
    library().omp_set_num_threads(count or processors())


def build(exact: Neighbours, config: IndexConfig, progress: OnProgress | None = None) -> Any:
    """An index of faiss that holds the unit vectors of `exact`. With one thread the same vectors, config and seed give
    the same index. Raises WvError for too few rows, and for more than there is memory for."""
    faiss, kind, n = library(), KINDS.find(config.kind), len(exact)
    index = kind.new(faiss, n, exact.dim, config)
    memory.require(n * kind.bytes_per_row(exact.dim, config), f"an index of {n:,} rows", "choose --kind ivf-pq")
    use_threads(config.threads)
    if not index.is_trained:
        index.train(_sample(exact, max(int(index.nlist), _CENTROIDS) * _MOST_PER_CENTROID, config.seed))
    for rows in _blocks(n):
        index.add(exact.unit_rows(rows))
        if progress is not None:
            progress(int(rows[-1]) + 1, n)
    return index


def _sample(exact: Neighbours, most: int, seed: int) -> NDArray[np.float32]:
    n = len(exact)
    rows = np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    return exact.unit_rows(rows)


def _blocks(n: int) -> Iterator[NDArray[np.int64]]:
    return (np.arange(first, min(first + _BLOCK, n)) for first in range(0, n, _BLOCK))
