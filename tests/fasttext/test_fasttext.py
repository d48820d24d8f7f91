"""fastText's Python module: answers to golden models, trainings, errors in its words."""

import pickle
import shutil

import numpy as np
import pytest

import wv_cli.fasttext as fasttext
from tests.conftest import GOLDEN
from tests.guides import console
from wv_cli.errors import WvError
from wv_cli.fasttext.FastText import _FastText, loss_name
from wv_cli.guides import guide_text


@pytest.fixture(scope="module")
def classifier():
    return fasttext.load_model(GOLDEN / "ft-labels.bin")


@pytest.fixture(scope="module")
def words():
    return fasttext.load_model(GOLDEN / "ft-words.bin")


@pytest.fixture(scope="module")
def labeled(tmp_path_factory):
    """The vocabulary is large enough to be quantized."""
    path = tmp_path_factory.mktemp("labeled") / "train.txt"
    lines = (f"__label__{'ab'[i % 2]} {('x y', 'q r')[i % 2]} word{i % 300}" for i in range(1000))
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def test_a_line_is_answered_as_fasttext_does(classifier):
    labels, probabilities = classifier.predict("how to cook rice", k=3)
    assert labels == ("__label__rice", "__label__microwave", "__label__food-safety")
    assert probabilities.dtype == np.float64
    assert probabilities == pytest.approx([0.379764, 0.0896807, 0.0851199], rel=1e-5)
    assert classifier.predict("")[0] == classifier.predict("  ")[0] == ("__label__sauce",)
    assert classifier.predict("how", k=-1, threshold=0.1)[0] == ("__label__equipment", "__label__storage-method")
    assert len(classifier.predict("how", k=-1)[0]) == len(classifier.labels)
    labels, probabilities = classifier.predict("how", threshold=1.1)
    assert labels == () and probabilities.shape == (0,)


def test_a_list_is_answered_as_its_lines_are(classifier):
    lines = ["how to cook rice", "eggs", "", "\tpie crust\r", "x" * 50]
    labels, probabilities = classifier.predict(lines, k=4, threshold=0.01)
    for line, own, numbers in zip(lines, labels, probabilities, strict=True):
        one, expected = classifier.predict(line, k=4, threshold=0.01)
        assert own == list(one) and numbers.dtype == np.float32 and numbers.tolist() == expected.tolist()
    assert classifier.predict([]) == ([], [])
    assert classifier.predict(lines, threshold=1.1)[0] == [[]] * 5
    assert classifier.predict(lines, on_unicode_error="replace")[0] == classifier.predict(lines)[0]


def test_a_line_of_megabytes_is_answered(classifier):
    labels, probabilities = classifier.predict("rice " * 300_000)
    assert labels == classifier.predict("rice " * 3000)[0] and 0 < probabilities[0] <= 1.0001


def test_words_and_neighbors(words):
    assert [word for _, word in words.get_nearest_neighbors("the", 3)] == ["based", "both", "by"]
    assert [word for _, word in words.get_analogies("the", "of", "in", 3)] == ["and", "country", "city"]
    assert len(words.get_nearest_neighbors("the", k=-1)) == len(words.words) - 1
    parts, rows = words.get_subwords("the")
    assert parts == ["the", "<th", "<the", "<the>", "the", "the>", "he>"]
    assert rows.tolist() == [0, 376, 451, 685, 705, 659, 505] and words.get_subword_id("<th") == 376
    mean = words.get_input_matrix()[rows].mean(axis=0)
    assert words["the"] == pytest.approx(mean, abs=1e-6)
    assert words.get_input_vector(376) == pytest.approx(words.get_input_matrix()[376])
    assert "the" in words and "thezz" not in words and words.get_word_id("thezz") == -1
    assert words.get_labels() == words.words


def test_lines_are_cut_into_words_and_known_labels(classifier):
    line = "__label__bread how to __label__zz zzz"
    assert classifier.get_line(line) == (["how", "to", "zzz", "</s>"], ["__label__bread"])
    assert classifier.get_line([line, ""]) == ([["how", "to", "zzz", "</s>"], ["</s>"]], [["__label__bread"], []])
    assert fasttext.tokenize("a b\nc\x00d") == ["a", "b", "</s>", "c", "d"]


