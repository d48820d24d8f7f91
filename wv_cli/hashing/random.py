"""Hashers whose projections are drawn or given, not learnt: lsh, fly, densefly, randexp, sign.

* lsh: signs of Gaussian projections; two vectors at angle t agree in a bit with probability 1 - t / pi (Charikar 2002).
  With --orthogonal the projections are orthogonal in groups of `dim`: the same expectation, less variance.
* fly: each unit sums a fixed share of the coordinates, drawn without replacement; the k highest sums are on (Dasgupta,
  Stevens, Navlakha 2017; 10 x dim units as in Ryali et al. 2020). Rows are centered by their own mean, or the sum of a
  row would decide alone.
* densefly: each unit sums coordinates taken with that probability; bits are sums >= 0 (Sharma, Navlakha 2018).
* randexp: fly with Gaussian projections (a baseline of Liang et al. 2021).
* sign: the coordinates themselves.
"""

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.hashing.base import Train
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.linear import Projections


def lsh(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Projections:
    draw = _orthogonal if config.orthogonal else _gaussian
    return Projections(draw(np.random.default_rng(config.seed), config.length, x.shape[1]))


def randexp(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Projections:
    return Projections(_gaussian(np.random.default_rng(config.seed), config.expansion, x.shape[1]))


def densefly(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Projections:
    drawn = np.random.default_rng(config.seed).random((config.length, x.shape[1]))
    weights = (drawn < config.sampling).astype(np.float32)
    # A bit is on at exactly 0 too: the largest number below it is the bound.
    return Projections(weights, np.full(config.length, -np.finfo(np.float32).smallest_subnormal, np.float32))


def fly(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Projections:
    dim, random = x.shape[1], np.random.default_rng(config.seed)
    ones = max(1, int(config.sampling * dim + 1e-9))
    chosen = np.argpartition(random.random((config.expansion, dim)), ones - 1, axis=1)[:, :ones]
    weights = np.zeros((config.expansion, dim), np.float32)
    np.put_along_axis(weights, chosen, np.float32(1), axis=1)
    return Projections(weights)


def sign(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Projections:
    """Raises UsageError for a length that is not the dimension."""
    dim = x.shape[1]
    if config.length != dim:
        message = f"{method} has a bit per coordinate, {dim} here; leave --length out, or choose lsh or itq for others"
        raise UsageError(message)
    return Projections(np.eye(dim, dtype=np.float32))


def _gaussian(random: np.random.Generator, units: int, dim: int) -> NDArray[np.float32]:
    return random.standard_normal((units, dim), np.float32)


def _orthogonal(random: np.random.Generator, units: int, dim: int) -> NDArray[np.float32]:
    """Groups of `dim` orthogonal directions, each group a random rotation (Ji et al. 2012, super-bit)."""
    groups = [np.linalg.qr(random.standard_normal((dim, dim)))[0].T for _ in range(-(-units // dim))]
    return np.concatenate(groups)[:units].astype(np.float32)
