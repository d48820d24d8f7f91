"""The classifier's kernel against its float64 reference on every instruction set, the reference against finite
differences."""

from itertools import chain, pairwise

import numpy as np
import pytest

from tests.reference.supervised import Reference, lines, logistic, softmax, word_ngrams
from wv_cli import _cpu, _supervised, _word2vec
from wv_cli.io.memory import pad_width, zeros
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.replicas import OutputReplicas

LAYERS = SupervisedConfig.options()["loss"].choices
WORDS, END, DROPPED = 13, 2, 3  # words with a row, the id of </s>, words below the cut
EPOCHS, SEED = 3, 7


def corpus(labels, seed=1):
    """Lines of every kind: several labels, none, labels alone, `</s>` inside, words twice, one that is empty."""
    random = np.random.default_rng(seed)
    ids = []
    for _ in range(25):
        words = random.integers(0, WORDS + DROPPED, random.integers(1, 9))
        given = -2 - random.integers(0, labels, random.integers(1, 4))
        ids += [*random.permutation(np.concatenate([words, given])), -1]
    ids += [-2, -1, 4, 4, 5, -1, -3, 1, 1, END, 6, -2, -1, -1, -2, 3, -1]
    return np.array(ids, np.int32)


def run_both(isa, layer, dim, labels=11, *, ngrams=1, chars=False, lr=0.6, dropout=0.0, cut=None, private=0):
    random = np.random.default_rng(dim + labels)
    counts = np.sort(random.integers(1, 50, labels))[::-1].astype(np.int64)
    ids, buckets = corpus(labels), 97
    hashes = random.integers(-(2**31), 2**31, WORDS + DROPPED).astype(np.int32)
    bucket_row = np.full(buckets, -1, np.int32)
    rows_of_word = [[word] if word < WORDS else [] for word in range(WORDS + DROPPED)]
    tables, next_row = {}, WORDS
    if chars:
        used = random.permutation(buckets)[:20]
        bucket_row[used] = np.arange(WORDS, WORDS + 20)
        next_row += 20
        for word, rows in enumerate(rows_of_word):
            rows += [int(row) for row in bucket_row[random.choice(used, word % 4)]]
        starts = np.cumsum([0, *map(len, rows_of_word)]).astype(np.int64)
        tables["word_rows"] = (starts, np.array(list(chain(*rows_of_word)), np.int32))
    if ngrams > 1:
        tables |= {"hashes": hashes, "word_ngrams": ngrams}
    rules = _supervised.Rules(
        ids=WORDS + DROPPED, words=WORDS, end_of_line=END, bucket_row=bucket_row if ngrams > 1 else None, **tables
    )
    survey = rules.survey(ids, next_row, isa)

    def rows_of(words):
        rows = list(chain(*(rows_of_word[word] for word in words)))
        if ngrams > 1:
            rows = rows + [int(bucket_row[b]) for b in word_ngrams(hashes[words], ngrams, buckets)]
        return rows

    expected = [(len(words), len(rows_of(words)), len(given)) for _, words, given in lines(ids, END)]
    longest = [survey[name] for name in ("longest_words", "longest_rows", "longest_labels")]
    assert longest == [max(column) for column in zip(*expected, strict=True)]
    assert survey["lines"] == len(expected)
    assert survey["rows"] == sum(rows for _, rows, _ in expected)

    x = zeros(survey["next_row"], pad_width(dim))
    y = zeros(labels - (layer == "hs"), pad_width(dim))
    for matrix in (x, y):
        matrix[:, :dim] = random.normal(0, 1 / np.sqrt(dim), (len(matrix), dim))
    sampler = _word2vec.alias_table(np.sqrt(counts))
    start, node, code = path = _word2vec.huffman(counts)
    paths = [(node[a:b].tolist(), code[a:b].tolist()) for a, b in pairwise(start)]
    config = SupervisedConfig(loss=layer, dim=dim, lr=lr, epochs=EPOCHS, dropout=dropout, seed=SEED)
    reference = Reference(config, x[:, :dim], y[:, :dim], sampler=sampler, paths=paths)
    read = {"ns": {"sampler": sampler}, "hs": {"path": path}}.get(layer, {})
    run = _supervised.Run(
        config, rules=rules, survey=survey, ids=ids, input=x, output=y, labels=labels, isa=isa, **read
    )
    worker = run.worker(OutputReplicas(np.ones(len(y), np.float32), private) if private else None)
    starts = [0, *sorted(cut or []), len(ids)]
    total = examples = 0.0
    for epoch in range(EPOCHS):
        for first, last in pairwise(starts):
            loss, count, _, lr_now = worker.block(first, last, epoch)
            total, examples = total + loss, examples + count
        reference.epoch(epoch, ids, END, rows_of)
    worker.flush()
    assert 0 <= lr_now < lr
    assert examples == reference.examples == EPOCHS * survey["examples"]
    return reference, x, y, total


