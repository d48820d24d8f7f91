"""What is said to a launcher that starts several processes: each would do the whole work."""

import pytest

from wv_cli.__main__ import run


@pytest.mark.parametrize(
    "variable", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"]
)
@pytest.mark.parametrize(
    "line", ["train text -o v.vec --min-count 1 -q", "build-vocab text -o v.vocab -q", "tokenize text -o words -q"]
)
def test_several_processes_are_refused_before_the_work(tmp_path, monkeypatch, capfd, variable, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("one two three\n" * 9)
    monkeypatch.setenv(variable, "1")
    assert run(line.split()) == 0
    made = sorted(path.name for path in tmp_path.iterdir())
    for name in made:
        if name != "text":
            (tmp_path / name).unlink()
    monkeypatch.setenv(variable, "2")
    assert run(line.split()) == 1
    assert "started as 2 processes, each of which would do all of the work; start it once\n" in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
