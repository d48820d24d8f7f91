"""Shuffled records of real text: the same ones, in an order that the seed repeats and that is any other as often."""

from itertools import permutations

import numpy as np
import pytest

from wv_cli._glove import RECORD
from wv_cli.models.glove import shuffle
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.cooccurrence import count
from wv_cli.models.glove.shuffle import Shuffle
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode


@pytest.fixture(scope="module")
def records(slice_text):
    corpus = encode([str(slice_text)], VocabConfig(min_count=100))
    return np.concatenate([block.copy() for block in count(corpus, GloveConfig())])


def shuffled(records, seed=1, memory=1 << 30, beside=None):
    mixed = Shuffle(np.array_split(records, 7), seed, memory, beside)
    assert mixed.records == len(records)
    return np.concatenate([np.empty(0, RECORD), *mixed.blocks()])


@pytest.mark.parametrize("memory", [1 << 30, 1 << 12], ids=["in memory", "in a file"])
@pytest.mark.parametrize("chunk", [100, 1 << 20])
def test_the_same_records_in_an_order_of_the_seed(records, memory, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "_CHUNK_RECORDS", (chunk, chunk))
    beside = str(tmp_path / "x")
    one, again, other = (shuffled(records, seed, memory, beside) for seed in (1, 1, 2))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    assert np.array_equal(np.sort(one), np.sort(records)) and not np.array_equal(one, records)
    assert not list(tmp_path.iterdir())


def test_every_order_is_as_likely(records, monkeypatch):
    monkeypatch.setattr(shuffle, "_CHUNK_RECORDS", (2, 2))
    few, runs = records[:5], 6000
    counts = dict.fromkeys(permutations(range(5)), 0)
    place = {tuple(record): k for k, record in enumerate(few.tolist())}
    for seed in range(runs):
        counts[tuple(place[tuple(record)] for record in shuffled(few, seed).tolist())] += 1
    expected = runs / len(counts)
    assert sum((found - expected) ** 2 / expected for found in counts.values()) < 190, "chi-square, 119 degrees"


def test_nothing_is_nothing():
    assert len(shuffled(np.empty(0, RECORD))) == 0