def compare(isa, layer, dim, **options):
    reference, x, y, total = run_both(isa, layer, dim, **options)
    np.testing.assert_allclose(x[:, :dim], reference.x, atol=2e-4, rtol=2e-4)
    np.testing.assert_allclose(y[:, :dim], reference.y, atol=2e-4, rtol=2e-4)
    assert not x[:, dim:].any() and not y[:, dim:].any(), "the padding must stay zero"
    assert total == pytest.approx(reference.loss, rel=1e-4)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("dim", [1, 7, 8, 15, 16, 17, 31, 33, 64, 100, 112, 128, 144, 300])
def test_kernel_equals_reference(isa, layer, dim):
    compare(isa, layer, dim)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("labels", [2, 3, 7, 8, 15, 16, 17, 33, 100, 1100])
def test_any_number_of_labels(isa, layer, labels):
    compare(isa, layer, 20, labels=labels)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "options", [{"ngrams": 2}, {"ngrams": 5}, {"chars": True}, {"ngrams": 3, "chars": True}], ids=str
)
def test_ngrams(isa, options):
    compare(isa, "softmax", 20, **options)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(("dim", "dropout"), [(1, 0.5), (17, 0.3), (100, 0.7)])
def test_dropout(isa, layer, dim, dropout):
    compare(isa, layer, dim, lr=0.2, dropout=dropout)
    assert np.abs(run_both(isa, layer, 20, dropout=dropout)[1] - run_both(isa, layer, 20)[1]).max() > 1e-3


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("dim", [17, 100])
def test_dropout_bounds_the_step(isa, dim):
    compare(isa, "softmax", dim, lr=2, dropout=0.7)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("interval", [1, 7, 1000])
def test_private_output_rows_change_nothing_for_one_thread(isa, layer, interval):
    compare(isa, layer, 20, private=interval)


def two_labels(y):
    """A run over four lines, and where each ends."""
    ids = np.array([0, -2, -1, 1, -3, -1, 0, 1, -3, -1, 1, -2, -1], np.int32)
    x = zeros(2, 16)
    x[:, :4] = np.random.default_rng(1).normal(size=(2, 4))
    rules = _supervised.Rules(ids=2, words=2, end_of_line=1)
    config = SupervisedConfig(dim=4, epochs=1, loss="softmax", lr=0.5)
    run = _supervised.Run(config, rules=rules, survey=rules.survey(ids, 2), ids=ids, input=x, output=y, labels=2)
    return run, np.flatnonzero(ids == -1) + 1


def test_of_a_change_a_share_is_added_when_it_is_due():
    start = np.random.default_rng(2).normal(size=(2, 4))
    shared, alone = zeros(2, 16), zeros(2, 16)
    shared[:, :4] = alone[:, :4] = start
    share = np.array([0.25, 0.75], np.float32)
    run, ends = two_labels(shared)
    worker = run.worker(OutputReplicas(share, 3))
    free = two_labels(alone)[0].worker()
    worker.block(0, ends[2], 0)
    np.testing.assert_array_equal(shared[:, :4], start.astype(np.float32), err_msg="three examples: not yet due")
    free.block(0, ends[2], 0)
    expected = start + share[:, None] * (alone[:, :4] - start)
    worker.block(ends[2], ends[3], 0)
    np.testing.assert_allclose(shared[:, :4], expected, atol=1e-6, err_msg="what three examples changed")
    worker.flush()
    assert np.abs(shared[:, :4] - expected).max() > 1e-3, "what the fourth changed"


