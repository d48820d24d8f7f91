"""Rows that are private to a thread: how many, which, and that threads that learn from old values do not diverge."""

from dataclasses import replace

import numpy as np
import pytest

from tests.tiers import full
from wv_cli import _word2vec
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.replicas import choose_replicas, choose_slices, replica_rows
from wv_cli.models.subwords import Subwords
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode

WORDS = 5000
COUNTS = (1e6 / np.arange(1, WORDS + 1)).astype(np.int64)
ROWS = (800, 500)  # private, and the words between two exchanges of the hottest


def rows_of(loss, threads, **changes):
    config = Word2vecConfig(loss=loss, threads=threads, **changes)
    path = _word2vec.huffman(COUNTS) if "hs" in loss else None
    noise = COUNTS**0.75 if loss != "hs" else None
    return choose_replicas(config, COUNTS / COUNTS.sum(), path, noise, ROWS)


@pytest.mark.parametrize("maxn", [0, 6])
@pytest.mark.parametrize("tokens", [0, 10**5, 10**7, 10**9, 10**13])
@pytest.mark.parametrize("threads", [2, 3, 4, 8, 32, 512])
def test_private_rows_are_as_many_as_are_exchanged_often_enough(threads, tokens, maxn):
    config = Word2vecConfig(threads=threads, epochs=3, maxn=maxn)
    rows, interval = replica_rows(config, tokens)
    assert 25 <= rows <= 12_800 and (250 if threads == 2 else 500) <= interval <= 2000
    if rows > 25:
        times = 3 * tokens / threads / (rows / 25 * interval)
        least = 40 if threads == 2 else min(800, 25 * threads**2)
        assert times > least * (2 if maxn else 1) * 0.99
        assert rows == 12_800 or interval < 520, "rows first, then time between exchanges"
    more, fewer = replica_rows(config, 2 * tokens), replica_rows(replace(config, threads=threads + 1), tokens)
    assert fewer[0] <= rows <= more[0]


@pytest.mark.parametrize(("loss", "first", "hottest"), [("ns", 0, 0), ("hs", 4199, 800), ("hs_ns", 4599, 400)])
def test_the_hottest_rows_are_frequent_words_and_the_top_of_the_tree(loss, first, hottest):
    replicas = rows_of(loss, 2)
    assert (replicas.count, replicas.interval) == ROWS
    assert (replicas.first_output, replicas.hottest_output) == (first, hottest)


