"""The kernel of neural language models against its float64 reference on every instruction set, and the reference
against finite differences."""

from functools import lru_cache

import numpy as np
import pytest

from tests.reference.neural import Batch, Reference
from tests.tiers import full
from wv_cli import _cpu, _neural, _word2vec
from wv_cli.io.memory import pad_width, zeros
from wv_cli.lm.asking import SENTENCE
from wv_cli.lm.neural import Classes, Paths
from wv_cli.models.config import NeuralConfig
from wv_cli.models.neural import frequency_classes
from wv_cli.models.trees import clustered_paths, huffman_paths, random_paths

LOSSES = NeuralConfig.options()["loss"].choices
WORDS = 23
# Those whose rows move between the positions of a batch: a batch of one is what the reference does.
ONE_BY_ONE = ("hs", "class")
SHAPES = [
    {"model": "nplm"},
    {"model": "nplm", "direct": True},
    {"model": "lbl"},
    {"model": "lbl", "context_matrices": "diagonal"},
    {"model": "ivlbl"},
]


def corpus(seed, lines=10):
    """Short lines over few words, blank ones among them, so that words repeat in a context and in a batch."""
    random = np.random.default_rng(seed)
    pieces = []
    for length in random.integers(0, 25, lines):
        words = np.minimum(random.zipf(1.3, length) - 1, WORDS - 4) + 3
        pieces += [np.where(random.random(length) < 0.05, 0, words), [-1]]
    return np.concatenate(pieces).astype(np.int32)


def setting(dim, loss="softmax", seed=1, **changes):
    """(config, ids, tables shared by kernel and reference, parameters in float64)."""
    random, ids = np.random.default_rng(seed), corpus(seed)
    defaults = {"order": 4, "hidden": dim + 3, "negative": 9, "batch": 1 if loss in ONE_BY_ONE else 5, "seed": 5}
    config = NeuralConfig(loss=loss, dim=dim, **{**defaults, **changes})
    counts = np.bincount(np.where(ids < 0, 2, ids), minlength=WORDS) + 0.5
    counts[SENTENCE] = 0
    tables, rows = {}, WORDS
    if loss in ("nce", "ns", "importance"):
        tables["sampler"] = _word2vec.alias_table(counts)
        share = np.maximum(counts, 0.5) / counts.sum()
        tables["log_noise"] = np.log(config.negative * share).astype(np.float32)
    elif loss == "hs":
        vectors = random.normal(0, 1, (WORDS, 3))
        match {
            "huffman": lambda: huffman_paths(counts),
            "random": lambda: random_paths(counts, config.codes, 1),
            "clustered": lambda: clustered_paths(counts, vectors, config.codes, 1),
        }[config.tree]():
            case Paths(start, node, answer, codes):
                tables["path"], rows = (
                    (start, node, answer, *([codes] if codes is not None else [])),
                    int(node.max()) + 1,
                )
    elif loss == "class":
        classes = frequency_classes(counts)
        assert isinstance(classes, Classes) and len(classes.start) > 3
        tables["classes"], rows = (classes.of_word, classes.start), WORDS + len(classes.start) - 1
    context = (config.order - 1) * dim
    parameters = {
        "input": random.normal(0, 0.7 / np.sqrt(dim), (WORDS, dim)),
        "mixing": random.normal(0, 0.5, (config.order - 1, dim))
        if config.diagonal
        else random.normal(0, 1 / np.sqrt(context), (config.width, context)),
        "bias": random.normal(0, 0.1, rows),
    }
    if config.model == "nplm":
        parameters["hidden_bias"] = random.normal(0, 0.1, config.width)
    if not config.tie:
        columns = config.width + (context if config.direct else 0)
        parameters["output"] = random.normal(0, 0.7 / np.sqrt(columns), (rows, columns))
    if loss in ("softmax", "class"):
        parameters["bias"][SENTENCE] = -1e30
    parameters = {name: array.astype(np.float32).astype(np.float64) for name, array in parameters.items()}
    return config, ids, tables, parameters


def spread(config, name, array):
    """A matrix as the kernel has it, each vector in it padded."""
    dim, stride, width = config.dim, pad_width(config.dim), config.width
    if name == "bias":
        return array.astype(np.float32)
    if name == "hidden_bias":
        rows = zeros(1, pad_width(width))
        rows[0, :width] = array
        return rows[0]
    parts = []
    if name == "output":
        parts = [(0, width, pad_width(width))]
        at = width
    else:
        at = 0
    while at < array.shape[1]:
        parts.append((at, dim, stride))
        at += dim
    rows, column = zeros(len(array), sum(part[2] for part in parts)), 0
    for first, length, room in parts:
        rows[:, column : column + length] = array[:, first : first + length]
        column += room
    return rows


