"""The pooled classifier: its float64 reference against finite differences, the kernel against the reference on every
instruction set."""

from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reference.pooled import Text, Trainer, Weights, answer, gradients, loss, tfidf
from wv_cli import _cpu, _pooled
from wv_cli.io.memory import pad_width, zeros
from wv_cli.models.pooled_model import Sizes

# (dim, rank, hidden, outputs): sizes around registers, blocks and cache lines.
SIZES = [
    (1, 1, 1, 1),
    (7, 9, 8, 2),
    (15, 16, 17, 3),
    (17, 33, 15, 16),
    (33, 7, 31, 17),
    (100, 31, 33, 7),
    (300, 17, 16, 5),
]
TOKENS, FEATURES = 40, 60
LENGTHS = (5, 0, 1, 63, 64, 65, 130, 9, 2, 7, 33, 12)  # in tokens: none, whole windows, one token more


def draw_texts(outputs, *, seed=3):
    """Texts of every kind: without tokens, features or labels, with tokens twice and several labels."""
    random = np.random.default_rng(seed)
    idf = random.uniform(0.5, 3, FEATURES)
    found = []
    for number, length in enumerate(LENGTHS):
        labels = random.permutation(outputs)[: [1, 1, 2, 0][number % 4]].tolist()
        features = tfidf(random.integers(0, FEATURES, [4, 31, 0, 1][number % 4]).tolist(), idf)
        found.append(Text(random.integers(0, TOKENS, length).tolist(), features, labels))
    return found


def draw_weights(dim, rank, hidden, outputs, *, seed=5):
    random = np.random.default_rng(seed)
    shapes = [
        (TOKENS, dim),
        (FEATURES, rank),
        (hidden, 3 * dim),
        hidden,
        (outputs, hidden),
        outputs,
        (outputs, rank),
        outputs,
    ]
    scales = [1, 1, 1 / np.sqrt(3 * dim), 0.1, 0.3, 0.1, 0.3, 0.1]
    # Single precision, so that both compare the same numbers where a maximum is chosen.
    drawn = [scale * random.standard_normal(shape) for shape, scale in zip(shapes, scales, strict=True)]
    return Weights(*(each.astype(np.float32).astype(np.float64) for each in drawn))


class Kernel:
    """A model in the memory of the kernel."""

    def __init__(self, weights, isa):
        self.sizes = Sizes(weights.table.shape[1], weights.L.shape[1], len(weights.a), len(weights.c))
        self.table, self.features = (pad(each) for each in (weights.table, weights.L))
        self.dense = zeros(1, self.sizes.weights)[0]
        for view, values in zip(self.sizes.layers(self.dense).values(), weights.dense(), strict=True):
            view[...] = values.reshape(view.shape)
        matrices = {"table": self.table, "features": self.features, "dense": self.dense}
        self.model = _pooled.Model(**matrices, **vars(self.sizes), isa=isa)

    def weights(self):
        """As those of the reference."""
        sizes, (pooled, *layers) = self.sizes, self.sizes.layers(self.dense).values()
        return [self.table[:, : sizes.dim], self.features[:, : sizes.rank], pooled.reshape(len(pooled), -1), *layers]

    def padding(self):
        """The sum of what no weight is."""
        whole = sum(float(np.abs(each).sum()) for each in (self.table, self.features, self.dense))
        return whole - sum(float(np.abs(each).sum()) for each in self.weights())


def pad(rows):
    found = zeros(len(rows), pad_width(rows.shape[1]))
    found[:, : rows.shape[1]] = rows
    return found


def texts_of(texts):
    tokens, features = [text.tokens for text in texts], [[*text.features] for text in texts]
    values = np.array([value for text in texts for value in text.features.values()], np.float32)
    starts = [np.cumsum([0, *map(len, each)]).astype(np.int64) for each in (tokens, features)]
    ids = [np.array([*chain(*each)], np.int32) for each in (tokens, features)]
    return _pooled.Texts(starts[0], ids[0], starts[1], ids[1], values)


