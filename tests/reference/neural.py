"""Float64 reference implementation of csrc/kernels/neural.c: the same draws, plain NumPy arithmetic, one batch at a
time.

The gradient is a function of the parameters alone; tests/kernels/test_neural.py checks it by finite differences.
"""

import numpy as np

from tests.reference.word2vec import Random, below, sigmoid

BLOCK = 2048  # of csrc/kernels/neural.c: examples
SENTENCE, SENTENCE_END = 1, 2


def context_of(ids, position, words):
    """The words before a position, the nearest first."""
    context, inside = [], True
    for j in range(1, words + 1):
        inside = inside and position >= j and ids[position - j] >= 0
        context.append(int(ids[position - j]) if inside else SENTENCE)
    return context


def kept(random, count, dropout):
    """What dropout multiplies `count` numbers with; count is a multiple of 4."""
    limit, factors = int(np.float32(dropout) * np.float32(65536)), np.empty(count)
    for k in range(0, count, 4):
        number = random.next()
        for j in range(4):
            factors[k + j] = 0 if (number >> 16 * j & 0xFFFF) < limit else 1 / (1 - dropout)
    return factors


class Batch:
    """One batch of positions: what is drawn for it, its loss and its gradient. `parameters` are arrays by name: input,
    mixing, hidden_bias (NPLM), output, bias; with tied vectors there is no output."""

    def __init__(self, config, contexts, targets, keep_x, keep_a, sample=(), log_noise=None, path=None, classes=None):
        self.config, self.contexts, self.targets = config, np.array(contexts), targets
        self.keep_x, self.keep_a, self.sample, self.log_noise = keep_x, keep_a, list(sample), log_noise
        self.path, self.classes = path, classes

    def forward(self, p):
        """(x, a before dropout, z) of all positions."""
        config = self.config
        x = p["input"][self.contexts].reshape(len(self.contexts), -1) * self.keep_x
        mixing = p["mixing"]
        a = (x.reshape(len(x), *mixing.shape) * mixing).sum(axis=1) if config.diagonal else x @ mixing.T
        if config.model == "nplm":
            a = np.tanh(a + p["hidden_bias"])
        z = a * self.keep_a
        return x, a, np.concatenate([z, x], axis=1) if config.direct else z

    def steps(self, i, scores):
        """(loss, d loss / d score) of position i by the word or row; rows of no part are left out."""
        target, loss, gradient = self.targets[i], 0.0, {}

        def add(row, value):
            gradient[row] = gradient.get(row, 0.0) + value

        def softmax(rows, right):
            top = max(scores[row] for row in rows)
            total = sum(np.exp(scores[row] - top) for row in rows)
            for row in rows:
                add(row, np.exp(scores[row] - top) / total - (row == right))
            return np.log(total) + top - scores[right]

        def question(row, answer, shift=0.0):
            add(row, sigmoid(scores[row] - shift) - answer)
            return np.logaddexp(0, (1 - 2 * answer) * (scores[row] - shift))

        match self.config.loss:
            case "softmax":
                loss = softmax([row for row in range(len(scores)) if row != SENTENCE], target)
            case "class":
                of_word, start = self.classes
                own, words = of_word[target], len(of_word)
                loss = softmax(range(words, len(scores)), words + own)
                loss += softmax([row for row in range(start[own], start[own + 1]) if row != SENTENCE], target)
            case "hs":
                start, node, answer, *codes = self.path
                first, end = (codes[0][target], codes[0][target + 1]) if codes else (target, target + 1)
                paths = [range(start[code], start[code + 1]) for code in range(first, end)]
                logs = [-sum(np.logaddexp(0, (1 - 2.0 * answer[k]) * scores[node[k]]) for k in path) for path in paths]
                loss = -np.logaddexp.reduce(logs)
                for path, log in zip(paths, logs, strict=True):
                    for k in path:
                        add(node[k], np.exp(log + loss) * (sigmoid(scores[node[k]]) - answer[k]))
            case "nce":
                loss = question(target, 1, self.log_noise[target])
                loss += sum(question(word, 0, self.log_noise[word]) for word in self.sample)
            case "ns":
                loss = question(target, 1) + sum(question(word, 0) for word in self.sample if word != target)
            case "importance":
                words = [target, *(word for word in self.sample if word != target)]
                shares = np.exp([scores[word] - (k > 0) * self.log_noise[word] for k, word in enumerate(words)])
                for word, share in zip(words, shares / shares.sum(), strict=True):
                    add(word, share)
                add(target, -1.0)
                loss = np.log(shares.sum()) - scores[target]
        return loss, gradient

    def gradient(self, p):
        """(loss, its gradient by parameter)."""
        output = p.get("output", p["input"])
        x, a, z = self.forward(p)
        found = {name: np.zeros_like(array) for name, array in p.items()}
        of_output = found["output"] if "output" in p else found["input"]
        dz, loss = np.zeros_like(z), 0.0
        for i in range(len(z)):
            own, steps = self.steps(i, output @ z[i] + p["bias"])
            loss += own
            for row, step in steps.items():
                dz[i] += step * output[row]
                of_output[row] += step * z[i]
                found["bias"][row] += step
        width = a.shape[1]
        da, dx = dz[:, :width] * self.keep_a, np.zeros_like(x)
        if self.config.direct:
            dx += dz[:, width:]
        if self.config.model == "nplm":
            da = da * (1 - a**2)
            found["hidden_bias"] += da.sum(axis=0)
        if self.config.diagonal:
            places = x.reshape(len(x), *p["mixing"].shape)
            found["mixing"] += (da[:, None] * places).sum(axis=0)
            dx += (da[:, None] * p["mixing"]).reshape(dx.shape)
        else:
            found["mixing"] += da.T @ x
            dx += da @ p["mixing"]
        rows = (dx * self.keep_x).reshape(*self.contexts.shape, -1)
        for context, steps in zip(self.contexts, rows, strict=True):
            for word, step in zip(context, steps, strict=True):
                found["input"][word] += step
        return loss, found


