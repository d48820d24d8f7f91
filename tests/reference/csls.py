"""CSLS (Conneau et al. 2018) in float64, the whole matrix of scores at once; reference implementation of
wv_cli/vectors/neighbors/csls.py."""

import numpy as np


def csls(x: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """(n, m): 2 cos(x, y) - r(x) - r(y) of x (n, dim) and y (m, dim), r the mean of the k highest cosines."""
    cosines = _unit(x) @ _unit(y).T
    of_x = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)
    of_y = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    return 2 * cosines - of_x[:, None] - of_y


def _unit(rows: np.ndarray) -> np.ndarray:
    rows = rows.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
