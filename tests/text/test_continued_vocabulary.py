"""Vocabularies that grow: no word is lost, new ones pass the cuts, counts add up."""

from itertools import islice

import numpy as np
import pytest

from wv_cli.errors import WvError
from wv_cli.text.config import VocabConfig
from wv_cli.text.continued_vocabulary import decay_vocab, extend_vocab
from wv_cli.text.corpus import count, encode
from wv_cli.text.vocab import Vocab
from wv_cli.words import WordList


def vocab(**counts):
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return Vocab(
        WordList.from_words([word for word, _ in ordered]), np.array([n for _, n in ordered]), 2, sum(counts.values())
    )


def counts_of(found):
    return dict(zip(found.words, found.counts.tolist(), strict=True))


def test_old_words_stay_and_new_ones_must_be_frequent_in_the_new_text():
    found = extend_vocab(vocab(a=9, b=5, c=1), vocab(d=12, a=2, c=2, e=2), VocabConfig(min_count=3))
    assert counts_of(found) == {"d": 12, "a": 11, "b": 5, "c": 3}
    assert (found.lines, found.tokens_read) == (4, 15 + 18)


def test_a_largest_vocabulary_keeps_new_words_out_but_loses_no_old_one():
    older, text = vocab(a=9, b=5), vocab(c=8, d=7)
    assert counts_of(extend_vocab(older, text, VocabConfig(min_count=1, max_vocab=3))) == {"a": 9, "c": 8, "b": 5}
    assert counts_of(extend_vocab(older, text, VocabConfig(min_count=1, max_vocab=1))) == {"a": 9, "b": 5}


def test_decay_takes_its_share_of_all_counts_but_leaves_every_word():
    found = decay_vocab(vocab(a=101, b=10, c=1), 0.25)
    assert counts_of(found) == {"a": 25, "b": 2, "c": 1} and (found.lines, found.tokens_read) == (0, 28)
    assert counts_of(decay_vocab(vocab(a=7, b=2), 0)) == {"a": 1, "b": 1}
    large = Vocab(WordList.from_words(["a"]), np.array([2**62 + 1]))
    assert decay_vocab(large, 1).counts[0] == 2**62 + 1  # not through a double


def test_counts_beyond_64_bits_are_refused():
    large = Vocab(WordList.from_words(["a"]), np.array([2**63 - 2]))
    with pytest.raises(WvError, match="'a' add up to 2\\^63"):
        extend_vocab(large, vocab(a=2), VocabConfig())


def test_two_halves_are_the_whole(slice_text, tmp_path):
    """With nothing cut the union has the counts of the whole text, and its ids are words of the second half."""
    with slice_text.open("rb") as stream:
        lines = list(islice(stream, 400))
    paths = [tmp_path / name for name in ("first", "second", "whole")]
    for path, part in zip(paths, (lines[:200], lines[200:], lines), strict=True):
        path.write_bytes(b"".join(part))
    config = VocabConfig(min_count=1)
    first, second, whole = (count([str(path)], config) for path in paths)
    corpus = encode([str(paths[1])], config, older=first)
    assert counts_of(corpus.vocab) == counts_of(whole)
    assert (corpus.vocab.lines, corpus.vocab.tokens_read) == (whole.lines, whole.tokens_read)
    words = list(corpus.vocab.words)
    assert [words[i] for i in corpus.ids[corpus.ids >= 0]] == b"".join(lines[200:]).decode().split()
    assert corpus.tokens == second.tokens
