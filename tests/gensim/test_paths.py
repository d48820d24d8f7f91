"""gensim's module paths and names: what a script of gensim imports, old names, and words of a text."""

import importlib

import numpy as np
import pytest

from tests.walk import for_each
from wv_cli.errors import UsageError
from wv_cli.gensim import downloader, utils
from wv_cli.gensim.models import Doc2Vec, FastText, KeyedVectors, Phrases, Word2Vec
from wv_cli.gensim.models.doc2vec import TaggedDocument, TaggedLineDocument
from wv_cli.gensim.models.word2vec import Text8Corpus
from wv_cli.gensim.test.utils import common_texts, datapath

PATHS = {
    "models.word2vec": "Word2Vec LineSentence PathLineSentences Text8Corpus FAST_VERSION",
    "models.fasttext": "FastText FastTextKeyedVectors load_facebook_model load_facebook_vectors save_facebook_model",
    "models.doc2vec": "Doc2Vec TaggedDocument TaggedLineDocument",
    "models.keyedvectors": "KeyedVectors Word2VecKeyedVectors Doc2VecKeyedVectors EuclideanKeyedVectors",
    "models.phrases": "Phrases Phraser FrozenPhrases ENGLISH_CONNECTOR_WORDS original_scorer npmi_scorer",
    "models.callbacks": "CallbackAny2Vec",
    "utils": "simple_preprocess tokenize to_unicode any2unicode to_utf8 deaccent RULE_KEEP RULE_DISCARD RULE_DEFAULT",
    "test.utils": "common_texts datapath get_tmpfile",
    "downloader": "load info",
}
SMALL = {"vector_size": 4, "min_count": 1, "workers": 1, "epochs": 1}
DOCUMENTS = [TaggedDocument(words, [row]) for row, words in enumerate(common_texts)]


@for_each("module, names", PATHS.items())
def test_gensims_paths_are_importable(module, names):
    found = importlib.import_module(f"wv_cli.gensim.{module}")
    assert not [name for name in names.split() if not hasattr(found, name)]


@for_each(
    "ask, error, message",
    [
        (lambda: Word2Vec(size=100), TypeError, "Word2Vec has no argument size: use vector_size"),
        (lambda: FastText(iter=3), TypeError, "FastText has no argument iter: use epochs"),
        (lambda: Doc2Vec(size=3), TypeError, "Doc2Vec has no argument size: use vector_size"),
        (lambda: Phrases(common_terms=["of"]), TypeError, "use connector_words"),
        (lambda: KeyedVectors(3).vocab, AttributeError, "has no vocab: use key_to_index"),
        (lambda: KeyedVectors(3).index2word, AttributeError, "use index_to_key"),
        (lambda: Word2Vec().most_similar("a"), AttributeError, "use that of model.wv"),
        (lambda: Doc2Vec().most_similar("a"), AttributeError, "use that of model.dv"),
        (lambda: Word2Vec()["a"], TypeError, r"use model.wv\['a'\]"),
        (lambda: "a" in Word2Vec(), TypeError, r"use model.wv\['a'\]"),
        (lambda: downloader.load("glove-wiki-gigaword-50"), UsageError, r"save_word2vec_format\('glove-wiki"),
        (lambda: datapath("lee.cor"), UsageError, "give the path of a file of your own"),
    ],
)
def test_an_old_name_is_told_its_name_of_today(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


def test_names_that_gensim_4_still_has_warn_and_work():
    model, documents = Word2Vec(common_texts, **SMALL), Doc2Vec(DOCUMENTS, **SMALL)
    with pytest.warns(DeprecationWarning, match="Call to deprecated `docvecs`"):
        assert documents.docvecs is documents.dv
    with pytest.warns(DeprecationWarning, match="Call to deprecated `word_vec`"):
        assert np.array_equal(model.wv.word_vec("graph"), model.wv["graph"])
    before = model.wv.vectors.copy()
    with pytest.warns(DeprecationWarning, match="Call to deprecated `init_sims`"):
        model.init_sims()
    assert np.array_equal(model.wv.vectors, before)
    with pytest.warns(DeprecationWarning, match="Call to deprecated `init_sims`"):
        model.init_sims(replace=True)
    assert np.allclose(np.linalg.norm(model.wv.vectors, axis=1), 1)


def test_a_vector_that_is_set_is_trained_on():
    model = Word2Vec(common_texts, **SMALL)
    model.wv["graph"] = [5, 5, 5, 5]
    assert model.train(common_texts, epochs=2) and model.epochs == 2
    assert np.allclose(model.wv["graph"], 5, atol=0.5)


def test_shown_as_gensim_shows_it():
    """gensim 4.4 printed these."""
    assert str(Word2Vec(common_texts, **SMALL).wv) == "KeyedVectors<vector_size=4, 12 keys>"
    assert str(Doc2Vec(vector_size=10, min_count=1, workers=1)) == "Doc2Vec<dm/m,d10,n5,w5,s0.001>"
    hierarchical = Doc2Vec(dm_concat=1, hs=1, negative=0, window=3, sample=0, vector_size=7)
    assert str(hierarchical) == "Doc2Vec<dm/c,d7,hs,w3,mc5,t3>"
    phrases = Phrases(common_texts * 20)
    assert str(phrases) == "Phrases<30 vocab, min_count=5, threshold=10.0, max_vocab_size=40000000>"
    assert str(phrases.freeze()) == "FrozenPhrases<0 phrases, min_count=5, threshold=10.0>"
    assert str(TaggedDocument(["a"], [1])) == "TaggedDocument<['a'], [1]>"


def test_words_and_lines_of_a_text(tmp_path):
    assert utils.simple_preprocess("Hello, a Šéf_x _y x1yz averyveryverylongword", deacc=True) == [
        "hello",
        "sef_x",
        "yz",
    ]
    assert list(utils.tokenize("a1B", lower=True)) == ["a", "b"] and utils.deaccent("Šéf") == "Sef"
    assert utils.to_unicode(b"\xe9", "latin-1") == "é" and utils.to_utf8("é") == b"\xc3\xa9"
    path = tmp_path / "t.txt"
    path.write_text("a b\n\nc d e\n")
    assert list(Text8Corpus(path, max_sentence_length=2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(TaggedLineDocument(path)) == [(["a", "b"], [0]), ([], [1]), (["c", "d", "e"], [2])]
