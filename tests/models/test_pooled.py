"""The pooled classifier: what it learns, the same lines read in training and prediction, files, calibration."""

import json
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from wv_cli import load_classifier, quantize, train
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import LabelsConfig
from wv_cli.models.pooled import Pooled
from wv_cli.models.pooled_calibration import fit_temperatures, read_held_out
from wv_cli.models.pooled_classifier import PooledClassifier
from wv_cli.models.pooled_files import load_pooled, save_pooled
from wv_cli.models.pooled_reader import LineReader
from wv_cli.models.sentence_config import PooledConfig
from wv_cli.models.text_classifier import ALL
from wv_cli.text import labeled
from wv_cli.transforms.config import POOLED_CUTOFF
from wv_cli.transforms.quantize_pooled import prune_pooled

SMALL = {"model": "pooled", "dim": 8, "ngram_dim": 8, "epochs": 8, "seed": 1}
WORDS = {"good": ["fine", "lovely", "great", "superb"], "bad": ["awful", "dull", "poor", "boring"]}


def lines(count, seed=1):
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        label = ["good", "bad"][random.integers(2)]
        said = [*random.choice(WORDS[label], 2), *random.choice(["the", "film", "was", "a"], 4)]
        found.append(f"__label__{label} {' '.join(random.permutation(said))}\n")
    return found


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("pooled") / "lines.txt"
    path.write_text("".join(lines(200)))
    return path


@pytest.fixture(scope="module")
def static(tmp_path_factory, text):
    """A static embedding of the words."""
    folder = tmp_path_factory.mktemp("static")
    pairs = folder / "pairs.tsv"
    told = [line.split(" ", 1)[1].strip() for line in lines(60, seed=3)]
    pairs.write_text("anchor\tpositive\n" + "".join(f"{one}\t{two}\n" for one, two in pairwise(told)))
    train(pairs, f"{folder}/model/", model="pairs", dim=16, epochs=1, min_count=1)
    return folder / "model"


