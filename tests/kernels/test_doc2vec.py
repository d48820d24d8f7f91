"""doc2vec's kernel against its float64 reference on every instruction set, the reference against finite differences."""

from itertools import pairwise

import numpy as np
import pytest

from tests.reference.doc2vec import Reference, objective, steps
from wv_cli import _cpu, _doc2vec, _word2vec
from wv_cli.io.memory import pad_width, zeros
from wv_cli.models.sentence_config import Doc2vecConfig
from wv_cli.vectors.doc2vec import padded_parts, unpadded_parts

WORDS, EPOCHS = 19, 2
CHOICES = {name: field.choices for name, field in Doc2vecConfig.options().items() if field.choices}
ALGORITHMS = CHOICES["algorithm"]


def corpus(seed):
    """Short documents over few words; empty ones, one of a single word."""
    random = np.random.default_rng(seed)
    lengths = [0, 1, 2, 0, *random.integers(2, 18, 12), 25, 0]
    lines = [[*np.minimum(random.zipf(1.3, length) - 1, WORDS - 1), -1] for length in lengths]
    return np.concatenate(lines).astype(np.int32)


def tags_of(documents):
    """One to three tags for each document, some shared, one twice in a document: (starts, rows)."""
    random = np.random.default_rng(2)
    lists = [random.integers(0, documents, size).tolist() for size in random.integers(1, 4, documents)]
    lists[2] = [4, 4]
    return lists, (np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(np.int32))


def setting(dim, *, seed=1, sample=True, frozen=False, tagged=False, **changes):
    """(config, matrices and tables of the kernel, reference)."""
    random, ids = np.random.default_rng(seed), corpus(seed)
    config = Doc2vecConfig(dim=dim, seed=5, **{"window": 3, "lr": 0.3, "epochs": EPOCHS, **changes})
    counts = np.sort(random.integers(1, 50, WORDS))[::-1].astype(np.int64)
    documents = int((ids == -1).sum())
    context = 0 if config.algorithm == "dbow" else WORDS + 1
    places = config.window * (2 if config.context == "around" else 1)
    parts = 1 + places if config.algorithm == "dm_concat" else 1
    shapes = (documents, dim), (context, dim), (WORDS - (config.loss == "hs"), parts * dim)
    matrices = [random.normal(0, 1 / np.sqrt(dim), shape).astype(np.float32) for shape in shapes]
    tables, of_twin = {}, {}
    if config.loss == "hs":
        start, node, code = tables["path"] = _word2vec.huffman(counts)
        of_twin["paths"] = [(node[a:b].tolist(), (1 - code[a:b]).tolist()) for a, b in pairwise(start)]
    else:
        tables["sampler"] = of_twin["sampler"] = _word2vec.alias_table(counts**0.75)
    if sample:
        tables["keep"] = of_twin["keep"] = random.integers(2**30, 2**32, WORDS).astype(np.uint32)
    if tagged:
        of_twin["tags"], tables["tags"] = tags_of(documents)
    reference = Reference(config, *matrices, words=WORDS, frozen=frozen, **of_twin)
    arrays = {
        "documents": padded_parts(matrices[0], dim),
        "output": padded_parts(matrices[2], dim),
        "input": padded_parts(matrices[1], dim) if context else None,
    }
    return config, {"ids": ids, "words": WORDS, "frozen": frozen, **arrays, **tables}, reference


def run_both(isa, dim, cut=(), **changes):
    config, given, reference = setting(dim, **changes)
    ids, totals = given["ids"], np.zeros(3)
    worker = _doc2vec.Run(config, isa=isa, **given).worker()
    for epoch in range(EPOCHS):
        for start, end in pairwise([0, *cut, len(ids)]):
            totals += worker.block(start, end, epoch, int((ids[:start] == -1).sum()))[:3]
        reference.epoch(epoch, ids)
    return reference, given, totals


def compare(isa, dim, **changes):
    reference, given, totals = run_both(isa, dim, **changes)
    for name, expected in [("documents", reference.documents), ("input", reference.x), ("output", reference.y)]:
        if given[name] is not None:
            found = unpadded_parts(given[name], dim)
            np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-4, err_msg=name)
            np.testing.assert_array_equal(padded_parts(found, dim), given[name], "the padding must stay zero")
    assert totals[0] == pytest.approx(reference.loss, rel=1e-4)
    assert totals[1] == reference.examples > 0
    assert totals[2] == EPOCHS * (given["ids"] >= 0).sum()


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dim", [1, 7, 8, 15, 16, 17, 31, 33, 100, 300])
def test_kernel_equals_reference(isa, algorithm, dim):
    compare(isa, dim, algorithm=algorithm)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    "changes",
    [
        {"loss": "hs"},
        {"frozen": True},
        {"frozen": True, "loss": "hs"},
        {"sample": False},
        {"negative": 1},
        {"negative": 40},
        {"context": "around"},
        {"context": "around", "frozen": True},
        {"window": 1},
        {"window": 40, "lr": 0.02},
        {"lr_floor": 0.9},
    ],
    ids=str,
)
def test_options(isa, algorithm, changes):
    compare(isa, 20, algorithm=algorithm, **changes)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("gradient", CHOICES["mean_gradient"])
def test_what_a_mean_divides(isa, frozen, gradient):
    compare(isa, 20, algorithm="dm_mean", context="around", mean_gradient=gradient, frozen=frozen)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("algorithm", ["dbow", "dm_mean"])
