"""`wv convert` as a user's shell runs it."""

import os
import subprocess
import sys

import pytest

from tests.conftest import GOLDEN
from wv_cli.vectors.file_options import WORD2VEC_PRECISION
from wv_cli.vectors.formats import FORMATS

W2V = GOLDEN / "w2v-sg-ns.bin"


def test_there_and_back(wv, tmp_path):
    assert wv("convert", W2V, "a.vec", "--precision", "exact", "-q").stderr == ""
    assert wv("convert", "a.vec", "b.bin", "-q").returncode == 0
    assert (tmp_path / "b.bin").read_bytes() == W2V.read_bytes()
    done = wv("convert", "b.bin", "c.glove")
    assert (done.stdout, done.stderr) == ("", "c.glove: 4331 rows of 50 numbers, glove-text\n")
    assert wv("convert", "c.glove", "d.vec", "-q").returncode == 0
    again = wv("convert", GOLDEN / "w2v-sg-ns.txt.xz", "-", "-q")
    assert (tmp_path / "d.vec").read_text() == again.stdout


def test_pipes_of_bytes(tmp_path):
    """Binary through stdin and stdout."""

    def piped(*arguments, data):
        command = [sys.executable, "-m", "wv_cli", "convert", *arguments]
        return subprocess.run(command, input=data, capture_output=True, check=True, cwd=tmp_path)

    text = piped("-", "-", "--precision", "exact", data=W2V.read_bytes())
    assert text.stderr == b"standard output: 4331 rows of 50 numbers, word2vec-text\n"
    assert piped("-", "-", "--to", "word2vec-binary", data=text.stdout).stdout == W2V.read_bytes()


def test_limit_and_formats_by_name(wv, tmp_path):
    done = wv(
        "convert", "--from", "word2vec-binary", "--to", "glove-text", "--limit", 3, "--precision", 2, W2V, "x.y", "-q"
    )
    rows = (tmp_path / "x.y").read_text().splitlines()
    assert done.returncode == 0 and [row.split()[0] for row in rows] == ["</s>", "the", "of"]
    assert rows[0].startswith("</s> 0.01 0.01 -0.01 ")


def test_escape_and_back(wv, tmp_path):
    spaces = GOLDEN / "gensim-spaces.vec"
    refused = wv("convert", spaces, "x.bin")
    assert refused.returncode == 1 and list(tmp_path.iterdir()) == []
    assert refused.stderr == (
        "wv convert: x.bin: row 2: the word 'new york' holds a space, which word2vec-binary cannot keep; nothing was "
        "written. Write it as 'new%20york' with --escape\n"
    )
    assert wv("convert", spaces, "x.bin", "--escape").returncode == 0
    assert b"new%20york%20city " in (tmp_path / "x.bin").read_bytes()
    back = wv("convert", "x.bin", "-", "--unescape")
    assert "standard output: row 2: the word 'new york' holds a space" in back.stderr and back.stdout == ""


def test_a_note_is_shown_and_quiet_hides_it(wv):
    loud = wv("convert", GOLDEN / "glove-header.txt", "x.bin")
    assert loud.returncode == 0 and loud.stderr.startswith("wv convert: note: ") and "<unk>" in loud.stderr
    quiet = wv("convert", GOLDEN / "glove-header.txt", "x.bin", "-q")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_onto_itself(wv, tmp_path):
    (tmp_path / "a.vec").write_bytes((GOLDEN / "gensim.vec").read_bytes())
    assert wv("convert", "a.vec", "a.vec", "--limit", 5).returncode == 0
    assert (tmp_path / "a.vec").read_bytes().startswith(b"5 50\n")


@pytest.mark.parametrize("call", ["convert a.bin a.bin", "whiten a.bin -o a.bin", "align a.bin b.vec -o a.bin"])
def test_vectors_take_no_model_s_place(call, wv, tmp_path):
    """Its n-grams would be lost."""
    model = (GOLDEN / "ft-words.bin").read_bytes()
    (tmp_path / "a.bin").write_bytes(model)
    assert wv("convert", "a.bin", "b.vec").returncode == 0
    done = wv(*call.split())
    told = f"wv {call.split()[0]}: a.bin: is both read and written; choose another output\n"
    assert (done.returncode, done.stderr) == (2, told)
    assert (tmp_path / "a.bin").read_bytes() == model
    assert wv("convert", "a.bin", "a.bin", "--to", "fasttext-bin").returncode == 0
    assert wv("whiten", "b.vec", "-o", "b.vec").returncode == 0


