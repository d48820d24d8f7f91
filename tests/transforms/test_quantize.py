"""Smaller fastText models: which rows stay, what their vectors become, how large the file is; retraining."""

import dataclasses
import importlib.util
import io

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.commands.retrain import retrainer
from wv_cli.errors import WvError
from wv_cli.evaluation.labeled_texts import labeled_texts
from wv_cli.evaluation.model_score import correlation, precision_at_1
from wv_cli.models.classifier import Classifier
from wv_cli.text.reading_config import AskedConfig
from wv_cli.transforms.config import QuantizeConfig
from wv_cli.transforms.quantize import cutoff_for_size, dense_bytes, prune, quantize, quantized_bytes
from wv_cli.vectors.fasttext import DenseMatrix, SparseRows
from wv_cli.vectors.formats.fasttext_bin import load_model, save_model
from wv_cli.vectors.quantizer import QuantMatrix

WORDS, LABELS = GOLDEN / "ft-words.bin", GOLDEN / "ft-labels.bin"
BOTH = pytest.mark.parametrize("path", [WORDS, LABELS], ids=lambda path: path.stem)
CONFIGS = pytest.mark.parametrize(
    "config",
    [
        QuantizeConfig(),
        QuantizeConfig(qnorm=True, dsub=3),
        QuantizeConfig(cutoff=300, qout=True),
        QuantizeConfig(cutoff=600, qnorm=True, qout=True, dsub=4),
        QuantizeConfig(cutoff=100),
    ],
    ids=str,
)


def written(model):
    stream = io.BytesIO()
    save_model(stream, model)
    return stream.getvalue()


def error(model, small):
    """The squared error of the words that are left, relative to their vectors."""
    kept = [model.words.find(word) for word in small.words]
    vectors = model.all_word_vectors()[kept].astype(np.float64)
    return ((small.all_word_vectors() - vectors) ** 2).sum() / (vectors**2).sum()


@BOTH
@CONFIGS
def test_file_has_the_size_foretold_and_reads_as_the_model(path, config, tmp_path):
    model = load_model(path)
    small = quantize(model, config)
    data = written(small)
    assert len(data) == quantized_bytes(small)
    assert dense_bytes(model) == path.stat().st_size
    save_model(tmp_path / "small.ftz", small)
    again = load_model(tmp_path / "small.ftz")
    assert written(again) == data
    line = b"the best recipe for brown bread of the first world war"
    np.testing.assert_allclose(again.sentence_vector(line), small.sentence_vector(line), atol=1e-6)


@BOTH
@CONFIGS
def test_cutoff_for_a_size_is_the_largest_that_fits(path, config):
    model = load_model(path)
    for cutoff in (300, 501):
        size = len(written(quantize(model, dataclasses.replace(config, cutoff=cutoff))))
        assert cutoff_for_size(model, size, config) == cutoff
        assert cutoff_for_size(model, size - 1, config) == cutoff - 1
    assert cutoff_for_size(model, 10**9, config) == 0
    with pytest.raises(WvError, match=r"cannot be made: with \d+ rows it would have"):
        cutoff_for_size(model, 1000, config)


def test_a_classifier_keeps_the_rows_fasttext_keeps():
    """Those of the largest norms, </s> before all; words in their order, buckets from the largest norm on."""
    model = load_model(LABELS)
    rows = model.input.take(np.arange(model.input.shape[0]))
    norms = np.linalg.norm(rows.astype(np.float64), axis=1)
    end = model.words.find("</s>")
    order = sorted(range(len(rows)), key=lambda row: (row != end, -norms[row]))[:700]
    words = sorted(row for row in order if row < len(model.words))
    buckets = [row for row in order if row >= len(model.words)]
    pruned = prune(model, 700)
    assert list(pruned.words) == [model.words[row] for row in words]
    np.testing.assert_array_equal(pruned.counts, model.counts[words])
    np.testing.assert_array_equal(pruned.kept_buckets[:, 0], np.array(buckets) - len(model.words))
    np.testing.assert_array_equal(pruned.kept_buckets[:, 1], np.arange(len(buckets)))
    np.testing.assert_array_equal(pruned.input.take(np.arange(700)), rows[words + buckets])


def test_word_vectors_lose_n_grams_before_words():
    model = load_model(WORDS)
    some = prune(model, len(model.words) + 40)
    assert some.words == model.words
    assert len(some.kept_buckets) == 40
    few = prune(model, 100)
    assert list(few.words) == list(model.words)[:100]
    assert len(few.kept_buckets) == 0
    assert few.output.shape == (100, model.dim)
    assert prune(model, 0) is model
    assert prune(model, model.input.shape[0]) is model


@pytest.mark.parametrize("qnorm", [False, True])
@pytest.mark.parametrize("cutoff", [0, 600, 300, 225, 100])
def test_words_keep_their_vectors_when_their_n_grams_go(cutoff, qnorm):
    model = load_model(WORDS)
    small = quantize(model, QuantizeConfig(cutoff=cutoff, qnorm=qnorm))
    plain = prune(model, cutoff)
    plain = dataclasses.replace(plain, input=QuantMatrix.fit(plain.input, 2, norms_apart=qnorm))
    assert error(model, small) < 0.005
    assert error(model, small) < error(model, plain)


