"""gensim's module paths and names: what a script of gensim imports, old names, and words of a text."""

import importlib
import pickle
import re
import shlex
import subprocess

import numpy as np
import pytest

from tests.walk import for_each
from wv_cli.errors import MissingFile, UsageError, WvError
from wv_cli.gensim import downloader, utils
from wv_cli.gensim.models import Doc2Vec, FastText, KeyedVectors, Phrases, Word2Vec
from wv_cli.gensim.models.callbacks import CallbackAny2Vec
from wv_cli.gensim.models.doc2vec import TaggedDocument, TaggedLineDocument
from wv_cli.gensim.models.fasttext import load_facebook_model, load_facebook_vectors, save_facebook_model
from wv_cli.gensim.models.word2vec import LineSentence, PathLineSentences, Text8Corpus
from wv_cli.gensim.refusals import ELSEWHERE
from wv_cli.gensim.scripts.glove2word2vec import glove2word2vec
from wv_cli.gensim.test.utils import common_texts, datapath
from wv_cli.guides import guide_text

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
    "scripts.glove2word2vec": "glove2word2vec",
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
        (lambda: KeyedVectors(3).intersect_word2vec_format("v.bin"), UsageError, "every vector .*; give lockf=1.0"),
        (lambda: KeyedVectors(3).min_n, AttributeError, "KeyedVectors has no min_n"),
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


def test_vectors_of_a_model_are_replaced():
    """With the same words in another order training goes on; others become the vocabulary."""
    model, other = Word2Vec(common_texts, **SMALL), Word2Vec(common_texts, **{**SMALL, "seed": 5})
    context = model.syn1neg.copy()
    vectors = KeyedVectors(4)
    vectors.add_vectors(other.wv.index_to_key[::-1], other.wv.vectors[::-1])
    model.wv = vectors
    assert np.array_equal(model.wv["graph"], other.wv["graph"]) and np.array_equal(model.syn1neg, context)
    assert model.wv.index_to_key == other.wv.index_to_key and model.train(common_texts, epochs=1)
    vectors.add_vectors(["new"], [[1, 2, 3, 4]])
    model.wv = vectors
    assert model.wv["new"].tolist() == [1, 2, 3, 4] and model.wv.get_vecattr("new", "count") == 1
    assert not model.syn1neg.any() and len(model.wv) == 13 and model.train(common_texts, epochs=1)
    fresh = Word2Vec(vector_size=4)
    fresh.wv = vectors
    assert fresh.wv.similarity("graph", "new") == vectors.similarity("graph", "new")


@for_each(
    "model, vectors, error, message",
    [
        (Word2Vec(), KeyedVectors(100), UsageError, "^wv: there are no vectors"),
        (Word2Vec(), Word2Vec(common_texts, **SMALL).wv, UsageError, "expected vectors of 100 numbers, found 4"),
        (Word2Vec(), {"a": [1]}, TypeError, "wv: expected KeyedVectors, found dict"),
        (FastText(), KeyedVectors(100), UsageError, "use load_facebook_model"),
    ],
)
def test_other_vectors_of_a_model_are_refused(model, vectors, error, message):
    with pytest.raises(error, match=message):
        model.wv = vectors


def test_vectors_are_kept_by_a_callback():
    """What the refusal of vectors_lockf advises."""
    kept = np.full((1, 4), 3, np.float32)

    class Keep(CallbackAny2Vec):
        def on_epoch_end(self, model):
            model.wv[["graph"]] = kept

    model = Word2Vec(common_texts, callbacks=[Keep()], **SMALL)
    assert np.array_equal(model.wv["graph"], kept[0]) and not np.allclose(model.wv["trees"], 3)


def test_shared_words_get_the_vectors_of_a_file(tmp_path):
    (tmp_path / "v.txt").write_text("2 4\ngraph 1 2 3 4\nelsewhere 5 6 7 8\n")
    model = Word2Vec(common_texts, **SMALL)
    model.wv.intersect_word2vec_format(tmp_path / "v.txt", lockf=1.0)
    assert model.wv["graph"].tolist() == [1, 2, 3, 4] and "elsewhere" not in model.wv
    with pytest.raises(UsageError, match="expected vectors of 3 numbers, found 4"):
        KeyedVectors(3).intersect_word2vec_format(tmp_path / "v.txt", lockf=1.0)


