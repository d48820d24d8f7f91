"""What the making of an index is made of: tokens counted in C, and what it collects in a file without a name."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wv_cli.retrieval.spilled
from tests.retrieval.test_search import index_of, quiet
from wv_cli.retrieval.build import build
from wv_cli.retrieval.config import TextConfig
from wv_cli.retrieval.files import find_files
from wv_cli.retrieval.spilled import NoRoom, Spilled
from wv_cli.text.search_tokens import TokenReader

PIECES = [
    "the",
    " ",
    "cats",
    "getUserId",
    "\n",
    "snake_case",
    "l'eau",
    "日本語",
    "한국어를",
    "a\u202fb",
    "é",
    "\x00",
    "3.14",
    "\udcff",
]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=6))
def test_counts_are_those_of_the_tokens(texts):
    reader = TokenReader("english", "drop", "split")
    numbers = {}
    count = reader.counter(numbers)
    expected = {}
    for text in texts:
        length, tokens, found = count(text.encode("utf-8", "surrogateescape"))
        words = reader.tokens(text)
        assert length == len(words)
        pairs = [(expected.setdefault(word, len(expected)), times) for word, times in Counter(words).items()]
        assert list(zip(np.frombuffer(tokens, np.int32), np.frombuffer(found, np.uint16), strict=True)) == pairs
    assert numbers == expected


def test_many_words_and_high_counts():
    count = TokenReader("none", "keep").counter(numbers := {})
    words = [f"w{i}" for i in range(5000)]
    for _ in range(2):
        length, tokens, found = count(" ".join(words + ["w7"] * 70_000).encode())
        assert length == 75_000 and np.frombuffer(tokens, np.int32).tolist() == list(range(5000))
        assert np.frombuffer(found, np.uint16)[7] == 65_535 and np.frombuffer(found, np.uint16)[8] == 1
    assert list(numbers) == words


@pytest.mark.parametrize("held", [1, 10, 1 << 20])
@pytest.mark.parametrize("in_memory", [False, True])
def test_what_is_collected_comes_back(tmp_path, monkeypatch, held, in_memory):
    monkeypatch.setattr(wv_cli.retrieval.spilled, "_HELD", held)
    spilled = Spilled(None if in_memory else str(tmp_path / "index"), np.int32)
    expected = []
    for step in range(40):
        items = np.arange(step, dtype=np.int32)
        spilled.add(items.tobytes())
        expected += items.tolist()
        if step % 7 == 6:
            keep = len(expected) * (step % 3) // 2
            expected = expected[:keep]
            spilled.cut(keep)
        assert len(spilled) == len(expected)
    assert spilled.array().tolist() == expected
    spilled.let_go()
    assert spilled.array().tolist() == expected
    assert not [*tmp_path.iterdir()]


def test_an_index_is_the_same_from_a_file(tmp_path, monkeypatch):
    folder = tmp_path / "texts"
    folder.mkdir()
    for i in range(30):
        (folder / f"{i:02}").write_bytes(b"one two three\n\n" * i + (b"four\xff\x00" * 300 if i == 9 else b"five"))
    plain, _ = index_of(folder)
    monkeypatch.setattr(wv_cli.retrieval.spilled, "_HELD", 64)
    files = find_files([str(folder)], quiet)
    found, _ = build(files, TextConfig(), log=quiet, beside=str(tmp_path / "index"))
    found.require_whole()
    for index, name in ((plain, "plain"), (found, "spilled")):
        index.save(tmp_path / name)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "spilled").read_bytes()
    with pytest.raises(NoRoom, match="cannot keep the index in a file here"):  # and not left out as a bad file
        build(files, TextConfig(), log=quiet, beside=str(tmp_path / "no folder" / "index"))
