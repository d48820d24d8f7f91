"""Noise-contrastive estimation makes a model that normalizes itself (Gutmann & Hyvarinen 2010; Mnih & Teh 2012)."""

import numpy as np
import pytest

from wv_cli.models.config import Word2vecConfig
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode


@pytest.mark.parametrize("share", [True, False])
def test_probabilities_come_out_without_a_normalization(tmp_path, share):
    """b stands beside `a` in nine of ten lines: p(b | a) = 0.9, and the exponentials of all scores sum to 1. With
    noise that spares the center the scores are those of the odds, 9 to 1."""
    random = np.random.default_rng(1)
    text = "".join("a b a\n" if one else "a c a\n" for one in random.permutation(np.arange(2000) % 10 < 9))
    (tmp_path / "text").write_text(text)
    corpus = encode([str(tmp_path / "text")], VocabConfig(min_count=1))
    config = Word2vecConfig(
        loss="nce", dim=8, window=1, negative=20, sample=0, lr=0.1, epochs=100, threads=1, share_negatives=share
    )
    model = Word2vec(config, corpus)
    train(Threads(model, 1))
    assert model.output_bias is not None
    likely = np.exp(model.input @ model.output.T + model.output_bias)
    np.testing.assert_allclose(likely.sum(axis=1), 1, atol=0.05)
    a, b, c = (corpus.vocab.words.find(word) for word in "abc")
    np.testing.assert_allclose(likely[a, [a, b, c]], [0, 0.9, 0.1], atol=0.05)
