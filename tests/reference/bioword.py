"""Reference implementations of BioWord: one minibatch as the authors define it, dense; `Reference` in float64 for the
tests, `Straight` the plain NumPy program the kernel's speed is measured against."""

import numpy as np


def windows(ids, start, end, words, window, bag=False):
    """Of every word of ids[start:end] the inputs of its window: context ids left to right, of a bag each once, then
    words + its own id."""
    ids = np.asarray(ids)
    for at in range(start, end):
        if ids[at] < 0:
            continue
        low = high = at
        while low > 0 and at - low < window and ids[low - 1] >= 0:
            low -= 1
        while high + 1 < len(ids) and high - at < window and ids[high + 1] >= 0:
            high += 1
        context = [*ids[low:at], *ids[at + 1 : high + 1]]
        yield [*(dict.fromkeys(context) if bag else context), words + ids[at]]


class Reference:
    """W is (2 words, cells) float64."""

    def __init__(self, weights, counts, window, floor=1e-30, bag=False):
        self.W = np.array(weights, np.float64)
        self.bag = bag
        self.inverse = np.tile(1 / np.asarray(counts, np.float64), 2)
        self.words, self.window, self.floor = len(counts), window, floor
        self.margin = np.inf  # how far the closest second cell was from winning

    def batch(self, ids, start, end, rate):
        """One update; the energy of the batch before it."""
        signal, xx = np.zeros_like(self.W), np.zeros(self.W.shape[1])
        norms = np.sqrt((self.W**2).sum(0))
        energy = 0.0
        for inputs in windows(ids, start, end, self.words, self.window, self.bag):
            v = np.zeros(len(self.W))
            np.add.at(v, inputs, 1)
            scores = v @ self.W
            winner = int(np.argmax(scores))
            if len(scores) > 1:
                first, second = np.sort(scores)[:-3:-1]
                self.margin = min(self.margin, first - second)
            signal[:, winner] += v * self.inverse
            product = (v * self.inverse) @ self.W[:, winner]
            xx[winner] += product
            energy -= product / norms[winner] if norms[winner] else 0
        change = signal - xx * self.W
        self.W += rate * change / max(np.abs(change).max(), self.floor)
        return energy


class Straight:
    """The same in float32, written as one would with NumPy: gather and sum rows, argmax, a dense update. Lines of one
    length only, so that windows are a plain array."""

    def __init__(self, weights, counts, floor=1e-30):
        self.W = np.array(weights, np.float32)
        self.inverse = np.tile(1 / np.asarray(counts, np.float64), 2).astype(np.float32)
        self.floor = floor

    def batch(self, inputs, rate):
        """inputs: (windows, 2 window + 1) rows of W."""
        winners = np.argmax(self.W[inputs].sum(axis=1), axis=1)
        share = self.inverse[inputs]
        signal = np.zeros_like(self.W)
        np.add.at(signal, (inputs, winners[:, None]), share)
        xx = np.zeros(self.W.shape[1], np.float32)
        np.add.at(xx, winners, (self.W[inputs, winners[:, None]] * share).sum(axis=1))
        signal -= xx * self.W
        self.W += rate / max(np.abs(signal).max(), self.floor) * signal
