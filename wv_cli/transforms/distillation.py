"""The table of a static embedding from an encoder's vectors of its pieces, as model2vec 0.10 makes it.

reduce_rows    principal components of the centered rows; the score of largest size of each is positive
weights    SIF, w = a / (a + p). p is Zipf's of the rank, (1 / (i + 2)) / sum_j 1 / (j + 2), or a share of counts
cluster_rows  k-means of the rows before they are reduced: a table of k centers, and the center of each row

A static embedding's table, fitted to the sentence vectors of an encoder (tokenlearn, MinishLab 2024-2026).

x_i is the mean of the rows of text i's tokens, y_i the encoder's vector of it, B texts in a batch.

    mse          L = 1/(B d) sum |x_i - y_i|^2
    cosine       L = 1/B sum (1 - cos(x_i, y_i))
    contrastive  L = -1/B sum log softmax_j(cos(x_i, y_j) / T)_i,  T = .07

    dE[t] = sum over occurrences of t in text i of dL/dx_i / T_i, with T_i tokens

The optimizer is Adam on the rows that a batch touches. The rows' means are first mapped to the targets by ridge
regression, in the place of tokenlearn's linear layer, which is thrown away after training.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import directions, fit

_ROUNDS = 100
_BLOCK_ROWS = 4096


def reduce_rows(
    matrix: NDArray[np.float32], *, dim: int, variance: float = 0.0, whiten: bool = False
) -> tuple[NDArray[np.float64], str]:
    """((rows, dim) scores, what the user should know). `dim` 0 or beyond the columns keeps all of them; `variance`
    instead keeps as many as explain this fraction. `whiten` divides each by its deviation. Raises WvError."""
    rows, width = matrix.shape
    kept, note = min(dim or width, width), ""
    if dim > width and not variance:
        note = f"--dim {dim} is more than the {width} numbers of the encoder; all are kept"
    if not variance and kept >= rows:
        return matrix.astype(np.float64), f"{rows:,} pieces are too few for {kept} dimensions; nothing is reduced"
    moments = Moments.none(width).with_rows(matrix)
    values, vectors = directions(moments, "the pieces")
    if variance:
        kept = min(width, int(np.searchsorted(np.cumsum(values) / values.sum(), variance)) + 1)
    if whiten:
        vectors = fit(moments, WhitenConfig(method="whiten", dim=kept), "the pieces").matrix
    scores = (matrix - moments.mean) @ vectors[:, :kept]
    largest = scores[np.abs(scores).argmax(axis=0), np.arange(kept)]
    return scores * np.where(largest < 0, -1.0, 1.0), note


def rank_weights(rows: int, a: float) -> NDArray[np.float64]:
    """(rows,): the weights of pieces in the order of their frequency, which is taken for Zipf's."""
    shares = 1 / np.arange(2, rows + 2)
    weights: NDArray[np.float64] = a / (a + shares / shares.sum())
    return weights