@pytest.fixture(scope="module", params=["words", "pieces"])
def model(request, text, static, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / "judge"
    first = {"init": str(static), "dim": 16} if request.param == "pieces" else {}
    train(text, path, **{**SMALL, **first})
    return path


def share_right(classifier):
    told = lines(100, seed=2)
    answers = classifier.predict([line.split(" ", 1)[1].strip() for line in told])
    return np.mean([found[0][0] == line.split(" ", 1)[0] for found, line in zip(answers, told, strict=True)])


def test_learns_what_lines_say(model):
    classifier = load_classifier(model)
    assert sorted(classifier.labels) == ["__label__bad", "__label__good"]
    assert share_right(classifier) > 0.95


def test_answers_are_a_distribution(model):
    classifier = load_classifier(model)
    (every,) = classifier.predict("a superb film", k=ALL)
    assert sum(p for _, p in every) == pytest.approx(1, abs=1e-4)
    assert [p for _, p in every] == sorted((p for _, p in every), reverse=True)
    assert classifier.predict("a superb film", k=1) == [every[:1]]
    assert classifier.predict("a superb film", k=2, threshold=0.999999) == [[]]
    assert classifier.predict(["", "zzz qqq"]) == [[], []] or load_pooled(model).reading.tokenizer is not None
    assert classifier.predict([]) == []
    assert len(classifier.answer(b"").found) == 0


def test_labels_in_a_line_are_not_read(model):
    classifier = load_classifier(model)
    plain, labeled = classifier.predict(["a superb film", "a superb __label__bad film"])
    assert plain == labeled
    answered = classifier.answer(b"a __label__bad film\nno label\n")
    assert [classifier.labels[label] for label in answered.true_labels] == ["__label__bad"]
    assert answered.true_starts.tolist() == [0, 1, 1]


def test_blocks_and_threads_change_no_answer(model):
    classifier = load_classifier(model)
    text = "".join(lines(300, seed=4)).encode()
    whole = classifier.answer(text, ALL)
    chunks = [text[start : start + 1000] for start in range(0, len(text), 1000)]
    parts = list(classifier.answers(chunks, ALL, threads=2))
    assert np.array_equal(np.concatenate([part.labels for part in parts]), whole.labels)
    assert np.array_equal(np.concatenate([part.scores for part in parts]), whole.scores)
    line = text.split(b"\n")[0] + b"\n"
    assert classifier.answer_line(line, ALL)[0] == whole.labels[0].tolist()


def test_long_lines_are_read_up_to_a_bound(model):
    classifier = load_classifier(model)
    long = b"a superb film was " * 150_000  # 2.7 MB
    answered = classifier.answer(b"dull\n" + long + b"\ndull\n")
    assert answered.labels[0].tolist() == answered.labels[2].tolist() == classifier.answer(b"dull\n").labels[0].tolist()
    assert answered.found.tolist() == [1, 1, 1]
    assert 4 * 30_000 < answered.seen[1, 0] < 4 * 100_000
    assert len(classifier.answer(long).found) == 1


def test_training_reads_lines_as_prediction_does(model, text):
    """The reading of a model's file gives the features that it was trained on: those of the text."""
    reading = load_pooled(model).reading
    read = LineReader(reading, "x").read(text.read_bytes())
    assert len(read) == 200
    assert len(np.unique(read.features)) == len(reading.idf)
    for values, starts in ((read.values, read.feature_starts), (read.token_values, read.starts)):
        squares = np.add.reduceat(values.astype(np.float64) ** 2, starts[:-1])
        assert squares == pytest.approx(np.ones(200), rel=1e-5)


def test_max_length_bounds_tokens(model):
    reading = replace(load_pooled(model).reading, max_length=3)
    read = LineReader(reading, "x").read(b"a superb film was dull\na\n")
    assert np.diff(read.starts).tolist() == [3, 1]


def test_lowercase_is_kept_for_prediction(text, tmp_path):
    upper = tmp_path / "upper.txt"
    upper.write_text("".join(lines(200)).replace("superb", "Superb"))
    train(upper, tmp_path / "judge", **SMALL, lowercase=True)
    classifier = load_classifier(tmp_path / "judge")
    assert classifier.predict("SUPERB film") == classifier.predict("superb film") != [[]]


def test_two_threads_learn_too(text, tmp_path):
    train(text, tmp_path / "judge", **SMALL, threads=2)
    assert share_right(load_classifier(tmp_path / "judge")) > 0.95


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_threads_exchange_output_weights(model, text, threads):
    """Several have replicas; of one, every step moves the weights themselves."""
    reading = load_pooled(model).reading
    read = LineReader(reading, "x").read(text.read_bytes())
    pooled = Pooled(PooledConfig(dim=8, ngram_dim=8, threads=threads), reading, read)
    worker, steps = pooled.worker(), 0
    while not pooled.tokens.output.any():
        pooled.train_step(steps, worker)
        steps += 1
    assert steps == {1: 1, 2: 5, 64: 2}[threads], "a replica is exchanged before the next step"
    before = pooled.tokens.output.copy()
    pooled.flush(worker)
    assert (pooled.tokens.output != before).any() == (threads > 1)


def test_file_keeps_all(model, tmp_path):
    made = load_pooled(model)
    save_pooled(tmp_path / "again", made)
    assert (tmp_path / "again").read_bytes() == model.read_bytes()


def test_quantized_answers_nearly_alike(model, tmp_path):
    made = load_pooled(model)
    save_pooled(tmp_path / "small", made, quantized=True)
    told = "".join(lines(100, seed=5)).encode()
    whole, small = (load_classifier(path).answer(told, ALL) for path in (model, tmp_path / "small"))
    order = [np.argsort(each.labels, axis=1) for each in (whole, small)]
    probabilities = [
        np.take_along_axis(each.probabilities, o, axis=1) for each, o in zip((whole, small), order, strict=True)
    ]
    assert np.abs(probabilities[0] - probabilities[1]).max() < 0.05
    assert (tmp_path / "small").stat().st_size < model.stat().st_size


def test_vectors_of_words_begin_a_table(text, tmp_path):
    vectors = tmp_path / "v.vec"
    vectors.write_text("2 3\nsuperb 1 2 3\nnowhere 4 5 6\n")
    small = {name: value for name, value in SMALL.items() if name != "dim"}
    train(text, tmp_path / "judge", **{**small, "epochs": 0}, init=str(vectors))
    assert json.loads((tmp_path / "judge.meta.json").read_text())["config"]["dim"] == 3
    made = load_pooled(tmp_path / "judge")
    row = made.tokens.rows[made.reading.words.find("superb"), :3]
    assert row / row[0] == pytest.approx(np.array([1, 2, 3]), rel=1e-5)
    (tmp_path / "v.vec").write_text("1 3\nnowhere 4 5 6\n")
    with pytest.raises(BadFile, match="vectors of words of the lines"):
        train(text, tmp_path / "judge", **small, init=str(vectors))


def test_another_dimension_than_that_of_the_first_rows_is_refused(text, tmp_path, static):
    vectors = tmp_path / "v.vec"
    vectors.write_text("1 3\nsuperb 1 2 3\n")
    for init in (vectors, static):
        with pytest.raises(UsageError, match=r"init .*: expected vectors of dim 2, found \d+; leave dim out"):
            train(text, tmp_path / "judge", **{**SMALL, "dim": 2}, init=str(init))


def test_calibration_undoes_a_scale(model, text):
    made, told = load_pooled(model), "".join(lines(300, seed=6)).replace("superb", "dull").encode()
    (found,) = fit_temperatures(made, read_held_out(made.reading, told, "held out"))
    for head in (made.tokens, made.ngrams):
        head.output[...] *= 2
    (again,) = fit_temperatures(made, read_held_out(made.reading, told, "held out"))
    assert again == pytest.approx(2 * found, rel=1e-2)
    with pytest.raises(BadFile, match="expected labeled lines to calibrate on"):
        read_held_out(made.reading, b"no label\n", "held out")


@pytest.mark.parametrize("name", ["{}", "hard.txt", "link.txt", "folder"])
def test_calibration_is_on_other_lines(text, tmp_path, name, monkeypatch):
    """The model is too sure of lines that it has learnt: the same file is refused before it is read, however named."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for link in ("hard.txt", "folder/a.txt"):
        (tmp_path / link).hardlink_to(text)
    (tmp_path / "link.txt").symlink_to(text)
    monkeypatch.setattr(labeled, "encode_labeled", None)
    for inputs, calibration in ((text, name.format(text)), (name.format(text), text)):
        with pytest.raises(UsageError, match=r"calibration: .* is among inputs"):
            train(inputs, "judge", **SMALL, calibration=calibration)
    assert not (tmp_path / "judge").exists()


def test_calibration_is_in_the_file(text, tmp_path):
    held = tmp_path / "held.txt"
    held.write_text("".join(lines(50, seed=7)).replace("superb", "dull"))
    report = train(text, tmp_path / "judge", **SMALL, calibration=str(held))
    assert abs(np.log(report["temperature"])) > 0.01
    assert load_pooled(tmp_path / "judge").temperatures[0] == pytest.approx(report["temperature"])


def test_refuses_what_does_not_fit(text, tmp_path):
    with pytest.raises(UsageError, match="vocab has no effect"):
        train(text, tmp_path / "judge", **SMALL, vocab=str(text))
    with pytest.raises(WvError, match="no labels"):
        (tmp_path / "plain.txt").write_text("no label here\n")
        train(tmp_path / "plain.txt", tmp_path / "judge", **SMALL)


def test_pickles(model):
    classifier = pickle.loads(pickle.dumps(load_classifier(model)))
    assert isinstance(classifier, PooledClassifier)
    assert classifier.predict("a superb film") == load_classifier(model).predict("a superb film")


def test_quantize_writes_bytes_and_tells_the_loss(model, text, tmp_path):
    report = quantize(model, tmp_path / "small", validation=str(text))
    assert report["bytes"] == (tmp_path / "small").stat().st_size < report["bytes_before"] == model.stat().st_size
    assert report["score_after"] == pytest.approx(report["score_before"], abs=0.02)
    assert share_right(load_classifier(tmp_path / "small")) > 0.95
    with pytest.raises(UsageError, match="dsub has no effect with"):
        quantize(model, tmp_path / "small", dsub=4)
    with pytest.raises(WvError, match="small is quantized already; start from the model it was made of"):
        quantize(tmp_path / "small", tmp_path / "smaller")


def test_pruning_keeps_words_and_the_n_grams_that_move_texts_most(model):
    made = load_pooled(model)
    words, rows = len(made.reading.words), made.ngrams.arrays()[0]
    small = prune_pooled(made, words + 5)
    weights = [np.linalg.norm(row) * idf for row, idf in zip(rows, made.reading.idf, strict=True)]
    expected = np.sort(np.argsort(weights[words:])[::-1][:5])
    assert small.reading.kept.tolist() == made.reading.kept[expected].tolist()
    for place, ngram in enumerate([*range(words), *(words + expected)]):
        assert small.reading.idf[place] == made.reading.idf[ngram]
        assert np.array_equal(small.ngrams.rows[place], made.ngrams.rows[ngram])
    read = LineReader(small.reading, "x").read("".join(lines(50)).encode())
    assert 0 < len(read.features) < len(LineReader(made.reading, "x").read("".join(lines(50)).encode()).features)
    assert len(prune_pooled(made, 1).ngrams.rows) == words
    assert prune_pooled(made, 0) is prune_pooled(made, len(rows)) is made


def test_quantize_drops_n_grams_to_a_cutoff_or_a_size(model, tmp_path):
    rows = len(load_pooled(model).ngrams.rows)
    whole, many = (quantize(model, tmp_path / f"{cutoff}", cutoff=cutoff) for cutoff in (0, rows - 40))
    assert (whole["rows_before"], whole["rows"], many["rows"]) == (rows, rows, rows - 40)
    assert quantize(model, tmp_path / "default")["rows"] == min(rows, POOLED_CUTOFF)
    found = quantize(model, tmp_path / "sized", size=many["bytes"])
    assert found["bytes"] == (tmp_path / "sized").stat().st_size <= many["bytes"]
    assert rows - 50 < found["rows"] <= rows - 40
    assert share_right(load_classifier(tmp_path / "sized")) > 0.95
    with pytest.raises(WvError, match=r"a model of 1,000 bytes cannot be made: without n-grams it has \d"):
        quantize(model, tmp_path / "tiny", size=1000)
    assert not (tmp_path / "tiny").exists()


def test_reliability_of_probabilities(model, tmp_path):
    data = tmp_path / "data.txt"
    data.write_text("".join(lines(100, seed=8)))
    config = LabelsConfig(reliability=True, threads=1)
    report = TASKS["labels"].run([Vectors(str(model), lambda: pytest.fail("no vectors"))], [str(data)], config)
    rows = [row for row in report.rows if "mean p" in row["label"]]
    assert sum(row["predicted"] for row in rows) == 100
    answered = load_classifier(model).answer(data.read_bytes())
    right = answered.labels[:, 0] == answered.true_labels
    assert sum(row["right"] for row in rows) == right.sum()
    for row in rows:
        low = float(row["label"].split(" to ")[0])
        assert low <= float(row["label"].split(" p ")[1]) <= low + 0.1001
        assert row["precision"] == row["right"] / row["predicted"]
    assert any("expected calibration error" in note for note in report.notes)
