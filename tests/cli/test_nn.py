"""`wv nn` through its real entry point: words as arguments, from a pipe, on a terminal."""

import json
import os
import pty
import shlex
import subprocess
import sys

import numpy as np
import pytest

import wv_cli
from tests.processes import PATIENCE, Process
from tests.reference import search as reference
from wv_cli.vectors.formats import load

TABLE = """6 2
one 1 0
two 1 1
three 0 1
four -1 0
zero 0 0
One 2 0.1
"""


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text(TABLE)
    return path


def test_one_word(wv, vectors):
    done = wv("nn", vectors, "one")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "One\t0.998752\ntwo\t0.707107\nthree\t0.000000\nzero\t0.000000\nfour\t-1.000000\n"


def test_the_last_of_two_numbers_counts(wv, vectors):
    """As where an alias has one."""
    done = wv("nn", "-k5", vectors, "one", "-k", 2)
    assert (done.stdout.count("\n"), done.stderr) == (2, "")


def test_several_words_have_a_query_column(wv, vectors):
    done = wv("nn", vectors, "one", "one three", "-k", 1)
    assert done.stdout == "one\tOne\t0.998752\none three\ttwo\t1.000000\n"


def test_real_neighbors(wv, slice_vectors):
    done = wv("nn", slice_vectors, "king", "-k", 15)
    embeddings = load(slice_vectors)
    row = embeddings.words.find("king")
    unit = reference.unit(embeddings.matrix)
    _, scores = reference.top_k(unit, unit[[row]], 15, [[row]])
    found = [line.split("\t") for line in done.stdout.splitlines()]
    np.testing.assert_allclose([float(score) for _, score in found], scores[0], atol=2e-6)
    assert "king" not in [word for word, _ in found]


def test_a_pipe(wv, vectors):
    done = wv("nn", vectors, "-k", 1, input="one\r\n\n  \nfour four\nthree")
    assert done.returncode == 0
    assert done.stdout == "one\tOne\t0.998752\nfour four\tthree\t0.000000\nthree\ttwo\t0.707107\n"


def test_json(wv, vectors):
    done = wv("nn", vectors, "-k", 2, "--json", input="one\nnone\nfour\n")
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert objects[0] == {
        "query": "one",
        "neighbors": [{"word": "One", "score": 0.998752}, {"word": "two", "score": 0.707107}],
    }
    assert objects[1]["neighbors"] == [] and "not in" in objects[1]["error"]
    assert [item["query"] for item in objects] == ["one", "none", "four"]
    assert done.returncode == 1 and "none" in done.stderr


def test_unknown_words(wv, vectors):
    done = wv("nn", vectors, "ONE", "tow", "two", "nowhere", "-k", 1)
    assert done.returncode == 1
    assert done.stdout == "\n\ntwo\tOne\t0.741536\n\n"
    assert done.stderr.splitlines() == [
        f"wv nn: 'ONE' is not in {vectors}; did you mean 'one'?",
        f"wv nn: 'tow' is not in {vectors}; did you mean 'two'?",
        f"wv nn: 'nowhere' is not in {vectors}",
    ]
    piped = wv("nn", vectors, input="nowhere\n")
    assert (piped.returncode, piped.stdout) == (1, "\n") and "nowhere" in piped.stderr


@pytest.mark.parametrize("query", ["nowhere", "one nowhere"])
def test_rules_for_unknown_words(wv, vectors, query):
    """An empty line stands for each, or nothing, or the run ends at its line with the answers before it."""
    asked, note = f"one\n\n{query}\nthree\n{query}\n", f"'nowhere' is not in {vectors}"
    answers = ["one\tOne\t0.998752\n", "three\ttwo\t0.707107\n"]
    for rule, code, expected in [
        ("empty", 1, f"{answers[0]}\n{answers[1]}\n"),
        ("skip", 0, "".join(answers)),
        ("error", 1, answers[0]),
    ]:
        done = wv("nn", vectors, "-k", 1, "--oov", rule, input=asked)
        assert (done.returncode, done.stdout) == (code, expected)
        assert done.stderr == f"wv nn: {'standard input:3: ' if rule == 'error' else ''}{note}\n"
        given = wv("nn", vectors, "-k", 1, "--oov", rule, "one", query, "three")
        assert given.returncode == code and given.stderr == f"wv nn: {note}\n"
        assert (
            given.stdout.startswith(answers[0])
            and given.stdout.count("\n") == {"empty": 3, "skip": 2, "error": 1}[rule]
        )
    assert wv("nn", vectors, "--oov", "skip", "-q", input=asked).stderr == ""