def blocks(ids):
    return [(start, min(start + 60, len(ids))) for start in range(0, len(ids), 60)]


@lru_cache(maxsize=2)
def trained_reference(dim, loss, epochs, **changes):
    """What every instruction set is compared with: computed once for those that come one after the other."""
    config, ids, tables, parameters = setting(dim, loss, **changes)
    reference = Reference(config, ids, parameters, **tables)
    for epoch in range(epochs):
        for start, end in blocks(ids):
            reference.block(start, end, epoch, 0.05)
    return reference


def compare(isa, dim, loss="softmax", epochs=2, **changes):
    config, ids, tables, parameters = setting(dim, loss, **changes)
    rows = {name: spread(config, name, array) for name, array in parameters.items()}
    arrays = {**rows, "output": rows.get("output", rows["input"])}
    run = _neural.Run(config, ids=ids, hidden=config.width, isa=isa, **arrays, **tables)
    worker, totals = run.worker(), np.zeros(3)
    for epoch in range(epochs):
        for start, end in blocks(ids):
            totals += worker.block(start, end, epoch, 0.05)[:3]
    reference = trained_reference(dim, loss, epochs, **changes)
    for name, array in rows.items():
        expected = spread(config, name, reference.parameters[name])
        np.testing.assert_allclose(array, expected, atol=2e-4, rtol=2e-4, err_msg=name)
        if array.ndim == 2:
            assert not array[expected == 0].any(), "the padding must stay zero"
    assert tuple(totals[1:]) == (reference.examples, reference.tokens)
    assert totals[0] == pytest.approx(reference.loss, rel=1e-4)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dim", [*full(1, 7, 15, 16, 17), 33])
def test_kernel_equals_reference(isa, loss, shape, dim):
    compare(isa, dim, loss, **shape)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("dim", [8, 31, 100, 300])
def test_large_vectors(isa, dim):
    compare(isa, dim, "nce", epochs=1, direct=True)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "changes",
    [
        {"dropout": 0.3},
        {"dropout": 0.5, "model": "lbl"},
        {"dropout": 0.2, "direct": True},
        {"dropout": 0.2, "model": "ivlbl"},
        {"order": 10, "model": "ivlbl"},
        {"order": 2, "model": "ivlbl"},
        {"order": 2},
        {"order": 10},
        {"batch": 1},
        {"batch": 64},
        {"negative": 1},
        {"negative": 100},
        {"power": 0.5},
    ],
    ids=str,
)
def test_options(isa, changes):
    compare(isa, 12, "nce", **changes)


TREES = [("random", 1), ("random", 2), ("random", 5), ("clustered", 1), ("clustered", 3)]


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(("tree", "codes"), TREES)
def test_trees_and_codes(isa, tree, codes):
    compare(isa, 9, "hs", tree=tree, codes=codes)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("loss", ["softmax", "nce", "ns", "importance"])
@pytest.mark.parametrize("matrices", ["full", "diagonal"])
def test_tied_vectors(isa, loss, matrices):
    compare(isa, 9, loss, model="lbl", context_matrices=matrices, tie=True)


@pytest.mark.parametrize("tie", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "shape",
    [*full(SHAPES[0]), SHAPES[1], *full(*SHAPES[2:]), {"model": "lbl", "tree": "random", "codes": 3}],
    ids=str,
)
def test_twin_equals_finite_differences(loss, shape, tie):
    if "tree" in shape and loss != "hs":
        pytest.skip("has no tree")
    if tie and (shape["model"] != "lbl" or loss in ONE_BY_ONE):
        pytest.skip("has no tied vectors")
    config, _, tables, parameters = setting(3, loss, tie=tie, **shape)
    random = np.random.default_rng(3)
    shape_x, shape_a = (4, (config.order - 1) * 3), (4, config.width)
    keep = [2.0 * (random.random(shape) < 0.5) for shape in (shape_x, shape_a)]
    contexts, targets = random.integers(0, WORDS, (4, config.order - 1)), [2, 5, 5, 7]
    words = {name: table for name, table in tables.items() if name != "sampler"}
    sample = [5, 3, 5, 9, 12] if "sampler" in tables else []
    batch = Batch(config, contexts, targets, *keep, sample=sample, **words)
    _, gradient = batch.gradient(parameters)
    for name, array in parameters.items():
        for place in random.choice(array.size, min(array.size, 60), replace=False):
            at = np.unravel_index(place, array.shape)
            if array[at] < -1e20:
                continue
            value, losses = array[at], []
            for change in (1e-5, -1e-5):
                array[at] = value + change
                losses.append(batch.gradient(parameters)[0])
            array[at] = value
            assert (losses[0] - losses[1]) / 2e-5 == pytest.approx(gradient[name][at], abs=1e-6), (name, at)


