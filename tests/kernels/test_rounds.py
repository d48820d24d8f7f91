"""Deterministic rounds (csrc/kernels/word2vec/deterministic.h): their float64 reference, and the same bytes whatever
the threads."""

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import pytest

from tests.kernels.test_word2vec import CONTEXTS, aligned, setting
from tests.reference.rounds import train_epoch
from tests.reference.word2vec import Reference
from tests.tiers import full
from wv_cli import _cpu, _rounds, _word2vec
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.deterministic import WORKERS
from wv_cli.models.layers import LAYERS

STAMPS = 255
LOSSES = [name for name, layer in LAYERS.items() if not layer.takes_all]


def plan(context, layer, dim, **changes):
    """A corpus of more blocks than workers: (config, tables, input, output, shares, where the blocks are cut)."""
    config, tables, x, y = setting(context, layer, dim, lines=60, **changes)
    random = np.random.default_rng(3)
    shares = [random.uniform(0.3, 1, len(rows)).astype(np.float32) for rows in (x, y)]
    return config, tables, x, y, shares, _word2vec.block_starts(tables["ids"], 60, config.max_sentence)


@lru_cache(maxsize=2)
def trained_reference(context, layer, dim, workers, **changes):
    """What every instruction set is compared with: computed once for those that come one after the other."""
    config, tables, x, y, shares, cuts = plan(context, layer, dim, **changes)
    if LAYERS[layer].biases:
        tables["output_bias"] = tables["output_bias"].astype(float)
    rows = {"input": x.astype(np.float32).astype(float), "output": y.astype(np.float32).astype(float)}
    reference = Reference(config, **rows, **tables)
    for epoch in range(config.epochs):
        train_epoch(reference, cuts, workers, shares, epoch)
    return reference


def run_rounds(isa, context, layer, dim=20, workers=WORKERS, threads=1, **changes):
    """(tables, input, output, the totals) of the kernel, from the same rows."""
    config, tables, x, y, shares, cuts = plan(context, layer, dim, **changes)
    x32, y32 = aligned(x), aligned(y)
    run = _word2vec.Run(config, input=x32, output=y32, isa=isa, **tables)
    rounds = _rounds.Rounds(run, cuts, *shares, workers=workers, threads=threads)
    assert rounds.count > 1 and (len(cuts) - 1) % WORKERS, "in the last round some of many workers have no part"
    totals = np.zeros(3)
    with ThreadPoolExecutor(threads) as pool:
        each = [rounds.thread(number) for number in range(threads)]
        for epoch in range(config.epochs):
            for first in range(0, rounds.count, 2):
                end = min(first + 2, rounds.count)
                for done in [pool.submit(thread.train, first, end, epoch) for thread in each]:
                    done.result()
                totals += rounds.totals()[:3]
    return tables, x32, y32, totals


def compare(isa, context, layer, dim=20, workers=WORKERS, **changes):
    reference = trained_reference(context, layer, dim, workers, **changes)
    tables, x, y, totals = run_rounds(isa, context, layer, dim, workers, **changes)
    np.testing.assert_allclose(x[:, :dim], reference.input, atol=2e-4, rtol=2e-4)
    np.testing.assert_allclose(y[:, :dim], reference.output, atol=2e-4, rtol=2e-4)
    assert not x[:, dim:].any() and not y[:, dim:].any(), "the padding must stay zero"
    if LAYERS[layer].biases:
        np.testing.assert_allclose(tables["output_bias"], reference.output_bias, atol=2e-4)
    assert tuple(totals[1:]) == (reference.examples, reference.tokens)
    assert totals[0] == pytest.approx(reference.loss, rel=1e-4)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LOSSES)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("workers", [*full(1), 3, *full(WORKERS)])
def test_rounds_equal_their_reference(isa, context, layer, workers):
    compare(isa, context, layer, workers=workers)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("dim", [1, 15, 16, 17, 33, 100])
def test_widths(isa, dim):
    compare(isa, "skipgram", "ns", dim)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LOSSES)
@pytest.mark.parametrize("context", CONTEXTS)
def test_subwords(isa, context, layer):
    compare(isa, context, layer, subwords=True, lr=0.01)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "changes",
    [
        {"share_negatives": False},
        {"share_negatives": False, "subwords": True, "lr": 0.02},
        {"window": 1},
        {"window": 15, "shrink_window": False, "lr": 0.01},
        {"max_sentence": 2},
    ],
    ids=str,
)
def test_options(isa, changes):
    compare(isa, "skipgram", "ns", **changes)


