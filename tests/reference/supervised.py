"""Float64 reference implementation of csrc/kernels/supervised.c: the same lines, rows and draws, plain NumPy, one line
at a time."""

import numpy as np

from tests.reference.neural import kept
from tests.reference.word2vec import Random, below, sigmoid

DRAWS = 20  # of csrc/kernels/supervised.c
MASK = 2**64 - 1
LONGEST_STEP = 4  # of a line with dropout, in csrc/kernels/supervised.c


def lines(ids, end_of_line):
    """(position, words, labels) of every line of a stream; `</s>` is the last word of each, where it has an id."""
    position, words, labels = 0, [], []
    for at, token in enumerate(int(token) for token in ids):
        if token <= -2:
            labels.append(-2 - token)
        elif token == -1 or token == end_of_line:
            yield position, words + [end_of_line] * (end_of_line >= 0), labels
            position, words, labels = at + 1, [], []
        else:
            words.append(token)


def word_ngrams(hashes, longest, buckets):
    """Buckets of the word n-grams of a line, hashes int32."""
    found = []
    for first in range(len(hashes)):
        h = int(hashes[first]) & MASK
        for other in hashes[first + 1 : first + longest]:
            h = (h * 116049371 + int(other)) & MASK
            found.append(h % buckets)
    return found


def softmax(target):
    """From scores to (loss, its negative gradient), as `logistic` too."""

    def parts(s):
        p = np.exp(s - s.max())
        p /= p.sum()
        step = -p
        step[target] += 1
        return -np.log(p[target]), step

    return parts


def logistic(label, weight):
    def parts(s):
        value = (weight * np.logaddexp(0, np.where(label == 1, -s, s))).sum()
        return value, weight * (label - sigmoid(s))

    return parts


class Reference:
    """`options` is a SupervisedConfig, x and y are the matrices; `sampler` is an alias table, `paths` are (rows, bits)
    per label."""

    def __init__(self, options, x, y, *, sampler=None, paths=None):
        self.options, self.sampler, self.paths = options, sampler, paths
        self.x, self.y = x.astype(np.float64), y.astype(np.float64)
        self.loss = 0.0
        self.examples = 0

    def draw_label(self, random):
        draw = random.next()
        bucket = below(draw, len(self.y))
        threshold, other = self.sampler[bucket]
        return bucket if draw & 0xFFFFFFFF < threshold else other

    def outputs(self, labels, target, random):
        """Output rows of an example and the function from scores to (loss, step)."""
        if self.options.loss == "softmax":
            return np.arange(len(self.y)), softmax(target)
        if self.options.loss == "ova":
            wanted = np.zeros(len(self.y))
            wanted[labels] = 1
            return np.arange(len(self.y)), logistic(wanted, np.ones(len(self.y)))
        if self.options.loss == "hs":
            rows, bits = self.paths[target]
            return np.array(rows), logistic(np.array(bits), np.ones(len(rows)))
        weight = {target: 1}
        for _ in range(self.options.negative):
            for _ in range(DRAWS):
                noise = int(self.draw_label(random))
                if noise != target:
                    weight[noise] = weight.get(noise, 0) + 1
                    break
        rows = np.array(list(weight))
        return rows, logistic((rows == target).astype(float), np.array(list(weight.values()), float))

    def line(self, rows, labels, epoch, position, lr):
        random = Random(self.options.seed, epoch, position)
        target = labels[below(random.next(), len(labels))]
        keep = np.ones(self.x.shape[1])
        if self.options.dropout > 0:
            keep = kept(random, -(-len(keep) // 16) * 16, self.options.dropout)[: len(keep)]  # as rows are padded
        hidden = keep * self.x[rows].mean(axis=0)
        if self.options.dropout > 0 and lr * (hidden @ hidden) > LONGEST_STEP:
            lr = LONGEST_STEP / (hidden @ hidden)
        outputs, parts = self.outputs(labels, target, random)
        value, step = parts(self.y[outputs] @ hidden)
        gradient = lr * keep * (step @ self.y[outputs])
        self.y[outputs] += lr * np.outer(step, hidden)
        np.add.at(self.x, rows, gradient / len(rows))
        self.loss += value
        self.examples += 1

    def epoch(self, number, ids, end_of_line, rows_of):
        """`rows_of(words)` gives the rows of a line."""
        for position, words, labels in lines(ids, end_of_line):
            rows = rows_of(words)
            if rows and labels:
                done = (number * len(ids) + position) / (len(ids) * self.options.epochs)
                self.line(rows, labels, number, position, self.options.lr * (1 - done))
