"""Runs of doc2vec: what their files hold is all that a new text needs, and what a user gets of them."""

import numpy as np
import pytest

from wv_cli import train
from wv_cli.errors import BadFile
from wv_cli.io.input import open_input
from wv_cli.models.doc2vec import Doc2vec
from wv_cli.models.sentence_config import Doc2vecConfig
from wv_cli.models.training.run import train as run_all
from wv_cli.models.training.threads import Threads
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode
from wv_cli.vectors import formats
from wv_cli.vectors.document_models import line_vectors
from wv_cli.vectors.formats.document_models import read_model, save_model

WORDS = ["salt pepper soup spoon plate onion the king", "queen king castle crown land sword the salt"]
TOPICS = [["the salt soup", "pepper on a plate of onion"], ["the queen land", "crown sword and castle"]]
DOC2VEC = [{}, {"loss": "hs"}, {"algorithm": "dm_mean", "context": "around"}, {"algorithm": "dm_concat", "window": 2}]


@pytest.fixture
def text(tmp_path):
    """Lines of two kinds, and every third one empty."""
    path = tmp_path / "text.txt"
    random = np.random.default_rng(1)
    lines = [" ".join(random.choice(WORDS[number % 2].split(), 7)) for number in range(300)]
    path.write_text("\n".join(line for number in range(0, 300, 2) for line in (*lines[number : number + 2], "")))
    return path


def opened(path):
    with open_input(path) as source:
        return read_model(source)


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


def test_lines_of_a_kind_are_near_each_other(text, tmp_path):
    path = tmp_path / "model.d2v"
    train(text, path, model="doc2vec", min_count=1, dim=2, sample=0, epochs=60, lr=0.05)
    (soup, plate), (land, castle) = (line_vectors(opened(path), lines) for lines in TOPICS)
    across = [cosine(a, b) for a in (soup, plate) for b in (land, castle)]
    assert min(cosine(soup, plate), cosine(land, castle)) > max(across)


@pytest.mark.parametrize("options", DOC2VEC, ids=str)
def test_its_loss_falls(options, text, tmp_path):
    path, given = (
        tmp_path / "model.d2v",
        {"model": "doc2vec", "min_count": 1, "dim": 8, "sample": 0, "lr": 0.1, **options},
    )
    first, last = (train(text, path, epochs=epochs, **given)["mean_loss"] for epochs in (1, 20))
    assert last < first


@pytest.mark.parametrize("options", DOC2VEC, ids=str)
def test_a_new_text_has_one_vector_whatever_stands_beside_it(options, text):
    corpus = encode([str(text)], VocabConfig(min_count=1), every_line=True)
    run = Doc2vec(Doc2vecConfig(dim=6, epochs=3, sample=0, lr=0.1, **options), corpus)
    assert run_all(Threads(run)).is_finished
    model = run.model()
    alone, among = (
        line_vectors(model, ["salt with soup"]),
        line_vectors(model, ["queen king", "", "salt with soup", "soup"]),
    )
    np.testing.assert_array_equal(alone[0], among[2])
    assert alone.any() and not among[1].any() and not np.array_equal(among[0], among[3])


@pytest.mark.parametrize("options", DOC2VEC, ids=str)
def test_what_is_saved_answers_as_what_was_trained(options, text, tmp_path):
    corpus = encode([str(text)], VocabConfig(min_count=1), every_line=True)
    run = Doc2vec(Doc2vecConfig(dim=6, epochs=3, sample=0, lr=0.1, **options), corpus)
    assert run_all(Threads(run)).is_finished
    model = run.model()
    save_model(tmp_path / "model.d2v", model)
    lines = ["queen king", "the salt of the castle"]
    np.testing.assert_array_equal(line_vectors(opened(tmp_path / "model.d2v"), lines), line_vectors(model, lines))
    assert formats.load(tmp_path / "model.d2v").matrix.shape == (len(corpus.vocab), 6)


def test_documents_have_the_numbers_of_their_lines(text, tmp_path):
    """Empty lines count, and their vectors are zero."""
    files = [str(tmp_path / name) for name in ("model.d2v", "documents.vec")]
    report = train(text, files[0], model="doc2vec", min_count=1, dim=8, doc_vectors=files[1])
    assert report["outputs"] == files
    documents = formats.load(tmp_path / "documents.vec")
    lines = text.read_text().split("\n")
    assert len(lines) >= len(documents) >= len(lines) - 1
    assert list(documents.words) == [str(number) for number in range(len(documents))]
    assert [not row.any() for row in documents.matrix] == [not line for line in lines[: len(documents)]]


def test_a_lowercased_model_lowercases_what_it_is_asked(text, tmp_path):
    path = tmp_path / "model.d2v"
    train(text, path, model="doc2vec", min_count=1, dim=4, epochs=1, lowercase=True)
    upper, lower = line_vectors(opened(path), ["The KING", "the king"])
    np.testing.assert_array_equal(upper, lower)
    assert upper.any()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("doc3vec", "expected a model of doc2vec, found one of doc3vec; update wv"),
        ("sent2vec", "a model of sent2vec, which wv 0.4.0 was the last to read"),
    ],
)
def test_a_model_that_this_version_does_not_know_is_refused(kind, told, text, tmp_path):
    path = tmp_path / "model.d2v"
    train(text, path, model="doc2vec", min_count=1, dim=4, epochs=1)
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"doc2vec"', f'"{kind}"'.encode() + b" " * (7 - len(kind)), 1))
    with pytest.raises(BadFile, match=told):
        opened(path)
