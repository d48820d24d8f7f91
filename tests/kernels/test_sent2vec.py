"""sent2vec's kernel against its float64 reference on every instruction set, the reference against finite
differences."""

from itertools import pairwise

import numpy as np
import pytest

from tests.reference.sent2vec import Reference, objective, rows_of_buckets, sentences, steps
from wv_cli import _cpu, _sent2vec, _word2vec
from wv_cli.models.sentence_config import Sent2vecConfig
from wv_cli.system.memory import pad_width, zeros

WORDS = 23
EPOCHS = 2


def corpus(seed):
    """Short lines over few words, so that words and n-grams repeat in a sentence; empty ones, one of a single word, one
    longer than a sentence may be."""
    random = np.random.default_rng(seed)
    lengths = [0, 1, 2, *random.integers(2, 18, 20), 25, 12]
    lines = [[*np.minimum(random.zipf(1.3, length) - 1, WORDS - 1), -1] for length in lengths]
    return np.concatenate(lines).astype(np.int32)


def setting(dim, isa=None, *, seed=1, sample=True, **changes):
    """(config, ids, x, y, tables of the kernel, reference)."""
    random, ids = np.random.default_rng(seed), corpus(seed)
    defaults = {"word_ngrams": 2, "buckets": 61, "negative": 5, "max_sentence": 12, "lr": 0.5, "epochs": EPOCHS}
    config = Sent2vecConfig(dim=dim, seed=5, **{**defaults, **changes})
    hashes = random.integers(-(2**31), 2**31, WORDS).astype(np.int32)
    counts = np.bincount(ids[ids >= 0], minlength=WORDS) + 0.5
    tables = {"sampler": _word2vec.alias_table(np.sqrt(counts))}
    if sample:
        tables["keep"] = np.floor(np.minimum(1, 3 / counts) * (2**32 - 1)).astype(np.uint32)
    ngrams = config.word_ngrams > 1
    expected = rows_of_buckets(ids, hashes, config, WORDS) if ngrams else {}
    if ngrams:
        tables |= {"hashes": hashes, "bucket_row": np.full(config.buckets, -1, np.int32)}
    found = {name: tables[name] for name in ("hashes", "bucket_row") if name in tables}
    longest, rows = _sent2vec.survey(config, ids, WORDS, isa=isa, **found)
    assert longest == max(len(words) for _, words in sentences(ids, config.max_sentence))
    assert rows == WORDS + len(expected)
    assert not ngrams or {b: int(row) for b, row in enumerate(tables["bucket_row"]) if row >= 0} == expected
    x, y = zeros(rows, pad_width(dim)), zeros(WORDS, pad_width(dim))
    for matrix in (x, y):
        matrix[:, :dim] = random.normal(0, 1.5 / np.sqrt(dim), (len(matrix), dim))
    reference = Reference(config, x[:, :dim], y[:, :dim], **{**tables, "bucket_row": expected, "hashes": hashes})
    return config, ids, x, y, {**tables, "longest": longest}, reference


def run_both(isa, dim, cut=(), **changes):
    config, ids, x, y, tables, reference = setting(dim, isa, **changes)
    worker = _sent2vec.Run(config, ids=ids, input=x, output=y, isa=isa, **tables).worker()
    totals = np.zeros(3)
    for epoch in range(EPOCHS):
        for start, end in pairwise([0, *cut, len(ids)]):
            totals += worker.block(start, end, epoch)[:3]
        reference.epoch(epoch, ids)
    return reference, x, y, totals