def run_of(kernel, texts, *, batch=5, seed=1, **given):
    unset = dict.fromkeys(("dropout", "ngram_dropout", "label_smoothing"), 0.0)
    options = SimpleNamespace(**{**unset, **given}, seed=seed)
    starts = np.cumsum([0, *(len(text.labels) for text in texts)]).astype(np.int64)
    labels = np.array([label for text in texts for label in text.labels], np.int32)
    kept = {"table_sum": np.zeros(TOKENS, np.float32)}
    moments = {name: np.zeros(len(kernel.dense), np.float32) for name in ("mean", "square")}
    return _pooled.Run(options, kernel.model, texts_of(texts), starts, labels, batch=batch, **kept, **moments)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_reference_has_the_gradient_of_its_loss(smoothing):
    weights, batch, step = draw_weights(4, 3, 5, 4), draw_texts(4), 1e-6
    gradient, _ = gradients(weights, batch, smoothing)
    random = np.random.default_rng(1)
    for values, expected in zip(weights.arrays(), gradient.arrays(), strict=True):
        for place in random.integers(0, values.size, 25):
            at = np.unravel_index(place, values.shape)
            before, found = values[at], []
            for moved in (before + step, before - step):
                values[at] = moved
                found.append(loss(weights, batch, smoothing))
            values[at] = before
            assert (found[0] - found[1]) / (2 * step) == pytest.approx(expected[at], rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("isa", _cpu.usable())
def test_scores(isa, size):
    weights, texts = draw_weights(*size), draw_texts(size[3])
    found = Kernel(weights, isa).model.scores(texts_of(texts))
    expected = [answer(weights, text) for text in texts]
    assert found == pytest.approx(np.array(expected), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("isa", _cpu.usable())
def test_training(isa, size, smoothing):
    weights, texts = draw_weights(*size), draw_texts(size[3])
    kernel = Kernel(weights, isa)
    worker = run_of(kernel, texts, label_smoothing=smoothing).worker()
    trainer = Trainer(weights, smoothing)
    order = np.arange(len(texts)).repeat(2)  # a text twice in a step
    for step in range(1, 6):
        batch = np.roll(order, 5 * step)[:5]
        rates = {"lr": 0.01 / step, "row_lr": 0.02 / step, "ngram_lr": 0.03 / step}
        found, examples, tokens, lr = worker.train(batch, step=step, **rates)
        expected = trainer.step([texts[text] for text in batch], **rates)
        assert found == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert (examples, tokens) == (5, sum(len(texts[text].tokens) for text in batch))
        assert lr == pytest.approx(rates["lr"])
    for value, expected in zip(kernel.weights(), weights.arrays(), strict=True):
        assert value == pytest.approx(expected, rel=2e-2, abs=2e-3)
    assert kernel.padding() == pytest.approx(0, abs=1e-2)


def test_dropout_keeps_the_mean_and_draws_by_seed_and_step():
    weights, texts = draw_weights(16, 8, 32, 4), draw_texts(4)
    rates = {"lr": 0.0, "row_lr": 0.0, "ngram_lr": 0.0}
    labeled = np.array([number for number, text in enumerate(texts) if text.labels and text.tokens])

    def losses(seed, steps, **dropped):
        worker = run_of(Kernel(weights, None), texts, seed=seed, batch=len(labeled), **dropped).worker()
        return [worker.train(labeled, step=step, **rates)[0] for step in range(1, steps + 1)]

    whole = losses(1, 1)[0]
    for dropped in ({"dropout": 0.2}, {"ngram_dropout": 0.5}, {"dropout": 0.1, "ngram_dropout": 0.1}):
        first = losses(1, 2, **dropped)
        assert first == losses(1, 2, **dropped)
        assert len({*first, *losses(2, 2, **dropped)}) == 4
        assert np.mean(losses(1, 200, **dropped)) == pytest.approx(whole, rel=0.3)


def test_refuses_what_does_not_fit():
    weights, texts = draw_weights(7, 3, 5, 2), draw_texts(2)
    kernel = Kernel(weights, None)
    with pytest.raises(ValueError, match="tokens: expected 0 to 39"):
        kernel.model.scores(texts_of([Text([TOKENS], {}, [])]))
    with pytest.raises(ValueError, match="features: expected 0 to 59"):
        kernel.model.scores(texts_of([Text([], {-1: 1.0}, [])]))
    with pytest.raises(ValueError, match="labels: expected 0 to 1"):
        run_of(kernel, [Text([1], {}, [2])])
    with pytest.raises(ValueError, match="shares below 1"):
        run_of(kernel, texts, dropout=1.0)
    worker = run_of(kernel, texts).worker()
    with pytest.raises(ValueError, match="no such text"):
        worker.train(np.array([len(texts)]), step=1, lr=0.1, row_lr=0.1, ngram_lr=0.1)
    with pytest.raises(ValueError, match="as many as were said"):
        worker.train(np.zeros(6, np.int64), step=1, lr=0.1, row_lr=0.1, ngram_lr=0.1)


def test_values_of_features():
    random = np.random.default_rng(2)
    texts = [random.integers(0, FEATURES, count).tolist() for count in (0, 1, 2, 5, 40, 0, 3000)]
    idf = random.uniform(0.5, 3, FEATURES).astype(np.float32)
    starts = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    starts, ids, values = _pooled.weigh(starts, np.array([*chain(*texts)], np.int32), idf)
    for number, text in enumerate(texts):
        part = slice(starts[number], starts[number + 1])
        assert dict(zip(ids[part].tolist(), values[part].tolist(), strict=True)) == pytest.approx(tfidf(text, idf))
        assert (np.diff(ids[part]) > 0).all()
    with pytest.raises(ValueError, match="features: expected 0 to 59"):
        _pooled.weigh(np.array([0, 1]), np.array([60], np.int32), idf)
