"""`wv analogy` through its real entry point."""

import json

import pytest

TABLE = """8 3
man 1 0 0
woman -1 0 0
king 1 2 0
queen -1 2 0
men 1 0 1.5
women -1 0 1.5
kings 1 2 1.5
queens -1 2 1.5
"""


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize("method", ["3cosadd", "3cosmul"])
def test_man_is_to_woman_as_king_is_to(wv, vectors, method):
    done = wv("analogy", vectors, "man", "woman", "king", "--method", method)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[0][0] == "queen" and len(lines) == 5
    assert not {"man", "woman", "king"} & {word for word, _ in lines}
    scores = [float(score) for _, score in lines]
    assert scores == sorted(scores, reverse=True)


def test_scores_by_hand(wv, vectors):
    """king - man + woman of the unit vectors is (1 / sqrt 5 - 2, 2 / sqrt 5, 0)."""
    x, y = 5**-0.5 - 2, 2 * 5**-0.5
    cosine = (-x + 2 * y) / (5 * (x * x + y * y)) ** 0.5
    done = wv("analogy", vectors, "man", "woman", "king", "-k", 1)
    assert done.stdout == f"queen\t{cosine:.6f}\n"
    # queen: cos with king .6, woman 1 / sqrt 5, man -1 / sqrt 5
    score = (1.6 / 2) * ((1 + 5**-0.5) / 2) / ((1 - 5**-0.5) / 2 + 0.001)
    done = wv("analogy", vectors, "man", "woman", "king", "-k", 1, "--method", "3cosmul")
    assert float(done.stdout.split("\t")[1]) == pytest.approx(score, rel=1e-5)


def test_a_pipe_and_json(wv, vectors):
    done = wv("analogy", vectors, "-k", 1, input="man woman king\n\nking kings  queen\nman woman\nman woman prince\n")
    assert done.returncode == 1
    assert [line.split("\t")[:2] for line in done.stdout.splitlines()] == [
        ["man woman king", "queen"],
        ["king kings  queen", "queens"],
        [""],
        [""],
    ]
    stopped = wv("analogy", vectors, "-k", 1, "--oov", "error", input="man woman king\nman woman prince\nman\n")
    assert (stopped.returncode, stopped.stdout.count("\n")) == (1, 1)
    assert stopped.stderr == f"wv analogy: standard input:2: 'prince' is not in {vectors}\n"
    assert wv("analogy", vectors, "--oov", "skip", input="man woman prince\n").returncode == 0
    assert done.stderr.splitlines() == [
        "wv analogy: expected three words a b c, found 2: 'man woman'",
        f"wv analogy: 'prince' is not in {vectors}",
    ]
    done = wv("analogy", vectors, "-k", 2, "--json", input="man woman king\nman\n")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["query"] == "man woman king" and first["answers"][0]["word"] == "queen"
    assert second["answers"] == [] and "three words" in second["error"]


def test_unknown_words_and_misuse(wv, vectors):
    done = wv("analogy", vectors, "man", "woman", "kin")
    assert done.returncode == 1 and done.stdout == "\n"
    assert done.stderr == f"wv analogy: 'kin' is not in {vectors}; did you mean 'king'?\n"
    done = wv("analogy", vectors, "man", "woman")
    assert done.returncode == 2 and "expected three words A B C, found 2" in done.stderr
    done = wv("analogy", vectors, "man", "woman", "king", "--method", "3cosdiv")
    assert done.returncode == 2 and "3cosadd" in done.stderr


def test_only_the_first_words(wv, vectors):
    done = wv("analogy", vectors, "man", "men", "king", "--restrict-vocab", 4)
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == {"woman", "queen"}