def test_many_unknown_words_are_counted(wv, vectors):
    done = wv("nn", vectors, input="".join(f"nowhere{i % 50}\n" for i in range(100)))
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (1, "\n" * 100, 11)
    assert lines[-1] == "wv nn: 100 queries in all have no answer"


def test_a_word_beyond_the_limit_is_not_called_absent(wv, vectors, tmp_path):
    done = wv("nn", vectors, "--limit", 2, "three")
    where = f"beyond the limit of 2 rows of {vectors} (row 3); raise --limit"
    assert (done.returncode, done.stderr) == (1, f"wv nn: 'three' is {where}\n")
    assert "'nowhere' is not in" in wv("nn", vectors, "--limit", 2, "nowhere").stderr
    assert wv("convert", vectors, "v.bin", "-q").returncode == 0
    assert "(row 4)" in wv("analogy", "v.bin", "--limit", 2, "one", "two", "four").stderr
    assert "'three' is not in -" in wv("nn", "-", "--limit", 2, "three", input=TABLE).stderr


def test_the_only_word_has_an_empty_answer(wv, tmp_path):
    (tmp_path / "one.vec").write_text("1 2\none 1 0\n")
    done = wv("nn", "one.vec", input="one\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


def test_only_the_first_words(wv, vectors):
    assert wv("nn", vectors, "four", "--restrict-vocab", 2, "-k", 9).stdout == "two\t-0.707107\none\t-1.000000\n"
    assert wv("nn", vectors, "one", "--limit", 2, "-k", 9).stdout == "two\t0.707107\n"
    assert wv("nn", vectors, "four", "--limit", 2).returncode == 1


def test_words_that_are_not_utf8_or_not_ascii(wv, tmp_path):
    path = tmp_path / "odd.vec"
    path.write_bytes("3 1\n北京 1\n".encode() + b"caf\xe9 2\nb 3\n")
    done = wv("nn", path, "b")
    assert done.stdout == "北京\t1.000000\ncaf\udce9\t1.000000\n"
    done = wv("nn", path, "--json", input="b\ncaf\udce9\n")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert [hit["word"] for hit in first["neighbors"]] == ["北京", "caf\ufffd"]
    assert second["query"] == "caf\ufffd"
    assert '"word": "北京"' in wv("nn", path, "b", "-k", 1, "--json").stdout


def test_messages_show_bytes_that_are_not_utf8(wv, vectors):
    assert r"wv nn: '\xff\xfe\\udcff' is not in " in wv("nn", vectors, "\udcff\udcfe\\udcff").stderr
    assert wv("nn", "\udcff.vec", "one").stderr.startswith(r"wv nn: \xff.vec: cannot read: ")


def test_vectors_from_a_pipe(wv, vectors):
    done = wv("nn", "-", "one", "-k", 1, input=TABLE)
    assert done.stdout == "One\t0.998752\n"
    done = wv("nn", "-", input=TABLE)
    assert done.returncode == 2 and "standard input" in done.stderr


def test_another_program_may_wait_for_each_answer(vectors):
    with Process(
        [sys.executable, "-m", "wv_cli", "nn", vectors, "-k", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdin and process.stdout
        for query, answer in [("one", "One"), ("nowhere", ""), ("three", "two"), ("two", "One")]:
            process.stdin.write(f"{query}\n")
            line = process.stdout.readline()
            assert line.split("\t")[:2] == [query, answer] if answer else line == "\n"
        process.stdin.close()
        assert process.wait(PATIENCE) == 1


def test_a_terminal_gets_a_prompt(vectors):
    terminal, other = pty.openpty()
    process = Process(
        [sys.executable, "-m", "wv_cli", "nn", vectors, "-k", "1"],
        stdin=other,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(other)
    os.write(terminal, b"one\nnowhere\n\nthree\n\x04")
    output, talk = process.communicate(timeout=PATIENCE)
    os.close(terminal)
    assert process.returncode == 0
    assert output == "One\t0.998752\ntwo\t0.707107\n"
    assert talk.count("> ") == 5 and "Ctrl-D" in talk and "'nowhere' is not in" in talk


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("-k", 0), "-k"), (("--restrict-vocab", 0), "--restrict-vocab"), (("--from", "wrod2vec"), "unknown format")],
)
def test_misuse(wv, vectors, arguments, message):
    done = wv("nn", vectors, "one", *arguments)
    assert done.returncode == 2 and message in done.stderr and done.stdout == ""


def test_more_neighbors_than_words(wv, vectors):
    assert len(wv("nn", vectors, "one", "-k", 10**15).stdout.splitlines()) == 5


def test_every_instruction_set_gives_the_same(wv, slice_vectors):
    from wv_cli import _cpu

    words = ["king", "the", "paris"]
    outputs = {isa: wv("nn", slice_vectors, *words, env={"WV_ISA": isa}).stdout for isa in _cpu.usable()}
    first = [line.split("\t") for line in outputs["baseline"].splitlines()]
    assert len(first) == 30
    for output in outputs.values():
        scores = [float(line.split("\t")[2]) for line in output.splitlines()]
        np.testing.assert_allclose(scores, [float(score) for _, _, score in first], atol=2e-6)


@pytest.mark.parametrize(
    ("call", "query"),
    [
        ("nn v.vec zero", "zero"),
        ("nn v.vec 'one - one'", "one - one"),
        ("nn v.vec --positive one --negative one", "one - one"),
        ("nn v.vec --vector 0,0", "0,0"),
        ("nn v.vec zero --among among.txt", "zero"),
        ("analogy v.vec one one zero", "one one zero"),
    ],
)
def test_a_note_tells_that_a_query_is_zero(wv, vectors, call, query):
    """The answers stay; an orthogonal query, whose best score is 0 as well, has no note."""
    (vectors.parent / "among.txt").write_text("two\nthree\n")
    done = wv(*shlex.split(call), "-k", 2)
    note = f"{query!r} has a zero vector in v.vec; every score is 0, and the answers are the first words"
    assert (done.returncode, done.stderr) == (0, f"wv {call.split()[0]}: {note}\n")
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == ["0.000000"] * 2
    assert wv(*shlex.split(call), "-q").stderr == ""
    beside = wv("nn", "v.vec", "four", "--among", "among.txt", "-k", 1)
    assert (beside.stdout, beside.stderr) == ("three\t0.000000\n", "")


def test_a_note_tells_that_words_cancel_but_for_rounding(wv, tmp_path):
    """Parallel vectors, and a sum whose terms come in another order; a small difference is a question."""
    random = np.random.default_rng(1)
    a, near, *others = random.standard_normal((8, 50))
    rows = {"a": a, "double": 2.7 * a, "near": a + 1e-3 * near, **{f"x{i}": row for i, row in enumerate(others)}}
    lines = (f"{word} {' '.join(f'{number:.7g}' for number in row)}\n" for word, row in rows.items())
    (tmp_path / "v.vec").write_text(f"{len(rows)} 50\n{''.join(lines)}")
    for query in ("a - double", "a + x1 + x2 - x2 - x1 - a"):
        done = wv("nn", "v.vec", query, "-k", 2)
        note = f"{query!r} has a zero vector in v.vec, but for rounding errors, whose neighbors the answers are"
        assert (done.returncode, done.stderr) == (0, f"wv nn: {note}\n") and done.stdout.count("\n") == 2
    for call in (("nn", "v.vec", "a - near"), ("nn", "v.vec", "a - x1"), ("analogy", "v.vec", "a", "double", "x1")):
        assert wv(*call).stderr == ""


@pytest.mark.parametrize("call", ["similarity v.vec one zero", "odd-one-out v.vec one two zero"])
def test_a_note_tells_which_compared_word_is_zero(wv, vectors, call):
    done = wv(*call.split())
    note = "'zero': a zero vector in v.vec, whose cosine with any other is given as 0"
    assert (done.returncode, done.stderr) == (0, f"wv {call.split()[0]}: {note}\n")
    assert done.stdout.endswith("0.000000\n")
    assert wv(*call.replace("zero", "three").split()).stderr == ""


def test_notes_about_zeros_in_a_pipe_and_in_python(wv, vectors):
    done = wv(
        "nn", vectors, "-k", 1, input="zero\n" * 3 + "one\n" + "".join(f"zero{' - one + one' * n}\n" for n in range(20))
    )
    assert done.returncode == 0 and done.stderr.count("has a zero vector") == 10 == len(done.stderr.splitlines())
    events: list[str] = []
    answers = wv_cli.nn(str(vectors), ["zero"], k=1, log=lambda event: events.append(str(event)))
    assert answers == {"answers": [{"query": "zero", "neighbors": [{"word": "one", "score": 0.0}]}]}
    assert any("'zero' has a zero vector" in event for event in events)
