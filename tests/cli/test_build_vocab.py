"""`wv build-vocab` as a user's shell runs it."""

import gzip
import json
import os
import pty
import subprocess
import sys
import termios

import pytest

from tests.cli.screen import read_terminal
from tests.conftest import GOLDEN
from tests.processes import Process
from tests.reference.text import count_words, split_lines


def rows(text):
    return [(word, int(count)) for word, count in (line.split(" ") for line in text.splitlines())]


def test_counts_to_stdout(wv, slice_text):
    done = wv("build-vocab", slice_text)
    lines = split_lines(slice_text.read_bytes())
    reference = count_words(lines, min_count=5)
    assert done.returncode == 0
    assert rows(done.stdout) == [("</s>", 3000), *((word.decode(), n) for word, n in reference.items())]
    everything = count_words(lines)
    tokens = sum(everything.values())
    assert done.stderr.startswith(
        f"{tokens:,} words in 3,000 lines, {len(everything):,} different ones; kept {len(reference):,}, "
        f"which cover {sum(reference.values()) / tokens:.2%} of the text; "
    )
    assert done.stderr.rstrip().endswith("MB/s)")


def test_threads_change_no_byte(wv, tmp_path):
    """Of a file, a compressed one and a pipe, all larger than what one thread counts at once."""
    text = b"".join(b"word%d of %d\n" % (n * 7919 % 5003, n) for n in range(300_000))
    (tmp_path / "text").write_bytes(text)
    with gzip.open(tmp_path / "text.gz", "wb", 1) as stream:
        stream.write(text)
    found = [wv("build-vocab", "text", "-q", "--threads", threads).stdout for threads in (1, 3)]
    found.append(wv("build-vocab", "text.gz", "-q", "--threads", 3).stdout)
    found.append(wv("build-vocab", "-", "-q", "--threads", 3, input=text.decode()).stdout)
    assert len(found[0]) > 50_000 and found == found[:1] * 4


def test_from_stdin_quiet_and_glove_layout(wv):
    done = wv("build-vocab", "-", "-q", "--min-count", 1, "--no-sentence-end", "--lowercase", input="B a b\nA ÄÄ b")
    assert (done.returncode, done.stdout, done.stderr) == (0, "b 3\na 2\nää 1\n", "")


def test_words_of_any_bytes(wv, tmp_path):
    (tmp_path / "x").write_bytes(b"caf\xe9 caf\xe9 na\xc3\xafve\xc2\xa0x \xff\xfe")
    done = wv("build-vocab", "x", "--min-count", 1, "-o", "v", "-q")
    assert done.returncode == 0
    assert (tmp_path / "v").read_bytes() == b"</s> 1\ncaf\xe9 2\nna\xc3\xafve\xc2\xa0x 1\n\xff\xfe 1\n"


def test_json(wv, tmp_path):
    (tmp_path / "x").write_text("a b a\nb a c\n")
    done = wv("build-vocab", "x", "-o", "v", "--min-count", 2, "--json")
    facts = json.loads(done.stdout)
    assert facts.pop("seconds") > 0
    assert facts == {
        "output": "v", "tokens": 6, "lines": 2, "words": 3, "kept_words": 2, "kept_tokens": 5, "coverage": 5 / 6,
    }  # fmt: skip
    assert done.stderr == ""
    on_stdout = wv("build-vocab", "x", "--min-count", 2, "--json")
    assert on_stdout.stdout == "</s> 2\na 3\nb 2\n"
    assert json.loads(on_stdout.stderr)["kept_words"] == 2


def test_the_bar_is_for_terminals(slice_xz):
    """On a terminal the reading bar comes and goes; in a log (the other tests) there is none."""
    terminal, side = pty.openpty()
    termios.tcsetwinsize(side, (24, 100))
    command = [sys.executable, "-m", "wv_cli", "build-vocab", str(slice_xz), "-o", "/dev/null"]
    with Process(command, stderr=side, stdin=subprocess.DEVNULL) as process:
        os.close(side)
        shown = read_terminal(terminal)
    assert process.returncode == 0
    assert b"reading:" in shown
    assert b"%|" in shown
    assert shown.rpartition(b"\r")[0].endswith(b"MB/s)")
    assert shown.count(b"5,614,516 words in 97,000 lines") == 1


