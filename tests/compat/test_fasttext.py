"""What the recorded runs of fastText do not show: files are sound, and there together or not; pipes are answered."""

import lzma
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import wv_cli
from tests.compat import replay
from tests.conftest import Run
from tests.processes import Process
from wv_cli.models.classifier import load_classifier
from wv_cli.vectors.formats.fasttext_bin import load_model

SMALL = ("-thread", 1, "-verbose", 0)


@pytest.fixture
def cook(tmp_path: Path) -> Path:
    return _laid("cook.train", tmp_path)


@pytest.fixture
def prose(tmp_path: Path) -> Path:
    return _laid("text300.txt", tmp_path)


def _laid(name: str, folder: Path) -> Path:
    path = folder / name
    path.write_bytes((replay.inputs() / name).read_bytes())
    return path


def rows(path: Path) -> dict[str, np.ndarray]:
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    found = {line.split(" ")[0]: np.array(line.split(" ")[1:-1], np.float32) for line in lines}
    assert header == f"{len(found)} {len(next(iter(found.values())))}"
    return found


def test_a_classifier_is_one_of_ours(wv: Run, cook: Path, tmp_path: Path) -> None:
    asked = ("-input", cook, "-output", "m", "-dim", 6, "-epoch", 20, "-lr", 0.5, "-wordNgrams", 2, "-bucket", 1000)
    done = wv("fasttext", "supervised", *asked, "-saveOutput", *SMALL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path.name for path in tmp_path.iterdir()} == {cook.name, "m.bin", "m.vec", "m.output"}
    classifier, model = load_classifier(tmp_path / "m.bin"), load_model(tmp_path / "m.bin")
    assert classifier.predict("how long to bake bread")[0][0][0] in ("__label__baking", "__label__bread")
    for name, words, matrix in (
        ("m.vec", model.words, model.all_word_vectors()),
        ("m.output", model.labels, model.output.take(np.arange(len(model.labels)))),
    ):
        found = rows(tmp_path / name)
        assert list(found) == list(words)
        np.testing.assert_allclose(np.array(list(found.values())), matrix, rtol=1e-4)
    ours = wv("predict", "m.bin", cook, "--prob", "-k", 2).stdout
    assert wv("fasttext", "predict-prob", "m.bin", cook, 2).stdout == ours


def test_labels_are_no_words(wv: Run, cook: Path) -> None:
    done = wv("fasttext", "skipgram", "-input", cook, "-output", "m", "-dim", 4, "-epoch", 1, "-maxn", 0, *SMALL)
    assert done.returncode == 0, done.stderr
    model = load_model(cook.with_name("m.bin"))
    assert len(model.labels) == 537 and all(label.startswith("__label__") for label in model.labels)
    assert not any(word.startswith("__label__") for word in model.words)
    assert model.args.buckets == 0 and len(wv_cli.load(cook.with_name("m.vec"))) == len(model.words)


@pytest.mark.parametrize("command", ["supervised", "skipgram"])
def test_pretrained_words_join(wv: Run, cook: Path, command: str) -> None:
    """Also those that the text has too rarely; these are trained, what the text does not have stays as it was."""
    rare, foreign = "yeast", "zzzabroad"
    cook.with_name("pre.vec").write_text(f"3 2\n{rare} 0.5 -0.25\n{foreign} 1 2\n__label__none 3 4\n")
    asked = ("-input", cook, "-output", "m", "-dim", 2, "-minCount", 20, "-maxn", 0, "-pretrainedVectors", "pre.vec")
    found = {}
    for epochs in (0, 3):
        done = wv("fasttext", command, *asked, "-epoch", epochs, "-thread", 1)
        assert done.returncode == 0, done.stderr
        found[epochs] = rows(cook.with_name("m.vec"))
        assert f"Number of words:  {len(found[epochs]) - 2}\n" in done.stderr
    assert "__label__none" not in found[0]
    assert found[0][rare].tolist() == [0.5, -0.25] and found[3][rare].tolist() != [0.5, -0.25]
    assert found[0][foreign].tolist() == [1, 2]
    if command == "supervised":
        assert found[3][foreign].tolist() == [1, 2]


def test_all_files_or_none(wv: Run, cook: Path, tmp_path: Path) -> None:
    (tmp_path / "m.vec").mkdir()
    done = wv("fasttext", "supervised", "-input", cook, "-output", "m", "-dim", 2, "-epoch", 1, *SMALL)
    assert done.returncode == 1 and "m.vec: cannot write: is a folder" in done.stderr
    assert not (tmp_path / "m.bin").exists()


def test_an_interrupted_training_leaves_nothing(cook: Path, tmp_path: Path) -> None:
    asked = ["-input", cook, "-output", "m", "-epoch", "100000", "-thread", "2"]
    command = [sys.executable, "-m", "wv_cli", "fasttext", "supervised", *asked]
    with Process(command, cwd=tmp_path, stderr=-1, bufsize=0) as process:
        assert process.stderr is not None
        said = b""
        while b"Progress:" not in said:  # it trains
            more = process.stderr.read(1)
            assert more, said
            said += more
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read().endswith(b"wv fasttext: interrupted; nothing was saved\n")
    assert process.returncode == 128 + signal.SIGTERM
    assert [path.name for path in tmp_path.iterdir()] == [cook.name]


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["predict-prob", "sup.bin", "-", 1], ["how to bake bread\n", "is my meat safe\n"]),
        (["print-word-vectors", "sup.bin"], ["bread\n", "meat\n"]),
        (["print-sentence-vectors", "sup.bin"], ["how to bake bread\n", "is my meat safe\n"]),
    ],
)
def test_a_program_that_waits_for_each_answer_gets_it(words: list[object], lines: list[str], tmp_path: Path) -> None:
    _laid("sup.bin", tmp_path)
    command = [sys.executable, "-m", "wv_cli", "fasttext", *map(str, words)]
    with Process(command, cwd=tmp_path, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        for line in lines:
            process.stdin.write(line)
            process.stdin.flush()
            assert len(process.stdout.readline().split()) >= 2
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0


def test_what_is_quantized_is_asked_the_same_way(wv: Run, cook: Path, tmp_path: Path) -> None:
    """The whole tutorial: train, quantize with fewer rows, ask; the packed text is read as it is."""
    with lzma.open(tmp_path / "cook.xz", "wb") as packed:
        packed.write(cook.read_bytes())
    trained = wv(
        "fasttext", "supervised", "-input", "cook.xz", "-output", "m", "-dim", 8, "-epoch", 20, "-lr", 0.5, *SMALL
    )
    assert trained.returncode == 0, trained.stderr
    asked = ("-input", "cook.xz", "-output", "m", "-cutoff", 600, "-retrain", "-qnorm", "-epoch", 1, *SMALL)
    assert wv("fasttext", "quantize", *asked).returncode == 0
    assert (tmp_path / "m.ftz").stat().st_size < (tmp_path / "m.bin").stat().st_size / 2
    for model in ("m.bin", "m.ftz"):
        lines, precision, _ = wv("fasttext", "test", model, cook).stdout.splitlines()
        assert lines == "N\t1500" and float(precision.removeprefix("P@1\t")) > 0.3


def test_negatives_and_buckets_that_cannot_be(wv: Run, cook: Path) -> None:
    for flags, why in ((("-loss", "ns", "-neg", 0), "-neg 0"), (("-wordNgrams", 2, "-bucket", 0), "-bucket 0")):
        done = wv("fasttext", "supervised", "-input", cook, "-output", "m", *flags)
        assert done.returncode == 2 and done.stderr.startswith(f"wv fasttext: {why}: ") and done.stderr.count("\n") == 1
