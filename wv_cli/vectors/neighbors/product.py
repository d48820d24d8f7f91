"""Exact nearest neighbors by cosine among product codes, searched as they are (csrc/kernels/productsearch.c).

Cosines are those of the vectors that the codes stand for, but for rounding; these are never made. Answers do not depend
on the number of threads or on which queries are asked together; ties go to the lowest row.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _product, _search
from wv_cli.io.memory import allocate_aligned
from wv_cli.io.threads import run_all
from wv_cli.vectors.neighbors.cosines import Cosines, Packed
from wv_cli.vectors.neighbors.topk import NO_HIT, Hits, make_empty_hits, merge

_THREAD_ROWS = 1 << 14  # are worth a thread, which makes tables of its own


class ProductNeighbors(Cosines):
    """A topk.Index of codes (n, ceil(dim / dsub)) uint8, each naming a centroid for each block of `dsub`
    coordinates; `centroids` is flat as in vectors.quantizer.ProductQuantizer, and finite."""

    def __init__(
        self,
        codes: NDArray[np.uint8],
        dim: int,
        dsub: int,
        centroids: NDArray[np.float32],
        *,
        threads: int = 0,
        isa: str | None = None,
    ) -> None:
        super().__init__(len(codes), dim, threads=threads, isa=isa)
        self._codes, self._dsub = np.ascontiguousarray(codes), dsub
        self._centroids = np.require(centroids, np.float32, ["C", "ALIGNED"])
        largest = float(np.abs(self._centroids).max())
        self._magnitude = 1 / largest if largest else 0.0
        self._scales = np.full(self._n, -1, np.float32)

    def part(self, rows: NDArray[np.int64]) -> "ProductNeighbors":
        codes = self._codes[rows]
        return ProductNeighbors(codes, self.dim, self._dsub, self._centroids, threads=self.threads, isa=self._isa)

    def _unit(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        unit = np.empty((len(numbers), self.dim), np.float32)
        _product.decode(self._codes, numbers, self.dim, self._dsub, self._centroids, np.empty(0, np.float32), unit)
        _search.normalize(unit, unit, self._isa)
        return unit

    def _top_k(self, queries: Packed, k: int, starts: NDArray[np.int64], excluded: NDArray[np.int32], n: int) -> Hits:
        size = -(-n // max(1, min(self.threads, n // _THREAD_ROWS)))
        heaps: list[Hits] = []
        scans: list[Any] = []
        for start in range(0, n, size):
            hits, scores = make_empty_hits(queries.count, k, NO_HIT)
            heaps.append((hits, scores))
            job = _product.Search(
                self._codes,
                self._dsub,
                self._centroids,
                self._magnitude,
                self._scales,
                queries.panels,
                queries.thresholds(),
                scores,
                hits,
                starts,
                excluded,
                self._isa,
            )
            scratch = allocate_aligned((job.scratch_bytes,), np.uint8)
            scans.append(partial(job.scan, start, min(start + size, n), scratch))
        run_all(lambda scan: scan(), scans, len(scans))
        return merge(heaps, k)
