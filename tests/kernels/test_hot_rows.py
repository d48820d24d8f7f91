"""Replicas of frequent rows (csrc/kernels/word2vec/replica.h): which rows are exchanged when, and that nothing is
lost."""

from dataclasses import replace

import numpy as np
import pytest

from wv_cli import _cpu, _word2vec
from wv_cli.io.memory import pad_width, zeros
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.replicas import NoiseSlices, Replicas

WORDS, DIM = 1000, 16
TICK = 2000  # words between two exchanges of the hottest rows
HOTTEST = 100
LINE = 50


def a_run(isa, loss, tokens):
    """A run over `tokens` words in lines of LINE, every word once in WORDS; and its shared matrices."""
    random = np.random.default_rng(7)
    words = [random.permutation(WORDS) for _ in range(tokens // WORDS)]
    ids = np.full((tokens // LINE, LINE + 1), -1, np.int32)
    ids[:, :LINE] = np.reshape(words, (-1, LINE))
    counts = np.arange(2 * WORDS, WORDS, -1).astype(np.int64)
    tables = {}
    if "ns" in loss:
        tables["sampler"] = _word2vec.alias_table(np.ones(WORDS))
    if "hs" in loss:
        tables["path"] = _word2vec.huffman(counts)
    outputs = {"hs": WORDS - 1, "hs_ns": 2 * WORDS - 1, "ns": WORDS}[loss]
    x, y = zeros(WORDS, pad_width(DIM)), zeros(outputs, pad_width(DIM))
    x[:, :DIM], y[:, :DIM] = random.normal(0, 0.1, (WORDS, DIM)), random.normal(0, 0.1, (outputs, DIM))
    config = Word2vecConfig(loss=loss, dim=DIM, window=3, epochs=1, sample=0, lr=0.01)
    return _word2vec.Run(config, ids=ids.reshape(-1), input=x, output=y, isa=isa, **tables), x, y


def private(loss, count):
    """`count` rows of both matrices, the hottest ones of `loss`, all whose changes are added in full."""
    ones = np.ones(count, np.float32)
    nodes = WORDS - 1 if "hs" in loss else 0
    hottest = {"ns": 0, "hs": count, "hs_ns": count // 2}[loss]
    return Replicas(count, nodes - hottest, hottest, HOTTEST, TICK, ones, ones)


def changed(rows, before):
    return np.flatnonzero((rows != before).any(axis=1))


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("loss", ["ns", "hs", "hs_ns"])
def test_the_hottest_hundred_are_exchanged_every_time_twice_as_many_every_second_time(isa, loss):
    """Blocks as long as the time between two exchanges: each begins with the exchange that is due. The last exchange is
    flush()'s."""
    ticks, count = 5, 400
    run, x, y = a_run(isa, loss, TICK * ticks)
    worker = run.worker(private(loss, count))
    length = TICK // LINE * (LINE + 1)
    hottest = {"ns": 0, "hs": WORDS - 1, "hs_ns": WORDS - 1}[loss]
    for tick, rows in zip(range(ticks), (0, 100, 200, 100, 400), strict=True):  # at first nothing has changed
        before = x.copy(), y.copy()
        worker.block(tick * length, (tick + 1) * length, 0)
        inputs = changed(x, before[0])
        assert list(inputs[inputs < count]) == list(range(rows)), tick
        assert set(range(count, WORDS)) <= set(inputs), "a row that is not private changes at once"
        outputs = changed(y, before[1])
        reach = 200 if loss == "hs_ns" else 400  # there half of the private rows are words, the other half nodes
        near = outputs[abs(outputs + 0.5 - hottest) < reach]
        expected = np.arange(hottest - min(rows, reach), hottest + min(rows, reach))
        assert list(near) == list(expected[(expected >= 0) & (expected < len(y))]), tick
    before = x.copy()
    worker.flush()
    assert len(changed(x, before)) == count
    before = x.copy()
    worker.flush()
    assert len(changed(x, before)) == 0


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("loss", ["ns", "hs"])
def test_what_two_threads_change_adds_up(isa, loss):
    """All rows private and blocks shorter than the time between two exchanges: neither sees the other's changes."""
    half = TICK // 2 // LINE * (LINE + 1)
    count = {"ns": WORDS, "hs": WORDS - 1}[loss]  # a tree has a node less than words
    alone = []
    for start in (0, half):
        run, x, y = a_run(isa, loss, TICK)
        before = x.copy(), y.copy()
        worker = run.worker(private(loss, count))
        worker.block(start, start + half, 0)
        worker.flush()
        alone.append((x - before[0], y - before[1]))
    run, x, y = a_run(isa, loss, TICK)
    first, second = run.worker(private(loss, count)), run.worker(private(loss, count))
    first.block(0, half, 0)
    second.block(half, 2 * half, 0)
    first.flush()
    second.flush()
    # With hs the input row of the last word is shared: there the second thread does see what the first has changed.
    for rows, start, parts in zip((x, y), before, zip(*alone, strict=True), strict=True):
        assert np.abs(parts).mean() > 1e-3
        np.testing.assert_allclose(rows[:count], (start + sum(parts))[:count], atol=1e-4 if loss == "hs" else 1e-6)


def run_on_frequent_words(isa, words, tokens):
    """A run over a text of the first `words` words alone, whose noise is all words alike; and its output rows."""
    random = np.random.default_rng(7)
    x, y = zeros(WORDS, pad_width(DIM)), zeros(WORDS, pad_width(DIM))
    x[:, :DIM] = random.normal(0, 0.1, (WORDS, DIM))
    ids = np.full((tokens // LINE, LINE + 1), -1, np.int32)
    ids[:, :LINE] = random.integers(0, words, (tokens // LINE, LINE))
    config = Word2vecConfig(dim=DIM, window=3, epochs=1, sample=0, lr=0.01)
    sampler = _word2vec.alias_table(np.ones(WORDS))
    return _word2vec.Run(config, ids=ids.reshape(-1), input=x, output=y, sampler=sampler, isa=isa), y


@pytest.mark.parametrize("isa", _cpu.usable())
def test_each_thread_draws_noise_of_its_slice_for_some_exchanges(isa):
    """Two slices of 64 words side by side, from word 128 on; the last 104 of 1,000 words fill no group of both."""
    hot = replace(private("ns", 128), noise_slices=NoiseSlices(2, 128, exchanges=2))
    ticks, length = 4, TICK // LINE * (LINE + 1)
    run, y = run_on_frequent_words(isa, 128, TICK * ticks)
    word = np.arange(128, WORDS)
    of_slice = np.where(word < WORDS // 128 * 128, word // 64 % 2, -1)
    for number, worker in enumerate([run.worker(hot), run.worker(hot)]):
        for tick, slice in zip(range(ticks), (0, 1, 1, 0), strict=True):  # a block begins with an exchange
            before = y.copy()
            worker.block(tick * length, (tick + 1) * length, 0)
            drawn = changed(y, before)
            drawn = drawn[drawn >= 128]
            assert set(of_slice[drawn - 128]) == {(number + slice) % 2, -1}, (number, tick)
            assert len(drawn) > 450, "nearly all that may be drawn are drawn in 10,000 draws"


@pytest.mark.parametrize(
    "slices", [NoiseSlices(3, 192, 1), NoiseSlices(2, 100, 1), NoiseSlices(2, 128, 0), NoiseSlices(0, 0, 1)], ids=str
)
def test_slices_that_cannot_be_are_refused(slices):
    run, _ = run_on_frequent_words(None, 128, 500)
    with pytest.raises(ValueError, match="noise: "):
        run.worker(replace(private("ns", 128), noise_slices=slices))
