"""What the recorded runs of GloVe's programs do not show, or show beside what differs on purpose."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.originals import replay
from tests.originals.differs_glove_tools import FIRST_RECORD
from tests.originals.test_transcripts import run
from wv_cli._glove import RECORD


def records(data: bytes) -> "np.ndarray":
    return np.frombuffer(data, RECORD)


@pytest.mark.parametrize("name", FIRST_RECORD)
def test_only_the_first_record_differs(name: str, tmp_path: Path, zygote: "subprocess.Popen[str]") -> None:
    case = replay.case(name)
    done = run(case, tmp_path, zygote)
    ours, theirs = records(done.stdout).copy(), records(case.stream("stdout"))
    assert 2 * ours["value"][0] == pytest.approx(theirs["value"][0], rel=1e-12)
    ours["value"][0] *= 2
    assert replay.problems(case, replay.Done(done.status, ours.tobytes(), done.stderr, done.folder)) == []


@pytest.mark.parametrize("name", ["cooccur/overflow-file", "cooccur/overflow-length"])
def test_temporary_files_are_all_that_differs(name: str, tmp_path: Path, zygote: "subprocess.Popen[str]") -> None:
    case = replay.case(name)
    done = run(case, tmp_path, zygote)
    (problem,) = replay.problems(case, done)
    assert problem.startswith("stderr") and b"2 files in total" in done.stderr
    assert [path.name for path in done.folder.iterdir()] == ["vocab.txt"], "none was left behind"