@pytest.mark.parametrize("loss", ["ns", "hs", "hs_ns"])
@pytest.mark.parametrize("threads", [2, 8, 32])
def test_what_each_thread_adds_lies_between_its_part_and_all(loss, threads):
    replicas = rows_of(loss, threads)
    for share in (replicas.input_share, replicas.output_share):
        assert share.dtype == np.float32 and share.shape == (replicas.count,)
        assert np.all((share > 0.999 / threads) & (share <= 1))
    slow = rows_of(loss, threads, lr=1e-7)
    np.testing.assert_allclose(slow.input_share, 1, atol=0.01)
    if loss == "hs":
        assert replicas.output_share[-1] < replicas.output_share[0] <= 1


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("loss", ["ns", "hs_ns"])
def test_words_without_replicas_are_as_often_noise_in_slices(loss, threads):
    config, nodes = Word2vecConfig(loss=loss, threads=threads), WORDS - 1 if loss == "hs_ns" else 0
    replicas = rows_of(loss, threads)
    slices = choose_slices(config, replicas, nodes, 10**6)
    group = slices.count * 64
    assert threads <= slices.count < 2 * threads and slices.first % group == 0
    assert slices.first + nodes >= replicas.first_output + replicas.count, "words with replicas are everybody's"
    noise = COUNTS[slices.first : WORDS // group * group] ** 0.75
    in_slices = np.broadcast_to(
        noise.reshape(-1, slices.count, 64).mean(1, keepdims=True), (len(noise) // group, slices.count, 64)
    )
    np.testing.assert_allclose(in_slices.reshape(-1), noise, rtol=0.05)


def test_slices_change_as_often_in_a_long_text_as_in_a_longer_one():
    config = Word2vecConfig(threads=2, epochs=3)
    replicas = rows_of("ns", 2)
    for tokens in (10**7, 10**9):
        exchanges = 3 * tokens / 2 / replicas.interval
        assert exchanges / choose_slices(config, replicas, 0, tokens).exchanges == pytest.approx(64, rel=0.01)
    assert choose_slices(config, replicas, 0, 100).exchanges == 1


def test_more_private_rows_than_words():
    config = Word2vecConfig(threads=2)
    replicas = choose_replicas(config, np.array([0.7, 0.3]), None, np.array([7.0, 3.0]), ROWS)
    assert replicas.count == 2


def test_a_change_of_cbow_goes_less_far(threads=8):
    """A context row is one of several that make a hidden vector."""
    skipgram, cbow = (rows_of("ns", threads, model=model, lr=0.05) for model in ("skipgram", "cbow"))
    assert np.all(cbow.input_share > skipgram.input_share)


@pytest.mark.parametrize("subwords", [False, True], ids=["words", "subwords"])
@pytest.mark.parametrize("threads", [1, 2, 4, 5])
def test_memory_of_private_rows_is_foreseen(threads, subwords, slice_text):
    corpus = encode([str(slice_text)], VocabConfig(min_count=5))
    config = Word2vecConfig(dim=100, threads=threads, epochs=3, **({"minn": 3, "maxn": 6} if subwords else {}))
    model = Word2vec(config, corpus)
    words = len(corpus.vocab)
    alone = replace(config, threads=1)
    without, needed = (Word2vec.bytes_needed(each, words, model.subwords, corpus.tokens) for each in (alone, config))
    replicas = model._replicas
    if replicas is None:
        assert threads == 1 and needed == without
        return
    copies = 2 * threads * (len(replicas.input_share) + replicas.count) * 4 * 112
    assert needed - without == copies + (0 if replicas.subword is None else replicas.subword.nbytes)


def test_the_memory_of_private_rows_has_a_cap():
    config = Word2vecConfig(dim=100, threads=2)
    few, many = (Word2vec.bytes_needed(config, 10**6, None, tokens) for tokens in (0, 10**15))
    assert many - few == 2 * 2 * 2 * (12_800 - 25) * 4 * 112


@pytest.mark.parametrize("threads", [2, 4])
def test_of_n_grams_those_that_most_words_have_are_private(slice_text, threads):
    rows = 2 * ROWS[0]
    corpus = encode([str(slice_text)], VocabConfig(min_count=5))
    config = Word2vecConfig(threads=threads, minn=3, maxn=6, sample=0)
    subwords = Subwords.from_words(corpus.vocab.words, config)
    words = corpus.vocab.counts / corpus.vocab.counts.sum()
    replicas = choose_replicas(config, words, None, words, ROWS, subwords)
    changes = np.zeros(len(words) + len(subwords.buckets))
    for word, share in enumerate(words):
        np.add.at(changes, subwords.rows[subwords.starts[word] : subwords.starts[word + 1]], share)
    assert len(replicas.input_row) == len(replicas.input_share) == rows and len(set(replicas.input_row)) == rows
    np.testing.assert_allclose(changes[replicas.input_row], np.sort(changes)[::-1][:rows])
    marked = replicas.subword < 0
    assert np.array_equal(marked, np.isin(subwords.rows, replicas.input_row))
    assert np.array_equal(
        np.where(marked, replicas.input_row[-1 - replicas.subword * marked], replicas.subword), subwords.rows
    )
    assert (
        np.all((replicas.input_share > 0.999 / threads) & (replicas.input_share <= 1)) and replicas.input_share[0] < 1
    )


def test_of_n_grams_none_is_private_to_many_threads(slice_text):
    corpus = encode([str(slice_text)], VocabConfig(min_count=5))
    model = Word2vec(Word2vecConfig(dim=8, threads=5, minn=3, maxn=6), corpus)
    assert model._replicas.subword is None and len(model._replicas.input_share) == 0 and model._replicas.count == 25
    before = model.input.copy()
    model.train_step(0, model.worker())  # a thread of five: what it changes of the input is there at once
    assert not np.array_equal(model.input, before)


def loss_of(corpus, threads, **changes):
    """Mean loss of the last of three epochs when so many workers take turns, each for 2,000 words: what each learns the
    others see after the next exchange."""
    config = Word2vecConfig(dim=32, epochs=3, threads=threads, **changes)
    model = Word2vec(config, corpus)
    model.starts = _word2vec.block_starts(corpus.ids, 2000, config.max_sentence)
    workers = [model.worker() for _ in range(threads)]
    totals = np.zeros(2)
    for step in range(model.steps):
        loss, examples, _, _ = model.train_step(step, workers[step % threads])
        if step >= 2 * model.epoch_steps:
            totals += loss, examples
    for worker in workers:
        model.flush(worker)
    return totals[0] / totals[1]


@pytest.mark.parametrize("loss", [*full("hs"), "ns"])
@pytest.mark.parametrize("ngrams", [{}, {"minn": 3, "maxn": 5}], ids=str)
def test_threads_that_learn_from_old_values_stay_near_one(loss, ngrams, slice_text):
    corpus = encode([str(slice_text)], VocabConfig(min_count=5))
    one = loss_of(corpus, 1, loss=loss, lr=0.05, **ngrams)
    for threads in (2, 4, 16):
        assert loss_of(corpus, threads, loss=loss, lr=0.05, **ngrams) == pytest.approx(one, rel=0.05), threads


@pytest.mark.parametrize("loss", ["hs", "ns"])
def test_more_private_rows_that_are_added_in_full_would_not(loss, slice_text, monkeypatch):
    corpus = encode([str(slice_text)], VocabConfig(min_count=5))
    one = loss_of(corpus, 1, loss=loss, lr=0.05)
    monkeypatch.setattr("wv_cli.models.word2vec.replica_rows", lambda *arguments: (100, 500))
    some = loss_of(corpus, 16, loss=loss, lr=0.05)
    full = lambda config, updates: np.ones(len(updates), np.float32)  # noqa: E731
    monkeypatch.setattr("wv_cli.models.replicas._fraction", full)
    assert loss_of(corpus, 16, loss=loss, lr=0.05) > max(some, 2 * one), "more, and added in full"
