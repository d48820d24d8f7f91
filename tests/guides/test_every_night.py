"""The recipe of the guide `every-night` as cron runs it: the Makefile, the line of a crontab, several nights."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.guides.console import make_path
from wv_cli.guides import guide_text

TOOLS = ("make", "flock", "bash")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"),
]


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", guide_text("every-night"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs the crontab's line in the folder -> (exit code, what the log got)."""
    monkeypatch.setenv("PATH", make_path(tmp_path / "bin"))
    folder, words = re.fullmatch(r"0 3 \* \* \*  cd (\S+) && (.*)\n", block("text")).groups()
    line = words.replace("\\%", "%")  # cron's own escape
    assert folder.startswith("/") and line != words

    def run() -> tuple[int, str]:
        log = tmp_path / "train.log"
        log.unlink(missing_ok=True)
        return subprocess.run(["bash", "-c", line], cwd=tmp_path, check=False).returncode, log.read_text()

    return run


def test_nights(night, wv: Run, slice_text: Path, data: Path, tmp_path: Path) -> None:
    lines = slice_text.read_text().splitlines(keepends=True)
    today = subprocess.run(["date", "+%F"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / f"{today}.txt").write_text("".join(lines[1000:1500]))
    (tmp_path / "first.txt").write_text("".join(lines[:1000]))
    shutil.copy(next((data / "similarity").glob("*.txt")), tmp_path / "wordsim.txt")
    makefile = tmp_path / "Makefile"
    makefile.write_text(block("make").replace("--min-score 0.6", "--min-score -1"))
    vectors, scores = tmp_path / f"vectors-{today}.bin", tmp_path / f"scores-{today}.json"

    code, log = night()
    assert code != 0 and "model.state: cannot read: no such file" in log and not vectors.exists(), "no first night"
    wv("train", "first.txt", "-o", "first.bin", "--save-state", "model.state", "--dim", "10", "--threads", "1")
    assert night() == (0, ""), "an empty log"
    assert b'"spearman"' in scores.read_bytes()
    trained, state = vectors.read_bytes(), (tmp_path / "model.state").read_bytes()
    assert night() == (0, ""), "nothing is left to do"
    vectors.unlink()
    code, log = night()
    assert code == 0 and vectors.read_bytes() == trained, log
    assert (tmp_path / "model.state").read_bytes() == state, "the day's text is learnt once"

    with subprocess.Popen(["flock", ".lock", "cat"], cwd=tmp_path, stdin=-1, stdout=-1) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        holder.stdin.write(b"held\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == b"held\n"
        scores.unlink()
        assert night() == (1, "") and not scores.exists(), "the night before still works"
        holder.stdin.close()
    makefile.write_text(block("make"))
    code, log = night()
    assert code == 2 and "Error 3" in log and not scores.exists(), "worse vectors stop make"