def test_merge_of_shards_is_the_count_of_the_whole(wv, slice_text, tmp_path):
    lines = slice_text.read_bytes().splitlines(keepends=True)
    (tmp_path / "shards").mkdir()
    for i in range(3):
        (tmp_path / f"part{i}").write_bytes(b"".join(lines[i * 1000 : (i + 1) * 1000]))
        assert wv("build-vocab", f"part{i}", "--min-count", 1, "-o", f"shards/{i}.vocab", "-q").returncode == 0
    merged = wv("build-vocab", "--merge", *(f"shards/{i}.vocab" for i in range(3)))
    whole = wv("build-vocab", slice_text)
    assert rows(merged.stdout)[0] == ("</s>", 3000)
    # Words of equal count stand in order of first sight, which a shard's file does not tell.
    assert dict(rows(merged.stdout)) == dict(rows(whole.stdout))
    assert [n for _, n in rows(merged.stdout)] == [n for _, n in rows(whole.stdout)]
    assert "MB/s" not in merged.stderr
    folder = wv("build-vocab", "--merge", "shards")
    assert folder.stdout == merged.stdout


def test_one_word2vec_file_and_one_of_glove(wv):
    done = wv("build-vocab", "--merge", GOLDEN / "w2v.vocab", GOLDEN / "glove.vocab.txt")
    assert rows(done.stdout)[:2] == [("</s>", 13703), ("the", 2 * 57335)]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["missing"],
            1,
            "wv build-vocab: missing: cannot read: no such file or directory; check the spelling of the path",
        ),
        (["x", "-o", "x"], 2, "wv build-vocab: x is also an input (x); write to another file"),
        (["x", "-o", "no/v"], 1, "wv build-vocab: no/v: cannot write: the folder"),
        (["x", "-o", "folder"], 1, "wv build-vocab: folder: cannot write: is a folder; name a file in it"),
        (["folder"], 1, "wv build-vocab: folder: no files in this folder"),
        (["empty"], 1, "wv build-vocab: empty: no text: expected words divided by spaces or line ends, found none"),
        (
            ["x", "--min-count", "9"],
            1,
            "wv build-vocab: no word occurs 9 times (--min-count 9); the most frequent, 'a', ",
        ),
        (["x", "--min-count", "0"], 2, "wv build-vocab: --min-count must be at least 1, not 0"),
        (["x", "--max-vocab", "-3"], 2, "wv build-vocab: --max-vocab must be 0 (no limit) or more, not -3"),
        (["x", "--merge"], 1, "wv build-vocab: x:1: expected a word and its count (1 or more), found 'a b a'"),
        (["x", "--merge", "--lowercase"], 2, "wv build-vocab: --merge and --lowercase cannot be used together: "),
        (["x", "--merge", "--memory", "1G"], 2, "wv build-vocab: --merge and --memory cannot be used together: "),
        (
            ["x", "--min-count", "9", "--memory", "1"],
            1,
            "wv build-vocab: no word occurs 9 times (--min-count 9); the most frequent, 'a', ",
        ),
        (["empty", "--memory", "1"], 1, "wv build-vocab: empty: no text: expected words divided by spaces or line "),
        (["-", "-"], 2, "wv build-vocab: - (standard input) is given twice; it can be read only once"),
        (["x", "-o", "/dev/full", "--min-count", "1"], 1, "wv build-vocab: /dev/full: cannot write: no space left"),
        ([], 2, "wv build-vocab: missing argument 'INPUT...'; usage: wv build-vocab [OPTIONS] INPUT..."),
    ],
)
def test_errors(arguments, code, message, wv, tmp_path):
    (tmp_path / "x").write_text("a b a\n")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    done = wv("build-vocab", *arguments)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "x").read_text() == "a b a\n"


def test_a_failure_keeps_yesterdays_file(wv, tmp_path):
    (tmp_path / "v").write_text("old 1\n")
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\0")
    done = wv("build-vocab", "cut.gz", "-o", "v")
    assert done.returncode == 1
    assert "cut.gz: byte 10: expected more gzip data" in done.stderr
    assert (tmp_path / "v").read_text() == "old 1\n"


def test_help_names_every_option(wv):
    text = wv("build-vocab", "--help").stdout
    for word in [
        "--min-count",
        "--max-vocab",
        "--lowercase",
        "--merge",
        "--sentence-end",
        "--json",
        "--quiet",
        "[default: 5;",
    ]:
        assert word in text
