"""Matrices larger than a run may take are in files without a name, and are trained there to the same bytes."""

import errno
import shutil

import numpy as np
import pytest

from wv_cli.errors import WvError
from wv_cli.io import host, memory
from wv_cli.io.matrices import MatrixAllocator

SMALL = ["--dim", 8, "--epochs", 2, "--threads", 1, "--seed", 1]
TRAINED = {
    "word2vec": ["train", "--preset", "balanced", *SMALL],
    "fasttext": ["train", "--preset", "fasttext", *SMALL],
    "deterministic": ["train", "--deterministic", *SMALL],
    "classifier": ["train", "--model", "supervised", "--word-ngrams", 2, "--min-count", 2, *SMALL],
    "doc2vec": ["train", "--model", "doc2vec", *SMALL],
    "glove": ["glove", "--dim", 8, "--iterations", 2, "--threads", 1, "--seed", 1],
}
OUTPUTS = {"classifier": "bin", "doc2vec": "d2v"}


@pytest.mark.parametrize(("most", "on_disk"), [(None, False), (4000, False), (3999, True)])
def test_matrices_are_on_disk_when_they_are_more_than_a_run_may_take(most, on_disk, tmp_path):
    said = []
    allocator = MatrixAllocator(
        most, str(tmp_path / "out.bin"), lambda *message, **facts: said.append((*message, facts))
    )
    allocator.require(4000, 4000, "")
    rows, others = allocator.zeros(20, 30), allocator.zeros(20, 20)
    assert allocator.zeros(0, 30).shape == (0, 30)
    assert allocator.on_disk == on_disk and len(said) == on_disk
    assert all(not matrix.any() and matrix.dtype == np.float32 for matrix in (rows, others))
    rows[7], others[7] = 1, 2
    assert rows.sum() == 30 and others.sum() == 40
    assert not list(tmp_path.iterdir())
    if on_disk:
        message, facts = said[0]
        assert str(tmp_path) in message and "slower" in message and facts == {"matrices_on_disk": 4000}


def test_what_stands_beside_ids_is_on_disk_by_itself(tmp_path, monkeypatch):
    allocator = MatrixAllocator(4000, str(tmp_path / "out.bin"))
    for count in (1000, 1001, 0):
        numbers = allocator.beside_ids(count)
        assert numbers.shape == (count,) and numbers.dtype == np.int32 and not numbers.any()
        numbers[:] = 7
        assert numbers.sum() == 7 * count and not list(tmp_path.iterdir()) and not allocator.on_disk
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**6, 0, 4003))
    with pytest.raises(WvError, match=r"needs 0\.0 MB for the matrices, but 0\.0 MB are free"):
        allocator.beside_ids(1001)
    monkeypatch.setattr(memory, "available", lambda: 3999)
    with pytest.raises(WvError, match=r"word n-grams of the text needs .* lower --word-ngrams"):
        allocator.beside_ids(1000)


def test_what_is_on_disk_stays_there(tmp_path):
    """Several models of one run have one allocator, and each says what it needs of it."""
    said = []
    allocator = MatrixAllocator(4000, str(tmp_path / "out.bin"), lambda *_, **__: said.append(1))
    allocator.require(6000, 6000, "")
    allocator.require(3000, 3000, "")
    assert allocator.on_disk and said == [1]


def test_memory_is_asked_for_what_is_not_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 999)
    MatrixAllocator(100, str(tmp_path / "out.bin")).require(5999, 5000, "")
    with pytest.raises(WvError, match=r"training needs .* lower --dim"):
        MatrixAllocator(100, str(tmp_path / "out.bin")).require(6000, 5000, "lower --dim")
    with pytest.raises(WvError, match=r"training needs .* lower --dim"):
        MatrixAllocator(5000, str(tmp_path / "out.bin")).require(5999, 5000, "lower --dim")


def test_a_disk_too_small_is_told_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**6, 0, 4999))
    with pytest.raises(WvError, match=r"needs 0\.0 MB for the matrices, but 0\.0 MB are free"):
        MatrixAllocator(100, str(tmp_path / "out.bin")).require(6000, 5000, "")


def test_a_disk_that_is_full_now_is_an_error_and_no_signal(tmp_path, monkeypatch):
    def full(descriptor, length):
        raise OSError(errno.ENOSPC, "No space left on device")

    allocator = MatrixAllocator(100, str(tmp_path / "out.bin"))
    allocator.require(4000, 4000, "")
    monkeypatch.setattr(host, "reserve", full)
    with pytest.raises(WvError, match=r"cannot keep the matrices in a file here: no space left"):
        allocator.zeros(10, 100)


@pytest.mark.parametrize("what", TRAINED)
def test_training_on_disk_makes_the_same_bytes(what, wv, slice_text, tmp_path):
    text = tmp_path / "text.txt"
    lines = slice_text.read_text().splitlines()[:400]
    text.write_text("".join(f"__label__{number % 3} {line}\n" for number, line in enumerate(lines)))
    made = {}
    for where, options in {"memory": [], "disk": ["--memory", "1k"]}.items():
        output = tmp_path / f"{where}.{OUTPUTS.get(what, 'vec')}"
        done = wv(*TRAINED[what][:1], text, "-o", output, *TRAINED[what][1:], *options)
        assert done.returncode == 0, done.stderr
        assert ("of matrices are in a file in" in done.stderr) == (where == "disk")
        made[where] = output.read_bytes()
    assert made["disk"] == made["memory"]


def test_a_run_on_disk_stops_and_goes_on_in_memory(wv, slice_text, tmp_path):
    command = ["train", slice_text, "-o", "v.vec", "--dim", 100, "--epochs", 20, "--threads", 1]
    stopped = wv(*command, "--memory", "1k", "--max-time", "0.3")
    assert stopped.returncode == 124, stopped.stderr
    done = wv(*command, "--resume")
    assert done.returncode == 0, done.stderr
    resumed = (tmp_path / "v.vec").read_bytes()
    assert wv(*command).returncode == 0
    assert (tmp_path / "v.vec").read_bytes() == resumed
