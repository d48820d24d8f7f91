"""Slow float64 reference of csrc/kernels/word2vec/: the same draws, plain NumPy arithmetic, one position at a time.

The reference's own gradients are checked by finite differences in tests/kernels/test_word2vec.py and
test_neighbors.py.
"""

from dataclasses import dataclass, field

import numpy as np

MASK = 2**64 - 1
BATCH = 512  # BATCH_WORDS of csrc/kernels/word2vec/block.h
TILE_OUTPUTS = 6  # WV_TILE_OUTPUTS of csrc/kernels/tile.h
SHARING = 4  # WV_SHARING of csrc/kernels/word2vec/block.h
POOL_WORDS = 8  # of csrc/kernels/word2vec/deterministic.h
MEAN_TILES = 200  # of csrc/kernels/word2vec/neighbor_tiles.h


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Random:
    """SplitMix64, as csrc/base/rng.h."""

    def __init__(self, seed, a, b):
        state = mix((seed + 0x9E3779B97F4A7C15) & MASK)
        state = mix(state ^ ((a + 0xD1B54A32D192ED03) & MASK))
        self.state = mix(state ^ ((b + 0x8CB92BA72F3D8DD7) & MASK))
        self.pool = None  # (seed, size), where numbers that choose words come from one: random_pool of block.h

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return mix(self.state)

    def choice(self):
        """The number that chooses a word."""
        number = self.next()
        if self.pool is None:
            return number
        seed, size = self.pool
        return mix((seed + below(number, size)) & MASK)


def below(draw, n):
    return ((draw >> 32) * n) >> 32


def sigmoid(s):
    return np.exp(-np.logaddexp(0, -s))


def logistic_loss(x, y, label, weight, offset):
    """Loss of a tile: x (M, dim), y (N, dim), label and offset (N,), weight (N, M); a label may be a share of 1."""
    s, label = y @ x.T + offset[:, None], label[:, None]
    return (weight * (label * np.logaddexp(0, -s) + (1 - label) * np.logaddexp(0, s))).sum()


def softmax_loss(x, y, target):
    """Loss of M rows against all words."""
    s = x @ y.T
    s = s - s.max(axis=1, keepdims=True)
    return -(s[:, target] - np.log(np.exp(s).sum(axis=1))).sum()


def logistic_steps(x, y, label, weight, offset):
    """G (N, M): the negative gradient of logistic_loss for the scores."""
    return weight * (label[:, None] - sigmoid(y @ x.T + offset[:, None]))


def logistic_gradient(x, y, label, weight, offset):
    """(d loss/dx, d loss/dy, d loss/d offset) of logistic_loss."""
    g = logistic_steps(x, y, label, weight, offset)
    return -(g.T @ y), -(g @ x), -g.sum(axis=1)


def softmax_gradient(x, y, target):
    s = x @ y.T
    e = np.exp(s - s.max(axis=1, keepdims=True))
    g = -e / e.sum(axis=1, keepdims=True)
    g[:, target] += 1
    return -(g @ y), -(g.T @ x)


class SubwordWindow:
    """The input vectors of one sentence under subwords: a position's mean is made when the window first needs it and
    what it gained is added to each of its rows when the window has passed."""

    def __init__(self, matrix, subwords, sentence, window):
        starts, rows = subwords
        self.matrix, self.window = matrix, window
        self.rows = [rows[starts[word] : starts[word + 1]] for word in sentence]
        self.counts = np.array([float(len(rows)) for rows in self.rows])
        self.now = np.zeros((len(sentence), matrix.shape[1]))
        self.entry = self.now.copy()
        self.left = self.entered = 0

    def advance(self, at, last):
        while self.left < min(at - self.window, self.entered):
            self.leave()
        for position in range(self.entered, last + 1):
            self.now[position] = self.entry[position] = self.matrix[self.rows[position]].mean(axis=0)
        self.entered = max(self.entered, last + 1)

    def leave(self):
        gain = self.now[self.left] - self.entry[self.left]
        np.add.at(self.matrix, self.rows[self.left], gain)
        self.left += 1

    def close(self):
        while self.left < self.entered:
            self.leave()


