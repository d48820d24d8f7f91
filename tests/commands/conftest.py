"""What tests of several jobs work on."""

from itertools import islice
from pathlib import Path

import pytest


@pytest.fixture
def folder(slice_text, data, tmp_path, monkeypatch):
    """A short text, and pairs whose words it has."""
    monkeypatch.chdir(tmp_path)
    with slice_text.open("rb") as lines:
        Path("text.txt").write_bytes(b"".join(islice(lines, 900)))
    Path("pairs.txt").write_bytes((data / "similarity" / "EN-WS-353-ALL.txt").read_bytes())
    Path("questions.txt").write_text(": family\nman king woman queen\n: gram\none two three four\nis was has had\n")
    return tmp_path
