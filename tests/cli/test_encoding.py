"""`wv vectors --sentences --encoder` as a user's shell runs it."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.processes import PATIENCE, Process
from wv_cli.vectors.formats import load

TINY = GOLDEN / "encoders" / "tiny-bert"
FACTS = json.loads((TINY / "golden.json").read_text())
ARRAYS = dict(np.load(TINY / "golden.npz"))
LINES = "".join(f"{line}\n" for line in FACTS["sentences"])
CALL = ("vectors", "--sentences", "--encoder", TINY)


def numbers(text):
    return np.array([[float(number) for number in line.split(" ")] for line in text.splitlines()])


def test_lines_from_a_pipe(wv):
    done = wv(*CALL, input=LINES)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(numbers(done.stdout), ARRAYS["mean"], rtol=0, atol=2e-6)
    assert done.stderr == "1 of 9 lines are longer than the encoder reads; their ends were left out\n"
    assert wv(*CALL, "-", "-q", input=LINES).stdout == done.stdout


def test_answers_come_before_the_pipe_ends():
    call = [sys.executable, "-m", "wv_cli", *map(str, CALL)]
    with Process(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(3):
            process.stdin.write("the dog\n")
            process.stdin.flush()
            assert len(process.stdout.readline().split(" ")) == 16
        process.stdin.close()
        assert process.wait(timeout=PATIENCE) == 0


@pytest.mark.parametrize("name", ["s.npy", "s.vec", "s.bin"])
def test_a_file(wv, tmp_path, name):
    done = wv(*CALL, "-o", name, "--pooling", "first-last", "--precision" if name == "s.vec" else "-q",
              *(["9"] if name == "s.vec" else []), input=LINES)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    made = load(tmp_path / name)
    np.testing.assert_allclose(made.matrix, ARRAYS["first_last_avg"], rtol=0, atol=1e-5)
    assert list(made.words) == [str(row) for row in range(9)]


def test_tokens(wv):
    """Without --sentences each token has a vector: [CLS] and [SEP], too."""
    done = wv("vectors", "--encoder", TINY, "--pooling", "layer:1", "--runtime", "numpy", input=LINES)
    rows = [line.split(" ") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == [token for tokens in FACTS["tokens"] for token in tokens]
    expected = ARRAYS["hidden_states.1"][ARRAYS["attention_mask"] > 0]
    np.testing.assert_allclose(np.array([row[1:] for row in rows], float), expected, rtol=0, atol=1e-5)
    done = wv("vectors", "--encoder", TINY, "--json", "the")
    assert [json.loads(line)["token"] for line in done.stdout.splitlines()] == ["[CLS]", "the", "[SEP]"]


def test_arguments_and_json(wv):
    done = wv(*CALL, "the dog", "", "\udce9", "--json", "--normalize", "--runtime", "numpy")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["sentence"] for row in rows] == ["the dog", "", "\ufffd"]
    np.testing.assert_allclose(np.linalg.norm([row["vector"] for row in rows], axis=1), 1, atol=1e-5)
    assert wv(*CALL, "the dog", "--max-length", 3).stderr.startswith("1 of 1 lines are longer")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("vectors",), 2, "missing argument 'FILE'"),
        (("vectors", "--sentences", "x.vec", "--max-length", 9), 2, "--max-length needs --encoder"),
        (("vectors", "--sentences", "x.vec", "--pooling", "cls"), 2, "give --encoder DIR, or mean, sif or idf"),
        ((*CALL, "a", "--pooling", "sif"), 2, "--pooling sif weighs words of a vector file"),
        ((*CALL, "a", "--pooling", "layer:x"), 2, "'layer:x' is not one of"),
        ((*CALL, "a", "--case", "lower"), 2, "--case has no effect with --encoder"),
        ((*CALL, "a", "--counts", "x"), 2, "--counts has no effect with --encoder"),
        ((*CALL, "a", "--oov", "zero"), 2, "--oov has no effect with --encoder"),
        ((*CALL, "a", "-o", "x.npy", "--json"), 2, "-o and --json cannot be used together"),
        ((*CALL, "a", "-o", "x.npy", "--precision", "3"), 2, "--precision has no effect on npy"),
        ((*CALL, "a", "-o", "no/x.npy"), 1, "no does not exist"),
        ((*CALL, "a", "--max-length", "99"), 2, "more than the 48 positions"),
    ],
)  # fmt: skip
def test_refusals(wv, arguments, code, message, tmp_path):
    (tmp_path / "x.vec").write_text("1 2\nthe 1 0\n")
    done = wv(*arguments)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert message in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(("package", "runtime"), [("tokenizers", "numpy"), ("onnxruntime", "onnx")])
def test_without_the_extra(package, runtime):
    """One line says what to install."""
    code = f"import sys; sys.modules[{package!r}] = None; from wv_cli.__main__ import run; sys.exit(run(sys.argv[1:]))"
    call = [sys.executable, "-c", code, *map(str, CALL), "a", "--runtime", runtime]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and f"needs the package {package}; pip install {package}\n" in done.stderr
    assert done.stderr.count("\n") == 1
