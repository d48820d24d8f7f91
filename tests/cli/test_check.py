"""`wv check` as a user's shell runs it."""

import json

import pytest

from tests.conftest import GOLDEN

BROKEN = GOLDEN / "broken"


@pytest.mark.parametrize("name", ["w2v-sg-ns.bin", "w2v-sg-ns.txt.xz", "glove.txt"])
def test_good_files(wv, name):
    done = wv("check", GOLDEN / name)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.endswith(" rows of 50 numbers: no damage found\n") and done.stdout.count("\n") == 1


@pytest.mark.parametrize("name", ["duplicate.vec", "header-dim.bin", "not-a-number.glove", "truncated.bin"])
def test_broken_files(wv, name):
    broken = BROKEN / name
    before = broken.read_bytes()
    done = wv("check", broken)
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and done.stderr == "" and len(lines) >= 2
    assert all(line.startswith((f"{broken}:", f"{broken}: byte ")) for line in lines[:-1])
    assert ": damaged: 1 x " in lines[-1] or " x " in lines[-1]
    assert broken.read_bytes() == before


def test_report_for_people(wv):
    done = wv("check", BROKEN / "not-finite.vec")
    path = BROKEN / "not-finite.vec"
    assert done.stdout.splitlines() == [
        f"{path}:8: expected finite numbers, found 'nan' as number 3 of the word 'one'",
        f"{path}:11: expected finite numbers, found '-inf' as number 50 of the word 'is'",
        f"{path}:13: expected finite numbers, found '1e39' as number 1 of the word 'as'",
        f"{path}: word2vec-text, 20 rows of 50 numbers: damaged: 3 x not finite",
    ]


def test_notes_are_no_damage(wv):
    done = wv("check", GOLDEN / "gensim-spaces.vec")
    assert done.returncode == 0
    assert ":3: note: the word 'new york' holds a space" in done.stdout
    assert done.stdout.endswith(": no damage found; notes: 3 x unusual word\n")


def test_the_list_is_capped_and_the_count_is_not(wv):
    done = wv("check", BROKEN / "header-dim.vec", "--max-problems", 2)
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and lines[-1].endswith("damaged: 20 x ragged row (the first 2 of 20 are listed)")
    assert len(wv("check", BROKEN / "header-dim.vec", "--max-problems", 0).stdout.splitlines()) == 1


def test_json(wv):
    done = wv("check", BROKEN / "duplicate.bin", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["damaged"] is True and report["format"] == "word2vec-binary"
    assert (report["rows"], report["dim"], report["promised_rows"]) == (20, 50, 20)
    assert report["counts"] == {"duplicate word": 1, "bad UTF-8": 1} and report["notes"] == {}
    assert [(problem["kind"], problem["byte"]) for problem in report["problems"]] == [
        ("duplicate word", 1234), ("bad UTF-8", 1438)
    ]  # fmt: skip
    assert json.loads(wv("check", GOLDEN / "glove.txt", "--json").stdout)["damaged"] is False


def test_quiet_and_stdin(wv):
    text = (BROKEN / "short-row.vec").read_text()
    done = wv("check", "-", "-q", input=text)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    done = wv("check", "-", input=text)
    assert done.stdout.startswith("standard input:8: expected 50 numbers")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.vec"], 1, "wv check: missing.vec: cannot read: no such file or directory"),
        (["."], 1, "wv check: .: cannot read: is a directory"),
        (["empty"], 1, "wv check: empty: the file is empty"),
        (["noise"], 1, "wv check: noise: byte 0: expected word vectors (word2vec-text, word2vec-binary, glove-text, "),
        (["empty", "--from", "nope"], 2, "unknown format 'nope'"),
        (["empty", "--max-problems", "-1"], 2, "wv check: --max-problems must be 0 or more, not -1"),
        ([], 2, "wv check: missing argument 'FILE'; usage: wv check [OPTIONS] FILE"),
    ],
)
def test_failures(wv, tmp_path, arguments, code, message):
    (tmp_path / "empty").touch()
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 100)
    done = wv("check", *arguments)
    assert done.returncode == code and message in done.stderr and "Traceback" not in done.stderr and done.stdout == ""


def test_a_line_of_100_megabytes(wv, tmp_path):
    with (tmp_path / "x.vec").open("wb") as file:
        file.write(b"2 3\na 1 2 3\n")
        for _ in range(100):
            file.write(b"1.25 " * 200_000)
    done = wv("check", "x.vec")
    assert done.returncode == 1
    assert "x.vec:3: expected 3 numbers after the word '1.25', found 19999999" in done.stdout