def test_result_does_not_depend_on_threads_or_on_how_the_matrix_is_held():
    model = load_model(LABELS)
    rows = model.input.take(np.arange(model.input.shape[0]))
    kept = np.flatnonzero(rows.any(axis=1))
    sparse = dataclasses.replace(model, input=SparseRows(rows.shape, kept, rows[kept]))
    config = QuantizeConfig(qnorm=True, qout=True)
    data = written(quantize(model, config))
    assert written(quantize(model, dataclasses.replace(config, threads=3))) == data
    assert written(quantize(sparse, config)) == data


def test_output_matrix():
    words, labels = load_model(WORDS), load_model(LABELS)
    dropped = quantize(words, QuantizeConfig()).output
    assert dropped.codes.shape == (len(words.words), 1)
    assert not dropped.dense().any()
    coded = quantize(words, QuantizeConfig(qout=True)).output
    before = words.output.take(np.arange(len(words.words)))
    assert ((coded.dense() - before) ** 2).sum() < 0.01 * (before**2).sum()
    # 168 labels: their codebook would be larger than their rows.
    assert quantize(labels, QuantizeConfig(qout=True)).output is labels.output


def test_models_that_cannot_be_quantized():
    with pytest.raises(WvError, match=r"quantized already; start from the \.bin"):
        quantize(load_model(GOLDEN / "ft-labels.ftz"), QuantizeConfig())
    model = load_model(LABELS)
    rows = model.input.take(np.arange(model.input.shape[0])).copy()
    rows[7, 3] = np.nan
    with pytest.raises(WvError, match="NaN"):
        quantize(dataclasses.replace(model, input=DenseMatrix(rows)), QuantizeConfig())


@pytest.fixture(scope="module")
def labeled(tmp_path_factory):
    """Lines of the model's words with the label that the model gives them: a task on which it makes no mistake."""
    model = load_model(LABELS)
    random = np.random.default_rng(1)
    rates = model.counts / model.counts.sum()
    lines = [" ".join(model.words[i] for i in random.choice(len(rates), 8, p=rates)) for _ in range(1500)]
    lines = [line.replace("</s>", "bread") for line in lines]
    answered = Classifier(model, "x").answer("".join(f"{line}\n" for line in lines).encode(), 1)
    path = tmp_path_factory.mktemp("labeled") / "text.txt"
    path.write_text(
        "".join(f"{model.labels[k]} {line} unheard\n" for k, line in zip(answered.labels[:, 0], lines, strict=True))
    )
    return path


def score(model, path):
    classifier = Classifier(model, str(path))
    return precision_at_1(classifier, labeled_texts([str(path)], classifier, (), AskedConfig(), print))


def test_retraining_wins_back_what_pruning_lost(labeled):
    model = load_model(LABELS)
    config = QuantizeConfig(cutoff=120, qnorm=True, epochs=10, lr=0.3)
    dense, pruned = score(model, labeled), score(quantize(model, config), labeled)
    retrained = quantize(model, config, retrainer([str(labeled)], config))
    assert dense > 0.8
    assert pruned < dense - 0.1
    assert score(retrained, labeled) > pruned + 0.05
    assert retrained.words == prune(model, 120).words
    assert (retrained.kept_buckets == prune(model, 120).kept_buckets).all()


def test_retraining_without_any_step_changes_nothing(labeled):
    """All words, buckets and labels find their rows again: with a rate of next to nothing the rows stay as they are."""
    model = load_model(LABELS)
    pruned = prune(model, 2000)
    config = QuantizeConfig(cutoff=2000, epochs=1, lr=1e-12)
    same = retrainer([str(labeled)], config)(pruned)
    rows = np.arange(2000)
    np.testing.assert_allclose(same.input.take(rows), pruned.input.take(rows), atol=1e-6)
    labels = np.arange(len(model.labels))
    np.testing.assert_allclose(same.output.take(labels), pruned.output.take(labels), atol=1e-6)


def test_retraining_needs_the_models_labels(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("__label__ours some words\n__label__theirs other words\n")
    model = prune(load_model(LABELS), 500)
    with pytest.raises(WvError, match="none of the model's labels"):
        retrainer([str(text)], QuantizeConfig(cutoff=500))(model)


def test_score_of_word_vectors(data):
    model = load_model(WORDS)
    pairs = str(data / "similarity" / "EN-WS-353-ALL.txt")
    small = quantize(model, QuantizeConfig(qnorm=True))
    before, after = correlation(model, pairs), correlation(small, pairs)
    assert after == pytest.approx(before, abs=0.02)


@pytest.mark.skipif(importlib.util.find_spec("fasttext") is None, reason="fastText is not installed")
@BOTH
@CONFIGS
def test_fasttext_gives_the_same_vectors(path, config, tmp_path):
    import fasttext

    small = quantize(load_model(path), config)
    save_model(tmp_path / "small.ftz", small)
    theirs = fasttext.load_model(str(tmp_path / "small.ftz"))
    for word in ["the", "</s>", "kingliness", "bread"]:
        np.testing.assert_allclose(theirs.get_word_vector(word), small.word_vector(word), atol=1e-6)
