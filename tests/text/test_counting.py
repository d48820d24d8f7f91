"""Counting in bounded memory: the bytes of counting in one table, whatever text and memory; what a disk lacks."""

import shutil
import subprocess
import sys
from collections import namedtuple
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wv_cli import _encoder, _text
from wv_cli.errors import WvError
from wv_cli.io.spill import Spool
from wv_cli.text import counting as module
from wv_cli.text import spilled_words, word_runs
from wv_cli.text.config import VocabConfig
from wv_cli.text.counting import count_words
from wv_cli.text.spilled_words import SpilledWords
from wv_cli.text.vocab import EmptyVocabulary, write_pieces
from wv_cli.text.word_runs import WordRuns

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
    """Tables of 16 words, and runs of a few, merged three at a time, so that short texts take every path."""
    monkeypatch.setattr(module, "_LEAST_ROOM", 1)
    monkeypatch.setattr(module.process, "for_buffers", lambda limit: limit)
    monkeypatch.setattr(word_runs, "_LEAST_BLOCK", 64)
    monkeypatch.setattr(word_runs, "_MOST_RUNS", 3)


def written(text, path, config, memory):
    """The file and its figures."""
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
    assert len(runs) > 9, "they are merged in more than one pass"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "text"]


def test_parts_that_do_not_fit_are_divided_again(small, tmp_path, monkeypatch):
    """The table of a part has no more memory than the first one."""
    levels = []
    real = SpilledWords._move
    monkeypatch.setattr(SpilledWords, "_move", lambda self: (levels.append(self._level), real(self))[1])
    config = VocabConfig(min_count=1)
    expected = written(many(8000), tmp_path, config, None)
    assert not levels
    assert written(many(8000), tmp_path, config, TINY) == expected
    assert levels.count(0) > 9, "a file of many segments"
    assert levels.count(1) > 9


def test_frequent_words_stay_in_memory(small, tmp_path, monkeypatch):
    """The file gets the words for which the table had no room, and no others, however long the text."""
    kept = []

    class Observed(Spool):
        def write(self, array, position):
            kept.append(array.tobytes())
            super().write(array, position)

    monkeypatch.setattr(spilled_words, "Spool", Observed)
    text = b"a text of frequent ones\n" + b"".join(b"frequent ones and new-%d\n" % n for n in range(800))
    written(text, tmp_path, VocabConfig(min_count=1, max_vocab=1), TINY)
    spilled = b"".join(kept)
    assert spilled.count(b"new-") > 700
    assert b"frequent" not in spilled and b"ones" not in spilled and b"and" not in spilled


def record(word, distance):
    """As core/wordspill.h says."""
    out = bytearray()
    for number in (len(word), distance):
        while number > 127:
            out.append(number % 128 + 128)
            number //= 128
        out.append(number)
    return bytes(out) + word


def test_a_segment_is_counted_as_it_is_written():
    """Words of one byte to many, at places near and far."""
    found = [(b"a", 0), (b"b" * 16, 127), (b"c" * 17, 128), (b"a", 2**14), (b"d" * 300, 2**35), (b"b" * 16, 2**62)]
    segment = b"".join(record(word, distance) for word, distance in found)
    counts = _encoder.StreamCounts(_encoder.Spill(1, 1 << 20))
    counts.add(segment)
    counts.add(record(b"d" * 300, 7))
    blob, starts, times, firsts = counts.vocabulary()
    assert [blob[begin:end][:1] for begin, end in pairwise(starts.tolist())] == [b"a", b"b", b"c", b"d"]
    assert np.diff(starts).tolist() == [1, 16, 17, 300] and times.tolist() == [2, 2, 1, 2]
    assert firsts.tolist() == [0, 127, 255, 255 + 2**14 + 2**35]
    for end in range(len(segment)):
        again = _encoder.StreamCounts(_encoder.Spill(1, 1 << 20))
        try:
            again.add(segment[:end])
        except ValueError:
            continue
        assert end in np.cumsum([0, *(len(record(*each)) for each in found)])


def records(segment):
    """The words and places of a segment."""
    place = at = 0
    while at < len(segment):
        numbers = []
        for _ in range(2):
            number = shift = 0
            while segment[at] > 127:
                number, shift, at = number | segment[at] % 128 << shift, shift + 7, at + 1
            numbers.append(number | segment[at] << shift)
            at += 1
        place += numbers[1]
        yield segment[at : at + numbers[0]], place
        at += numbers[0]


def test_a_spill_divides_words():
    """Each word to one part with its place; another level divides in another way."""
    text = [b"t%d" % n for n in range(16)] + [b"w%d" % (n % 700) * (n % 70 + 1) for n in range(1500)]
    parts_of = []
    for level in (0, 1):
        spill = _encoder.Spill(level, 0)
        table = _encoder.Encoder(keep_ids=False, spill=spill)
        table.feed(b" ".join(text[:16]) + b" ")  # the least that a table takes
        table.feed(b" ".join(text[16:]))
        table.finish()
        segments, starts = spill.take()
        assert spill.nbytes == 0
        ends = pairwise(starts.tolist())
        parts = [list(records(segments[begin:end].tobytes())) for begin, end in ends]
        assert len(parts) == _encoder.PARTS and min(map(len, parts)) > 0
        assert sorted((place, word) for part in parts for word, place in part) == list(enumerate(text))[16:]
        part_of = {word: number for number, part in enumerate(parts) for word, _ in part}
        assert all(part_of[word] == number for number, part in enumerate(parts) for word, _ in part)
        parts_of.append(part_of)
    differ = sum(parts_of[0][word] != parts_of[1][word] for word in parts_of[0])
    assert differ > len(parts_of[0]) * 0.9


def test_a_spill_is_of_an_encoder_that_only_counts():
    for options in ({"keep_ids": True}, {"keep_ids": False, "known": (b"a", np.array([0, 1]))}):
        with pytest.raises(ValueError, match="keep_ids=False"):
            _encoder.Encoder(**options, spill=_encoder.Spill(0, 0))


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
