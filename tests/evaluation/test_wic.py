"""Word in context: the public layout, the threshold, and each representation against the plainest computation of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import WicConfig
from wv_cli.evaluation.wic import best_threshold, read_wic, wic_files
from wv_cli.hashing.bioword import load_hasher
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

ITEMS = [
    ("bank", "N", "2-1", "sit on bank river", "river bank", "T"),
    ("bank", "N", "1-0", "money bank", "bank river sit", "F"),
    ("sit", "V", "0-0", "sit on money", "sit river", "F"),
    ("on", "N", "1-1", "sit on bank", "bank on xyz", "T"),
]
WORDS = ["bank", "river", "money", "sit", "on"]
ELMO = GOLDEN / "encoders" / "elmo" / "bilm-tf"
HASHER = GOLDEN / "own" / "bioword.hasher"


def write(folder, items, name="dev"):
    data = "".join("\t".join(item[:5]) + "\n" for item in items)
    (folder / f"{name}.data.txt").write_text(data)
    (folder / f"{name}.gold.txt").write_text("".join(f"{item[5]}\n" for item in items))
    return str(folder / f"{name}.data.txt")


@pytest.fixture
def vectors():
    matrix = np.random.default_rng(2).standard_normal((5, 4)).astype(np.float32)
    return Embeddings(WordList.from_words(WORDS), matrix)


def run(vectors, data, **options):
    sources = [Vectors("v", lambda: vectors)] if vectors is not None else []
    return TASKS["wic"].run(sources, data, WicConfig(**options))


def cosine(a, b):
    return float(a @ b / np.sqrt(a @ a * (b @ b)))


def test_reading(tmp_path):
    path = write(tmp_path, ITEMS)
    data = read_wic(path)
    assert data.words[0] == (["sit", "on", "bank", "river"], ["river", "bank"])
    assert data.targets.tolist() == [[2, 1], [1, 0], [0, 0], [1, 1]] and data.gold.tolist() == [
        True,
        False,
        False,
        True,
    ]
    assert wic_files([path, str(tmp_path / "dev.gold.txt")]) == [path]


def test_representations(tmp_path, vectors):
    """The first item by hand: the threshold above its value makes it wrong, and so on."""
    dev, test = write(tmp_path, ITEMS), write(tmp_path, ITEMS[:1], "test")
    v = {word: vectors[word].astype(np.float64) for word in WORDS}
    contexts = (v["sit"] + v["on"] + v["river"]) / 3, v["river"]
    values = {
        "word": 1.0,
        "context": cosine(*contexts),
        "dynamic": cosine(*(np.concatenate([v["bank"], context]) for context in contexts)),
    }
    report = run(vectors, [test], dev=dev, window=2)
    assert [row["of"] for row in report.rows] == list(values)
    for row in report.rows:
        assert row["accuracy"] == (100 if round(values[row["of"]], 12) > row["threshold"] else 0)
        assert row["items"] == 1
    assert f"chosen on {dev}" in " ".join(report.protocol)


def test_the_window(tmp_path, vectors):
    """One word on each side; 0 is the whole sentence, as a window wider than it."""
    dev = write(tmp_path, ITEMS)
    narrow, wide, whole = (run(vectors, [dev], dev=dev, window=window).rows for window in (1, 99, 0))
    assert wide == whole and narrow[1]["threshold"] != wide[1]["threshold"]


def test_items_without_vectors_are_counted(tmp_path, vectors):
    dev = write(tmp_path, [*ITEMS, ("xyz", "N", "0-0", "xyz", "xyz bank", "F")])
    assert [row["zero_vectors"] for row in run(vectors, [dev], dev=dev).rows] == [1, 1, 1]


def test_what_was_fitted_on_dev_is_right_there(tmp_path, vectors):
    """No threshold has more right answers, which the report says."""
    dev = write(tmp_path, ITEMS)
    report = run(vectors, [dev], dev=dev)
    assert report.rows[0]["accuracy"] == 50 and all(row["accuracy"] >= 50 for row in report.rows)
    assert any("chose the thresholds, too" in note for note in report.notes)
    other = write(tmp_path, ITEMS, "other")
    assert not any("chose the thresholds, too" in note for note in run(vectors, [other], dev=dev).notes)


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12))
def test_the_best_threshold(items):
    values, gold = np.array([value for value, _ in items]) / 3, np.array([same for _, same in items])
    right = int(((values > best_threshold(values, gold)) == gold).sum())
    assert right == max(int(((values > cut) == gold).sum()) for cut in np.arange(-1.25, 1.3, 1 / 12))


def test_dynamic_codes_are_those_of_the_hasher(tmp_path):
    """The share of bits that two codes have in common, of each item asked alone."""
    hasher = load_hasher(str(HASHER))
    first, second, third = (hasher.vocab.words[row] for row in (3, 7, 9))
    items = [
        (first, "N", "1-0", f"{second} {first} nosuch", f"{first} {third}", "T"),
        (second, "N", "2-2", f"nosuch {first} {second}", f"{third} nosuch {second}", "F"),
        ("nosuch", "N", "0-0", "nosuch", f"nosuch {first}", "F"),
    ]
    dev = write(tmp_path, items)
    (row,) = run(None, [dev], dev=dev, hasher=(str(HASHER),)).rows
    assert (row["of"], row["zero_vectors"], row["items"]) == ("codes", 1, 3)


def test_layers_of_an_elmo(tmp_path):
    pytest.importorskip("h5py")
    dev = write(tmp_path, ITEMS)
    rows = run(None, [dev], dev=dev, encoder=(str(ELMO),)).rows
    assert [row["of"] for row in rows] == ["layer:0", "layer:1", "layer:2"]
    assert rows[0]["accuracy"] == 50  # one vector of a spelling, whatever the sentence
    with pytest.raises(WvError, match="whose tokens are words, an ELMo; this one cuts them into pieces"):
        run(None, [dev], dev=dev, encoder=(str(GOLDEN / "encoders" / "tiny-bert"),))


def test_without_dev(tmp_path, vectors):
    with pytest.raises(UsageError, match="--dev FILE is missing, the data for choosing the threshold"):
        run(vectors, [write(tmp_path, ITEMS)])


@pytest.mark.parametrize(
    ("data", "gold", "match"),
    [
        ("", "", "data.txt"),
        ("bank\tN\t0-0\tbank\tbank\n", "", "gold.txt"),
        ("bank\tN\t0-0\tbank\tbank\n", "T\nF\n", r"gold.txt:2: expected T or F for each of the 1 lines of"),
        ("bank\tN\t0-0\tbank\tbank\n", "1\n", r"gold.txt:1: expected T or F, found '1'"),
        ("bank\tN\t0-1\tbank\tbank\n", "T\n", "expected words in two sentences, found none"),
        ("bank\tN\t0\tbank\tbank\n", "T\n", "found none"),
        ("bank\tN\t0-0\tbank\n", "T\n", "found none"),
    ],
)
def test_what_is_no_data(data, gold, match, tmp_path):
    (tmp_path / "x.data.txt").write_text(data)
    (tmp_path / "x.gold.txt").write_text(gold)
    with pytest.raises(BadFile, match=match):
        read_wic(str(tmp_path / "x.data.txt"))


def test_names_and_missing_answers(tmp_path):
    (tmp_path / "x.data.txt").write_text("bank\tN\t0-0\tbank\tbank\n")
    with pytest.raises(WvError, match=r"x\.gold\.txt"):
        read_wic(str(tmp_path / "x.data.txt"))
    with pytest.raises(BadFile, match=r"expected NAME\.data\.txt, whose answers are beside it"):
        read_wic(str(tmp_path / "x.txt"))


def test_malformed_lines(tmp_path):
    path = write(tmp_path, [*ITEMS, ("bank", "N", "9-0", "bank", "bank", "T")])
    assert read_wic(path).malformed.count == 1
    with pytest.raises(BadFile, match=r"dev\.data\.txt:5: expected `word TAB"):
        read_wic(path, strict=True)


def test_the_command(wv, tmp_path):
    write(tmp_path, ITEMS)
    (tmp_path / "v.vec").write_text("3 2\nbank 1 0\nriver 0 1\nsit 1 1\n")
    done = wv("eval", "wic", "v.vec", "-d", "dev.data.txt", "--dev", "dev.data.txt", "--tsv")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 4, done.stderr
    done = wv("eval", "wic", "-d", "dev.data.txt", "--dev", "dev.data.txt", "--window", 3, "--hasher", HASHER)
    assert done.returncode == 2 and "--window needs VECTORS" in done.stderr
