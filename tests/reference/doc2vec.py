"""Float64 reference implementation of csrc/kernels/doc2vec.c: the same draws, one word at a time.

Its steps are checked by finite differences in tests/kernels/test_doc2vec.py.
"""

import numpy as np

from tests.reference.supervised import DRAWS
from tests.reference.word2vec import Random, below, sigmoid


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


def hidden_vector(algorithm, document, context):
    """h of a document's vector and the rows of its context."""
    if algorithm == "dm_concat":
        return np.concatenate([document, *context])
    return np.mean([document, *context], axis=0)


def objective(algorithm, document, context, y, label, weight):
    s = y @ hidden_vector(algorithm, document, context)
    return (weight * np.logaddexp(0, np.where(label == 1, -s, s))).sum()


def steps(algorithm, document, context, y, label, weight, mean_gradient="corrected", others=()):
    """(of the document, of each row of context, of the rows y): the negative gradient of objective(), of which a mean's
    may be given undivided. `others` are further vectors of the document in a mean, whose steps are the first's."""
    h = hidden_vector(algorithm, document, [*others, *context])
    g = weight * (label - sigmoid(y @ h))
    of_h, vectors = g @ y, 1 + len(others) + len(context)
    if algorithm == "dm_concat":
        parts = np.split(of_h, vectors)
    else:
        whole, divided = of_h, of_h / vectors
        first, other = {"corrected": (divided, divided), "document": (whole, divided), "word2vec": (whole, whole)}[
            mean_gradient
        ]
        parts = [first, *[other] * len(context)]
    return parts[0], parts[1:], np.outer(g, h)


class Reference:
    """`options` is a Doc2vecConfig; documents, x and y are the matrices without padding; `sampler` is an alias table,
    `paths` are (rows, answers) per word, `tags` the rows of every document. With `frozen` the documents alone learn."""

    def __init__(
        self, options, documents, x, y, *, words, keep=None, sampler=None, paths=None, frozen=False, tags=None
    ):
        self.options, self.words, self.keep, self.frozen, self.tags = options, words, keep, frozen, tags
        self.paths, self.noise = paths, Noise(sampler, words, options.negative)
        self.documents, self.x, self.y = (matrix.astype(np.float64) for matrix in (documents, x, y))
        self.loss, self.examples = 0.0, 0

    def questions(self, random, word):
        if self.paths is None:
            return self.noise.questions(random, word)
        rows, answers = self.paths[word]
        return np.array(rows), np.array(answers, float), np.ones(len(rows))

    def context(self, words, position):
        options = self.options
        if options.algorithm == "dbow":
            return []
        after = options.window if options.context == "around" else 0
        places = [at for at in range(position - options.window, position + after + 1) if at != position]
        if options.algorithm == "dm_concat":
            return [words[at] if 0 <= at < len(words) else self.words for at in places]
        return [words[at] for at in places if 0 <= at < len(words)]

    def document(self, number, ids, random, before, length):
        """`before` and `length` are shares of the run."""
        options = self.options
        words = [word for word in ids if self.keep is None or random.next() >> 32 <= self.keep[word]]
        every = [self.questions(random, word) for word in words]
        for position, (rows, label, weight) in enumerate(every):
            lr = max(options.lr * (1 - before - length * position / len(words)), options.least_lr)
            context = self.context(words, position)
            self.examples += 1
            own = [number] if self.tags is None else self.tags[number]
            for tags in [[tag] for tag in own] if options.algorithm == "dbow" else [own]:
                first, *others = self.documents[tags]
                given = options.algorithm, first, self.x[context], self.y[rows], label, weight
                self.loss += objective(*given[:2], [*others, *given[2]], *given[3:])
                of_document, of_context, of_outputs = steps(*given, options.mean_gradient, others)
                for tag in tags:
                    self.documents[tag] += lr * of_document
                if not self.frozen:
                    for row, step in zip(context, of_context, strict=True):
                        self.x[row] += lr * step
                    self.y[rows] += lr * of_outputs

    def epoch(self, number, ids):
        begin, epochs = 0, self.options.epochs
        for document, end in enumerate(np.flatnonzero(ids == -1).tolist()):
            place = 0 if self.frozen else begin
            random = Random(self.options.seed, number, place)
            before = number if self.frozen else number + begin / len(ids)
            length = 1 if self.frozen else (end + 1 - begin) / len(ids)
            self.document(document, ids[begin:end].tolist(), random, before / epochs, length / epochs)
            begin = end + 1
