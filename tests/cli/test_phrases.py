"""`wv phrases` as a user's shell runs it."""

import json

import pytest

from tests.processes import Process
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
    assert [int(number) for _, _, number, _ in rows] == [1] * len(first) + [2] * len(second)
    assert [tuple(pair.encode().split(b" ")) for *_, pair in rows[: len(first)]][:9] == sorted(first, key=first.get)[
        :-10:-1
    ]
    assert {name: float(score) for name, score, _, _ in rows} == pytest.approx(
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


@pytest.mark.parametrize("finding", [["--passes", 3], ["--score", "npmi", "--passes", 2, "--delimiter", "-"]])
def test_saved_phrases_are_joined_again(finding, wv, slice_text, tmp_path):
    """The same text, to the byte; another text with the phrases of the first, which it would not have found itself."""
    options = ["--lowercase", "--threshold", "0.3"] if "npmi" in finding else ["--threshold", 50]
    assert wv("phrases", slice_text, "-o", "out.txt", "--save-phrases", "p", *finding, *options, "-q").returncode == 0
    lowercase = options[:1] if "npmi" in finding else []
    done = wv("phrases", slice_text, "--apply", "p", *lowercase)
    assert (done.returncode, done.stdout) == (0, (tmp_path / "out.txt").read_text())
    few = wv("phrases", slice_text, "--apply", "p", *lowercase, "--memory", 1, "-q")
    assert (few.stdout, few.stderr) == (done.stdout, "")
    lines = slice_text.read_text().splitlines()
    expected = (tmp_path / "out.txt").read_text().splitlines()
    (tmp_path / "new.txt").write_text("".join(f"{line}\n" for line in lines[100:140]))
    new = wv("phrases", "new.txt", "--apply", "p", *lowercase)
    assert new.stdout.splitlines() == expected[100:140]
    assert "_" in new.stdout or "-" in new.stdout


@pytest.mark.parametrize(
    "training",
    [
        "train {} -o {}.vec --dim 4 --min-count 2 --epochs 1",
        "glove {} -o {}.vec --dim 4 --min-count 2 --iterations 1",
        "bioword {} -o {}.txt --min-count 2 --cells 30 --length 4 --epochs 1",
    ],
)
def test_training_joins_while_it_reads(training, wv, slice_text, tmp_path):
    """The same file, to the byte, as training on the joined text makes."""
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in slice_text.read_text().splitlines()[:300]))
    options = ["--threshold", 30, "--min-count", 3, "--passes", 2, "-q"]
    assert wv("phrases", "text", "-o", "joined", "--save-phrases", "p", *options).returncode == 0
    plain = wv(*training.format("joined", "a").split(), "-q", "--no-meta")
    at_once = wv(*training.format("text", "b").split(), "--phrases", "p", "-q", "--no-meta")
    assert (plain.returncode, at_once.returncode, at_once.stderr) == (0, 0, "")
    (made,) = tmp_path.glob("a.*")
    (same,) = tmp_path.glob("b.*")
    assert made.read_bytes() == same.read_bytes() and b"_" in made.read_bytes()


def test_a_run_does_not_go_on_with_other_phrases(wv, slice_text, tmp_path):
    (tmp_path / "p").write_text("of_the\t9\t1\tof the\n")
    (tmp_path / "q").write_text("of_the\t9\t1\tof the\nx_y\t9\t1\txqzt yqzt\n")
    call = ["train", slice_text, "-o", "v.vec", "--dim", 4, "--epochs", 2000, "-q"]
    assert wv(*call, "--phrases", "p", "--max-time", "0.3").returncode == 124
    for other in (["--phrases", "q"], []):
        done = wv(*call, *other, "--resume", "--max-time", "0.3")
        assert done.returncode == 1 and "v.vec.checkpoint" in done.stderr and "corpus" in done.stderr
    assert wv(*call, "--phrases", "p", "--resume", "--max-time", "0.3").returncode == 124


def test_phrases_and_what_else_is_read(wv, tmp_path):
    (tmp_path / "x").write_text("__label__a b c\n__label__b c d\n" * 30)
    (tmp_path / "p").write_text("b_c\t9\t1\tb c\n")
    call = ["train", "x", "-o", "m.bin", "--model", "supervised", "--dim", 4, "--epochs", 1, "-q", "--phrases"]
    assert wv(*call, "p").returncode == 0
    assert wv("dump", "m.bin", "dict").stdout.count("b_c 30 word") == 1
    done = wv(*call, "p", "--autotune-validation", "x")
    assert done.returncode == 2 and "--phrases has no effect with --autotune-validation" in done.stderr
    assert wv("train", "x", "-o", "p", "--phrases", "p", "--dim", 4).returncode == 2
    assert (tmp_path / "p").read_text() == "b_c\t9\t1\tb c\n"


