"""`wv phrases` as a user's shell runs it."""

import json

import pytest

from tests.reference.text import join_phrases, split_lines


def text_of(lines):
    return "".join(" ".join(word.decode() for word in line) + "\n" for line in lines)


def test_two_passes(wv, slice_text, tmp_path):
    done = wv("phrases", slice_text, "-o", "out.txt", "--threshold", 200, "--threshold", 100, "--save-phrases", "p.tsv")
    assert (done.returncode, done.stdout) == (0, "")
    lines = split_lines(slice_text.read_bytes())
    once, first = join_phrases(lines, 200, 5)
    twice, second = join_phrases(once, 100, 5)
    assert (tmp_path / "out.txt").read_text() == text_of(twice)
    rows = [line.split("\t") for line in (tmp_path / "p.tsv").read_text().splitlines()]
    assert {name: float(score) for name, score in rows} == pytest.approx(
        {
            (a + b"_" + b_).decode(): value
            for chosen in (first, second)
            for (a, b_), value in chosen.items()
            for b in [b""]
        },
        rel=1e-5,
    )
    words, left = (sum(map(len, text)) for text in (lines, twice))
    assert done.stderr.startswith(f"threshold 200: {len(first):,} phrases, joined ")
    assert f"\n{words:,} words in, {left:,} out, 3,000 lines; " in done.stderr
    passes = wv("phrases", slice_text, "--passes", 2, "-q")
    assert (passes.returncode, passes.stderr) == (0, "")
    assert passes.stdout == text_of(twice)


def test_npmi_has_its_own_default(wv, slice_text):
    done = wv("phrases", "-", "--score", "npmi", "-q", input=slice_text.read_text())
    assert done.stdout == text_of(join_phrases(split_lines(slice_text.read_bytes()), 0.5, 5, "npmi")[0])


def test_little_memory_changes_nothing(wv, slice_text):
    assert wv("phrases", slice_text, "--memory", 1).stdout == wv("phrases", slice_text).stdout


def test_json(wv, tmp_path):
    (tmp_path / "x").write_text("new york x\n\n" * 8 + "y z\n" * 99)
    done = wv("phrases", "x", "-o", "out", "--threshold", 3, "--min-count", 1, "--json")
    facts = json.loads(done.stdout)
    assert facts.pop("seconds") > 0
    assert facts == {
        "output": "out",
        "lines": 115,
        "tokens_read": 222,
        "tokens": 214,
        "passes": [{"threshold": 3.0, "phrases": 2, "joined": 8}],
    }
    assert (tmp_path / "out").read_text() == "new_york x\n\n" * 8 + "y z\n" * 99
    assert json.loads(wv("phrases", "x", "--json").stderr)["tokens_read"] == 222


def test_words_of_any_bytes(wv, tmp_path):
    (tmp_path / "x").write_bytes(b"caf\xe9 \xff\xfe\n" * 8 + b"y z\n" * 99)
    assert wv("phrases", "x", "-o", "out", "--threshold", 3, "--delimiter", "·", "-q").returncode == 0
    assert (tmp_path / "out").read_bytes() == b"caf\xe9\xc2\xb7\xff\xfe\n" * 8 + b"y z\n" * 99


def test_the_reader_may_stop_early(slice_text):
    import subprocess
    import sys

    command = [sys.executable, "-m", "wv_cli", "phrases", str(slice_text), "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing"], 1, "wv phrases: missing: cannot read: no such file or directory; check the spelling of the path"),
        (["x", "-o", "x"], 2, "wv phrases: x is also an input (x); write to another file"),
        (["x", "--save-phrases", "x"], 2, "wv phrases: x is also an input (x); write to another file"),
        (
            ["x", "-o", "y", "--save-phrases", "y"],
            2,
            "wv phrases: y: two outputs have the same name; give each its own",
        ),
        (["x", "-o", "no/y"], 1, "wv phrases: no/y: cannot write: the folder"),
        (["x", "-o", "/dev/full", "-q"], 1, "wv phrases: /dev/full: cannot write: no space left"),
        (["empty"], 1, "wv phrases: empty: no text: expected words divided by spaces or line ends, found none"),
        (["x", "--threshold", "-1"], 2, "wv phrases: --threshold must be 0 or more for the score word2vec, not -1"),
        (["x", "--score", "npmi", "--threshold", "7"], 2, "wv phrases: --threshold must be between -1 and 1"),
        (["x", "--threshold", "nan"], 2, "wv phrases: --threshold must be a finite number"),
        (
            ["x", "--threshold", "9", "--threshold", "8", "--passes", "2"],
            2,
            "wv phrases: --passes and several --threshold",
        ),
        (["x", "--passes", "0"], 2, "Usage: wv phrases"),
        (["x", "--min-count", "0"], 2, "wv phrases: --min-count must be at least 1, not 0"),
        (["x", "--delimiter", ""], 2, "wv phrases: --delimiter must be text without spaces, not ''"),
        (["x", "--memory", "none"], 2, "Usage: wv phrases"),
        ([], 2, "Usage: wv phrases"),
    ],
)
def test_errors(arguments, code, message, wv, tmp_path):
    (tmp_path / "x").write_text("a b a\n")
    (tmp_path / "empty").write_text("\n")
    before = sorted(tmp_path.iterdir())
    done = wv("phrases", *arguments)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "x").read_text() == "a b a\n"


def test_a_failure_keeps_yesterdays_files(wv, tmp_path):
    (tmp_path / "out").write_text("old\n")
    (tmp_path / "p").write_text("old\n")
    (tmp_path / "x").write_text("a b a\n")
    done = wv("phrases", "x", "-o", "out", "--save-phrases", "/dev/full", "--threshold", 0, "--min-count", 1)
    assert done.returncode in (0, 1)  # nothing to write: an empty list fits even there
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\0")
    assert wv("phrases", "bad.gz", "-o", "out", "--save-phrases", "p").returncode == 1
    assert (tmp_path / "p").read_text() == "old\n"
