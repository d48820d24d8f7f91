"""The pooled classifier: its float64 reference against finite differences, the kernel against the reference on every
instruction set."""

from dataclasses import replace
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reference.pooled import Head, Text, Trainer, Weights, answer, head_gradient, head_loss, target, tfidf
from wv_cli import _cpu, _pooled
from wv_cli.io.memory import pad_width, zeros

# (dim, rank, outputs): sizes around registers, blocks and cache lines.
SIZES = [(1, 1, 1), (7, 9, 2), (15, 16, 3), (17, 33, 16), (33, 7, 17), (100, 31, 7), (300, 17, 5)]
# Where the outputs of questions begin, and the last end: one of one output, and more than are scored together.
QUESTIONS = [(0, 2, 7), (0, 1, 5, 6, 16, 17)]
TOKENS, NGRAMS = 40, 60
LENGTHS = (5, 0, 1, 15, 16, 17, 130, 9, 2, 7, 33, 12)  # in tokens: none, fewer and more than are fetched ahead


def draw_texts(outputs, *, seed=3):
    """Texts of every kind: without tokens, n-grams or labels, with tokens twice and several labels, perhaps of one
    question."""
    random = np.random.default_rng(seed)
    idf = random.uniform(0.5, 3, NGRAMS)
    found = []
    for number, length in enumerate(LENGTHS):
        labels = random.permutation(outputs)[: [1, 1, 2, 0][number % 4]].tolist()
        ngrams = tfidf(random.integers(0, NGRAMS, [4, 31, 0, 1][number % 4]).tolist(), idf)
        found.append(Text(tfidf(random.integers(0, TOKENS, length).tolist()), ngrams, labels))
    return found


def draw_weights(dim, rank, outputs, *, seed=5):
    random = np.random.default_rng(seed)

    def draw(count, width, scale):
        # Of single precision, so that both begin with the same numbers.
        return (scale * random.standard_normal((count, width))).astype(np.float32).astype(np.float64)

    return Weights(
        *(Head(draw(count, width, 1), draw(outputs, width, 0.3)) for count, width in ((TOKENS, dim), (NGRAMS, rank)))
    )


class Kernel:
    """A model in the memory of the kernel."""

    def __init__(self, weights, isa, questions=None):
        heads = [(head.rows, head.output.T) for head in weights.heads()]
        matrices = [*chain(*heads)]
        self.widths = [each.shape[1] for each in matrices]
        self.padded = [pad(each) for each in matrices]
        names = ("tokens", "token_output", "ngrams", "ngram_output")
        given = dict(zip(names, self.padded, strict=True))
        starts = np.array(questions or (0, self.widths[1]), np.int32)
        self.model = _pooled.Model(**given, dim=self.widths[0], rank=self.widths[2], questions=starts, isa=isa)

    def weights(self):
        """As those of the reference."""
        rows, output, ngrams, ngram_output = (
            each[:, :width] for each, width in zip(self.padded, self.widths, strict=True)
        )
        return [rows, output.T, ngrams, ngram_output.T]

    def padding(self):
        """All numbers that are no weight."""
        return np.concatenate([each[:, width:].ravel() for each, width in zip(self.padded, self.widths, strict=True)])


def pad(rows):
    found = zeros(len(rows), pad_width(rows.shape[1]))
    found[:, : rows.shape[1]] = rows
    return found


def texts_of(texts):
    def inputs(each):
        starts = np.cumsum([0, *map(len, each)]).astype(np.int64)
        values = [value for found in each for value in found.values()]
        return starts, np.array([*chain(*each)], np.int32), np.array(values, np.float32)

    return _pooled.Texts(inputs([text.tokens for text in texts]), inputs([text.ngrams for text in texts]))


def run_of(kernel, texts, *, seed=1, **given):
    unset = dict.fromkeys(("dropout", "ngram_dropout", "label_smoothing"), 0.0)
    options = SimpleNamespace(**{**unset, **given}, seed=seed)
    starts = np.cumsum([0, *(len(text.labels) for text in texts)]).astype(np.int64)
    labels = np.array([label for text in texts for label in text.labels], np.int32)
    return _pooled.Run(options, kernel.model, texts_of(texts), starts, labels, token_sum=np.zeros(TOKENS, np.float32))


