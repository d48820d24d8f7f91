"""Vectors as points in the plane, for pictures: PCA, or t-SNE by scikit-learn.

PCA shows where most of the variance is and is the same every time. t-SNE keeps neighbors together and nothing else:
its distances and the sizes of its clusters mean little.
"""

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import directions


def points(
    matrix: NDArray[np.float32], method: str = "pca", *, perplexity: float = 30.0, seed: int = 1
) -> tuple[NDArray[np.float64], list[str]]:
    """((n, 2) points, names of the two axes) of unit vectors of the rows; cosine is what words are compared by.

    Raises WvError for fewer than 3 rows, and when t-SNE is asked for and scikit-learn is not installed."""
    if len(matrix) < 3:
        message = f"a picture needs at least 3 words, found {len(matrix)}; name more, or take --top N"
        raise WvError(message)
    norms = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    unit = matrix / np.where(norms == 0, 1, norms)
    if method == "tsne":
        return _tsne(unit, perplexity, seed), ["t-SNE 1", "t-SNE 2"]
    moments = Moments.none(unit.shape[1]).with_rows(unit)
    values, vectors = directions(moments)
    flat = (unit - moments.mean) @ vectors[:, :2]
    if flat.shape[1] < 2:
        flat = np.column_stack([flat, np.zeros(len(flat))])
    total = float(values.sum()) or 1.0
    shares = [*(values[:2] / total).tolist(), 0.0][:2]
    return flat, [f"PC {i} ({share:.0%} of the variance)" for i, share in enumerate(shares, 1)]


def _tsne(unit: NDArray[np.float64], perplexity: float, seed: int) -> NDArray[np.float64]:
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        message = "--method tsne needs scikit-learn; pip install scikit-learn, or use --method pca"
        raise WvError(message) from None
    # A perplexity is a number of neighbors: there must be more points than that.
    model = TSNE(2, perplexity=min(perplexity, (len(unit) - 1) / 3), init="pca", random_state=seed, metric="cosine")
    result: NDArray[np.float64] = model.fit_transform(unit).astype(np.float64)
    return result