def test_documents_share_the_rows_of_their_tags(isa, algorithm):
    for changes in ({}, {"loss": "hs"}, {"mean_gradient": "corrected"} if algorithm == "dm_mean" else {}):
        compare(isa, 20, algorithm=algorithm, tagged=True, **changes)


def test_tags_that_do_not_fit_are_refused():
    config, given, _ = setting(8)
    starts, rows = tags_of(20)[1]
    documents = int((given["ids"] == -1).sum())
    for tags, message in [
        ((starts[:0], rows), "there are no documents"),
        ((starts, rows[:-1]), "tags: expected"),
        ((starts, rows + 20), "tags"),
        ((np.zeros(documents + 1, np.int64), rows[:0]), "a document has no tag"),
        ((starts[:5], rows[: starts[4]]), "the corpus does not have 4 documents"),
    ]:
        with pytest.raises(ValueError, match=message):
            _doc2vec.Run(config, **given, tags=tags)
    config, given, _ = setting(8, algorithm="dm_concat")
    with pytest.raises(ValueError, match="dm_concat: a document has several tags"):
        _doc2vec.Run(config, **given, tags=tags_of(documents)[1])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_blocks_are_pure_functions_of_their_place(algorithm):
    """The same bytes however the corpus is cut into steps."""
    ends = (np.flatnonzero(corpus(1) == -1) + 1)[[0, 3, 4, 11]].tolist()
    whole, parts = (run_both(None, 20, cut=cut, algorithm=algorithm)[1] for cut in ((), ends))
    for name in ("documents", "output", *(["input"] if algorithm != "dbow" else [])):
        np.testing.assert_array_equal(whole[name], parts[name])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_frozen_documents_do_not_know_of_each_other(algorithm):
    """The same text has the same vector wherever it stands, and nothing else moves."""
    config, given, _ = setting(20, algorithm=algorithm, frozen=True)
    text, other = [3, 1, 0, 7, 1], [2, 2, 5]
    vectors = []
    for texts, place in (([text], 0), ([other, text, other], 1), ([[], other, other, text], 3)):
        ids = np.array([word for each in texts for word in (*each, -1)], np.int32)
        documents = zeros(len(texts), pad_width(20))
        documents[:, :20] = 0.25
        before = given["output"].copy(), None if given["input"] is None else given["input"].copy()
        worker = _doc2vec.Run(config, **{**given, "ids": ids, "documents": documents}).worker()
        for epoch in range(EPOCHS):
            worker.block(0, len(ids), epoch, 0)
        vectors.append(documents[place])
        np.testing.assert_array_equal(given["output"], before[0])
        if before[1] is not None:
            np.testing.assert_array_equal(given["input"], before[1])
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert (vectors[0][:20] != 0.25).any()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_twin_follows_the_gradient(algorithm):
    random, epsilon = np.random.default_rng(3), 1e-6
    document, context = random.normal(size=4), random.normal(size=(0 if algorithm == "dbow" else 2, 4))
    y = random.normal(size=(3, 12 if algorithm == "dm_concat" else 4))
    label, weight = np.array([1.0, 0, 0]), np.array([1.0, 2, 1])
    arrays = document, context, y
    found = steps(algorithm, *arrays, label, weight)
    for array, step in zip(arrays, found, strict=True):
        for place in np.ndindex(array.shape):
            values = []
            for nudge in (epsilon, -epsilon):
                array[place] += nudge
                values.append(objective(algorithm, *arrays, label, weight))
                array[place] -= nudge
            assert np.array(step)[place] == pytest.approx(-(values[0] - values[1]) / (2 * epsilon), abs=1e-6)


def test_a_diverged_row_shows_in_the_loss():
    config, given, _ = setting(8)
    given["output"][0, 0] = np.nan
    assert not np.isfinite(_doc2vec.Run(config, **given).worker().block(0, len(given["ids"]), 0, 0)[0])


def test_arrays_that_do_not_fit_are_refused():
    config, fits, _ = setting(8, algorithm="dm_concat")
    documents, length = len(fits["documents"]), len(fits["ids"])
    _doc2vec.Run(config, **fits)
    for wrong in [
        {"documents": zeros(documents + 1, 16)},
        {"documents": zeros(documents, 32)},
        {"output": fits["output"][:, 16:].copy()},
        {"output": zeros(WORDS - 1, fits["output"].shape[1])},
        {"input": None},
        {"input": zeros(WORDS, 16)},
        {"ids": np.append(fits["ids"][:-1], np.int32(WORDS))},
        {"ids": np.append(fits["ids"], np.int32(0))},
        {"ids": np.empty(0, np.int32)},
        {"keep": fits["keep"][1:].copy()},
        {"sampler": None},
        {"sampler": fits["sampler"][1:].copy()},
        {"words": WORDS - 1},
    ]:
        with pytest.raises(ValueError):
            _doc2vec.Run(config, **{**fits, **wrong})
    for changes in ({"dim": 17}, {"algorithm": "dbow"}, {"loss": "hs"}, {"algorithm": "nonsense"}):
        with pytest.raises(ValueError):
            _doc2vec.Run(Doc2vecConfig(**{"dim": 8, "window": 3, "algorithm": "dm_concat", **changes}), **fits)
    worker = _doc2vec.Run(config, **fits).worker()
    for block in [(0, length + 1, 0, 0), (0, length, 0, 1), (1, length, 0, -1), (0, length - 2, 0, 0)]:
        with pytest.raises(ValueError):
            worker.block(*block)
