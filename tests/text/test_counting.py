"""Counting in bounded memory: the bytes of counting in one table, whatever text and memory; what a disk lacks."""

import shutil
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wv_cli import _text
from wv_cli.errors import WvError
from wv_cli.text import counting as module
from wv_cli.text import word_runs
from wv_cli.text.config import VocabConfig
from wv_cli.text.counting import count_words
from wv_cli.text.vocab import EmptyVocabulary, write_pieces
from wv_cli.text.word_runs import COUNT, FIRST, KEY, Rows, WordRuns, sum_rows
from wv_cli.words import WordList

TINY = 1 << 11  # bytes: a few dozen words
words = st.one_of(
    st.integers(0, 3000).map(lambda n: b"w%d" % n),
    st.binary(min_size=1, max_size=40).filter(lambda word: not set(word) & set(_text.SEPARATORS)),
)
texts = st.lists(st.lists(words, max_size=60), min_size=1, max_size=60).map(
    lambda lines: b"a text, " + b"\n".join(b" ".join(line) for line in lines)  # not the first bytes of a format
)


@pytest.fixture
def small(monkeypatch):
    """Runs of a few words, merged three at a time, so that short texts take every path."""
    monkeypatch.setattr(module, "_LEAST_ROOM", 1)
    monkeypatch.setattr(module.process, "for_buffers", lambda limit: limit)
    monkeypatch.setattr(word_runs, "_LEAST_BLOCK", 64)
    monkeypatch.setattr(word_runs, "_MOST_RUNS", 3)


def written(text, path, config, memory):
    """The file, its figures, and how many runs were made."""
    (path / "text").write_bytes(text)
    with count_words([str(path / "text")], config, memory=memory, spool_beside=str(path / "out")) as counts:
        kept = write_pieces(str(path / "out"), counts.kept, counts.lines)
    return (path / "out").read_bytes(), (counts.tokens, counts.lines, counts.words, *kept)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts, st.integers(1, 3), st.sampled_from([0, 1, 7, 200]), st.sampled_from([TINY, 1 << 13]))
def test_the_same_bytes_as_in_one_table(small, tmp_path_factory, text, min_count, max_vocab, memory):
    path = tmp_path_factory.getbasetemp()
    config = VocabConfig(min_count=min_count, max_vocab=max_vocab)
    try:
        expected = written(text, path, config, None)
    except EmptyVocabulary as error:
        with pytest.raises(EmptyVocabulary) as raised:
            written(text, path, config, memory)
        assert str(raised.value) == str(error)
        return
    assert written(text, path, config, memory) == expected


def many(count=30_000):
    """Words most of which stand once, some at both ends of the text."""
    numbers = np.random.default_rng(4).zipf(1.3, count) % 10**9
    return b"\n".join(b"word-number-%d letters-and-%d" % (n, n % 9) for n in numbers) + b"\nword-number-1"


def test_many_runs_in_several_passes(small, tmp_path, monkeypatch):
    runs = []
    real = WordRuns.add
    monkeypatch.setattr(WordRuns, "add", lambda self, blocks: (runs.append(self), real(self, blocks))[1])
    config = VocabConfig(min_count=1)
    expected = written(many(400), tmp_path, config, None)
    assert not runs
    assert written(many(400), tmp_path, config, TINY) == expected
    by_word, by_count = (sum(each is one for each in runs) for one in dict.fromkeys(runs))
    assert by_word > 9 and by_count > 9, "both are merged in more than one pass"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "text"]


def test_different_words_with_one_key_stay_apart(small, tmp_path, monkeypatch):
    """A hash may be that of several words: then of all of them."""
    config = VocabConfig(min_count=1)
    expected = written(many(300), tmp_path, config, None)
    monkeypatch.setattr(_text, "hashes", lambda blob, starts: np.zeros(len(starts) - 1, np.uint64))
    assert written(many(300), tmp_path, config, TINY) == expected


def test_counts_near_2_to_the_63_are_added_exactly():
    """No text is so long: as if it had been."""
    numbers = np.array([[5, 1, 2**62], [5, 9, 2**62 - 1], [6, 2**40, 2**31], [6, 2**40 + 1, 2**31]], np.int64)
    rows = Rows(WordList.from_words(["a", "a", "b", "b"]), numbers)
    for blocks in ([rows], [rows.part(i, i + 1) for i in range(4)]):
        found = list(sum_rows(blocks))
        assert [word for each in found for word in each.words] == ["a", "b"]
        table = np.concatenate([each.numbers for each in found])
        assert table[:, COUNT].tolist() == [2**63 - 1, 2**32]
        assert table[:, FIRST].tolist() == [1, 2**40] and table[:, KEY].tolist() == [5, 6]


def test_a_word_cut_by_the_table_is_one_word(small, tmp_path):
    """The table is emptied between two pieces of the text, which may be inside a word."""
    text = b" ".join(b"%d" % n * 30 for n in range(80))
    config = VocabConfig(min_count=1)
    assert written(text, tmp_path, config, TINY) == written(text, tmp_path, config, None)


def test_a_full_disk_is_told_before_it_is_full(small, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")(10**9, 10**9, 100)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    (tmp_path / "out").write_text("old 1\n")
    with pytest.raises(WvError, match=r"needs 0\.0 MB for the counts of words, but 0\.0 MB are free; free some space"):
        written(many(300), tmp_path, VocabConfig(min_count=1), TINY)
    assert (tmp_path / "out").read_text() == "old 1\n"


def test_hashes_are_of_words_not_of_places():
    some = WordList.from_words(["a", "x" * 16, "x" * 17, "b", "x" * 17, "a", "x" * 40])
    found = _text.hashes(some.blob, some.starts)
    assert found[0] == found[5] and found[2] == found[4] and len(set(found.tolist())) == 5
    assert len(_text.hashes(b"", np.zeros(1, np.int64))) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_process_keeps_to_its_memory(tmp_path):
    """600,000 different words, which take 110 MB and more in one table, and then their vocabulary."""
    with (tmp_path / "text").open("wb") as stream:
        for first in range(0, 600_000, 20_000):
            stream.write(b" ".join(b"word-%d" % (n * 7919) for n in range(first, first + 20_000)) + b"\n")
    line = f"build-vocab {tmp_path / 'text'} --min-count 1 -q -o {tmp_path / 'out'}"
    # Not getrusage: a child's begins with what its parent took.
    code = "import re, sys; from pathlib import Path; from wv_cli.__main__ import main\n"
    code += "try: main()\nfinally: print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    peak, found = {}, {}
    for memory in ("", "--memory 80M"):
        command = [sys.executable, "-c", code, *line.split(), *memory.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peak[memory], found[memory] = int(done.stdout) * 1024, (tmp_path / "out").read_bytes()
    assert found[""] == found["--memory 80M"]
    assert peak["--memory 80M"] < 80e6 < peak[""]
