"""`wv search index` onto an index that is there: what it keeps, what it refuses, and what it says is gone."""

import json

import pytest

import wv_cli
from tests.conftest import GOLDEN
from wv_cli.errors import UsageError


def test_an_index_is_not_made_anew_for_an_option_that_is_left_out(tmp_path, monkeypatch, wv):
    """A command without --model or --field took the vectors or the records of an index away."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("text,n\none two,1\n")
    (tmp_path / "b.csv").write_text("text,n\nthree,2\n")
    model = str(GOLDEN / "own" / "vectors.vec")
    call = ("search", "index", "a.csv", "b.csv", "-o", "i")
    whole = (*call, "--model", model, "--field", "text", "--stem", "none")
    assert wv(*whole).returncode == 0
    before = (tmp_path / "i").read_bytes()
    for flag in ("--model", "--field", "--stem"):
        place = whole.index(flag)
        done = wv(*whole[:place], *whole[place + 2 :])
        assert (
            done.returncode == 2 and f"i was made with {flag} {whole[place + 1]}; give it, or remove i" in done.stderr
        )
        assert (tmp_path / "i").read_bytes() == before
    with pytest.raises(UsageError, match="i was made with"):
        wv_cli.search_index(["a.csv", "b.csv"], "i")
    assert "2 chunks of 2 files (2 unchanged);" in wv(*whole).stderr
    assert "all files are read anew" in wv(*whole, "--chunks", "line", "--stem", "english").stderr


def test_files_that_are_gone_are_counted(tmp_path, monkeypatch, wv):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name in "abc":
        (tmp_path / "docs" / name).write_text(f"word {name}\n")
    assert "gone" not in wv("search", "index", "docs", "-o", "i").stderr
    (tmp_path / "docs" / "a").unlink()
    (tmp_path / "docs" / "b").unlink()
    assert "1 chunk of 1 file (1 unchanged), 2 gone; " in wv("search", "index", "docs", "-o", "i").stderr
    (tmp_path / "docs" / "d").write_text("word\n")
    (tmp_path / "docs" / "c").unlink()
    assert json.loads(wv("search", "index", "docs", "-o", "i", "--json").stdout)["files_gone"] == 1
