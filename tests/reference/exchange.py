"""What ranks add of their sums (wv_cli/cluster/exchange.py), in float64."""

import numpy as np


def shares(movers, way):
    """The share of the sum that is added to what so many ranks have moved, each so far on its way: exp(-way) of the way
    to the optimum is left after one of them, exp(-movers way) after all of them, one after the other."""
    way = np.maximum(way, 1e-9)
    return np.expm1(-movers * way) / (movers * np.expm1(-way))


def shared(summed, updates, movers, values, vectors, own):
    """The sums (rows, columns) with a share for each direction; all but the last `own` have their mean's."""
    values = np.asarray(values, np.float64).copy()
    if own < len(values):
        values[: len(values) - own] = values[: len(values) - own].mean()
    share = shares(movers[:, None], updates[:, None] * values)
    return ((summed @ vectors) * share) @ vectors.T