def test_a_classifier_is_trained_scored_quantized_and_saved(labeled, tmp_path):
    model = fasttext.train_supervised(labeled, epoch=3, thread=1, word_ngrams=1)
    assert (model.lr, model.epoch, model.bucket, model.loss) == (0.1, 3, 0, loss_name.softmax)
    assert model.test(labeled) == (1000, 1.0, 1.0)
    assert model.test_label(labeled)["__label__a"] == {"precision": 1.0, "recall": 1.0, "f1score": 1.0}
    meter = model.get_meter(labeled)
    assert meter.precision_at_recall(0.5) == meter.recall_at_precision(0.9, "__label__a") == 1.0
    scores, right = meter.score_vs_true("__label__a")
    assert len(scores) == 1000 and right.sum() == 500 and np.all(np.diff(scores) >= 0)
    assert pickle.loads(pickle.dumps(model)).predict("x y")[0] == model.predict("x y")[0]
    model.quantize(input=labeled, retrain=True, cutoff=260, qnorm=True)
    assert model.is_quantized() and len(model.words) == 260
    model.save_model(tmp_path / "m.ftz")
    again = _FastText(model_path=str(tmp_path / "m.ftz"))
    assert again.predict("x y") == model.predict("x y") and not hasattr(again, "lr")
    with pytest.raises(ValueError, match="Can't get quantized Matrix"):
        again.get_input_matrix()


@pytest.mark.parametrize("model", ["cbow", "skipgram"])
def test_word_vectors_are_trained(labeled, model):
    trained = fasttext.train_unsupervised(labeled, model, dim=10, bucket=500, epoch=1, thread=1)
    assert trained.get_input_matrix().shape == (len(trained.words) + 500, 10) and trained.minCount == 5
    reduced = fasttext.util.reduce_model(trained, 4)
    assert reduced is trained and trained.get_word_vector("x").shape == (4,) and trained.get_dimension() == 4


def test_the_example_of_the_guide(labeled, tmp_path, monkeypatch):
    (code,) = console.blocks(guide_text("fasttext-module"), "python")
    shutil.copy(labeled, tmp_path / "cooking.train")
    monkeypatch.chdir(tmp_path)
    exec(code, found := {})
    labels, _ = found["model"].predict("x y", k=3)
    assert labels[0] == "__label__a" and fasttext.load_model("cooking.bin").predict("x y", k=3)[0] == labels


def test_the_nearest_row():
    rows = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
    products = np.empty(3, np.float32)
    assert fasttext.util.find_nearest_neighbor(np.array([2, 1], np.float32), rows, {2}, products) == 0
    assert products.tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, f: m.predict("a\nb"), "predict processes one line at a time"),
        (lambda m, f: m.predict(["a", "b\n"]), "predict processes one line at a time"),
        (lambda m, f: m.predict("a", k=0), "k needs to be 1 or higher!"),
        (lambda m, f: m.test("nowhere"), "Test file cannot be opened!"),
        (lambda m, f: fasttext.load_model("nowhere"), "nowhere cannot be opened for loading!"),
        (lambda m, f: fasttext.load_model(f), "has wrong file format!"),
        (lambda m, f: fasttext.train_supervised("-"), "Cannot use stdin for training!"),
        (lambda m, f: fasttext.train_supervised("nowhere"), "nowhere cannot be opened for training!"),
        (lambda m, f: fasttext.train_supervised(f, dim=0), "dim must be between"),
        (lambda m, f: fasttext.train_unsupervised(f, neg=0), "^neg 0: "),
        (lambda m, f: fasttext.train_unsupervised(f, minCount=10**6), "Empty vocabulary"),
        (lambda m, f: fasttext.train_supervised(f, pretrainedVectors="no"), "no cannot be opened for loading!"),
    ],
)
def test_mistakes_are_told_in_fasttexts_words(classifier, labeled, call, message):
    with pytest.raises(ValueError, match=message) as raised:
        call(classifier, labeled)
    assert isinstance(raised.value, WvError)


def test_unknown_names_are_refused(labeled, words):
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        fasttext.train_supervised(labeled, foo=1)
    with pytest.raises(TypeError, match="multiple values for argument 'input'"):
        fasttext.train_supervised(labeled, input=labeled)
    with pytest.raises(ValueError, match="Unrecognized loss name"):
        fasttext.train_supervised(labeled, loss="x")
    for wrong in (None, ("a", "b"), b"a"):
        with pytest.raises(TypeError, match=f"text: expected a line as str, .*, found {type(wrong).__name__}"):
            fasttext.load_model(GOLDEN / "ft-labels.bin").predict(wrong)
    with pytest.raises(ValueError, match="Model needs to be supervised"):
        words.predict("a")
    with pytest.raises(AttributeError, match=r"call the model's methods, as is_quantized\(\) for f.isQuant"):
        words.f.isQuant()
    with pytest.raises(Exception, match="Please use `train_supervised`"):
        fasttext.supervised(labeled)