def test_what_is_made_of_vectors_is_fresh_after_changes():
    vectors = KeyedVectors(2)
    vectors.add_vectors(["a", "b", "c"], [[1, 0], [0, 1], [1, 1]])
    assert vectors.most_similar("a", topn=1)[0][0] == "c" and vectors.norms.tolist() == [1, 1, np.float32(np.sqrt(2))]
    vectors["b"] = [7, 0]
    assert vectors.most_similar("a", topn=1) == [("b", 1)] and vectors.norms.tolist()[1] == 7
    vectors.add_vectors(["d"], [[0, 9]])
    assert vectors.similar_by_vector([0, 1], topn=1) == [("d", 1)] and vectors.norms.tolist()[3] == 9


def test_subwords_tell_their_options(tmp_path):
    options = {"min_n": 2, "max_n": 4, "bucket": 50}
    model = FastText(common_texts, **options, **SMALL)
    model.save(tmp_path / "f.state")
    save_facebook_model(model, tmp_path / "f.bin")
    model.wv.save(tmp_path / "kv.bin")
    loaded = FastText.load(tmp_path / "f.state"), load_facebook_model(tmp_path / "f.bin")
    every = [*(each for one in (model, *loaded) for each in (one, one.wv)), load_facebook_vectors(tmp_path / "f.bin")]
    for each in [*every, KeyedVectors.load(tmp_path / "kv.bin")]:
        assert {name: getattr(each, name) for name in options} == options
    sentence = model.wv.get_sentence_vector(["graph", "unknown"])
    assert np.array_equal(sentence, model.wv.get_mean_vector(["graph", "unknown"]))


def test_glove_becomes_word2vec(tmp_path):
    (tmp_path / "glove.txt").write_text("the 1 2.5\nof 3 -4\n")
    with pytest.warns(DeprecationWarning, match="Call to deprecated `glove2word2vec`"):
        assert glove2word2vec(tmp_path / "glove.txt", tmp_path / "v.txt") == (2, 2)
    assert KeyedVectors.load_word2vec_format(tmp_path / "v.txt")["the"].tolist() == [1, 2.5]


@for_each(
    "read",
    [
        lambda path: KeyedVectors.load_word2vec_format(path, binary=True),
        lambda path: KeyedVectors.load_word2vec_format(path),
        KeyedVectors.load,
        Word2Vec.load,
        FastText.load,
        Doc2Vec.load,
        Phrases.load,
        load_facebook_vectors,
        load_facebook_model,
        lambda path: list(LineSentence(path)),
        lambda path: list(PathLineSentences(path)),
        lambda path: Word2Vec(LineSentence(path)),
        lambda path: Word2Vec(corpus_file=path),
        lambda path: Word2Vec(common_texts, **SMALL).wv.evaluate_word_analogies(path),
        lambda path: Word2Vec(common_texts, **SMALL).wv.evaluate_word_pairs(path),
    ],
)
def test_a_file_that_is_not_there_is_told_as_by_gensim(read):
    with pytest.raises(FileNotFoundError, match="no-such-file") as raised:
        read("no-such-file")
    assert isinstance(raised.value, WvError) and isinstance(pickle.loads(pickle.dumps(raised.value)), MissingFile)


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


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in ELSEWHERE.items() for name in names])
def test_what_stays_with_gensim_is_told(module, name):
    with pytest.raises(ImportError, match=rf"keep gensim for it: from {module} import {name}$"):
        exec(f"from wv_cli.{module} import {name}")
    assert not hasattr(importlib.import_module(f"wv_cli.{module}"), "no_such_name")


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("from gensim.models import Word2Vec", "from wv_cli.gensim.models import Word2Vec"),
        ("from gensim import utils", "from wv_cli.gensim import utils"),
        ("import gensim", "import wv_cli.gensim as gensim"),
        ("import gensim.models", "import wv_cli.gensim as gensim"),
        ("import gensim.downloader as api", "import wv_cli.gensim.downloader as api"),
        ("import gensim as gs  # all", "import wv_cli.gensim as gs  # all"),
        ("from gensim_helpers import x", None),
        ("import gensim_data as gd", None),
    ],
)
def test_the_guide_changes_imports_of_gensim_alone(line, changed, tmp_path):
    (command,) = re.findall(r"^sed .*$", guide_text("gensim"), re.MULTILINE)
    path = tmp_path / "script.py"
    path.write_text(f"{line}\n")
    subprocess.run(shlex.split(command), cwd=tmp_path, check=True)
    assert path.read_text() == f"{changed or line}\n"