def cluster_rows(
    matrix: NDArray[np.float32], clusters: int, seed: int = 42
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """((clusters, dim) centers, (rows,) the center of each row): Lloyd's k-means from drawn rows. A center that no row
    is nearest to takes the row farthest from its own. Raises UsageError for more clusters than rows."""
    if clusters > len(matrix):
        message = f"--clusters {clusters} is more than the {len(matrix):,} pieces"
        raise UsageError(message)
    drawn = np.random.default_rng(seed).choice(len(matrix), clusters, replace=False)
    centers, owner = matrix[drawn].astype(np.float64), np.full(len(matrix), -1)
    for _ in range(_ROUNDS):
        before, (owner, far) = owner, _nearest(matrix, centers)
        counts = np.bincount(owner, minlength=clusters)
        for empty in np.flatnonzero(counts == 0).tolist():
            row = int(far.argmax())
            owner[row], far[row] = empty, 0.0
        if np.array_equal(before, owner):
            break
        counts = np.bincount(owner, minlength=clusters)
        filled = np.flatnonzero(counts)
        order, starts = np.argsort(owner, kind="stable"), np.cumsum(counts) - counts
        centers[filled] = np.add.reduceat(matrix[order], starts[filled], axis=0, dtype=np.float64)
        centers[filled] /= counts[filled, None]
    return centers.astype(np.float32), owner


def _nearest(
    matrix: NDArray[np.float32], centers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """((rows,) the nearest center of each, (rows,) the squared distance, less the row's own square at least 0)."""
    owner, far = np.empty(len(matrix), np.int64), np.empty(len(matrix))
    turned, squares = np.ascontiguousarray(centers.T, np.float32), (centers**2).sum(axis=1)
    for first in range(0, len(matrix), _BLOCK_ROWS):
        rows = matrix[first : first + _BLOCK_ROWS]
        distances = squares - 2.0 * (rows @ turned)
        owner[first : first + _BLOCK_ROWS] = distances.argmin(axis=1)
        far[first : first + _BLOCK_ROWS] = distances.min(axis=1) + (rows.astype(np.float64) ** 2).sum(axis=1)
    return owner, np.maximum(far, 0)


Floats = NDArray[np.float32]
_TEMPERATURE = 0.07
_BETAS, _EPSILON = (0.9, 0.999), 1e-8
_RIDGE = 1e-3  # of the mean variance of the means


@dataclass(frozen=True, eq=False)
class Bags:
    """Texts as numbers of tokens one after the other: text i has flat[starts[i] : starts[i + 1]], at least one."""

    flat: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def from_texts(cls, texts: list[NDArray[np.int64]]) -> "Bags":
        lengths = [len(text) for text in texts]
        flat = np.concatenate(texts) if texts else np.empty(0, np.int64)
        return cls(flat.astype(np.int64), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def part(self, rows: NDArray[np.int64]) -> "Bags":
        """These texts in this order."""
        return Bags.from_texts([self.flat[self.starts[row] : self.starts[row + 1]] for row in rows.tolist()])

    def means(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        """(texts, dim): the mean of each text's rows."""
        sums = np.add.reduceat(table[self.flat], self.starts[:-1], axis=0)
        return sums / np.diff(self.starts)[:, None].astype(table.dtype)

    def gradient(self, of_means: NDArray[np.floating]) -> tuple[NDArray[np.int64], NDArray[np.floating]]:
        """(tokens that occur, (tokens, dim) the gradient of their rows) from that of the means."""
        lengths = np.diff(self.starts)
        each = np.repeat(np.arange(len(self)), lengths)
        order = np.argsort(self.flat, kind="stable")
        tokens, first = np.unique(self.flat[order], return_index=True)
        shares = of_means / lengths[:, None].astype(of_means.dtype)
        return tokens, np.add.reduceat(shares[each[order]], first, axis=0)


Loss = Callable[[NDArray[np.floating], NDArray[np.floating]], tuple[float, NDArray[np.floating]]]


def mse(x: NDArray[np.floating], y: NDArray[np.floating]) -> tuple[float, NDArray[np.floating]]:
    """(loss, gradient of x)."""
    apart = x - y
    return float(np.mean(apart**2)), 2 / x.size * apart


def cosine(x: NDArray[np.floating], y: NDArray[np.floating]) -> tuple[float, NDArray[np.floating]]:
    """(loss, gradient of x)."""
    unit, norms = _unit(x)
    target, _ = _unit(y)
    cosines = (unit * target).sum(axis=1)
    return float(np.mean(1 - cosines)), _through_norm(-target / len(x), unit, norms)


def contrastive(x: NDArray[np.floating], y: NDArray[np.floating]) -> tuple[float, NDArray[np.floating]]:
    """(loss, gradient of x)."""
    unit, norms = _unit(x)
    target, _ = _unit(y)
    scores = unit @ target.T / _TEMPERATURE
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    loss = -float(np.mean(np.log(np.maximum(np.diagonal(scores), np.finfo(scores.dtype).tiny))))
    scores[np.diag_indices(len(x))] -= 1
    return loss, _through_norm(scores @ target / (_TEMPERATURE * len(x)), unit, norms)


LOSSES: dict[str, Loss] = {"mse": mse, "cosine": cosine, "contrastive": contrastive}


def _unit(x: NDArray[np.floating]) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    norms = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-8)
    return x / norms, norms


def _through_norm(
    of_unit: NDArray[np.floating], unit: NDArray[np.floating], norms: NDArray[np.floating]
) -> NDArray[np.floating]:
    along = (of_unit * unit).sum(axis=1, keepdims=True)
    result: NDArray[np.floating] = (of_unit - unit * along) / norms
    return result


def map_table(table: Floats, bags: Bags, targets: Floats) -> Floats:
    """The table whose means are nearest to the targets, of those that a square matrix makes of this one."""
    means = bags.means(table.astype(np.float64))
    squares, size = means.T @ means, table.shape[1]
    ridge = _RIDGE * max(float(np.trace(squares)) / size, np.finfo(np.float32).tiny)
    matrix = np.linalg.solve(squares + ridge * np.eye(size), means.T @ targets)
    return (table @ matrix).astype(np.float32)


def fit_table(
    table: Floats,
    bags: Bags,
    targets: Floats,
    *,
    loss: str,
    epochs: int,
    batch: int,
    lr: float,
    seed: int,
    on_epoch: Callable[[int, float], None] = lambda *_: None,
) -> Floats:
    """The table after training. `lr` is in units of the root mean square of the table's numbers, and falls to 0.
    `on_epoch` is told the epoch and its mean loss."""
    table, rows = table.copy(), len(bags)
    first, second = np.zeros_like(table), np.zeros_like(table)
    steps, step = epochs * -(-rows // batch), 0
    size = lr * float(np.sqrt(np.mean(table.astype(np.float64) ** 2)))
    random = np.random.default_rng(seed)
    for epoch in range(1, epochs + 1):
        order, total = random.permutation(rows), 0.0
        for begin in range(0, rows, batch):
            part = order[begin : begin + batch]
            texts = bags.part(part)
            value, of_means = LOSSES[loss](texts.means(table), targets[part])
            tokens, gradient = texts.gradient(of_means)
            total, step = total + value * len(part), step + 1
            first[tokens] = _BETAS[0] * first[tokens] + (1 - _BETAS[0]) * gradient
            second[tokens] = _BETAS[1] * second[tokens] + (1 - _BETAS[1]) * gradient**2
            moved = first[tokens] / np.float32(1 - _BETAS[0] ** step)
            moved /= np.sqrt(second[tokens] / np.float32(1 - _BETAS[1] ** step)) + np.float32(_EPSILON)
            table[tokens] -= np.float32(size * (1 - (step - 1) / steps)) * moved
        on_epoch(epoch, total / rows)
    return table
