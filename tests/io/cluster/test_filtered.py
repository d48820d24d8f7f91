"""`wv filter --dask`: the bytes and counts of one process."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.test_filter import arguments, contents, corpus, cut_off
from tests.conftest import GOLDEN
from tests.io.cluster.served import run
from wv_cli.filtering import shard_files
from wv_cli.text import record_files

pytest.importorskip("distributed", reason="needs the extra dask")


@pytest.mark.full
def test_workers_filter_shards(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Paths are those of this folder, and the model's path, too. One shard has no record that can be read."""
    inputs = [os.path.relpath(path, tmp_path) for path in corpus(tmp_path / "in")]
    (tmp_path / "in" / "none.jsonl").write_text("nothing\n")
    (tmp_path / "model.ftz").write_bytes((GOLDEN / "ft-labels.ftz").read_bytes())
    monkeypatch.chdir(tmp_path)
    rules = ["--words", "3..9", "--language", "model.ftz:bread,baking=0.01..", "--add-scores", "--json"]
    found = []
    for name, more in (("alone", []), ("dask", ["--dask", address])):
        outputs = ["-o", f"{name}/kept", "--rejected", f"{name}/rejected"]
        assert run("filter", *inputs, "in/none.jsonl", *outputs, *rules, *more) == 0
        said = capsys.readouterr()
        assert "none.jsonl: none of its 1 records can be read" in said.err
        found.append(json.loads(said.out))
        assert run("filter", *inputs, "in/none.jsonl", "--dry-run", *rules[:4], "--json", "-q", *more) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[2] and found[1] == found[3]
    assert contents(tmp_path / "alone") == contents(tmp_path / "dask")


@pytest.mark.full
def test_workers_go_on_with_a_run_that_was_alone(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was judged of a shard is judged again, and counted once."""
    inputs = corpus(tmp_path / "in", 3000)
    found = []
    for name in ("alone", "dask"):
        with monkeypatch.context() as patch:
            patch.setattr(shard_files, "SAVE_BYTES", 4000)
            patch.setattr(record_files, "CHUNK", 1500)
            cut_off(inputs, tmp_path / name, monkeypatch)
        capsys.readouterr()
        more = ["--dask", address] if name == "dask" else []
        assert run(*arguments(inputs, tmp_path / name, "--json", *more)) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1] and found[0]["records"] == 3 * 2998
    assert contents(tmp_path / "alone") == contents(tmp_path / "dask")
