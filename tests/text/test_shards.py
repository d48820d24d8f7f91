"""Texts that an executor's tasks read in shards, here one task after the other: the counts and bytes of one pass."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from wv_cli.io.executor import ThisProcess
from wv_cli.models.glove import cooccurrence
from wv_cli.models.glove.config import GloveConfig
from wv_cli.text.config import PhrasesConfig, VocabConfig
from wv_cli.text.corpus import encode, tally
from wv_cli.text.inputs import Texts
from wv_cli.text.phrase_finding import PhraseFinder
from wv_cli.text.phrases import JoinedText
from wv_cli.text.shard_counting import Divided, words_of
from wv_cli.text.shard_joining import JoinedShards
from wv_cli.vectors.recognize import input_texts


@pytest.fixture
def asked(slice_text: Path) -> Texts:
    return input_texts([str(slice_text)], log=lambda message: None)


def test_results_come_in_the_order_of_the_shards() -> None:
    done: list[int] = []
    executor = ThisProcess()
    found = executor.reduce("test", lambda shard, more: [shard + more], range(5), lambda a, b: a + b, done.append, 10)
    assert found == [10, 11, 12, 13, 14] and done == [0, 1, 2, 3, 4]
    assert executor.reduce("test", str, [], lambda a, b: a + b, done.append) is None
    assert list(executor.map("test", lambda shard: -shard, range(3))) == [0, -1, -2]


def test_words_are_those_of_one_pass(asked: Texts) -> None:
    read: list[tuple[int, int | None]] = []
    divided = Divided(asked, 100_000, lambda done, total: read.append((done, total)), whole_lines=True)
    whole = words_of(ThisProcess(), divided, partial(tally, config=VocabConfig()))
    assert len(divided.parts) > 3 and whole.vocab().digest == tally(asked, VocabConfig()).vocab().digest
    assert read[-1][0] == read[-1][1] and len(read) == len(divided.parts)


def test_phrases_and_the_joined_text_are_those_of_one_pass(asked: Texts) -> None:
    config = PhrasesConfig()
    with JoinedText(asked, config) as alone:
        expected = list(alone.rows()), b"".join(alone.chunks())
    finder = PhraseFinder(config)
    text = JoinedShards(ThisProcess(), Divided(asked, 100_000, whole_lines=True), config, None)
    finder.join_in(text)
    assert (list(finder.rows()), b"".join(text.chunks())) == expected
    assert finder.passes[0].metadata["joined"] > 0


def test_co_occurrences_are_those_of_one_pass(asked: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "_LEAST_SHARD", 100_000)
    config, words = GloveConfig(threads=1), VocabConfig()
    corpus = encode(asked, words)
    limits = {"memory": 1 << 24, "spool_beside": None}
    alone = [block.copy() for block in cooccurrence.count(corpus, config, **limits)]
    executor, divided = ThisProcess(), Divided(asked, 100_000, whole_lines=True)
    counted = cooccurrence.counted_corpus(executor, divided, words, None, None)
    assert (counted.vocab.digest, counted.tokens) == (corpus.vocab.digest, corpus.tokens)
    found = cooccurrence.shard_records(executor, asked, counted, config, words, None, **limits)
    assert np.concatenate([block.copy() for block in found]).tobytes() == np.concatenate(alone).tobytes()
