"""`wv vectors --sentences --pooling` as a user's shell runs it."""

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.vectors.formats import load

TABLE = "5 2\nthe 1 0\nDog 0 1\nruns 1 1\ns 2 2\nzero 0 0\n"


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "v.vec").write_text(TABLE)
    (tmp_path / "counts").write_text("</s> 9\nthe 90\ndog 9\nruns 1\n")
    return tmp_path


def rows(text):
    return [[float(number) for number in line.split(" ")] for line in text.splitlines()]


def test_plain_mean(wv):
    done = wv(
        "vectors", "v.vec", "--sentences", "--pooling", "mean", input='The dog\'s "dog" runs!\n\nxyz zero\nzero\n'
    )
    assert done.returncode == 0 and rows(done.stdout) == [[0.8, 1.0], [0, 0], [0, 0], [0, 0]]
    assert done.stderr == "1 of 4 lines have no word with a vector; theirs are zero\n"
    done = wv("vectors", "v.vec", "--sentences", "--pooling", "mean", "the dog", "dog", "--case", "none", "-q")
    assert rows(done.stdout) == [[1, 0], [0, 0]] and done.stderr == ""


def test_sif_and_idf(wv):
    call = ["vectors", "v.vec", "--sentences", "--counts", "counts", "the dog", "dog", "the runs", "--precision", 9]
    by_hand = np.array([[0.5 * 1e-3 / 0.901, 0.5e-3 / 0.091], [0, 1e-3 / 0.091], [0, 0]])
    by_hand[2] = 0.5 * np.array([1e-3 / 0.901, 0]) + 0.5 * 1e-3 / 0.011
    direction = np.linalg.svd(by_hand)[2][0]
    found = np.array(rows(wv(*call, "--pooling", "sif").stdout))
    assert np.allclose(found, by_hand - np.outer(by_hand @ direction, direction), atol=1e-8)
    found = np.array(rows(wv(*call, "--pooling", "idf").stdout))
    assert np.allclose(found[1], [0, 1 + np.log(10 / 10)])


def test_a_file_that_can_be_whitened(wv, files):
    lines = "".join(f"{'the ' * (i % 5)}{'dog ' * (i % 3)}runs\n" for i in range(40))
    for name in ("s.npy", "s.vec"):
        done = wv("vectors", "v.vec", "--sentences", "--pooling", "mean", "-o", name, input=lines)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert list(load(files / name).words) == [str(i) for i in range(40)]
    assert not (files / "s.words.txt").exists()
    assert wv("whiten", "s.npy", "-o", "w.npy", "-q").returncode == 0
    assert np.allclose(np.cov(load(files / "w.npy").matrix.T, bias=True), np.eye(2), atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--pooling", "sif", "--sentences", "the"], 2, "--counts VOCAB"),
        (["--pooling", "mean", "the"], 2, "--pooling needs --sentences"),
        (["--counts", "counts", "the"], 2, "--counts needs --pooling"),
        (["-o", "x.npy", "--sentences", "the"], 2, "-o needs --pooling"),
        (["--pooling", "mean", "--sentences", "the", "--json"], 2, "--json"),
        (["--pooling", "max", "--sentences", "the"], 2, "max"),
        (["--pooling", "mean", "--sentences", "the", "-o", "no/x.npy"], 1, "no does not exist"),
        (["--pooling", "sif", "--sentences", "the", "--counts", "none"], 1, "none"),
    ],
)
def test_refusals(wv, arguments, code, message):
    done = wv("vectors", "v.vec", *arguments)
    assert done.returncode == code and message in done.stderr and done.stdout == "" and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["texts.d2v", "ft-labels.bin"])
def test_own_is_the_rule_without_pooling_and_can_be_written(name, wv, tmp_path):
    call, lines = ("vectors", GOLDEN / name, "--sentences"), "the war of the state\n\nunheardof\n"
    plain = wv(*call, input=lines).stdout
    assert wv(*call, "--pooling", "own", input=lines).stdout == plain and len(plain.splitlines()) == 3
    done = wv(*call, "--pooling", "own", "-o", "own.vec", input=lines)
    assert done.returncode == 0
    written = (tmp_path / "own.vec").read_text().splitlines()[1:]
    assert [row.partition(" ")[2].split() for row in written] == [row.split() for row in plain.splitlines()]
    refused = wv(*call, "--pooling", "own", "--case", "none", "the")
    assert (refused.returncode, "--case has no effect with --pooling own" in refused.stderr) == (2, True)