@pytest.mark.parametrize(
    "name", ["duplicate.vec", "header-huge.vec", "not-a-number.glove", "not-finite.bin", "truncated.bin"]
)
def test_a_broken_file_harms_nothing(wv, tmp_path, name):
    broken = GOLDEN / "broken" / name
    (tmp_path / "x.bin").write_bytes(b"yesterday")
    done = wv("convert", broken, "x.bin")
    if name == "duplicate.vec":  # every row can be read
        assert done.returncode == 0 and "1 row has the word of an earlier row and is left out" in done.stderr
        assert done.stderr.endswith("x.bin: 19 rows of 50 numbers, word2vec-binary\n")
        assert wv("check", "x.bin").returncode == 0
        return
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"wv convert: {broken}:") and done.stderr.count("\n") == 1
    assert (tmp_path / "x.bin").read_bytes() == b"yesterday" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.vec", "x.bin"], 1, "missing.vec: cannot read: no such file or directory; check the spelling"),
        ([".", "x.bin"], 1, ".: cannot read: is a directory"),
        (["empty", "x.bin"], 1, "empty: the file is empty; expected word vectors"),
        ([W2V, "no/x.bin"], 1, "no does not exist; create it first"),
        ([W2V, "empty/x.bin"], 1, "empty/x.bin: cannot write: the folder empty is a file; write elsewhere"),
        ([W2V, "x"], 2, "names no format to write; choose one by --to or the ending: word2vec-text (.vec, .txt)"),
        ([W2V, "."], 1, ".: cannot write: is a folder; name a file in it"),
        ([W2V, "new/"], 1, "new/: cannot write: is a folder; name a file in it"),
        ([W2V, "folder.vec"], 1, "folder.vec: cannot write: is a folder"),
        ([W2V, "x", "--to", "statik"], 2, "unknown format 'statik'; did you mean 'static'?"),
        ([W2V, "x.vec", "--to", "nope"], 2, "wv convert also writes static, spacy, floret and fasttext-bin"),
        ([W2V, "x.vec", "--to", "word2vec"], 2, "unknown format 'word2vec'; did you mean 'word2vec-text'?"),
        ([W2V, "x.vec", "--from", "nope"], 2, "unknown format 'nope' (choices: word2vec-text, word2vec-binary"),
        ([W2V, "x.bin", "--precision", "3"], 2, "--precision has no effect on word2vec-binary"),
        ([W2V, "x.vec", "--precision", "0"], 2, "wv convert: --precision must be between 1 and 9 or exact, not 0"),
        ([W2V, "x.vec", "--limit", "0"], 2, "wv convert: --limit must be at least 1, not 0"),
        ([W2V, "x.vec", "--from", "glove-text"], 1, "w2v-sg-ns.bin:2: expected 1 number, found"),
        ([W2V, "x.vec", "--from", "word2vec-text"], 1, "w2v-sg-ns.bin:2: expected 50 numbers after the word"),
        ([GOLDEN / "glove.txt", "x.vec", "--from", "word2vec-text"], 1, "expected a header `rows dim`, found 'the"),
        ([W2V, "/dev/full", "--to", "word2vec-text"], 1, "/dev/full: cannot write: no space left on device"),
        ([W2V], 2, "wv convert: missing argument 'OUT'; usage: wv convert [OPTIONS] IN OUT"),
    ],
)  # fmt: skip
def test_failures(wv, tmp_path, arguments, code, message):
    (tmp_path / "empty").touch()
    (tmp_path / "folder.vec").mkdir()
    done = wv("convert", *arguments)
    assert done.returncode == code and message in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == "" and sorted(os.listdir(tmp_path)) == ["empty", "folder.vec"]


def test_closed_pipe(tmp_path):
    command = f'"{sys.executable}" -m wv_cli convert "{W2V}" - | head -n 1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0 and done.stdout == "4331 50\n" and "Traceback" not in done.stderr


def test_binary_is_not_for_a_terminal(tmp_path):
    pty = pytest.importorskip("pty")
    primary, secondary = pty.openpty()
    command = [sys.executable, "-m", "wv_cli", "convert", str(W2V), "-", "--to", "word2vec-binary"]
    done = subprocess.run(command, stdout=secondary, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    os.close(secondary)
    os.close(primary)
    assert done.returncode == 2 and "binary vectors are not for a terminal" in done.stderr


def test_help_names_every_format(wv):
    text = " ".join(wv("convert", "--help").stdout.split())
    for row in FORMATS.values():
        lacking = [each for each in (row.name, *row.suffixes) if each not in text]
        assert not lacking, f"the docstring of ConvertJob in commands/convert.py lacks {', '.join(lacking)}"
    assert f"default: {WORD2VEC_PRECISION}" in text