def compare(isa, dim, **changes):
    reference, x, y, totals = run_both(isa, dim, **changes)
    np.testing.assert_allclose(x[:, :dim], reference.x, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(y[:, :dim], reference.y, atol=1e-4, rtol=1e-4)
    assert not x[:, dim:].any() and not y[:, dim:].any(), "the padding must stay zero"
    assert totals[0] == pytest.approx(reference.loss, rel=1e-4)
    assert totals[1:].tolist() == [reference.examples, reference.tokens] and reference.examples > 0


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("dim", [1, 7, 8, 15, 16, 17, 31, 33, 100, 300])
def test_kernel_equals_reference(isa, dim):
    compare(isa, dim)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "changes",
    [
        {"word_ngrams": 1},
        {"word_ngrams": 4},
        {"dropout_ngrams": 0},
        {"dropout_ngrams": 7},
        {"dropout_ngrams": 1000},
        {"sample": False},
        {"negative": 1},
        {"negative": 40},
        {"buckets": 1},
        {"max_sentence": 2},
        {"max_sentence": 1000},
    ],
    ids=str,
)
def test_options(isa, changes):
    compare(isa, 20, **changes)


def test_blocks_are_pure_functions_of_their_place():
    """The same bytes however the corpus is cut into steps."""
    ends = (np.flatnonzero(corpus(1) == -1) + 1)[[3, 4, 11]].tolist()
    whole, parts = run_both(None, 20), run_both(None, 20, cut=ends)
    np.testing.assert_array_equal(whole[1], parts[1])
    np.testing.assert_array_equal(whole[2], parts[2])


def test_twin_follows_the_gradient():
    random, epsilon = np.random.default_rng(3), 1e-6
    x, y = random.normal(size=(6, 4)), random.normal(size=(5, 4))
    rows, outputs = [0, 3, 3, 5], np.array([4, 1, 2])
    label, weight = np.array([1.0, 0, 0]), np.array([1.0, 2, 1])
    of_rows, of_outputs = steps(x, y, rows, outputs, label, weight)
    for matrix, moved, step in [
        *[(x, row, of_rows * rows.count(row)) for row in set(rows)],
        *[(y, row, step) for row, step in zip(outputs, of_outputs, strict=True)],
    ]:
        for d in range(4):
            values = []
            for nudge in (epsilon, -epsilon):
                matrix[moved, d] += nudge
                values.append(objective(x, y, rows, outputs, label, weight))
                matrix[moved, d] -= nudge
            assert step[d] == pytest.approx(-(values[0] - values[1]) / (2 * epsilon), abs=1e-6)


def test_a_diverged_row_shows_in_the_loss():
    config, ids, x, y, tables, _ = setting(8)
    x[0, 0] = np.nan
    assert not np.isfinite(
        _sent2vec.Run(config, ids=ids, input=x, output=y, **tables).worker().block(0, len(ids), 0)[0]
    )


def test_arrays_that_do_not_fit_are_refused():
    config, ids, x, y, tables, _ = setting(8)
    fits = {"options": config, "ids": ids, "input": x, "output": y, **tables}
    _sent2vec.Run(**fits)
    for wrong in [
        {"output": zeros(WORDS + 1, 16)},
        {"output": zeros(WORDS, 32)},
        {"input": zeros(WORDS, 16)},
        {"options": Sent2vecConfig(dim=17, max_sentence=12)},
        {"options": Sent2vecConfig(dim=8, word_ngrams=1, max_sentence=12)},
        {"ids": np.array([WORDS, -1], np.int32)},
        {"ids": np.empty(0, np.int32)},
        {"hashes": None},
        {"bucket_row": None},
        {"hashes": tables["hashes"][1:].copy()},
        {"keep": tables["keep"][1:].copy()},
        {"sampler": tables["sampler"][1:].copy()},
        {"longest": 13},
        {"longest": 0},
    ]:
        with pytest.raises(ValueError):
            _sent2vec.Run(**{**fits, **wrong})
    with pytest.raises(ValueError):
        _sent2vec.Run(**fits).worker().block(0, len(ids) + 1, 0)
    with pytest.raises(ValueError):
        _sent2vec.survey(config, np.array([WORDS], np.int32), WORDS, tables["hashes"], tables["bucket_row"])