def test_more_noise_comes_nearer_to_the_softmax():
    """Mnih & Teh 2012, eq. 10: the gradient of noise contrast goes to that of the likelihood as k grows."""
    config, _, tables, _ = setting(6, "nce")
    share = np.exp(tables["log_noise"]) / config.negative
    scores = np.random.default_rng(1).normal(0, 1, WORDS)
    scores -= np.log(np.exp(scores).sum())
    exact = np.exp(scores)
    exact[5] -= 1
    distances = []
    for k in (1, 10, 100, 1000):
        shift = np.log(k * share)
        expected = k * share / (1 + np.exp(shift - scores))  # of the noise words
        expected[5] -= 1 - 1 / (1 + np.exp(shift[5] - scores[5]))
        distances.append(np.abs(expected - exact).max())
    assert distances == sorted(distances, reverse=True) and distances[-1] < 0.01


def test_a_row_that_diverged_shows_in_the_loss():
    for loss in LOSSES:
        config, ids, tables, parameters = setting(8, loss)
        rows = {name: spread(config, name, array) for name, array in parameters.items()}
        rows["input"][5:, 0] = np.nan
        run = _neural.Run(config, ids=ids, hidden=config.width, **rows, **tables)
        assert not np.isfinite(run.worker().block(0, len(ids), 0, 0.01)[0]), loss


def without_last(array):
    return array[:-1].copy()


@pytest.mark.parametrize(
    ("loss", "changes", "message"),
    [
        ("nce", {"ids": lambda ids: np.append(ids, np.int32(WORDS))}, "words of the corpus"),
        ("nce", {"ids": lambda ids: np.append(ids, np.int32(-2))}, "words of the corpus"),
        ("nce", {"mixing": without_last}, "mixing"),
        ("nce", {"input": lambda rows: zeros(WORDS, 48)}, "input"),
        ("nce", {"output": lambda rows: zeros(WORDS, 48)}, "output"),
        ("nce", {"output": lambda rows: zeros(WORDS, 33)[:, 1:]}, "contiguous|aligned"),
        ("nce", {"output": lambda rows: zeros(WORDS + 1, rows.shape[1])}, "bias"),
        (
            "nce",
            {"output": lambda rows: zeros(WORDS + 1, rows.shape[1]), "bias": lambda x: np.append(x, x[:1])},
            "rows",
        ),
        ("nce", {"bias": without_last}, "bias"),
        ("nce", {"hidden_bias": without_last}, "hidden_bias"),
        ("nce", {"hidden_bias": lambda rows: None}, "hidden_bias"),
        ("nce", {"hidden": lambda n: n + 1}, "mixing"),
        ("nce", {"sampler": without_last}, "sampler"),
        ("nce", {"sampler": lambda table: table + np.uint32(WORDS)}, "sampler"),
        ("nce", {"sampler": lambda table: None}, "a table that it reads is missing"),
        ("nce", {"log_noise": lambda table: None}, "a table that it reads is missing"),
        ("importance", {"log_noise": without_last}, "log_noise"),
        ("hs", {"path": lambda path: None}, "output"),
        ("hs", {"path": lambda path: (path[0][:-1].copy(), *path[1:])}, "path"),
        ("hs", {"path": lambda path: (path[0], path[1] + np.int32(1), path[2])}, "nodes of the tree"),
        ("hs", {"path": lambda path: (*path, np.arange(3))}, "codes"),
        ("class", {"classes": lambda both: (both[0][::-1].copy(), both[1])}, "follow each other"),
        ("class", {"classes": lambda both: (both[0], both[1][:-1].copy())}, "classes"),
        ("class", {"classes": lambda both: None}, "output"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(loss, changes, message):
    """Where C would read or write foreign memory."""
    config, ids, tables, parameters = setting(20, loss)
    rows = {name: spread(config, name, array) for name, array in parameters.items()}
    arguments = {"ids": ids, "hidden": config.width, **rows, **tables}
    _neural.Run(config, **arguments)
    for name, change in changes.items():
        arguments[name] = change(arguments[name])
    with pytest.raises(ValueError, match=message):
        _neural.Run(config, **arguments)


def test_a_block_lies_in_the_corpus():
    config, ids, tables, parameters = setting(4)
    rows = {name: spread(config, name, array) for name, array in parameters.items()}
    worker = _neural.Run(config, ids=ids, hidden=config.width, **rows, **tables).worker()
    for start, end in ((-1, 3), (3, 2), (0, len(ids) + 1)):
        with pytest.raises(ValueError, match="outside the corpus"):
            worker.block(start, end, 0, 0.1)
