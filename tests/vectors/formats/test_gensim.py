"""gensim reads what we write and gives the same vectors and neighbors; we read what gensim writes."""

import numpy as np
import pytest

from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load, save
from wv_cli.words import WordList

gensim_models = pytest.importorskip("gensim.models")


@pytest.mark.parametrize(("name", "binary"), [("x.vec", False), ("x.bin", True)])
def test_both_ways(name, binary, tmp_path):
    rng = np.random.default_rng(1)
    words = ["</s>", "the", "naïve", "東京", "a\u00a0b", "100%", *(f"w{i}" for i in range(500))]
    vectors = Embeddings(WordList.from_words(words), rng.standard_normal((len(words), 30)).astype(np.float32))
    save(tmp_path / name, vectors, **({} if binary else {"precision": "exact"}))
    theirs = gensim_models.KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=binary)
    assert theirs.index_to_key == words and np.array_equal(theirs.vectors, vectors.matrix)
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    near = [words[i] for i in np.argsort(-(unit @ unit[3])) if i != 3][:10]
    assert [word for word, _ in theirs.most_similar("東京", topn=10)] == near
    theirs.save_word2vec_format(str(tmp_path / "back"), binary=binary)
    ours = load(tmp_path / "back")
    assert ours.words == vectors.words and np.array_equal(ours.matrix, vectors.matrix)
