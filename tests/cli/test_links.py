"""`wv links`: the originals' names, and what being called by one of them means."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Run
from wv_cli.cli import PROGRAMS

PROGRAM = Path(sys.executable).with_name("wv")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program wv does not stand beside this Python")


def test_a_link_for_every_program(wv: Run, tmp_path: Path) -> None:
    done = wv("links", "bin")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "bin").iterdir()} == set(PROGRAMS)
    assert all(os.path.realpath(path) == os.path.realpath(PROGRAM) for path in (tmp_path / "bin").iterdir())
    assert wv("links", "bin").returncode == 0  # again


def test_a_file_in_the_way_stays(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "word2vec").write_text("mine")
    done = wv("links", ".")
    assert done.returncode == 1
    assert "word2vec: exists and is no link" in done.stderr
    assert (tmp_path / "word2vec").read_text() == "mine"


def test_called_by_its_name(wv: Run, tmp_path: Path) -> None:
    wv("links", "bin")
    path = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(["fasttext", "nosuch"], env=path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "The commands supported by fasttext are:" in done.stderr
    assert shutil.which("vocab_count", path=path["PATH"]) == str(tmp_path / "bin" / "vocab_count")
    done = subprocess.run(["vocab_count", "-help"], env=path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "-max-vocab" in done.stdout
