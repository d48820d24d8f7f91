"""A classifier trained by the processes that mpirun starts."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.labelled_text import HELD_OUT, labelled_lines
from tests.cluster.launched import LAUNCH, WV, mpirun, needs_mpi, said
from tests.conftest import Run
from wv_cli import load_classifier

pytestmark = [needs_mpi, pytest.mark.full]

MODEL = ["--model", "supervised", "--dim", "16", "--lr", "0.5", "--buckets", "5000", "--word-ngrams", "2"]


@pytest.fixture
def folder(slice_text: Path, tmp_path: Path) -> Path:
    """Lines to learn from, and lines that are held out."""
    found = labelled_lines(slice_text)
    (tmp_path / "train.txt").write_text("".join(found[:-HELD_OUT]))
    (tmp_path / "valid.txt").write_text("".join(found[-HELD_OUT:]))
    return tmp_path


def precision(wv: Run, model: str) -> float:
    done = wv("eval", "labels", model, "-d", "valid.txt", "--json")
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout)["results"][0]["precision"])


def test_ranks_train_one_classifier(folder: Path, wv: Run) -> None:
    result = mpirun(folder, [2, "train", "train.txt", "-o", "ranks.bin", *MODEL, "--minn", "2", "--maxn", "3"])
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("wrote ranks.bin") == 1
    alone = wv("train", "train.txt", "-o", "alone.bin", *MODEL, "--minn", "2", "--maxn", "3")
    assert alone.returncode == 0, alone.stderr
    one, other = (json.loads((folder / f"{name}.bin.meta.json").read_text()) for name in ("ranks", "alone"))
    assert one["ranks"]["size"] == 2 and one["ranks"]["bytes_per_word"] > 1
    for name in ("tokens_read", "lines", "words", "labels"):
        assert one["corpus"][name] == other["corpus"][name]
    assert one["examples"] == other["examples"]
    first, second = (load_classifier(folder / f"{name}.bin").labels for name in ("ranks", "alone"))
    assert [*first] == [*second]
    assert precision(wv, "ranks.bin") > precision(wv, "alone.bin") - 0.03
    assert {path.name for path in folder.iterdir()} == {
        *("train.txt", "valid.txt"), *(f"{name}.bin{end}" for name in ("ranks", "alone") for end in ("", ".meta.json")),
    }  # fmt: skip


def test_words_start_from_vectors_on_every_rank(folder: Path, wv: Run) -> None:
    vectors = wv("train", "train.txt", "-o", "words.vec", "--dim", "16", "--epochs", "1", "-q")
    assert vectors.returncode == 0, vectors.stderr
    result = mpirun(
        folder, [2, "train", "train.txt", "-o", "m.bin", *MODEL, "--pretrained", "words.vec", "--keep-words"]
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("start from words.vec") == 1


def test_a_run_that_stopped_goes_on_with_another_number_of_ranks(folder: Path) -> None:
    stopped = mpirun(folder, [2, "train", "train.txt", "-o", "m.bin", *MODEL, "--epochs", "50", "--max-time", "0.001s"])
    assert stopped.returncode == 124, stopped.stderr
    assert (folder / "m.bin.checkpoint").exists() and not (folder / "m.bin").exists()
    ended = mpirun(folder, [3, "train", "train.txt", "-o", "m.bin", *MODEL, "--epochs", "50", "--resume"])
    assert ended.returncode == 0, ended.stderr
    assert "going on at" in ended.stderr
    metadata = json.loads((folder / "m.bin.meta.json").read_text())
    assert metadata["ranks"]["size"] == 3 and metadata["resumed_at_step"]
    assert not (folder / "m.bin.checkpoint").exists()


def test_a_rank_that_fails_ends_all(folder: Path) -> None:
    packed = gzip.compress(4 * (folder / "train.txt").read_bytes(), 0)  # more than rank 0 reads to know the format
    (folder / "b.txt.gz").write_bytes(packed[:-1000])
    result = mpirun(folder, [2, "train", "train.txt", "b.txt.gz", "-o", "m.bin", *MODEL])
    assert result.returncode == 1
    (line,) = said(result)
    assert line.startswith("wv train: rank 1 of 2") and "b.txt.gz" in line
    assert not (folder / "m.bin").exists()


def test_a_rank_that_is_killed_ends_all(folder: Path) -> None:
    command = [*LAUNCH, "-n", "1", *WV, "train", "train.txt"]
    killed = [sys.executable, "-c", "import os; from mpi4py import MPI; os.kill(os.getpid(), 9)"]
    whole = [*command, "-o", "m.bin", *MODEL, ":", "-n", "1", *killed]
    assert subprocess.run(whole, cwd=folder, timeout=60, check=False, capture_output=True).returncode != 0
    assert not (folder / "m.bin").exists()


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("a word\n", [], "no labels: expected lines such as"),
        ("__label__a one\n", [], "found one label"),
        (None, ["--autotune-validation", "valid.txt"], "--autotune-validation is for one process, not for 2 ranks"),
        (None, ["--save-state", "m.state"], "--save-state is for one process, not for 2 ranks"),
        (None, ["--dedup"], "--dedup is for one process, not for 2 ranks"),
        (None, ["--pretrained", "nothing.vec"], "nothing.vec: "),
        (None, ["--pretrained", "words.vec"], "expected vectors of --dim 16, found 2"),
    ],
    ids=str,
)
def test_what_all_ranks_meet_is_said_once(folder: Path, text: str | None, options: list[str], problem: str) -> None:
    if text is not None:
        (folder / "train.txt").write_text(2 * text)
    (folder / "words.vec").write_text("1 2\nthe 0.1 0.2\n")
    result = mpirun(folder, [2, "train", "train.txt", "-o", "m.bin", *MODEL, *options])
    assert result.returncode in (1, 2)
    (line,) = said(result)
    assert problem in line
    assert not (folder / "m.bin").exists()
