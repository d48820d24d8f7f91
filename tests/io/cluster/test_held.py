"""Models that the workers of a Dask cluster are asked."""

import bz2
import json
import shutil
import sys
import warnings
from pathlib import Path

import pytest

from tests.conftest import GOLDEN, ROOT, Run
from tests.io.cluster.served import run, said, served, silent
from tests.tiers import full
from wv_cli import _cpu
from wv_cli.commands import phrases as phrases_job
from wv_cli.commands import predict as predict_job
from wv_cli.commands import scoring
from wv_cli.io.dask_cluster import DaskCluster, _on_worker
from wv_cli.models.prediction_config import PredictConfig
from wv_cli.models.training import asking
from wv_cli.vectors import recognize

pytest.importorskip("distributed", reason="needs the extra dask")

DATA = ROOT / "data"
ANSWERS = ["", "-k 3 --prob --threads 2", "--json -k -1"]


@pytest.mark.parametrize("options", ANSWERS)
def test_predictions_are_the_lines_of_one_process(
    address: str, slice_text: Path, tmp_path: Path, options: str, monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:  # fmt: skip
    monkeypatch.setattr(predict_job, "SHARD_BYTES", 3_000)
    (tmp_path / "short.txt").write_bytes(slice_text.read_bytes()[:50_000])
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN / "ft-labels.bin", "model")
    words = ["predict", "model", "short.txt", *options.split(), "-q"]
    assert run(*words) == 0
    alone = capfdbinary.readouterr()
    assert run(*words, "--dask", address) == 0
    assert capfdbinary.readouterr() == alone
    assert len(set(alone.out.splitlines())) > 3


LINES = "king of the state\n\n\nunheardof\t words\nthe\n" * 2000
SENTENCES = [
    "ft-words.bin",
    *full(
        "ft-labels.ftz --json --precision 3",
        "w2v-sg-ns.bin --precision exact",
        "--encoder encoders/tiny-bert --precision exact --max-length 5",
    ),
]


