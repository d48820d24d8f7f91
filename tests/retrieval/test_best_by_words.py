"""The best chunks by words: core/bm25.c against the sums of all documents, and over contradictory arrays."""

import numpy as np
import pytest

from wv_cli import _bm25
from wv_cli.errors import BadFile
from wv_cli.retrieval.bm25 import Bm25, Counts
from wv_cli.vectors.stored_index import SearchIndex, bm25_index

DOCUMENTS = 9000  # several windows of 2,048
# How often each token stands in all documents: one in nearly all, some in many, some in few.
SHARES = {"most": 0.95, "half": 0.5, "fifth": 0.2, "tenth": 0.1, "some": 0.01, "few": 0.001, "late": 0.0}


def make_texts(seed):
    random = np.random.default_rng(seed)
    texts = [
        [token for token, share in SHARES.items() for _ in range(random.poisson(share))]
        + ["filler"] * int(random.geometric(0.05))
        for _ in range(DOCUMENTS)
    ]
    texts[-1] += ["late"] * 3
    return texts


def make_arrays(counts):
    """The arrays of a search index that BM25 reads."""
    order = sorted(counts.tokens, key=str.encode)
    places = [slice(*counts.starts[[t, t + 1]]) for t in map(counts.tokens.__getitem__, order)]
    return {
        "words": np.frombuffer("".join(order).encode(), np.uint8).copy(),
        "word_at": np.cumsum([0, *(len(token) for token in order)]),
        "posting_at": np.cumsum([0, *(place.stop - place.start for place in places)]),
        "documents": np.concatenate([counts.documents[place] for place in places]),
        "found": np.concatenate([counts.found[place] for place in places]).astype(np.uint16),
        "tokens": counts.lengths.astype(np.int32),
    }


def make_index(arrays):
    total = int(arrays["tokens"].sum())
    return bm25_index(arrays, total, bm25_index(arrays, total).bounds())


@pytest.fixture(scope="module")
def counted():
    return Counts.count(make_texts(1))


QUERIES = [
    "most", "few", "late", "most half fifth tenth some few late", "late most", "few few most", "fifth most fifth most",
    "some half unknown", "unknown", "", "tenth some",
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("k", [1, 3, 100, 5000, 10**9])
def test_they_are_those_of_all_sums(counted, query, k):
    rows, scores = make_index(make_arrays(counted)).top([token.encode() for token in query.split()], k)
    expected_rows, expected = Bm25.build(counted).top(query.split(), k)
    assert rows.tolist() == expected_rows.tolist()
    np.testing.assert_allclose(scores, expected, rtol=1e-14)  # NumPy's logarithm may round otherwise


def test_ties_go_to_the_lowest_row():
    counts = Counts.count([["a", "b"], ["c"]] * 5000)
    index = make_index(make_arrays(counts))
    assert index.top([b"a", b"b"], 7)[0].tolist() == [*range(0, 14, 2)]
    assert index.top([b"c"], 3)[0].tolist() == [1, 3, 5]


def test_bounds_are_the_largest_of_each_block(counted):
    arrays = make_arrays(counted)
    bounds = bm25_index(arrays, int(arrays["tokens"].sum())).bounds()
    lengths = arrays["tokens"].astype(float)
    shares = arrays["found"] / (arrays["found"] + 1.5 * (0.25 + 0.75 * lengths / lengths.mean())[arrays["documents"]])
    most = np.maximum.reduceat(shares, np.arange(0, len(shares), _bm25.BLOCK))
    assert (bounds >= most).all()
    np.testing.assert_allclose(bounds, most, rtol=1e-6)


def damage(name, place, value):
    def apply(arrays):
        arrays[name][place] = value

    return apply


@pytest.mark.parametrize(
    ("apply", "problem"),
    [
        (damage("documents", slice(None), 5), "out of order"),
        (damage("documents", slice(None), -7), "out of order"),
        (damage("documents", slice(None), DOCUMENTS), "out of order"),
        (damage("documents", slice(1, None, 3), 2**31 - 1), "out of order"),
        (lambda arrays: arrays["documents"][:].sort(), "out of order"),
        (lambda arrays: arrays.update(documents=arrays["documents"][::-1].copy()), "out of order"),
        (damage("tokens", slice(None), -1), "negative number of tokens"),
        (damage("word_at", slice(1, None), 1 << 40), "outside of words"),
        (damage("word_at", slice(None), -3), "outside of words"),
        (damage("posting_at", slice(1, None), 1 << 40), "outside of documents"),
        (damage("posting_at", slice(None, None, 2), -1), "outside of documents"),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(counted, apply, problem):
    arrays = make_arrays(counted)
    bounds = bm25_index(arrays, int(arrays["tokens"].sum())).bounds()
    total = int(arrays["tokens"].sum())
    apply(arrays)
    with pytest.raises(ValueError, match=problem):
        bm25_index(arrays, total, bounds).top([token.encode() for token in SHARES], 10)


def test_random_damage_ends_in_an_answer_or_an_error(counted):
    random = np.random.default_rng(2)
    arrays = make_arrays(counted)
    total, query = int(arrays["tokens"].sum()), [token.encode() for token in SHARES]
    bounds = bm25_index(arrays, total).bounds()
    for _ in range(300):
        spoiled = {name: array.copy() for name, array in arrays.items()} | {"bounds": bounds.copy()}
        array = spoiled[str(random.choice([*spoiled]))]
        raw = array.view(np.uint8)
        raw[random.integers(0, len(raw), random.integers(1, 60))] = random.integers(0, 256)
        try:
            rows, _ = bm25_index(spoiled, total, spoiled["bounds"]).top(query, 20)
        except ValueError:
            continue
        assert ((rows >= 0) & (rows < DOCUMENTS)).all()


def test_shapes_are_checked(counted):
    arrays = make_arrays(counted)
    for name in ("word_at", "found"):
        with pytest.raises(ValueError, match="differ"):
            make_index(arrays | {name: arrays[name][:-1]})
    with pytest.raises(ValueError, match="bounds"):
        bm25_index(arrays, 5, np.zeros(1, np.float32))
    with pytest.raises(ValueError, match="has no bounds"):
        bm25_index(arrays, 5).top([b"most"], 1)


def test_a_bound_that_is_too_low_is_found(tmp_path):
    from tests.fuzz.seeds import of_texts

    index = of_texts()
    index.require_whole()
    arrays = {**index.arrays, "bounds": index.arrays["bounds"] / 2}

    def refuse(problem):
        raise BadFile("file", problem)

    low = SearchIndex(arrays, index.settings, index.model, index.model_digest, index.total, refuse)
    with pytest.raises(BadFile, match="too low"):
        low.require_whole()
