"""floret's tables: any word has the vector that floret gives it; damaged tables are refused."""

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile, WvError
from wv_cli.vectors.formats import load
from wv_cli.vectors.formats.checking import check

TABLES = ["hashed", "hashed-letters"]
TABLE = (GOLDEN / "hashed.floret").read_bytes()


def answers(name):
    lines = (GOLDEN / f"{name}.word-vectors.txt").read_text("utf-8").splitlines()
    return {word: np.array(numbers, np.float32) for word, *numbers in map(str.split, lines)}


@pytest.mark.parametrize("name", TABLES)
def test_every_word_has_florets_vector(name):
    vectors = load(GOLDEN / f"{name}.floret")
    assert len(vectors) == 0 and vectors.composes_only
    # The table has five digits: numbers below 10 are off by at most half a unit of the fourth decimal.
    assert all(np.abs(vectors[word] - expected).max() <= 5e-5 for word, expected in answers(name).items())
    assert "" not in vectors


def test_the_vectors_are_spacys():
    vectors_module = pytest.importorskip("spacy.vectors")
    table = load(GOLDEN / "hashed.floret")
    settings = {"minn": 2, "maxn": 4, "hash_count": 2, "hash_seed": 2166136261}
    spacys = vectors_module.Vectors(data=table.subwords.matrix, mode="floret", **settings)
    assert all(np.abs(table[word] - spacys[word]).max() <= 4e-7 for word in answers("hashed"))


def test_too_long_a_word_is_refused():
    with pytest.raises(WvError, match="at most 65,536 bytes"):
        load(GOLDEN / "hashed.floret")["a" * 70_000]


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda data: data[:3000], "the file is shorter: it was cut"),
        (lambda data: data[: data.index(b"\n199 ") + 1], "the header promises 200 rows, found 199"),
        (lambda data: data + data[-100:].split(b"\n")[-2] + b"\n", "the header promises 200 rows, found more"),
        (lambda data: data.replace(b"\n7 ", b"\n9 "), ":9: expected the number of the row, 7, found '9'"),
        (lambda data: data.replace(b"200 8 2 4 2", b"200 8 2 4 5"), "expected a hashCount of 1 to 4, found 5"),
        (lambda data: data.replace(b"200 8 2 4 2", b"200 8 4 2 2"), "expected a maxn of 4 to 255, found 2"),
        (lambda data: data.replace(b"200 8", b"0 8"), "expected a bucket of 1 to"),
        (lambda data: data.replace(b"\n5 ", b"\n5 x"), ":7: expected 8 numbers, found .* as number 1$"),
    ],
)
def test_damaged_tables(tmp_path, damage, problem):
    path = tmp_path / "t.floret"
    path.write_bytes(damage(TABLE))
    assert path.read_bytes() != TABLE
    with pytest.raises(BadFile, match=problem):
        load(path)
    report = check(path)
    assert report.is_damaged or "number of the row" in problem


def test_commands_compose_what_they_are_asked(wv, tmp_path):
    table, words = GOLDEN / "hashed.floret", answers("hashed")
    (tmp_path / "words.txt").write_text("".join(f"{word}\n" for word in words), "utf-8")
    found = wv("vectors", table, "music", "東京都").stdout.splitlines()
    for line in found:
        word, *numbers = line.split()
        assert np.abs(np.array(numbers, float) - words[word]).max() < 5e-5
    assert len(found) == 2
    near = wv("nn", table, "musicians", "--among", "words.txt", "-k", 3).stdout.splitlines()
    rows = np.array(list(words.values()))
    query = load(table)["musicians"]
    cosines = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
    assert [line.split("\t")[0] for line in near] == [list(words)[row] for row in np.argsort(-cosines)[:3]]
    assert float(wv("similarity", table, "music", "musics").stdout.split()[-1]) > 0.5


@pytest.mark.parametrize("call", ["nn {} a", "convert {} o.vec", "hash {} -m lsh -o o.codes", "analogy {} a b c"])
def test_commands_that_need_listed_words_say_so(wv, tmp_path, call):
    done = wv(*call.format(GOLDEN / "hashed.floret").split())
    assert done.returncode in (1, 2) and "hashed.floret: lists no words" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("output", ["t.floret", "t.floret.gz"])
def test_a_table_is_written_as_it_is(wv, tmp_path, name, output):
    done = wv("convert", GOLDEN / f"{name}.floret", output, "--to", "floret")
    assert done.returncode == 0 and "numbers, floret" in done.stderr
    first, again = load(GOLDEN / f"{name}.floret").subwords, load(tmp_path / output).subwords
    assert first.matrix.tobytes() == again.matrix.tobytes()
    assert all(getattr(first, each) == getattr(again, each) for each in ("minn", "maxn", "hashes", "seed", "begin"))
    if output == "t.floret":  # the numbers as floret prints them, which ends a row with a space
        own = (GOLDEN / f"{name}.floret").read_text("utf-8").splitlines()
        lines = (tmp_path / output).read_text("utf-8").splitlines()
        assert lines[0] == own[0] and len(lines) == len(own)


def test_spacy_reads_a_written_table(wv, tmp_path):
    initialize = pytest.importorskip("spacy.training.initialize")
    wv("convert", GOLDEN / "hashed.floret", "t.floret", "--to", "floret")
    data, keys, settings = initialize.read_vectors(tmp_path / "t.floret", 0, mode="floret")
    assert (data == load(GOLDEN / "hashed.floret").subwords.matrix).all() and len(keys) == 200
    assert settings["hash_count"] == 2 and settings["bow"] == "<"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["gensim.vec", "t.floret", "--to", "floret"],
            "gensim.vec: expected a table of floret to copy, found word2vec-text, of which none can be made;",
        ),
        (["ft-words.bin", "t.floret", "--to", "floret"], "found fasttext-bin, of which none can be made"),
        (["hashed.floret", "t.floret", "--to", "floret", "--dim", "3"], "--dim and --to floret cannot be used"),
        (["hashed.floret", "t.floret", "--to", "floret", "--precision", "3"], "--precision and --to floret"),
        (["hashed.floret", "t.floret"], "a table of floret is written from another one: wv convert --to floret"),
    ],
)
def test_only_a_whole_table_is_written(wv, tmp_path, arguments, message):
    done = wv("convert", GOLDEN / arguments[0], *arguments[1:])
    assert done.returncode in (1, 2) and message in done.stderr
    assert not list(tmp_path.iterdir())
