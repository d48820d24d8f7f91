"""What the words and the names already show is refused before the training, which may take days."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands.made import end_after_trials
from wv_cli.__main__ import run
from wv_cli.commands.autotune import LabelSearch
from wv_cli.models.training import run as engine

WORDS = b"alpha beta gamma delta\n" * 9 + b"caf\xc3 alpha\n" * 8  # one is cut in the middle of a character
LONG = "a" * 250
CASES = {
    "train text -o o.cls --classes 40": "--classes must be between 1 and the number of words, 5, not 40",
    "word2vec -train text -output o.cls -classes 40": "-classes must be between 1 and the number of words, 6, not 40",
    f"train text -o {LONG[:248]}.vec": "a name of 263 bytes, where 255 are allowed; choose a shorter name",
    f"train text -o {LONG[:242]}.vec --checkpoint c": "where 255 are allowed; choose a shorter name, or give --no-meta",
    f"train text -o {LONG}.vec.gz": "a name of 257 bytes, where 255 are allowed; choose a shorter name",
    f"train text -o {LONG[:247]}.npy --checkpoint c --no-meta": "a name of 257 bytes, where 255 are allowed",
    f"build-vocab text -o {LONG}.vocab": "a name of 256 bytes, where 255 are allowed; choose a shorter name",
}


@pytest.mark.parametrize("line", [line for line, told in CASES.items() if told], ids=lambda line: line[:60])
def test_refused_before_the_training(line, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("text").write_bytes(WORDS)

    def train(*arguments, **named):
        raise AssertionError("the training began")

    monkeypatch.setattr("wv_cli.models.training.saved_run.train", train)
    monkeypatch.setattr(engine, "train", train)
    small = [] if line.startswith(("word2vec", "build-vocab")) else ["--dim", "4"]
    more = ["-min-count", "1"] if line.startswith("word2vec") else ["--min-count", "1"]
    assert run([*line.split(), *small, *more]) in (1, 2)
    told = capfd.readouterr().err
    assert CASES[line].replace("\\\\", "\\") in told and "Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_an_output_that_cannot_be_written_after_all_keeps_nothing_back(tmp_path, monkeypatch, capfd):
    """A folder that is gone when the training is over."""
    monkeypatch.chdir(tmp_path)
    Path("text").write_bytes(WORDS)
    Path("gone").mkdir()
    from wv_cli.models.training import saved_run

    real = saved_run.train

    def train(*arguments, **named):
        outcome = real(*arguments, **named)
        Path("gone").rmdir()
        return outcome

    monkeypatch.setattr(saved_run, "train", train)
    line = "train text -o v.vec -o gone/v.vec --dim 4 --epochs 1 --min-count 1 --no-meta -q --save-state X".split()  # noqa: SIM905
    assert run(line) == 1
    told = capfd.readouterr().err
    assert "gone/v.vec" in told and "written all the same: v.vec, X" in told and "Traceback" not in told
    assert {path.name for path in tmp_path.iterdir()} == {"text", "v.vec", "X", "v.vec.checkpoint"}
    monkeypatch.setattr(saved_run, "train", real)
    Path("gone").mkdir()
    assert run([*line, "--resume"]) == 0
    assert Path("gone/v.vec").read_bytes() == Path("v.vec").read_bytes() and not Path("v.vec.checkpoint").exists()


def test_a_search_does_not_choose_what_the_disk_has_no_room_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("labels").write_text(
        "".join(f"__label__{at % 2} {'one two' if at % 2 else 'three four'}\n" for at in range(60))
    )
    asked, real, disk_usage = [], LabelSearch.attempt, shutil.disk_usage
    monkeypatch.setattr(LabelSearch, "attempt", lambda *given: (asked.append(given), real(*given))[1])
    # A small disk after the first trial.
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: disk_usage(path)._replace(**({"free": 6000} if len(asked) > 1 else {}))
    )
    end_after_trials(monkeypatch, 5)
    line = "train labels --model supervised -o o.bin --autotune-validation labels --autotune-duration 10h -q"
    assert run(line.split()) == 0
    trials = [json.loads(each) for each in Path("o.bin.autotune.jsonl").read_text().splitlines()]
    assert any("needs about" in str(trial) for trial in trials)
    assert Path("o.bin").stat().st_size < 8000