@pytest.mark.parametrize("asked", SENTENCES)
def test_vectors_of_lines_are_those_of_one_process(
    address: str, tmp_path: Path, asked: str, monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:  # fmt: skip
    (tmp_path / "lines").write_text(LINES)
    monkeypatch.chdir(GOLDEN)
    found = []
    for more in ([], ["--dask", address]):
        with (tmp_path / "lines").open() as lines:
            monkeypatch.setattr(sys, "stdin", lines)
            assert run("vectors", "--sentences", *asked.split(), *more) == 0
        found.append(capfdbinary.readouterr())
    alone, dask = found
    assert dask.out == alone.out and len(set(alone.out.splitlines())) > 3
    assert dask.err.splitlines()[1:] == alone.err.splitlines()


def test_vectors_of_arguments(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["vectors", "--sentences", GOLDEN / "ft-words.bin", "-q", "the king", "of"]
    assert run(*words) == 0
    alone = capfd.readouterr().out
    assert run(*words, "--dask", address) == 0
    assert capfd.readouterr().out == alone


def test_what_the_user_asked_wrongly_of_a_worker_is_misuse(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "vectors",
        "--sentences",
        "--encoder",
        GOLDEN / "encoders" / "tiny-bert",
        "--pooling",
        "layer:99",
        "a line",
    ]
    assert run(*words, "--dask", address) == 2
    line = said(capsys.readouterr().err)
    assert line.startswith("wv vectors: worker tcp://") and "layer" in line


def test_workers_do_not_keep_the_model(cluster: DaskCluster, address: str, slice_text: Path) -> None:
    assert run("predict", GOLDEN / "ft-labels.bin", slice_text, "-q", "--dask", address) == 0
    assert set(cluster.everywhere(lambda: asking._open_model.cache_info().currsize).values()) == {0}


def test_a_worker_reads_a_model_that_was_replaced(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("the king of the state\n")
    asked = recognize.input_texts([str(tmp_path / "text")], log=silent)
    model, found = tmp_path / "model", []
    for name in ("ft-labels.bin", "ft-labels.ftz"):
        shutil.copy(GOLDEN / name, model)
        one = predict_job.Prediction(str(model), PredictConfig(), prob=True)
        found.append(asking._answer(one, model.stat().st_size, asked))
    asking.forget()
    assert found[0] != found[1]


@pytest.mark.parametrize("folder", [False, True])
def test_a_worker_with_another_model_is_named(
    address: str, slice_text: Path, folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(asking, "bytes_of", lambda path: 9)
    model = GOLDEN / "encoders" / "tiny-bert" if folder else GOLDEN / "ft-labels.bin"
    words = ["vectors", "--sentences", "--encoder", model, "a line"] if folder else ["predict", model, slice_text]
    assert run(*words, "--dask", address) == 1
    line = said(capsys.readouterr().err)
    assert line.startswith(f"wv {words[0]}: worker tcp://") and f": {model}: " in line
    assert line.endswith(" bytes here, 9 where the command runs; all must see the same files")


@pytest.mark.skipif(_cpu.name() == "baseline", reason="this machine has one instruction set")
def test_a_worker_with_other_kernels_is_named(
    slice_text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(tmp_path, 1, WV_ISA="baseline") as found:
        assert run("predict", GOLDEN / "ft-labels.bin", slice_text, "--dask", found) == 1
        line = said(capsys.readouterr().err)
        assert run("build-vocab", slice_text, "-o", tmp_path / "v", "--dask", found) == 0, "sums of integers"
    assert line.startswith("wv predict: worker tcp://")
    assert " computes with baseline kernels, this process with " in line


SCORES = [
    f"similarity {{}} w2v-sg-ns.bin -d {DATA}/similarity/EN-WS-353-ALL.txt -d {{pairs}} --json",
    f"analogy {{}} w2v-sg-ns.bin {{}} -d {DATA}/analogy/questions-words.txt",
    "similarity ft-words.bin {} -d {pairs}",
]


@pytest.mark.parametrize("asked", SCORES)
def test_scores_of_files_are_those_of_one_process(
    address: str, slice_vectors: Path, tmp_path: Path, asked: str, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """And so are the notes."""
    pairs = tmp_path / "pairs"
    pairs.write_text("king theking 1\nthe of 2\nunheardof states 3\nin and 5\nhalf a\n")
    monkeypatch.chdir(GOLDEN)
    words = ["eval", *asked.replace("{pairs}", str(pairs)).replace("{}", str(slice_vectors)).split()]
    code = run(*words)
    alone = capfd.readouterr()
    assert run(*words, "--dask", address) == code == 0
    dask = capfd.readouterr()
    assert dask.out == alone.out and len(alone.out) > 200
    assert [line for line in dask.err.splitlines() if not line.startswith("Dask: ")] == alone.err.splitlines()


@pytest.mark.parametrize("options", ["", *full("--lowercase")])
def test_the_joined_text_is_that_of_one_process(
    address: str, slice_text: Path, tmp_path: Path, options: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """One shard has empty lines alone."""
    monkeypatch.setattr(phrases_job, "SHARD_BYTES", 20_000)
    (tmp_path / "blank").write_text("\n \n" * 20_000)
    (tmp_path / "new.bz2").write_bytes(bz2.compress(slice_text.read_bytes()[:200_000].upper()))
    phrases = ["--save-phrases", tmp_path / "found", "--passes", 2, "-q"]
    assert run("phrases", slice_text, "-o", tmp_path / "all", *phrases) == 0
    words = ["phrases", slice_text, tmp_path / "blank", tmp_path / "new.bz2", "--apply", tmp_path / "found", "--json"]
    facts = []
    for more in (["-o", tmp_path / "alone"], ["-o", tmp_path / "dask", "--dask", address]):
        assert run(*words, *options.split(), *more) == 0
        facts.append({**json.loads(capsys.readouterr().out), "seconds": 0, "output": ""})
    assert facts[0] == facts[1]
    assert (tmp_path / "dask").read_bytes() == (tmp_path / "alone").read_bytes()
    assert (tmp_path / "dask").read_bytes().startswith((tmp_path / "all").read_bytes()[:100_000])


def test_a_text_without_words_harms_nothing(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "blank").write_text("\n\n")
    (tmp_path / "found").write_text("new_york\t300\t1\tnew york\n")
    output = tmp_path / "v"
    output.write_bytes(b"yesterday's")
    words = ["phrases", tmp_path / "blank", "--apply", tmp_path / "found", "-o", output]
    assert run(*words, "--dask", address) == 1
    assert "no text: expected words" in said(capsys.readouterr().err)
    assert output.read_bytes() == b"yesterday's"


def test_a_damaged_file_of_vectors_is_named_with_the_worker(
    address: str, slice_vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.vec"
    damaged.write_bytes(slice_vectors.read_bytes()[:-100])
    pairs = DATA / "similarity" / "EN-WS-353-ALL.txt"
    assert run("eval", "similarity", slice_vectors, damaged, "-d", pairs, "--dask", address) == 1
    line = said(capsys.readouterr().err)
    assert line.startswith("wv eval similarity: worker tcp://") and f": {damaged}:" in line


def test_a_worker_with_other_vectors_is_named(
    address: str, slice_vectors: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scoring, "bytes_of", lambda path: 9)
    pairs = DATA / "similarity" / "EN-WS-353-ALL.txt"
    assert run("eval", "similarity", slice_vectors, "-d", pairs, "--dask", address) == 1
    line = said(capsys.readouterr().err)
    assert line.startswith("wv eval similarity: worker tcp://") and " bytes here, 9 where the command runs" in line


def test_what_compares_no_files_has_no_such_option(wv: Run) -> None:
    done = wv("eval", "retrieval", "a.codes", "-d", "v.vec", "--dask", "local")
    assert done.returncode == 2 and "no such option --dask" in done.stderr


def test_workers_do_not_warn() -> None:
    """Who reads what a worker says elsewhere? One of this machine would say it on our terminal."""
    _on_worker(warnings.warn, "odd")
