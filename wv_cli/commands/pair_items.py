"""What chooses the epoch of a training on pairs: other pairs, or pairs with people's scores."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.evaluation.ranking import Judged, Ranked, score_all
from wv_cli.io.events import OnProgress
from wv_cli.models.pairs import PairCorpus
from wv_cli.text.pairs import PairFiles
from wv_cli.vectors.correlation import spearman
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.neighbors.exact import Neighbors

_DEPTH = 10  # answers that validation looks at


@dataclass(frozen=True)
class GivenPairs(PairFiles):
    """Pairs that have been read."""

    texts: Sequence[tuple[bytes, bytes]] = ()

    def batches(
        self, progress: OnProgress | None = None, counts: list[int] | None = None
    ) -> Iterator[list[tuple[bytes, ...]]]:
        yield list(self.texts)


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """Pairs with people's scores `gold`, which cosines should order alike, as `wv eval sts` measures it. Satisfies what
    PairItems does."""

    path: str
    corpus: PairCorpus
    gold: NDArray[np.float64]

    task = "sts"

    @property
    def digest(self) -> str:
        scores = hashlib.blake2b(self.gold.astype("<f8").tobytes(), digest_size=8).hexdigest()
        return self.corpus.digest + scores

    def score(self, vectors: Embeddings, threads: int) -> float:
        """Spearman's correlation in percent; 0 where all cosines are equal, as they are before the first step."""
        rows = self.corpus.means(np.asarray(vectors.matrix), np.arange(len(self.corpus.same))).astype(np.float64)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
        found = spearman(np.einsum("ij,ij->i", rows[::2], rows[1::2]).round(12), self.gold)
        return 0.0 if np.isnan(found) else 100 * found

    def score_text(self, score: float) -> str:
        return f"Spearman {score:.2f}"


@dataclass(frozen=True, eq=False)
class PairItems:
    """Pairs that choose the epoch: each anchor asks for its positive among all of them. Satisfies the part of
    wv_cli.commands.validation.Items that Validated uses."""

    path: str
    corpus: PairCorpus

    task = "pairs"

    @property
    def digest(self) -> str:
        return self.corpus.digest

    def score(self, vectors: Embeddings, threads: int) -> float:
        """The mean NDCG of the first ten answers. Positives of the same text are all right."""
        pairs, columns = len(self.corpus), self.corpus.columns
        first = np.arange(pairs, dtype=np.int64) * columns
        same, rows = np.unique(self.corpus.same[first + 1], return_inverse=True)
        texts = np.zeros(len(same), np.int64)
        texts[rows] = first + 1
        table = np.asarray(vectors.matrix)
        index = Neighbors(self.corpus.means(table, texts), threads=threads)
        hits, scores = index.top_k(self.corpus.means(table, first), _DEPTH)
        one = np.ones(1, np.int64)
        judged = [Judged(row[None].astype(np.int32), one, one) for row in rows]
        ranked = [Ranked(hits[i][hits[i] >= 0], scores[i][hits[i] >= 0]) for i in range(pairs)]
        return float(score_all(ranked, judged, _DEPTH, _DEPTH)[0].mean())

    def score_text(self, score: float) -> str:
        return f"NDCG@10 {score:.4f}"
