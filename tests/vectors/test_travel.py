"""Vectors and classifiers are pickled and copied, before and after they were asked, mapped ones as their file."""

import copy
import multiprocessing
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from tests import forked
from tests.conftest import GOLDEN
from tests.walk import for_each
from wv_cli.errors import WvError
from wv_cli.models.classifier import load_classifier
from wv_cli.vectors.formats import load, open_vectors
from wv_cli.vectors.mapped_rows import MappedRows

FILES = [
    "gensim.vec", "gensim.bin", "gensim.npy", "glove.txt", "sign.codes", "sign.codes.txt", "ft-words.bin",
    "texts.d2v",
    "encoders/static-model2vec",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::wv_cli.errors.FormatWarning")
@for_each("name, mapped", [(name, mapped) for name in FILES for mapped in (False, True)])
def test_vectors_travel_before_and_after_a_query(name, mapped):
    vectors = load(GOLDEN / name, mapped=mapped)
    travel = [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy]
    others = [send(vectors) for send in travel]
    word = vectors.words[3]
    asked = vectors.neighbors(word, k=3)
    others += [send(vectors) for send in travel]
    for other in others:
        assert list(other.words) == list(vectors.words) and np.array_equal(other.matrix, vectors.matrix)
        assert other.neighbors(word, k=3) == asked
        if vectors.subwords is not None:
            assert np.array_equal(other["xyzzling"], vectors["xyzzling"])


@pytest.mark.parametrize("name", ["ft-labels.bin", "ft-labels.ftz", "cook-raw.ftz"])
def test_classifiers_travel_before_and_after_a_query(name):
    classifier = load_classifier(GOLDEN / name)
    lines = ["how do i bake bread ?", "a knife"]
    fresh = pickle.loads(pickle.dumps(classifier))
    answers = classifier.predict(lines, k=3)
    for other in (fresh, pickle.loads(pickle.dumps(classifier)), copy.copy(classifier), copy.deepcopy(classifier)):
        assert other.predict(lines, k=3) == answers


def test_a_mapped_model_is_pickled_as_its_file(tmp_path, monkeypatch):
    path = tmp_path / "m.bin"
    shutil.copy(GOLDEN / "ft-labels.bin", path)
    monkeypatch.chdir(tmp_path)
    classifier = load_classifier("m.bin")
    kept = pickle.dumps(classifier)
    assert len(kept) < 1000 < path.stat().st_size and str(path).encode() in kept
    monkeypatch.chdir("/")
    assert pickle.loads(kept).predict("bread") == classifier.predict("bread")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(WvError, match="is not the file that the pickled model was read from; load it"):
        pickle.loads(kept)
    path.unlink()
    with pytest.raises(WvError, match=r"m\.bin: cannot read: .* the pickled model holds only the path"):
        pickle.loads(kept)


def test_a_model_whose_file_has_gone_is_pickled_whole(tmp_path):
    path = tmp_path / "m.bin"
    shutil.copy(GOLDEN / "ft-words.bin", path)
    model, vectors = open_vectors(path), load(path)
    before = vectors["xyzzling"]
    path.rename(tmp_path / "elsewhere.bin")
    whole, word = pickle.loads(pickle.dumps(vectors)), pickle.loads(pickle.dumps(model)).word_vector("xyzzling")
    assert np.array_equal(whole["xyzzling"], before) and np.array_equal(word, before)


def test_mapped_rows_are_pickled_as_their_file_and_some_of_them_whole():
    rows, some = (load(GOLDEN / "gensim.bin", mapped=True, limit=limit) for limit in (None, 50))
    assert isinstance(rows, MappedRows) and len(pickle.dumps(rows)) < 1000
    found = pickle.loads(pickle.dumps(some))
    assert list(found.words) == list(some.words) and np.array_equal(found.matrix, some.matrix)


def test_other_processes_answer_the_same(monkeypatch):
    vectors, classifier = load(GOLDEN / "gensim.bin"), load_classifier(GOLDEN / "ft-labels.bin")
    words = list(vectors.words[:4])
    monkeypatch.setattr("sys.path", forked.PATH)  # a process that is spawned gets it, and must not find the checkout
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:  # Pool would start dying ones for ever
        assert [*pool.map(vectors.neighbors, words)] == [vectors.neighbors(word) for word in words]
        assert [*pool.map(classifier.predict, words)] == [classifier.predict(word) for word in words]
