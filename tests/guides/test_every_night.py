"""The recipe of the guide `every-night` as cron runs it: the Makefile, the line of a crontab, nights that --max-time
ends."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.guides import console
from tests.processes import Process
from tests.readme import README
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


def decision(what: str) -> str:
    """The command that the guide gives for a bad day."""
    found = re.search(rf"^\| {what} \| `(.*)` \|$", guide_text("every-night"), re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs the crontab's line in the folder -> (exit code, what the log got)."""
    monkeypatch.setenv("PATH", console.make_path(tmp_path / "bin"))
    folder, line = re.fullmatch(r"0 3 \* \* \*  cd (\S+) && (.*)\n", block("text")).groups()
    assert folder.startswith("/") and "%" not in line  # cron makes line ends of it

    def run() -> tuple[int, str]:
        log = tmp_path / "train.log"
        log.unlink(missing_ok=True)
        return subprocess.run(["bash", "-c", line], cwd=tmp_path, check=False).returncode, log.read_text()

    return run


def test_the_makefile_of_the_readme(slice_text: Path, data: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", console.make_path(tmp_path / "bin"))
    (found,) = console.blocks(README.read_text(encoding="utf-8"), "make")
    usual = found.replace("--min-score 0.6", "--min-score -1").replace("-o $@", "-o $@ --dim 10 --threads 1")
    lines = slice_text.read_text().splitlines(keepends=True)
    corpus, vectors, new = (tmp_path / name for name in ("corpus.txt", "vectors.bin", "new"))
    corpus.write_text("".join(lines[:1000]))
    shutil.copy(min((data / "similarity").glob("*.txt")), tmp_path / "wordsim.txt")

    def make(text: str) -> int:
        (tmp_path / "Makefile").write_text(text)
        return subprocess.run(["make", "-s"], cwd=tmp_path, check=False, capture_output=True).returncode

    assert make(usual.replace("--max-time 5h", "--max-time 0.001s")) == 2
    assert (new / "vectors.bin.checkpoint").exists() and not vectors.exists()
    assert make(usual) == 0 and b'"spearman"' in (tmp_path / "scores.json").read_bytes()
    assert not [*new.iterdir()], "nothing is left there"
    yesterday = read_files(tmp_path)
    assert make(found) == 0 and read_files(tmp_path) == yesterday, "nothing is left to do"

    corpus.write_text("".join(lines[1000:2000]))
    for _ in range(2):
        assert make(found.replace("-o $@", "-o $@ --dim 10 --threads 1")) == 2, "the vectors are too bad"
        assert read_files(tmp_path) == yesterday, "those of yesterday stay"
        times = {path.name: path.stat().st_mtime_ns for path in new.glob("vectors*")}
        assert len(times) == 2
    assert make(usual) == 0 and vectors.stat().st_mtime_ns == times["vectors.bin"], "trained once"
    assert read_files(tmp_path).keys() == yesterday.keys() and not [*new.iterdir()]


def read_files(folder: Path) -> dict[str, bytes]:
    """The files of a folder that training and scores leave."""
    return {path.name: path.read_bytes() for path in folder.glob("[msv]*") if path.is_file()}


def test_nights(night, slice_text: Path, data: Path, tmp_path: Path) -> None:
    lines = slice_text.read_text().splitlines(keepends=True)
    first, second, third = (f"2026-03-0{day}" for day in (1, 2, 3))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / f"{first}.txt").write_text("".join(lines[:1000]))
    shutil.copy(min((data / "similarity").glob("*.txt")), tmp_path / "wordsim.txt")
    makefile, state = tmp_path / "Makefile", tmp_path / "model.state"
    usual = block("make").replace("--min-score 0.6", "--min-score -1").replace("-o $@", "-o $@ --dim 10 --threads 1")
    hurried = usual.replace("--max-time 5h", "--max-time 0.001s")

    makefile.write_text(hurried)
    code, log = night()
    assert code == 2 and "go on with: wv train" in log and "Error 124" in log and not state.exists(), "the first night"
    assert (tmp_path / "new" / f"vectors-{first}.bin.checkpoint").exists()
    makefile.write_text(usual)
    (tmp_path / "texts" / f"{second}.txt").write_text("".join(lines[1000:1500]))
    assert night() == (0, ""), "an empty log"
    assert not [*(tmp_path / "new").iterdir()], "nothing is left there"
    sizes = [int((tmp_path / f"vectors-{day}.bin").read_bytes().split()[0]) for day in (first, second)]
    assert sizes[0] < sizes[1], "the second day's words have come"
    assert len([*tmp_path.glob("scores-*")]) == 2
    assert b'"spearman"' in (tmp_path / f"scores-{second}.json").read_bytes()
    trained, learned = (tmp_path / f"vectors-{second}.bin").read_bytes(), state.read_bytes()
    assert night() == (0, ""), "nothing is left to do"
    (tmp_path / f"vectors-{second}.bin").unlink()
    code, log = night()
    assert code == 0 and (tmp_path / f"vectors-{second}.bin").read_bytes() == trained, log
    assert state.read_bytes() == learned, "the day's text is learned once"

    (tmp_path / "texts" / f"{third}.txt").write_text("".join(lines[1500:2000]))
    makefile.write_text(hurried)
    assert night()[0] == 2 and state.read_bytes() == learned, "stopped with a state, which stays"
    makefile.write_text(usual)
    scores = tmp_path / f"scores-{third}.json"
    with Process(["flock", ".lock", "cat"], cwd=tmp_path, stdin=-1, stdout=-1) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        holder.stdin.write(b"held\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == b"held\n"
        assert night() == (1, "") and not scores.exists(), "the night before still works"
        holder.stdin.close()
    assert night() == (0, "") and scores.exists() and state.read_bytes() != learned

    yesterday, fourth, fifth = read_files(tmp_path), "2026-03-04", "2026-03-05"
    (tmp_path / "texts" / f"{fourth}.txt").write_text("".join(lines[2000:2500]))
    (tmp_path / "texts" / f"{fifth}.txt").write_text("".join(lines[2500:3000]))
    for _ in range(2):
        makefile.write_text(block("make"))
        code, log = night()
        assert code == 2 and "Error 3" in log, "worse vectors stop make"
        assert read_files(tmp_path) == yesterday, "the files of the day before stay"
        assert {path.name for path in (tmp_path / "new").iterdir()} >= {"model.state", f"scores-{fourth}.json"}
    without = decision("go on without that day").replace("2026-03-02", fourth)
    subprocess.run(["bash", "-c", without], cwd=tmp_path, check=True)
    makefile.write_text(usual)
    assert night() == (0, "")
    names = {path.name for path in tmp_path.glob("*-0[45]*")}
    assert names == {f"scores-{fifth}.json", f"vectors-{fifth}.bin", f"vectors-{fifth}.bin.meta.json"}
    assert json.loads((tmp_path / f"vectors-{fifth}.bin.meta.json").read_text())["continued"]["state"] == "model.state"
