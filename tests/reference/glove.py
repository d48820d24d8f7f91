"""Reference implementations of GloVe: a double loop that counts in whole numbers, and AdaGrad in float64, one record at
a time."""

import math
from collections import defaultdict

import numpy as np


def count(ids, window, symmetric=True, flat=False):
    """({(row, column): sum}, scale) of an id stream with -1 after each line, words from 0: the count is sum / scale."""
    scale = 1 if flat else math.lcm(*range(1, window + 1))
    counts = defaultdict(int)
    line = []
    for word in ids:
        if word < 0:
            line = []
            continue
        for distance in range(1, min(window, len(line)) + 1):
            left, weight = line[-distance], 1 if flat else scale // distance
            counts[left, word] += weight
            if symmetric:
                counts[word, left] += weight
        line.append(int(word))
    return counts, scale


def cost(w, c, w_bias, c_bias, count, x_max, alpha):
    """The cost of one pair; arrays are the two vectors."""
    weight = min(1.0, (count / x_max) ** alpha)
    return 0.5 * weight * (w @ c + w_bias + c_bias - np.log(count)) ** 2


class Reference:
    """w and c are (words, dim + 1) float64, the bias last; squares their squared gradients, as GloVe's program keeps
    them: sums from 1 of (rate x gradient)^2, where the rate of a bias is bias_lr, of a vector eta."""

    def __init__(self, w, c, eta, bias_lr, clip, x_max, alpha, clip_biases=True):
        self.w, self.c = w.copy(), c.copy()
        self.w_squares, self.c_squares = np.ones_like(w), np.ones_like(c)
        self.rate = np.append(np.full(w.shape[1] - 1, eta), bias_lr or eta)
        self.clip = np.append(np.full(w.shape[1] - 1, clip), clip if clip_biases else np.inf)
        self.x_max, self.alpha = x_max, alpha
        self.cost = 0.0

    def gradients(self, row, column, count):
        """(cost, gradient of the word's row, gradient of the context's row), not clipped."""
        w, c = self.w[row], self.c[column]
        error = w[:-1] @ c[:-1] + w[-1] + c[-1] - np.log(count)
        scale = min(1.0, (count / self.x_max) ** self.alpha) * error
        return 0.5 * scale * error, scale * np.append(c[:-1], 1), scale * np.append(w[:-1], 1)

    def step(self, row, column, count):
        cost, w_gradient, c_gradient = self.gradients(row, column, count)
        self.cost += cost
        for matrix, squares, at, gradient in [
            (self.w, self.w_squares, row, w_gradient),
            (self.c, self.c_squares, column, c_gradient),
        ]:
            step = np.clip(gradient, -self.clip, self.clip) * self.rate
            matrix[at] -= step / np.sqrt(squares[at])
            squares[at] += step**2


def shuffled(n, seed, iteration, chunk):
    """The order in which the kernel takes n records: SplitMix64 and an inside-out Fisher-Yates."""
    mask = 2**64 - 1

    def mix(z):
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        return z ^ z >> 31

    state = mix((seed + 0x9E3779B97F4A7C15) & mask)
    state = mix(state ^ (iteration + 0xD1B54A32D192ED03) & mask)
    state = mix(state ^ (chunk + 0x8CB92BA72F3D8DD7) & mask)
    order = []
    for k in range(n):
        state = (state + 0x9E3779B97F4A7C15) & mask
        other = (mix(state) >> 32) * (k + 1) >> 32
        order.append(k)
        order[k], order[other] = order[other], k
    return order