class Reference:
    """Parameters by name as Batch has them, and the tables of wv_cli._neural.Run."""

    def __init__(self, config, ids, parameters, *, sampler=None, log_noise=None, path=None, classes=None):
        self.config, self.ids, self.parameters = config, ids, parameters
        self.sampler, self.log_noise, self.path, self.classes = sampler, log_noise, path, classes
        self.loss = 0.0
        self.examples = self.tokens = 0

    def block(self, start, end, epoch, lr):
        config, random = self.config, Random(self.config.seed, epoch, start)
        each = config.order - 1 if config.model == "ivlbl" else 1
        for first in range(start, end, BLOCK // each):
            positions, examples = min(BLOCK // each, end - first), []
            for k in range(positions * each):
                other = below(random.next(), k + 1)
                examples.append(examples[other] if other < k else k)
                examples[other] = k
            for k in range(0, len(examples), config.batch):
                chosen = [(first + e // each, e % each) for e in examples[k : k + config.batch]]
                self._train(chosen, random, lr)
            self.examples += len(examples)
            self.tokens += int((self.ids[first : first + positions] >= 0).sum())

    def _train(self, examples, random, lr):
        """`examples` are pairs: a position, and the place in its context that ivlbl sees alone."""
        config, words = self.config, self.config.order - 1
        dim, width = self.parameters["input"].shape[1], config.width
        stride, hidden_stride = -(-dim // 16) * 16, -(-width // 16) * 16
        contexts, targets = [], []
        keep_x, keep_a = np.ones((len(examples), words * dim)), np.ones((len(examples), width))
        for i, (position, place) in enumerate(examples):
            contexts.append(context_of(self.ids, position, words))
            targets.append(int(self.ids[position]) if self.ids[position] >= 0 else SENTENCE_END)
            if config.dropout > 0:
                keep_x[i] = kept(random, words * stride, config.dropout).reshape(words, stride)[:, :dim].ravel()
            if config.model == "ivlbl":
                keep_x[i] *= np.repeat(np.arange(words) == place, dim)
        for i in range(len(examples) if config.dropout > 0 else 0):
            keep_a[i] = kept(random, hidden_stride, config.dropout)[:width]
        sample = [self._draw(random) for _ in range(config.negative)] if self.sampler is not None else []
        tables = {"sample": sample, "log_noise": self.log_noise, "path": self.path, "classes": self.classes}
        loss, found = Batch(config, contexts, targets, keep_x, keep_a, **tables).gradient(self.parameters)
        self.loss += loss
        for name, array in self.parameters.items():
            array -= lr * found[name]

    def _draw(self, random):
        number = random.next()
        word = below(number, len(self.sampler))
        return int(self.sampler[word, 1]) if (number & 0xFFFFFFFF) >= self.sampler[word, 0] else word