@dataclass
class Reference:
    """`options` is a Word2vecConfig; the tables are the kernel's."""

    options: object
    ids: np.ndarray
    input: np.ndarray
    output: np.ndarray
    keep: np.ndarray | None = None
    sampler: np.ndarray | None = None
    log_noise: np.ndarray | None = None
    output_bias: np.ndarray | None = None
    path: tuple | None = None
    subwords: tuple | None = None
    loss: float = field(default=0.0)
    examples: int = field(default=0)
    tokens: int = field(default=0)
    mean: np.ndarray | None = None  # of the output rows drawn in the block so far
    tiles: int = 0

    def block(self, start, end, epoch, before=None, pooled=False):
        """`before`: ids of the epoch that are trained before it, where these are not those that stand before it.
        `pooled`: the block's negatives are drawn from a pool."""
        before = start if before is None else before
        random = self.random(start, end, epoch, pooled)
        self.mean, self.tiles = np.zeros(self.output.shape[1]), 0
        position = start
        schedule = len(self.ids) * self.options.epochs
        while position < end:
            done = epoch * len(self.ids) + before + position - start
            lr = max(self.options.start_lr * (1 - done / schedule), self.options.least_lr)
            sentences = []
            while position < end and sum(map(len, sentences)) < BATCH:
                sentence, position = self.read(position, end, random)
                sentences.append(sentence)
            for sentence in sentences:
                hidden = None
                if self.subwords:
                    hidden = SubwordWindow(self.input, self.subwords, sentence, self.options.window)
                if self.options.share_positions:
                    self.share(sentence, lr, random)
                else:
                    for at in range(len(sentence)):
                        self.step(sentence, at, lr, random, hidden)
                if hidden:
                    hidden.close()

    def random(self, start, end, epoch, pooled):
        """What is random about a block."""
        random = Random(self.options.seed, epoch, start)
        if pooled and self.sampler is not None:
            random.pool = random.next(), 1 + self.options.negative * (end - start) // POOL_WORDS
        return random

    def read(self, position, end, random):
        sentence = []
        while position < end and len(sentence) < self.options.max_sentence:
            word = int(self.ids[position])
            position += 1
            if word == -1:
                break
            if word < 0:
                continue
            self.tokens += 1
            if self.keep is None or (random.next() >> 32) <= int(self.keep[word]):
                sentence.append(word)
        for k in range(len(sentence) - 1 if self.options.whole_line else 0, 0, -1):
            other = below(random.next(), k + 1)
            sentence[k], sentence[other] = sentence[other], sentence[k]
        return sentence, position

    def context(self, sentence, at, random):
        """The positions in the window of position `at`."""
        width = 1 + below(random.next(), self.options.window) if self.options.shrink_window else self.options.window
        left, right = range(max(0, at - width), at), range(at + 1, min(at + 1 + width, len(sentence)))
        side = self.options.window_side
        return [*(left if side != "right" else ()), *(right if side != "left" else ())]

    def share(self, sentence, lr, random):
        """Trains a sentence of CBOW with negative sampling whose neighboring positions share tiles."""
        for start in range(0, len(sentence) if len(sentence) > 1 else 0, SHARING):
            centers = range(start, min(start + SHARING, len(sentence)))
            windows = [self.context(sentence, at, random) for at in centers]
            drawn = [self.drawn_word(random.choice()) for _ in range(self.drawn())]
            self.share_cbow(sentence, centers, windows, drawn, lr)

    def drawn(self):
        """How many negatives the positions of a tile share."""
        return self.options.negative + -(-self.options.negative // 5)

    def share_cbow(self, sentence, centers, windows, drawn, lr):
        """A tile of word2vec/cbow_neighbors.h: all scores first, then the blocks of words, the centers, the rows."""
        negative = self.options.negative
        self.tiles = min(self.tiles + 1, MEAN_TILES)
        self.examples += len(centers)
        rows = [[sentence[p] for p in window] for window in windows]
        means = [1 / len(window) if self.options.cbow_mean else 1.0 for window in windows]
        x = np.array([mean * self.input[window].sum(axis=0) for mean, window in zip(means, rows, strict=True)])
        words = list(dict.fromkeys(drawn))
        share = np.array([drawn.count(word) * negative / len(drawn) for word in words])
        weight = np.array([share * (np.array(words) != sentence[at]) for at in centers])
        scores = x @ self.output[words].T
        own = np.array([h @ self.output[sentence[at]] for h, at in zip(x, centers, strict=True)])
        self.loss += (weight * np.logaddexp(0, scores)).sum() + np.logaddexp(0, -own).sum()
        step, own_step = -lr * weight * sigmoid(scores), lr * (1 - sigmoid(own))
        pull = -step.sum() / weight.sum() * (1 - 1 / self.tiles) if weight.sum() > 0 else 0.0
        delta = np.zeros_like(x)
        for k in range(0, len(words), TILE_OUTPUTS):
            block, part = words[k : k + TILE_OUTPUTS], share[k : k + TILE_OUTPUTS]
            y = self.output[block]
            off = part @ y - part.sum() * self.mean
            self.mean += off / (self.tiles * negative)
            delta += step[:, k : k + TILE_OUTPUTS] @ y + pull * off
            self.output[block] += step[:, k : k + TILE_OUTPUTS].T @ x
        for n, at in enumerate(centers):
            delta[n] += own_step[n] * self.output[sentence[at]]
            self.output[sentence[at]] += own_step[n] * x[n]
        for d, mean, window in zip(delta, means, rows, strict=True):
            np.add.at(self.input, window, d * (mean if self.options.cbow_gradient == "corrected" else 1.0))

    def step(self, sentence, at, lr, random, hidden):
        positions = self.context(sentence, at, random)
        if self.options.share_negatives or self.options.model == "cbow" or self.sampler is None:
            tiles = [positions] if positions else []
        else:
            tiles = [[position] for position in positions]
        for tile in tiles:
            if hidden:
                hidden.advance(at, tile[-1])
                self.tile(hidden.now, tile, hidden.counts[tile], sentence[at], lr, random)
            else:
                words = [sentence[position] for position in tile]
                self.tile(self.input, words, np.ones(len(words)), sentence[at], lr, random)

    def tile(self, inputs, context, counts, center, lr, random):
        """Trains the rows `context` of `inputs`, which stand for `counts` rows each."""
        outputs, labels, output_weights = self.outputs(center, random)
        if self.options.model == "skipgram":
            x = inputs[context]
        else:
            mean = 1 / counts.sum() if self.options.cbow_mean else 1.0
            x = (counts @ inputs[context])[None] * mean
        self.examples += len(x)

        if self.options.loss == "softmax":
            self.loss += softmax_loss(x, self.output, center)
            dx, dy = softmax_gradient(x, self.output, center)
            self.output -= lr * dy
        else:
            y, weight = self.output[outputs], np.outer(output_weights, np.ones(len(x)))
            offset = np.zeros(len(outputs))
            if self.options.loss == "nce":
                offset = self.output_bias[outputs] - self.log_noise[outputs]
            self.loss += logistic_loss(x, y, labels, weight, offset)
            dx, dy, db = logistic_gradient(x, y, labels, weight, offset)
            if self.options.model == "skipgram" and len(outputs) <= TILE_OUTPUTS:
                # In place: a word that stands twice in the window is seen by the outputs with its first update.
                g = lr * logistic_steps(x, y, labels, weight, offset)
                now, dy = {}, np.zeros_like(y)
                for i, word in enumerate(context):
                    row = now.setdefault(word, inputs[word].copy())
                    dy -= np.outer(g[:, i], row) / lr
                    row += g[:, i] @ y
            self.output[outputs] -= lr * dy
            if self.options.loss == "nce":
                self.output_bias[outputs] -= lr * db

        if self.options.model == "skipgram":
            np.add.at(inputs, context, -lr * dx)
        else:
            share = mean if self.options.cbow_gradient == "corrected" else 1.0
            for word in context:
                inputs[word] -= lr * share * dx[0]

    def outputs(self, center, random):
        """Rows, labels and weights of the outputs of one position."""
        if self.options.loss == "softmax":
            return None, None, None
        if self.options.loss == "ova":
            words = np.arange(len(self.output))
            return words, (words == center).astype(float), np.ones(len(words))
        if self.options.loss == "hs":
            return self.path_outputs(center)
        if self.options.loss == "hs_ns":
            nodes, *path = self.path_outputs(center)
            words, *drawn = self.drawn_outputs(center, random)
            first = len(self.output) - len(self.sampler)
            return nodes + [first + word for word in words], *map(np.concatenate, zip(path, drawn, strict=True))
        return self.drawn_outputs(center, random)

    def path_outputs(self, center):
        start, node, code = self.path
        span = slice(int(start[center]), int(start[center + 1]))
        return list(node[span]), 1.0 - code[span], np.ones(span.stop - span.start)

    def drawn_word(self, draw):
        word = below(draw, len(self.sampler))
        return int(self.sampler[word, 1]) if (draw & 0xFFFFFFFF) >= int(self.sampler[word, 0]) else word

    def drawn_outputs(self, center, random):
        rows, weights = [center], [1.0]
        for _ in range(self.options.negative):
            word = self.drawn_word(random.choice())
            if word == center and self.options.loss != "nce":
                continue
            if word in rows:
                weights[rows.index(word)] += 1
            else:
                rows.append(word)
                weights.append(1.0)
        # NCE: the center as noise too is 1 yes and m noes, together one question with a share of yes.
        labels = np.array([1.0 / weights[0]] + [0.0] * (len(rows) - 1))
        return rows, labels, np.array(weights)
