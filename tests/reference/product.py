"""Reference implementation of the product quantizer: k-means++ and Lloyd's algorithm in float64, one point at a
time."""

import numpy as np

MASK = 2**64 - 1


def mix(z):
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


class Draws:
    """The stream of uniform numbers that the kernel draws for the block of `width` coordinates from `first` on."""

    def __init__(self, seed, first, width):
        state = mix((seed + 0x9E3779B97F4A7C15) & MASK)
        state = mix(state ^ (first + 0xD1B54A32D192ED03) & MASK)
        self.state = mix(state ^ (width + 0x8CB92BA72F3D8DD7) & MASK)

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return (mix(self.state) >> 11) * 2.0**-53


def distances(x, centroids):
    """Squared distances (points, centroids), from the differences themselves."""
    return ((x[:, None, :] - centroids[None]) ** 2).sum(axis=2)


def draw(distance, uniform):
    """The point drawn with probability in proportion to its distance; the first when all are zero."""
    if not distance.any():
        return 0
    return min(int(np.searchsorted(np.cumsum(distance), uniform * distance.sum(), side="right")), len(distance) - 1)


def start(x, draws, count=256):
    """k-means++: each centroid is a point far from those before it."""
    nearest = np.ones(len(x))
    centroids = []
    for _ in range(count):
        centroids.append(x[draw(nearest, draws.next())])
        here = ((x - centroids[-1]) ** 2).sum(axis=1)
        nearest = here if len(centroids) == 1 else np.minimum(nearest, here)
    return np.array(centroids)


def move(x, centroids, draws):
    """One iteration: (centroids, error before it). A centroid without points goes to a point far from its own."""
    table = distances(x, centroids)
    code, nearest = table.argmin(axis=1), table.min(axis=1)
    moved = np.empty_like(centroids)
    for k in range(len(centroids)):
        mine = x[code == k]
        moved[k] = mine.mean(axis=0) if len(mine) else x[draw(nearest, draws.next())]
    return moved, nearest.sum()


def train(x, iterations, seed, first=0):
    """(centroids, errors) of one block (points, width), stopping when the error falls no more."""
    x = x.astype(np.float64)
    draws = Draws(seed, first, x.shape[1])
    centroids, errors = start(x, draws), []
    for _ in range(iterations):
        moved, error = move(x, centroids, draws)
        errors.append(error)
        if len(errors) > 1 and not error < errors[-2]:
            break
        centroids = moved
    return centroids, errors


def decode(codes, dim, dsub, centroids):
    """Codes (n, blocks) to vectors, walking through the flat centroids of fastText's files."""
    out = np.empty((len(codes), dim))
    for i, code in enumerate(codes):
        for m, k in enumerate(code):
            first = m * dsub
            width = min(dsub, dim - first)
            place = 256 * first + int(k) * width
            out[i, first : first + width] = centroids[place : place + width]
    return out
