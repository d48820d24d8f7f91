"""Reference implementations of the search kernels: every score in float64, every order by a full sort."""

import numpy as np

COSMUL_EPSILON = 0.001


def unit(matrix):
    """Rows divided by their lengths; zero rows stay zero, rows with NaN or infinity become NaN."""
    matrix = np.asarray(matrix, np.float64)
    out = np.zeros_like(matrix)
    for i, row in enumerate(matrix):
        squares = float(np.sum(row * row)) if np.isfinite(row).all() else np.nan
        if squares != 0:
            out[i] = row / np.sqrt(squares) if np.isfinite(squares) else np.nan
    return out


def best(scores, k, forbidden=()):
    """(rows, scores) of the k best entries of one query, ties by row, NaN and forbidden rows left out; places that
    cannot be filled are (-1, -inf)."""
    candidates = [(-score, row) for row, score in enumerate(scores) if not np.isnan(score) and row not in forbidden]
    chosen = sorted(candidates)[:k]
    missing = k - len(chosen)
    return [row for _, row in chosen] + [-1] * missing, [-score for score, _ in chosen] + [-np.inf] * missing


def top_k(rows, queries, k, exclude=None):
    """(hits, scores), both (q, k), by inner product."""
    with np.errstate(invalid="ignore"):
        scores = np.asarray(queries, np.float64) @ np.asarray(rows, np.float64).T
    exclude = exclude or [()] * len(queries)
    found = [best(line, k, set(forbidden)) for line, forbidden in zip(scores, exclude, strict=True)]
    return np.array([hits for hits, _ in found]).reshape(-1, k), np.array([s for _, s in found]).reshape(-1, k)


def analogy_scores(rows, a, b, c, method):
    """Scores of all rows as answers to one question over unit rows; 3cosadd without division by |b - a + c|."""
    rows = np.asarray(rows, np.float64)
    with np.errstate(invalid="ignore"):
        to_a, to_b, to_c = (rows @ rows[i] for i in (a, b, c))
    if method == "3cosadd":
        return to_b - to_a + to_c
    return ((to_b + 1) / 2) * ((to_c + 1) / 2) / ((to_a + 1) / 2 + COSMUL_EPSILON)


def analogies(rows, a, b, c, k, method):
    found = [best(analogy_scores(rows, *abc, method), k, set(abc)) for abc in zip(a, b, c, strict=True)]
    return np.array([hits for hits, _ in found]).reshape(-1, k), np.array([s for _, s in found]).reshape(-1, k)
