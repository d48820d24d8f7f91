"""Counting against a double loop in whole numbers, on real text: exact, whatever the memory and the threads."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.glove import count as brute_force
from tests.tiers import full
from wv_cli._glove import RECORD, Segment, sort
from wv_cli.io.runs import pair_runs
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.cooccurrence import count, distance_units
from wv_cli.models.glove.tiles import CHUNK_RECORDS, TileStore, word_ranges
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode
from wv_cli.text.vocab import Vocab


@pytest.fixture(scope="module")
def corpus(slice_text):
    return encode([str(slice_text)], VocabConfig(min_count=5))


def table(stream):
    """{(row, column): value}, and that the stream is sorted without doubles and keeps its promises."""
    records = np.concatenate([block.copy() for block in stream])
    keys = records["row"].astype(np.int64) << 32 | records["column"]
    assert (np.diff(keys) > 0).all(), "sorted, every pair once"
    return records


@pytest.fixture(scope="module")
def truth(corpus):
    """The records of the exact fractions, rounded once, in their order."""
    expected, scale = brute_force(corpus.ids.tolist(), 10)
    records = [(row + 1, column + 1, expected[row, column] / scale) for row, column in sorted(expected)]
    return np.array(records, RECORD)


@pytest.mark.parametrize("threads", [1, *full(2), 3])
@pytest.mark.parametrize("memory", [1 << 18, *full(10**6), 10**9])
def test_counts_equal_the_double_loop(memory, threads, corpus, truth, tmp_path):
    config = GloveConfig(threads=threads)
    records = table(count(corpus, config, memory=memory, spool_beside=str(tmp_path / "x")))
    assert records.tobytes() == truth.tobytes(), "bit by bit"


@pytest.mark.parametrize(
    "options",
    [{"window": 1}, {"window": 3, "symmetric": False}, {"window": 4, "weighting": "flat"}, {"window": 25}],
    ids=str,
)
def test_options(options, corpus, tmp_path):
    config = GloveConfig(**options)
    ids = corpus.ids[:20_000]
    small = type(corpus)(ids, corpus.vocab, int((ids >= 0).sum()), int((ids < 0).sum()), "")
    expected, scale = brute_force(ids.tolist(), config.window, config.symmetric, config.weighting == "flat")
    for memory in (1 << 17, 1 << 30):
        records = table(count(small, config, memory=memory, spool_beside=str(tmp_path / "x")))
        assert len(records) == len(expected)
        wanted = [expected[row - 1, column - 1] / scale for row, column, _ in records.tolist()]
        np.testing.assert_allclose(records["value"], wanted, rtol=1e-12)


def test_units_are_exact_or_as_fine_as_they_can_be():
    units, scale = distance_units(10, "distance", 10**9)
    assert scale == 2520 and units.tolist() == [0, *(2520 // d for d in range(1, 11))]
    units, scale = distance_units(100, "distance", 6 * 10**7)
    assert np.abs(units[1:] / scale * np.arange(1, 101) - 1).max() < 1e-7
    assert units[1] * 2 * 6 * 10**7 * 6 < 2**63
    assert distance_units(5, "flat", 10)[0].tolist()[1:] == [1] * 5


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(-1, 6), min_size=1, max_size=60),
    st.integers(1, 12),
    st.booleans(),
    st.lists(st.integers(1, 59), max_size=4),
)
def test_any_stream_cut_anywhere(stream, window, symmetric, cuts):
    ids = np.array([*stream, -1], np.int32)
    expected, _ = brute_force(ids.tolist(), window, symmetric)
    units, scale = distance_units(window, "distance", len(ids))
    places = sorted({0, *(cut for cut in cuts if cut < len(ids)), len(ids)})
    found = {}
    for low, end in pairwise(places):
        part = Segment(ids, low, end, 7, units, symmetric, 0.0)
        for row, column, value in part.rows(0, 7, part.scratch(), np.empty(49, RECORD)):
            key = (int(row) - 1, int(column) - 1)
            found[key] = found.get(key, 0) + int(np.float64(value).view(np.int64))
    assert found == expected and scale == math.lcm(*range(1, window + 1))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=30), max_size=6))
def test_merging_runs_sums_them(tmp_path_factory, shards):
    expected = {}
    with pair_runs(str(tmp_path_factory.getbasetemp() / "x"), "counts", 1, as_values=True) as runs:
        for number, shard in enumerate(shards):
            block = np.array([(row, column, number + 1.0) for row, column in shard], RECORD)
            sort(block)
            runs.add([block])
            for key in shard:
                expected[key] = expected.get(key, 0) + number + 1.0
        merged = [record for block in runs.merge() for record in block.tolist()]
    assert merged == [(*key, value) for key, value in sorted(expected.items())]


def test_more_runs_than_can_be_merged_at_once(tmp_path):
    random = np.random.default_rng(5)
    expected = np.zeros((50, 50))
    with pair_runs(str(tmp_path / "x"), "counts", 1, as_values=True) as runs:
        for _ in range(40):
            block = np.zeros(random.integers(1, 4000), RECORD)
            block["row"], block["column"] = random.integers(1, 51, (2, len(block)))
            block["value"] = random.integers(1, 100, len(block))
            np.add.at(expected, (block["row"] - 1, block["column"] - 1), block["value"])
            sort(block)
            runs.add([block])
        records = table(runs.merge())
    np.testing.assert_array_equal(expected[records["row"] - 1, records["column"] - 1], records["value"])
    assert len(records) == np.count_nonzero(expected)


def test_tiles_hold_every_record_once(corpus, tmp_path):
    words = len(corpus.vocab)
    records = table(count(corpus, GloveConfig()))
    blocks = np.array_split(records, 17)
    with (
        TileStore(iter(blocks), words, str(tmp_path / "x")) as store,
        TileStore([records], words, str(tmp_path / "x"), 1 << 30) as other,
    ):
        compare_with(records, store, other)


def compare_with(records, store, other):
    assert store.records == len(records)
    out = np.empty(CHUNK_RECORDS, store._file.dtype)
    found = np.zeros(len(records), RECORD)
    place = 0
    for chunk in range(len(store.chunks)):
        part = store.read(chunk, out)
        target = found[place : place + len(part)]
        target["row"] = part["row"] + store.chunks[chunk, 0] + 1
        target["column"] = part["column"] + store.chunks[chunk, 1] + 1
        target["value"] = part["count"]
        place += len(part)
    sort(found)
    np.testing.assert_array_equal(found[["row", "column"]], records[["row", "column"]])
    np.testing.assert_array_equal(found["value"], records["value"].astype(np.float32))
    np.testing.assert_array_equal(store.chunks, other.chunks)
    assert store.read(5, out).tobytes() == other.read(5, np.empty_like(out)).tobytes(), (
        "neither blocks nor memory matter"
    )


@pytest.mark.parametrize("words", [1, 1024, 1025, 12_351, 400_000, 3_000_000])
def test_word_ranges_cover_all_words(words):
    ranges = word_ranges(words)
    assert ranges[0] == 0 and ranges[-1] == words and (np.diff(ranges) > 0).all()
    assert np.diff(ranges).max() <= 1 << 16 and len(ranges) < 120


@pytest.mark.parametrize("bad", [-2, -(2**31), 7, 2**31 - 1])
def test_ids_out_of_range_are_refused(bad):
    """An id below that of a line end would be counted before the beginning of its array."""
    ids = np.array([1, 2, bad, 3, -1], np.int32)
    with pytest.raises(ValueError, match="ids of the corpus: expected -1 to 6, found"):
        Segment(ids, 0, len(ids), 7, np.ones(3, np.int64), True, 0.0)
    with pytest.raises(ValueError, match="a window needs its units"):
        Segment(ids[:2], 0, 2, 7, np.ones(0, np.int64), True, 0.0)


def test_a_vocabulary_with_the_counts_of_another_text_is_no_bound(slice_text, corpus):
    """The weights of a wide window are as fine as the most frequent pair allows, however often it is said to occur."""
    vocab = corpus.vocab
    foreign = replace(corpus, vocab=Vocab(vocab.words, np.ones_like(vocab.counts)))
    (own, other) = (table(count(each, GloveConfig(window=50))) for each in (corpus, foreign))
    np.testing.assert_allclose(other["value"], own["value"], rtol=1e-6)


def test_a_text_without_known_words_has_no_records(tmp_path, corpus):
    (tmp_path / "empty").write_bytes(b"")
    for text in (tmp_path / "empty", tmp_path / "unknown"):
        text.write_bytes(b"" if text.name == "empty" else b"qqqqq zzzzz\n")
        nothing = encode([str(text)], VocabConfig(min_count=1), vocab=corpus.vocab, may_be_empty=True)
        assert list(count(nothing, GloveConfig())) == [] and nothing.tokens_read == len(text.read_bytes().split())
