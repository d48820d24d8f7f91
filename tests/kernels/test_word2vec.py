"""The word2vec kernel against its float64 reference on every instruction set, and the reference against finite
differences."""

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

from tests.reference.word2vec import (
    Reference,
    SubwordWindow,
    logistic_gradient,
    logistic_loss,
    softmax_gradient,
    softmax_loss,
)
from tests.tiers import full
from wv_cli import _cpu, _word2vec
from wv_cli.io.memory import pad_width, zeros
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.replicas import Replicas

CONTEXTS, LOSSES = (Word2vecConfig.options()[name].choices for name in ("model", "loss"))
WORDS = 23
NGRAMS = 40


def corpus(seed, lines=12):
    """Short and long lines over few words, so that repeated words and repeated negatives are common."""
    random = np.random.default_rng(seed)
    pieces = []
    for length in random.integers(1, 40, lines):
        pieces += [np.minimum(random.zipf(1.3, length) - 1, WORDS - 1), [-1]]
    return np.concatenate(pieces).astype(np.int32)


def some_subwords(random):
    """Every word's row and 0 to 25 of few n-gram rows, so that words share them and some stand twice in a word."""
    lists = [[word, *random.integers(WORDS, WORDS + NGRAMS, word % 5 * 25 // 4)] for word in range(WORDS)]
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return starts, np.concatenate(lists).astype(np.int32)


def setting(context, layer, dim, seed=1, lines=12, subwords=False, **changes):
    """(config, tables shared by kernel and reference, input, output) with both matrices small random numbers."""
    random = np.random.default_rng(seed)
    ids = corpus(seed, lines)
    counts = np.sort(np.bincount(ids[ids >= 0], minlength=WORDS) + 1)[::-1].astype(np.int64)
    config = Word2vecConfig(
        model=context,
        loss=layer,
        dim=dim,
        **{
            "window": 4,
            "negative": 7,
            "max_sentence": 30,
            "cbow_gradient": "corrected",
            "lr": 0.05,
            "epochs": 2,
            "seed": 5,
            **changes,
        },
    )
    config = replace(config, lr_floor=1e-4 / config.lr)
    tables = {"ids": ids}
    keep = np.minimum(1, np.sqrt(0.05 / (counts / counts.sum())))
    tables["keep"] = np.floor(keep * (2**32 - 1)).astype(np.uint32)
    if LAYERS[layer].draws:
        tables["sampler"] = _word2vec.alias_table(counts**0.75)
    if LAYERS[layer].biases:
        noise = counts**0.75 / (counts**0.75).sum()
        tables["log_noise"] = np.log(config.negative * noise).astype(np.float32)
        tables["output_bias"] = random.normal(0, 0.1, WORDS).astype(np.float32)
    if LAYERS[layer].tree:
        tables["path"] = _word2vec.huffman(counts)
    input_rows = WORDS
    if subwords:
        tables["subwords"] = some_subwords(random)
        input_rows += NGRAMS
    x = random.normal(0, 0.6 / np.sqrt(dim), (input_rows, dim))
    outputs = {"hs": WORDS - 1, "hs_ns": 2 * WORDS - 1}.get(layer, WORDS)
    y = random.normal(0, 0.6 / np.sqrt(dim), (outputs, dim))
    return config, tables, x, y


def aligned(matrix):
    rows = zeros(len(matrix), pad_width(matrix.shape[1]))
    rows[:, : matrix.shape[1]] = matrix
    return rows


def private(layer, count, outputs, subwords):
    """The hottest rows for a thread that is alone: all that it changes is added. With subwords every second row."""
    if LAYERS[layer].takes_all:
        return None
    nodes = {"hs": outputs, "hs_ns": outputs - WORDS}.get(layer, 0)
    count = min(count, nodes or outputs)
    hottest = {"hs": count, "hs_ns": count // 2}.get(layer, 0)
    ones = np.ones(count, np.float32)
    hot = Replicas(count, nodes - hottest, hottest, 3, 500, ones, ones)
    if subwords is None:
        return hot
    rows = subwords[1]
    own = np.arange(WORDS + NGRAMS, dtype=np.int32)
    some = own[::-2][: 2 * count].copy()
    own[some] = -1 - np.arange(len(some), dtype=np.int32)
    return replace(hot, input_share=np.ones(len(some), np.float32), input_row=some, subword=own[rows])


@lru_cache(maxsize=2)
def trained_reference(context, layer, dim, block, **changes):
    """What every instruction set is compared with: computed once for those that come one after the other."""
    config, tables, x, y = setting(context, layer, dim, **changes)
    if LAYERS[layer].biases:
        tables["output_bias"] = tables["output_bias"].astype(float)
    rows = {"input": x.astype(np.float32).astype(float), "output": y.astype(np.float32).astype(float)}
    reference = Reference(config, **rows, **tables)
    cuts = _word2vec.block_starts(tables["ids"], block, config.max_sentence)
    for epoch in range(config.epochs):
        for start, end in pairwise(cuts):
            reference.block(int(start), int(end), epoch)
    return reference


def trained_kernel(isa, context, layer, dim, block, hot_rows, **changes):
    """From the same start; returns the tables, both matrices and the totals."""
    config, tables, x, y = setting(context, layer, dim, **changes)
    x32, y32 = aligned(x), aligned(y)
    kernel = _word2vec.Run(config, input=x32, output=y32, isa=isa, **tables)
    worker = kernel.worker(private(layer, hot_rows, len(y), tables.get("subwords")) if hot_rows else None)
    cuts = _word2vec.block_starts(tables["ids"], block, config.max_sentence)
    totals = np.zeros(3)
    for epoch in range(config.epochs):
        for start, end in pairwise(cuts):
            totals += worker.block(int(start), int(end), epoch)[:3]
    worker.flush()
    return tables, x32, y32, totals


def compare(isa, context, layer, dim, block=60, hot_rows=0, **changes):
    reference = trained_reference(context, layer, dim, block, **changes)
    tables, x, y, (loss, examples, tokens) = trained_kernel(isa, context, layer, dim, block, hot_rows, **changes)
    np.testing.assert_allclose(x[:, :dim], reference.input, atol=2e-4, rtol=2e-4)
    np.testing.assert_allclose(y[:, :dim], reference.output, atol=2e-4, rtol=2e-4)
    assert not x[:, dim:].any() and not y[:, dim:].any(), "the padding must stay zero"
    if LAYERS[layer].biases:
        np.testing.assert_allclose(tables["output_bias"], reference.output_bias, atol=2e-4)
    assert (examples, tokens) == (reference.examples, reference.tokens)
    assert loss == pytest.approx(reference.loss, rel=1e-4)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LOSSES)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("dim", [*full(1, 7, 8), 15, *full(16, 17, 31), 33, *full(100, 300)])
def test_kernel_equals_the_reference(isa, context, layer, dim):
    compare(isa, context, layer, dim)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "changes",
    [
        {"negative": 1},
        {"negative": 5},
        {"negative": 6},
        {"negative": 25},
        {"share_negatives": False},
        {"window": 1},
        {"window": 15, "shrink_window": False},
        {"max_sentence": 2},
        {"cbow_mean": False, "cbow_gradient": "word2vec"},
        {"cbow_gradient": "word2vec"},
        {"window_side": "left"},
        {"window_side": "right", "shrink_window": False},
        {"whole_line": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("context", CONTEXTS)
def test_options(isa, context, changes):
    compare(isa, context, "ns", 20, **changes)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("share_negatives", [True, False])
def test_long_blocks_of_many_batches(isa, share_negatives):
    compare(isa, "skipgram", "ns", 20, lines=150, block=5000, epochs=1, share_negatives=share_negatives)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("hot_rows", [*full(1), 7, *full(1000)])
@pytest.mark.parametrize("layer", LOSSES)
def test_private_copies_of_hot_rows_change_nothing_for_one_thread(isa, layer, hot_rows):
    compare(isa, "skipgram", layer, 20, lines=150, block=5000, epochs=1, hot_rows=hot_rows)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("hot_rows", [*full(1), 7, *full(1000)])
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("layer", ["ns", "hs"])
def test_private_copies_of_ngrams_change_nothing_for_one_thread(isa, layer, context, hot_rows):
    rows = {"lines": 150, "block": 5000, "epochs": 1, "hot_rows": hot_rows}
    compare(isa, context, layer, 20, subwords=True, lr=0.02, **rows)


def test_private_copies_of_other_subwords_are_refused():
    config, tables, x, y = setting("skipgram", "ns", 20, subwords=True)
    kernel = _word2vec.Run(config, input=aligned(x), output=aligned(y), **tables)
    hot = private("ns", 7, len(y), tables["subwords"])
    kernel.worker(hot)
    for wrong in (
        {"input_row": None, "subword": None},
        {"subword": hot.subword[:-1]},
        {"subword": hot.subword - np.int32(14)},
        {"subword": hot.subword + np.int32(WORDS + NGRAMS)},
        {"input_row": hot.input_row + np.int32(WORDS + NGRAMS)},
        {"input_row": hot.input_row[:-1].copy()},
        {"input_row": hot.input_row - np.int32(WORDS + NGRAMS)},
    ):
        with pytest.raises(ValueError, match="hot rows"):
            kernel.worker(replace(hot, **wrong))


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LOSSES)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("dim", [*full(1), 15, *full(16), 33, *full(100)])
def test_subwords(isa, context, layer, dim):
    compare(isa, context, layer, dim, subwords=True, lr=0.02)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "changes",
    [
        {"window": 1},
        {"window": 7, "shrink_window": False},
        {"window": 8, "shrink_window": False},
        {"window": 40},
        {"max_sentence": 2},
        {"share_negatives": False},
        {"negative": 5, "lines": 150, "block": 5000, "epochs": 1},
        {"share_negatives": False, "lines": 150, "block": 5000, "epochs": 1},
        {"hot_rows": 7},
        {"cbow_mean": False, "cbow_gradient": "corrected", "lr": 1e-4},
        {"cbow_gradient": "word2vec"},
        {"window_side": "left"},
        {"window_side": "right"},
        {"whole_line": True, "shrink_window": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("context", CONTEXTS)
def test_subword_options(isa, context, changes):
    compare(isa, context, "ns", 20, subwords=True, **{"lr": 0.02, **changes})


def finite_differences(f, at, step=1e-5):
    gradient = np.zeros_like(at)
    for k in np.ndindex(at.shape):
        saved = at[k]
        at[k] = saved + step
        up = f()
        at[k] = saved - step
        gradient[k] = (up - f()) / (2 * step)
        at[k] = saved
    return gradient


def test_reference_gradients_logistic():
    random = np.random.default_rng(3)
    x, y = random.normal(size=(4, 6)), random.normal(size=(5, 6))
    label, offset = np.array([1.0, 0, 0, 1, 0]), random.normal(size=5)
    weight = random.integers(1, 3, (5, 4)).astype(float)

    def loss():
        return logistic_loss(x, y, label, weight, offset)

    dx, dy, doffset = logistic_gradient(x, y, label, weight, offset)
    np.testing.assert_allclose(dx, finite_differences(loss, x), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(dy, finite_differences(loss, y), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(doffset, finite_differences(loss, offset), rtol=1e-6, atol=1e-8)


def test_reference_gradients_softmax():
    random = np.random.default_rng(4)
    x, y = random.normal(size=(3, 6)), random.normal(size=(8, 6))

    def loss():
        return softmax_loss(x, y, 2)

    dx, dy = softmax_gradient(x, y, 2)
    np.testing.assert_allclose(dx, finite_differences(loss, x), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(dy, finite_differences(loss, y), rtol=1e-6, atol=1e-8)


def test_reference_gradient_of_subwords():
    """A row gains the gradient of the mean undivided: its own gradient times the number of rows. Row 4 stands twice."""
    random = np.random.default_rng(6)
    matrix, y = random.normal(size=(6, 5)), random.normal(size=(4, 5))
    rows = np.array([0, 4, 3, 4, 5])
    label, weight = np.array([1.0, 0, 0, 0]), np.ones((4, 1))

    def loss():
        return logistic_loss(matrix[rows].mean(axis=0, keepdims=True), y, label, weight, np.zeros(4))

    expected = len(rows) * finite_differences(loss, matrix)
    before = matrix.copy()
    window = SubwordWindow(matrix, (np.array([0, 5]), rows), [0], 1)
    window.advance(0, 0)
    window.now -= logistic_gradient(window.now, y, label, weight, np.zeros(4))[0]
    window.close()
    np.testing.assert_allclose(before - matrix, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(
    ("starts", "rows", "message"),
    [
        ([0, 1], [0], "subword starts"),
        ([*range(WORDS), WORDS], [WORDS] * WORDS, "below"),
        ([*range(WORDS), WORDS], [-1] * WORDS, "below"),
        ([0] * 2 + [*range(1, WORDS)], [*range(WORDS - 1)], "its own row"),
        ([*range(WORDS), WORDS + 1], [*range(WORDS)], "its own row"),
    ],
)
def test_subwords_that_do_not_fit_are_refused(context, starts, rows, message):
    config, tables, x, y = setting(context, "ns", 20)
    subwords = np.array(starts, np.int64), np.array(rows, np.int32)
    with pytest.raises(ValueError, match=message):
        _word2vec.Run(config, input=aligned(x), output=aligned(y), subwords=subwords, **tables)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LOSSES)
def test_the_loss_of_strong_scores_has_no_ceiling(isa, layer):
    """-ln p where p is far below what a float can be; a logarithm of p would stop at 69 or 87."""
    config, tables, x, y = setting("skipgram", layer, 20, lr=1e-9)
    x, y = 40 * x, 40 * y
    biases = {"output_bias": tables["output_bias"].astype(float)} if "output_bias" in tables else {}
    reference_tables = {**tables, **biases}
    reference = Reference(config, input=x.copy(), output=y.copy(), **reference_tables)
    kernel = _word2vec.Run(config, input=aligned(x), output=aligned(y), isa=isa, **tables)
    loss, examples, _, _ = kernel.worker().block(0, len(tables["ids"]), 0)
    reference.block(0, len(tables["ids"]), 0)
    assert reference.loss / examples > 100
    assert loss == pytest.approx(reference.loss, rel=1e-4)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LOSSES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_divergence_shows_in_the_loss(isa, layer, bad):
    config, tables, x, y = setting("skipgram", layer, 20)
    x[0, 3] = bad
    kernel = _word2vec.Run(config, input=aligned(x), output=aligned(y), isa=isa, **tables)
    assert not np.isfinite(kernel.worker().block(0, len(tables["ids"]), 0)[0])


@pytest.mark.parametrize(
    ("layer", "missing"),
    [
        ("ns", "sampler"),
        ("hs", "path"),
        ("hs_ns", "path"),
        *(("nce", table) for table in ("sampler", "log_noise", "output_bias")),
    ],
)
def test_a_layer_without_its_tables_is_refused(layer, missing):
    config, tables, x, _ = setting("skipgram", layer, 20)
    del tables[missing]
    with pytest.raises(ValueError, match=f"loss {layer}: .* table that it reads is missing"):
        _word2vec.Run(config, input=aligned(x), output=aligned(x), **tables)


@pytest.mark.parametrize(("option", "value"), [("loss", "hierarchical"), ("model", "glove")])
def test_names_it_does_not_know_are_refused(option, value):
    config, tables, x, y = setting("skipgram", "ns", 20)
    with pytest.raises(ValueError, match=f"{option}.*{value}|{value}.*no such"):
        _word2vec.Run(replace(config, **{option: value}), input=aligned(x), output=aligned(y), **tables)


def test_huffman_worked_example():
    """Counts T7 E5 G4 R4 O3 F2: the tree of word2vec.c."""
    start, node, code = _word2vec.huffman([7, 5, 4, 4, 3, 2])
    codes = ["".join(map(str, code[start[w] : start[w + 1]])) for w in range(6)]
    assert dict(zip("TEGROF", codes, strict=True)) == {
        "T": "10", "E": "01", "G": "111", "R": "110", "O": "001", "F": "000",
    }  # fmt: skip
    points = [list(node[start[w] : start[w + 1]]) for w in range(6)]
    assert points == [[4, 3], [4, 2], [4, 3, 1], [4, 3, 1], [4, 2, 0], [4, 2, 0]]


@pytest.mark.parametrize("counts", [[1, 1], [5, 1, 1], [10**12, 3, 3, 3, 1], list(range(1000, 0, -1))])
def test_huffman_is_a_prefix_code_of_least_length(counts):
    import heapq

    start, _, code = _word2vec.huffman(counts)
    codes = ["".join(map(str, code[start[w] : start[w + 1]])) for w in range(len(counts))]
    ordered = sorted(codes)
    assert not any(b.startswith(a) for a, b in pairwise(ordered))
    heap, least = list(counts), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        least += both
        heapq.heappush(heap, both)
    assert sum(n * len(c) for n, c in zip(counts, codes, strict=True)) == least


@pytest.mark.parametrize("counts", [[3], [], [1, 2]])
def test_huffman_refuses(counts):
    with pytest.raises(ValueError, match="two words"):
        _word2vec.huffman(counts)


def test_first_numbers_are_numpys():
    """Row after row, whether or not half of a draw is left for the next, and so that others go on behind them."""
    ours, numpys = np.random.default_rng(7), np.random.default_rng(7)
    for rows, dim, options in (
        (17, 100, {"factor": 2, "divisor": 100}),
        (3, 7, {"factor": 0.3}),
        (0, 2, {}),
        (4, 5, {}),
    ):
        matrix = np.zeros((rows, dim + 3), np.float32)
        _word2vec.fill_uniform(ours, matrix, dim, **options)
        factor, divisor = np.float32(options.get("factor", 1)), np.float32(options.get("divisor", 1))
        expected = (numpys.random((rows, dim), np.float32) - np.float32(0.5)) * factor / divisor
        assert np.array_equal(matrix[:, :dim], expected) and not matrix[:, dim:].any()
    assert ours.random() == numpys.random() and ours.integers(9, dtype=np.uint32) == numpys.integers(9, dtype=np.uint32)
    with pytest.raises(ValueError, match="4 columns do not fit rows of 3 floats"):
        _word2vec.fill_uniform(ours, np.zeros((2, 3), np.float32), 4)


@pytest.mark.parametrize("weights", [[1.0], [1, 0, 0], [1] * 7, list(1 / np.arange(1, 1000))])
def test_alias_table_has_the_exact_distribution(weights):
    table = _word2vec.alias_table(weights)
    share = np.zeros(len(weights))
    stay = (table[:, 0].astype(np.float64) + (table[:, 0] == 2**32 - 1)) / 2**32
    share += stay
    np.add.at(share, table[:, 1], 1 - stay)
    np.testing.assert_allclose(share / len(weights), np.array(weights, float) / np.sum(weights), atol=1e-9)


@pytest.mark.parametrize("target", [1, 10, 1000])
@pytest.mark.parametrize("max_sentence", [2, 30])
def test_block_starts_cut_only_between_sentences(target, max_sentence):
    ids = corpus(9, lines=40)
    starts = _word2vec.block_starts(ids, target, max_sentence)
    assert starts[0] == 0 and starts[-1] == len(ids) and (np.diff(starts) > 0).all()
    for cut in starts[1:-1]:
        line = 0 if not (ids[:cut] == -1).any() else np.flatnonzero(ids[:cut] == -1)[-1] + 1
        assert cut == line or (cut - line) % max_sentence == 0