@pytest.mark.parametrize("layer", LAYERS)
def test_blocks_are_pure_functions_of_their_place(layer):
    """The same bytes however the corpus is cut into steps."""
    ends = np.flatnonzero(corpus(11) == -1) + 1
    whole = run_both(None, layer, 20, dropout=0.3)
    parts = run_both(None, layer, 20, dropout=0.3, cut=ends[[3, 4, 11, 20]].tolist())
    np.testing.assert_array_equal(whole[1], parts[1])
    np.testing.assert_array_equal(whole[2], parts[2])


@pytest.mark.parametrize("parts", [softmax(2), logistic(np.array([0, 1, 1, 0, 0]), np.array([1.0, 1, 2, 3, 1]))])
def test_twin_follows_the_gradient(parts):
    random = np.random.default_rng(3)
    scores, epsilon = random.normal(size=5), 1e-6
    _, step = parts(scores)
    for k in range(5):
        nudge = np.eye(5)[k] * epsilon
        slope = (parts(scores + nudge)[0] - parts(scores - nudge)[0]) / (2 * epsilon)
        assert step[k] == pytest.approx(-slope, abs=1e-6)


def test_a_diverged_row_shows_in_the_loss():
    for layer in LAYERS:
        twin_and = run_both(None, layer, 8, lr=0.1)
        assert np.isfinite(twin_and[3])
    assert not np.isfinite(run_diverging())


def run_diverging():
    ids = np.array([0, -2, -1, 0, -3, -1], np.int32)
    rules = _supervised.Rules(ids=2, words=2, end_of_line=1)
    x, y = zeros(2, 16), zeros(2, 16)
    x[0, 0] = np.nan
    config = SupervisedConfig(dim=4, epochs=1)
    run = _supervised.Run(config, rules=rules, survey=rules.survey(ids, 2), ids=ids, input=x, output=y, labels=2)
    return run.worker().block(0, len(ids), 0)[0]


def test_arrays_that_do_not_fit_are_refused():
    ids = np.array([0, -2, -1], np.int32)
    rules = _supervised.Rules(ids=2, words=2, end_of_line=1)
    survey = rules.survey(ids, 2)
    fits = {
        "options": SupervisedConfig(dim=4, epochs=1), "rules": rules, "survey": survey, "ids": ids,
        "input": zeros(2, 16), "output": zeros(2, 16), "labels": 2,
    }  # fmt: skip
    _supervised.Run(**fits)
    for wrong in [
        {"input": zeros(1, 16)},
        {"output": zeros(3, 16)},
        {"options": SupervisedConfig(dim=17)},
        {"options": SupervisedConfig(dim=4, dropout=1.0)},
        {"options": SupervisedConfig(dim=4, dropout=-0.1)},
        {"options": SupervisedConfig(dim=4, loss="ns")},
        {"options": SupervisedConfig(dim=4, loss="hs")},
        {"options": SupervisedConfig(dim=4, loss="nce")},
        {"options": SupervisedConfig(dim=4, loss="nonsense")},
        {"labels": 1, "output": zeros(1, 16), "ids": np.array([0, -3, -1], np.int32)},
        {"ids": np.array([2, -2, -1], np.int32)},
        {"input": zeros(3, 16)[:, 1:].copy()},
    ]:
        with pytest.raises(ValueError):
            _supervised.Run(**{**fits, **wrong})
    with pytest.raises(ValueError):
        _supervised.Run(**fits).worker().block(0, 4, 0)
    for share, interval in [(np.ones(1, np.float32), 3), (np.ones(3, np.float32), 3), (np.ones(2, np.float32), 0)]:
        with pytest.raises(ValueError, match="private rows"):
            _supervised.Run(**fits).worker(OutputReplicas(share, interval))