@pytest.mark.parametrize("questions", [(0, 4), (0, 2, 4), (0, 3, 4)])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_reference_has_the_gradient_of_its_loss(smoothing, questions):
    weights, text, step = draw_weights(4, 3, 4), replace(draw_texts(4)[0], labels=[0, 1]), 1e-6
    y = target(text, questions, smoothing)
    for head, inputs in zip(weights.heads(), text.inputs(), strict=True):
        _, by_sum, by_output = head_gradient(head, inputs, y, questions)
        by_rows = np.zeros_like(head.rows)
        for id, value in inputs.items():
            by_rows[id] = value * by_sum
        for values, expected in ((head.rows, by_rows), (head.output, by_output)):
            for at in np.ndindex(values.shape):
                before, found = values[at], []
                for moved in (before + step, before - step):
                    values[at] = moved
                    found.append(head_loss(head, inputs, y, questions))
                values[at] = before
                assert (found[0] - found[1]) / (2 * step) == pytest.approx(expected[at], rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("isa", _cpu.usable())
def test_scores(isa, size):
    weights, texts = draw_weights(*size), draw_texts(size[2])
    found = Kernel(weights, isa).model.scores(texts_of(texts))
    expected = [answer(weights, text) for text in texts]
    assert found == pytest.approx(np.array(expected), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("isa", _cpu.usable())
def test_training(isa, size, smoothing):
    """The longest steps are bounded: rows of such lengths meet a learning rate of 1."""
    check_training(isa, size, smoothing)


@pytest.mark.parametrize("questions", QUESTIONS, ids=str)
@pytest.mark.parametrize("isa", _cpu.usable())
def test_training_on_several_questions(isa, questions):
    """Texts have labels of some of them."""
    check_training(isa, (33, 7, questions[-1]), 0.2, questions)


def check_training(isa, size, smoothing, questions=None):
    weights, texts = draw_weights(*size), draw_texts(size[2])
    kernel = Kernel(weights, isa, questions)
    worker = run_of(kernel, texts, label_smoothing=smoothing).worker()
    trainer = Trainer(weights, smoothing, questions)
    order = np.arange(len(texts)).repeat(2)  # a text twice in a step
    for step in range(1, 6):
        chosen = np.roll(order, 5 * step)[:5]
        rates = {"lr": 1 / step, "row_lr": 0.02 / step}
        found, examples, tokens, lr = worker.train(chosen, step=step, **rates)
        expected = sum(trainer.learn(texts[text], **rates) for text in chosen)
        assert found == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert (examples, tokens) == (5, sum(len(texts[text].tokens) for text in chosen if texts[text].labels))
        assert lr == pytest.approx(rates["lr"])
    for value, expected in zip(kernel.weights(), weights.arrays(), strict=True):
        assert value == pytest.approx(expected, rel=1e-3, abs=1e-4)
    assert not kernel.padding().any()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("isa", _cpu.usable())
def test_dropout_leaves_columns_as_they_are(isa, size):
    """What is left out is seen in what does not move; the rest moves as in the reference."""
    weights, texts = draw_weights(*size), draw_texts(size[2])
    kernel, trainer, rates = Kernel(weights, isa), Trainer(weights, 0.2), {"lr": 0.1, "row_lr": 0.02}
    dropped = {"dropout": 0.5, "ngram_dropout": 0.7}
    worker, left = run_of(kernel, texts, label_smoothing=0.2, **dropped).worker(), 0
    for step, text in enumerate(np.flatnonzero([len(text.labels) > 0 for text in texts]).tolist(), 1):
        before = [each.copy() for each in kernel.weights()]
        loss = worker.train(np.array([text]), step=step, **rates)[0]
        moved = [(new != old).any(axis=0) for new, old in zip(kernel.weights(), before, strict=True)]
        shares = (1 - share for share in dropped.values())
        keep = [each / share for each, share in zip(moved[1::2], shares, strict=True)]
        assert loss == pytest.approx(trainer.learn(texts[text], **rates, keep=keep), rel=1e-3, abs=1e-5)
        assert not (moved[0] & ~moved[1]).any() and not (moved[2] & ~moved[3]).any(), "rows move where columns do"
        left += sum(int((~each).sum()) for each in moved[1::2])
        for value, expected in zip(kernel.weights(), weights.arrays(), strict=True):
            assert value == pytest.approx(expected, rel=1e-3, abs=1e-4)
    assert left > 0 and not kernel.padding().any()


@pytest.mark.parametrize("interval", [1, 2, 100])
@pytest.mark.parametrize("isa", _cpu.usable())
def test_replicas_change_nothing_for_one_thread(isa, interval):
    weights, texts = draw_weights(33, 7, 17), draw_texts(17)
    kernels = [Kernel(weights, isa) for _ in range(2)]
    runs = [run_of(kernel, texts) for kernel in kernels]
    workers = [runs[0].worker(), runs[1].worker(interval=interval)]
    for step in range(1, 6):
        for worker in workers:
            worker.train(np.arange(4), step=step, lr=0.1, row_lr=0.02)
    workers[1].flush()
    for alone, shared in zip(*(kernel.weights() for kernel in kernels), strict=True):
        assert shared == pytest.approx(alone, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("isa", _cpu.usable())
def test_what_workers_change_is_added_when_it_is_due(isa):
    """Rows are shared at once; those of tokens rest here, so that their output weights are those of workers alone."""
    weights, texts, rates = draw_weights(16, 8, 4), draw_texts(4), {"lr": 0.1, "row_lr": 0.0}
    kernel = Kernel(weights, isa)
    run, before = run_of(kernel, texts), kernel.weights()[1].copy()
    workers, alone = [run.worker(interval=2) for _ in range(2)], []
    for number, worker in enumerate(workers):
        own = Kernel(weights, isa)
        free = run_of(own, texts).worker()
        for step in (1, 2):
            for each in (worker, free):
                each.train(np.array([number]), step=step, **rates)
        alone.append(own.weights()[1] - before)
    assert np.array_equal(kernel.weights()[1], before), "not yet due"
    for number, worker in enumerate(workers):
        worker.train(np.array([number]), step=3, **rates)
        expected = before + sum(alone[: number + 1])
        assert kernel.weights()[1] == pytest.approx(expected, abs=1e-6)
    for worker in workers:
        worker.flush()
        assert np.abs(kernel.weights()[1] - expected).max() > 1e-3, "what the third step changed"


def test_dropout_keeps_the_mean_and_draws_by_seed_and_step():
    weights, texts = draw_weights(16, 8, 4), draw_texts(4)
    rates = {"lr": 0.0, "row_lr": 0.0}
    labeled = np.array([number for number, text in enumerate(texts) if text.labels and text.tokens])

    def losses(seed, steps, **dropped):
        worker = run_of(Kernel(weights, None), texts, seed=seed, **dropped).worker()
        return [worker.train(labeled, step=step, **rates)[0] for step in range(1, steps + 1)]

    whole = losses(1, 1)[0]
    for dropped in ({"dropout": 0.2}, {"ngram_dropout": 0.5}, {"dropout": 0.1, "ngram_dropout": 0.1}):
        first = losses(1, 2, **dropped)
        assert first == losses(1, 2, **dropped)
        assert len({*first, *losses(2, 2, **dropped)}) == 4
        assert np.mean(losses(1, 200, **dropped)) == pytest.approx(whole, rel=0.3)


def test_refuses_what_does_not_fit():
    weights, texts = draw_weights(7, 3, 2), draw_texts(2)
    kernel = Kernel(weights, None)
    with pytest.raises(ValueError, match="tokens: expected 0 to 39"):
        kernel.model.scores(texts_of([Text({TOKENS: 1.0}, {}, [])]))
    with pytest.raises(ValueError, match="n-grams: expected 0 to 59"):
        kernel.model.scores(texts_of([Text({}, {-1: 1.0}, [])]))
    with pytest.raises(ValueError, match="labels: expected 0 to 1"):
        run_of(kernel, [Text({1: 1.0}, {}, [2])])
    with pytest.raises(ValueError, match="shares below 1"):
        run_of(kernel, texts, dropout=1.0)
    for questions in ([0], [1, 2], [0, 0, 2]):
        with pytest.raises(ValueError, match="the questions do not divide the labels"):
            Kernel(weights, None, questions)
    with pytest.raises(ValueError, match="tokens: the output weights do not fit 7 numbers and 17 labels"):
        Kernel(weights, None, [0, 17])
    worker = run_of(kernel, texts).worker()
    with pytest.raises(ValueError, match="no such text"):
        worker.train(np.array([len(texts)]), step=1, lr=0.1, row_lr=0.1)
    with pytest.raises(ValueError, match="a step has a number from 1"):
        worker.train(np.zeros(6, np.int64), step=0, lr=0.1, row_lr=0.1)


def test_a_question_without_a_label_moves_nothing():
    """Nor do labels of one question move the outputs of another one."""
    weights, texts = draw_weights(16, 8, 5), [Text({1: 1.0}, {2: 1.0}, [0])]
    kernel = Kernel(weights, None, (0, 2, 5))
    before = [each.copy() for each in kernel.weights()]
    run_of(kernel, texts, label_smoothing=0.1).worker().train(np.zeros(1, np.int64), step=1, lr=0.1, row_lr=0.1)
    for place in (1, 3):
        assert (kernel.weights()[place][:2] != before[place][:2]).all()
        assert (kernel.weights()[place][2:] == before[place][2:]).all()


def test_values_of_features():
    random = np.random.default_rng(2)
    texts = [random.integers(0, NGRAMS, count).tolist() for count in (0, 1, 2, 5, 40, 0, 3000)]
    idf = random.uniform(0.5, 3, NGRAMS).astype(np.float32)
    starts = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    starts, ids, values = _pooled.weigh(starts, np.array([*chain(*texts)], np.int32), idf)
    for number, text in enumerate(texts):
        part = slice(starts[number], starts[number + 1])
        assert dict(zip(ids[part].tolist(), values[part].tolist(), strict=True)) == pytest.approx(tfidf(text, idf))
        assert (np.diff(ids[part]) > 0).all()
    starts = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    starts, ids, values = _pooled.weigh(starts, np.array([*chain(*texts)], np.int32))
    assert dict(
        zip(ids[starts[4] : starts[5]].tolist(), values[starts[4] : starts[5]].tolist(), strict=True)
    ) == pytest.approx(tfidf(texts[4]))
    with pytest.raises(ValueError, match="features: expected 0 to 59"):
        _pooled.weigh(np.array([0, 1]), np.array([60], np.int32), idf)