def test_saved_phrases_name_their_words(wv, tmp_path):
    """A delimiter may stand in the words: what is joined does not depend on guesses."""
    (tmp_path / "x").write_text("a_b c\n" * 8 + "a b_c\n" * 8 + "y z\n" * 99)
    assert wv("phrases", "x", "-o", "out", "--threshold", 3, "--min-count", 1, "--save-phrases", "p").returncode == 0
    rows = [line.split("\t")[2:] for line in (tmp_path / "p").read_text().splitlines()]
    assert rows[:2] == [["1", "a_b c"], ["1", "a b_c"]]
    (tmp_path / "new").write_text("a_b c a b_c a b c\n")
    assert wv("phrases", "new", "--apply", "p").stdout == "a_b_c a_b_c a b c\n"
    (tmp_path / "own").write_text("NYC\t0\t1\tnew york\nNYC.times\t0\t2\tNYC times\n")
    done = wv("phrases", "-", "--apply", "own", input="new york times new\nyork\n")
    assert done.stdout == "NYC.times new\nyork\n"
    (tmp_path / "none").write_text("")
    assert wv("phrases", "new", "--apply", "none").stdout == "a_b c a b_c a b c\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a_b\t3.5\n", "p:1: expected `phrase score pass first second`, found a phrase and its score only, as version"),
        ("a_b\t3\t1\ta b\na b\t3\t1\tb c\n", "p:2: expected `phrase score pass first second`, found 'a b"),
        ("a_b\t3\t1\ta b c\n", "p:1: expected"),
        ("a_b\t3\t0\ta b\n", "p:1: expected"),
        ("a_b\tx\t1\ta b\n", "p:1: expected"),
        ("\n", "p:1: expected"),
        ("a_b\t3\t2\ta b\nb_c\t3\t1\tb c\n", "p:2: expected passes to ascend, found pass 1 after a later one"),
        ("a_b\t3\t1\ta b\na-b\t3\t1\ta b\n", "p:2: the pair 'a b' stands in this pass twice"),
    ],
)
def test_files_that_hold_no_phrases(content, message, wv, tmp_path):
    (tmp_path / "x").write_text("a b a\n")
    (tmp_path / "p").write_text(content)
    done = wv("phrases", "x", "--apply", "p", "-o", "out")
    assert (done.returncode, done.stdout, (tmp_path / "out").exists()) == (1, "", False)
    assert done.stderr.startswith(f"wv phrases: {message}")


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
    found = [json.loads(line) for line in wv("phrases", "x", "--json").stderr.splitlines()]
    assert found[0]["phrases"] == 0 and found[-1]["tokens_read"] == 222  # of the pass, then of the run


def test_words_of_any_bytes(wv, tmp_path):
    (tmp_path / "x").write_bytes(b"caf\xe9 \xff\xfe\n" * 8 + b"y z\n" * 99)
    assert wv("phrases", "x", "-o", "out", "--threshold", 3, "--delimiter", "·", "-q", "--force-text").returncode == 0
    assert (tmp_path / "out").read_bytes() == b"caf\xe9\xc2\xb7\xff\xfe\n" * 8 + b"y z\n" * 99


def test_the_reader_may_stop_early(slice_text):
    import subprocess
    import sys

    command = [sys.executable, "-m", "wv_cli", "phrases", str(slice_text), "-q"]
    with Process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
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
            "wv phrases: y: two outputs have this name; give each its own",
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
        (["x", "--apply", "p", "--threshold", "9"], 2, "wv phrases: --threshold has no effect with --apply"),
        (["x", "--apply", "p", "--save-phrases", "q"], 2, "wv phrases: --save-phrases has no effect with --apply"),
        (["x", "--apply", "missing"], 1, "wv phrases: missing: cannot read"),
        (["empty", "--apply", "x", "-o", "x"], 2, "wv phrases: x is also an input (x); write to another file"),
        (["-", "--apply", "-"], 2, "wv phrases: - (standard input) is named twice"),
        (["x", "--passes", "0"], 2, "wv phrases: --passes must be between 1 and 100, not 0"),
        (["x", "--min-count", "0"], 2, "wv phrases: --min-count must be at least 1, not 0"),
        (["x", "--delimiter", ""], 2, "wv phrases: --delimiter must be text without spaces, not ''"),
        (["x", "--memory", "none"], 2, "wv phrases: --memory: 'none' is not a size; write 500000, 300M or 2G"),
        ([], 2, "wv phrases: missing argument 'INPUT...'; usage: wv phrases [OPTIONS] INPUT..."),
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
