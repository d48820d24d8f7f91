"""`wv filter --dask`: the bytes and counts of one process."""

import json
import os
from pathlib import Path

import pytest

from tests.cluster.served import run
from tests.commands.test_filter import contents, corpus
from tests.conftest import GOLDEN

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