@pytest.mark.parametrize("isa", _cpu.usable())
def test_positions_of_cbow_that_share(isa):
    compare(isa, "cbow", "ns", share_positions=True)


def test_users_are_forgotten_before_their_stamp_comes_again():
    """Of rare words, in more rounds than there are stamps: these come again later when more rounds are a step."""
    random = np.random.default_rng(4)
    words, dim = 3000, 4
    ids = random.permutation(np.repeat(np.arange(words), 1 + 4 * words // np.arange(10, words + 10))).astype(np.int32)
    ids[::10] = -1
    counts = np.bincount(ids[ids >= 0], minlength=words) + 1
    config = Word2vecConfig(dim=dim, negative=2, epochs=1, max_sentence=20, window=2)
    cuts = _word2vec.block_starts(ids, 16, config.max_sentence)
    shares = [np.full(words, 0.5, np.float32)] * 2
    rows = random.normal(size=(2, words, dim))
    found = []
    for step in (2, 100):
        x, y = (aligned(each) for each in rows)
        run = _word2vec.Run(config, input=x, output=y, ids=ids, sampler=_word2vec.alias_table(counts**0.75))
        rounds = _rounds.Rounds(run, cuts, *shares, workers=3, threads=1)
        assert rounds.count > 3 * STAMPS
        thread = rounds.thread()
        for begin in range(0, rounds.count, step):
            thread.train(begin, min(begin + step, rounds.count), 0)
        found.append((x.tobytes(), y.tobytes()))
    assert found[0] == found[1]
    with pytest.raises(ValueError, match="expected 255 rounds or fewer, found 256"):
        thread.train(0, STAMPS + 1, 0)


@pytest.mark.parametrize("threads", [*full(2), 3, *full(8)])
@pytest.mark.parametrize("subwords", [False, True])
@pytest.mark.parametrize("layer", LOSSES)
@pytest.mark.parametrize("context", CONTEXTS)
def test_any_number_of_threads_gives_the_same_bytes(context, layer, subwords, threads):
    lr = 0.02
    tables, x, y, totals = run_rounds(None, context, layer, subwords=subwords, lr=lr)
    others, x2, y2, totals2 = run_rounds(None, context, layer, subwords=subwords, lr=lr, threads=threads)
    assert x.tobytes() == x2.tobytes() and y.tobytes() == y2.tobytes() and tuple(totals) == tuple(totals2)
    if LAYERS[layer].biases:
        assert tables["output_bias"].tobytes() == others["output_bias"].tobytes()


def test_the_largest_sum_of_a_block():
    ids = np.array([0, 1, -1, 2, -3, 2, -1, 0], np.int32)
    assert _rounds.most_in_block(ids, np.array([0, 3, 7, 8]), np.array([5, 1, 4])) == 8
    assert _rounds.most_in_block(ids, np.array([0, 3, 8]), np.array([5, 1, 4])) == 13


def small_rounds(**changes):
    config, tables, x, y = setting("skipgram", "ns", 8)
    run = _word2vec.Run(config, input=aligned(x), output=aligned(y), **tables)
    ones = np.ones(len(x), np.float32)
    given = {"starts": np.array([0, len(tables["ids"])]), "input_share": ones, "output_share": ones}
    return _rounds.Rounds(run, **{**given, "workers": 2, "threads": 2, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": np.array([0, 3])}, "blocks: expected 2 starts"),
        ({"input_share": np.ones(3, np.float32)}, "expected 23 shares of input rows"),
        ({"output_share": np.ones(3, np.float32)}, "expected 23 shares of output rows"),
        ({"workers": 0}, "expected 1 to 8 virtual workers, found 0"),
        ({"workers": 9}, "expected 1 to 8 virtual workers, found 9"),
        ({"threads": 0}, "expected 1 to 2 threads, found 0"),
        ({"threads": 3}, "expected 1 to 2 threads, found 3"),
    ],
)
def test_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        small_rounds(**changes)


def test_threads_and_rounds_that_are_not_there_are_refused():
    rounds = small_rounds(threads=1)
    with pytest.raises(ValueError, match="no such thread"):
        rounds.thread(1)
    with pytest.raises(ValueError, match="rounds 0 to 2 lie beyond the 1 of an epoch"):
        rounds.thread().train(0, 2, 0)
