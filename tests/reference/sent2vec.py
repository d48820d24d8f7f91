"""Float64 reference implementation of csrc/kernels/sent2vec.c: the same sentences, draws and rows, every target by
itself, its hidden vector the mean of the rows of its own list.

The reference's steps are checked by finite differences in tests/kernels/test_sent2vec.py.
"""

import numpy as np

from tests.reference.supervised import DRAWS, MASK
from tests.reference.word2vec import Random, below, sigmoid


def sentences(ids, longest):
    """(position, words) of a stream; a line end after a sentence that was cut is a sentence without words."""
    position = 0
    while position < len(ids):
        end = position
        while end < len(ids) and end - position < longest and ids[end] >= 0:
            end += 1
        yield position, [int(word) for word in ids[position:end]]
        position = end + 1 if end < len(ids) and end - position < longest else end


def ngrams(words, hashes, longest, buckets):
    """(first, last, bucket) of the n-grams of two words and more."""
    found = []
    for first in range(len(words)):
        h = int(hashes[words[first]]) & MASK
        for last in range(first + 1, min(first + longest, len(words))):
            h = (h * 116049371 + int(hashes[words[last]])) & MASK
            found.append((first, last, h % buckets))
    return found


def objective(x, y, rows, outputs, label, weight):
    """Loss of one target: `rows` of x, with repetitions, predict the rows `outputs` of y."""
    s = y[outputs] @ x[rows].mean(axis=0)
    return (weight * np.logaddexp(0, np.where(label == 1, -s, s))).sum()


def steps(x, y, rows, outputs, label, weight):
    """(of each of `rows`, of each of `outputs`): the negative gradient of objective()."""
    hidden = x[rows].mean(axis=0)
    g = weight * (label - sigmoid(y[outputs] @ hidden))
    return g @ y[outputs] / len(rows), np.outer(g, hidden)


class Noise:
    """Negative sampling, as csrc/kernels/questions.h."""

    def __init__(self, sampler, words, negative):
        self.sampler, self.words, self.negative = sampler, words, negative

    def other(self, random, target):
        for _ in range(DRAWS):
            draw = random.next()
            word = below(draw, self.words)
            threshold, other = self.sampler[word]
            word = word if draw & 0xFFFFFFFF < threshold else int(other)
            if word != target:
                return word
        return None

    def questions(self, random, target):
        """(output rows, labels, weights)."""
        weight = {target: 1}
        for _ in range(self.negative):
            word = self.other(random, target)
            if word is not None:
                weight[word] = weight.get(word, 0) + 1
        rows = np.array(list(weight))
        return rows, (rows == target).astype(float), np.array(list(weight.values()), float)


class Reference:
    """`options` is a Sent2vecConfig, x and y the matrices; `sampler` an alias table, `bucket_row` a dict."""

    def __init__(self, options, x, y, *, sampler, keep=None, hashes=None, bucket_row=None):
        self.options, self.keep, self.noise = options, keep, Noise(sampler, len(y), options.negative)
        self.hashes, self.bucket_row = hashes, bucket_row
        self.x, self.y = x.astype(np.float64), y.astype(np.float64)
        self.loss, self.examples, self.tokens = 0.0, 0, 0

    def sentence(self, words, random, lr):
        listed = []
        if self.options.word_ngrams > 1:
            listed = ngrams(words, self.hashes, self.options.word_ngrams, self.options.buckets)
        for _ in range(min(self.options.dropout_ngrams, len(listed))):
            which = below(random.next(), len(listed))
            listed[which] = listed[-1]
            listed.pop()
        if len(words) < 2:
            return
        spans = [(i, i, word) for i, word in enumerate(words)]
        spans += [(first, last, self.bucket_row[bucket]) for first, last, bucket in listed]
        moved = np.zeros_like(self.x)
        for t, target in enumerate(words):
            if self.keep is not None and random.next() >> 32 > self.keep[target]:
                continue
            rows = [row for first, last, row in spans if not first <= t <= last]
            if not rows:
                continue
            questions = self.noise.questions(random, target)
            self.loss += objective(self.x, self.y, rows, *questions)
            self.examples += 1
            of_rows, of_outputs = steps(self.x, self.y, rows, *questions)
            np.add.at(moved, rows, lr * of_rows)
            self.y[questions[0]] += lr * of_outputs
        self.x += moved

    def epoch(self, number, ids):
        for position, words in sentences(ids, self.options.max_sentence):
            done = (number * len(ids) + position) / (len(ids) * self.options.epochs)
            self.tokens += len(words)
            self.sentence(words, Random(self.options.seed, number, position), self.options.lr * (1 - done))


def rows_of_buckets(ids, hashes, options, words):
    """Bucket -> row, in order of first sight behind the words."""
    rows = {}
    for _, sentence in sentences(ids, options.max_sentence):
        for _, _, bucket in ngrams(sentence, hashes, options.word_ngrams, options.buckets):
            rows.setdefault(bucket, words + len(rows))
    return rows
