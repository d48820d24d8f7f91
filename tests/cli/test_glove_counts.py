"""`wv glove --counts-only` through the real entry point: GloVe's own records, memory, kills at any moment."""

import lzma
import os
import random
import re
import signal
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.peak import peak_bytes
from tests.processes import PATIENCE, Process, has_used, run_measured
from wv_cli._glove import RECORD
from wv_cli.vectors.formats import load

VOCAB = ["--vocab", str(GOLDEN / "glove.vocab.txt"), "--min-count", "1"]


def golden(name, folder):
    """A file of counts, unpacked."""
    path = folder / name
    path.write_bytes(lzma.decompress((GOLDEN / f"{name}.xz").read_bytes()))
    return path


@pytest.fixture(scope="module")
def sixty_lines(slice_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("sixty") / "sixty.txt"
    with slice_text.open("rb") as lines:
        path.write_bytes(b"".join(islice(lines, 60)))
    return path


def test_counts_equal_those_of_glove_s_program(wv, sixty_lines, tmp_path):
    """GloVe adds doubles in the order of the text: the last bits differ, nothing else. Its overflow file was not
    empty."""
    theirs = np.fromfile(golden("glove.cooccurrence.bin", tmp_path), RECORD)
    for options in ([], ["--memory", "300k", "--threads", "2"]):
        done = wv("glove", sixty_lines, *VOCAB, "--counts-only", "--save-counts", "ours.bin", *options)
        assert done.returncode == 0, done.stderr
        ours = np.fromfile(tmp_path / "ours.bin", RECORD)
        assert len(ours) == 43_653
        np.testing.assert_array_equal(ours[["row", "column"]], theirs[["row", "column"]])
        np.testing.assert_allclose(ours["value"], theirs["value"], rtol=1e-14)


def test_counts_of_the_left_side_and_the_record_that_glove_doubles(wv, sixty_lines, tmp_path):
    """When its overflow file stays empty GloVe's program counts the first record twice."""
    theirs = np.fromfile(golden("glove.cooccurrence-left.bin", tmp_path), RECORD)
    options = ["--window", "5", "--left-only", "--counts-only", "--save-counts", "ours.bin"]
    done = wv("glove", sixty_lines, *VOCAB, *options)
    assert done.returncode == 0, done.stderr
    ours = np.fromfile(tmp_path / "ours.bin", RECORD)
    np.testing.assert_array_equal(ours[["row", "column"]], theirs[["row", "column"]])
    np.testing.assert_allclose(ours["value"][1:], theirs["value"][1:], rtol=1e-14)
    np.testing.assert_allclose(2 * ours["value"][0], theirs["value"][0], rtol=1e-14)


def test_glove_s_records_train_as_ours_do(wv, sixty_lines, tmp_path):
    golden("glove.cooccurrence.bin", tmp_path)
    small = [*VOCAB, "--dim", "10", "--iterations", "3"]
    done = wv("glove", "--counts", "glove.cooccurrence.bin", *small, "-o", "theirs.vec")
    assert done.returncode == 0, done.stderr
    done = wv("glove", sixty_lines, *small, "-o", "ours.vec")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(load(tmp_path / "theirs.vec").matrix, load(tmp_path / "ours.vec").matrix, atol=1e-4)


@pytest.fixture(scope="module")
def long_text(slice_xz, tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.txt"
    path.write_bytes(lzma.decompress(slice_xz.read_bytes()))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak has another unit")
@pytest.mark.full
def test_memory_holds_for_the_whole_process(long_text, tmp_path):
    """5.6 million words with --memory 80M, less than Python, their ids, positions and records take."""
    wv = [sys.executable, "-m", "wv_cli", "glove", str(long_text), "--counts-only", "-q", "--window", "4"]
    found = {}
    for memory in ("80M", "1G"):
        call = [*wv, "--save-counts", str(tmp_path / memory), "--memory", memory]
        found[memory] = peak_bytes(call)
    assert found["80M"] <= 88e6 < found["1G"]
    assert (tmp_path / "80M").read_bytes() == (tmp_path / "1G").read_bytes()


def counting(text, folder):
    """A run in many segments: the kill may come while text is read, counted, spilt, merged, written."""
    options = ["--counts-only", "--save-counts", str(folder / "c.bin"), "--memory", "1M", "--min-count", "2", "-q"]
    return [sys.executable, "-m", "wv_cli", "glove", str(text), *options]


@pytest.mark.full
def test_killed_at_ten_random_moments_the_counts_are_whole_or_not_there(slice_text, tmp_path):
    whole, first, again = (tmp_path / name for name in ("whole", "first", "again"))
    for folder in (whole, first, again):
        folder.mkdir()
    seconds = run_measured(counting(slice_text, whole))
    counts = (whole / "c.bin").read_bytes()
    (again / "c.bin").write_bytes(b"yesterday's")
    moments, killed = random.Random(5), 0
    for number in range(10):
        folder = again if number % 2 else first
        process = Process(counting(slice_text, folder), stderr=subprocess.PIPE)
        if has_used(process, moments.uniform(0.1, 1) * seconds):
            process.kill()
        talk = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode in (0, -signal.SIGKILL), talk
        killed += process.returncode == -signal.SIGKILL
        if (folder / "c.bin").exists():
            assert (folder / "c.bin").read_bytes() in (b"yesterday's", counts)
        else:
            assert folder is first
        others = set(os.listdir(folder)) - {"c.bin"}
        assert all(re.fullmatch(r"\.c\.bin\.\w+\.wv-tmp", name) for name in others), "spilt records have no name"
        if process.returncode == 0:
            (folder / "c.bin").write_bytes(b"yesterday's")
    assert killed, "else the text is too short for this test"
    for folder in (first, again):
        subprocess.run(counting(slice_text, folder), check=True)
        assert (folder / "c.bin").read_bytes() == counts
        assert os.listdir(folder) == ["c.bin"]
