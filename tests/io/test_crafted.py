"""Files whose check sum is right and whose meaning is not: every number is checked where it enters."""

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.fuzz.containers import Parsed
from wv_cli.errors import BadFile
from wv_cli.evaluation.sts_data import read_sentence_pairs
from wv_cli.hashing.bioword import load_hasher as load_bioword
from wv_cli.hashing.fit import load_hasher
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import Transform

OWN = GOLDEN / "own"


def array(parsed, name):
    return next(numbers for each, _, _, numbers in parsed.arrays if each == name)


def put(name, value, at=0):
    def change(parsed):
        array(parsed, name).reshape(-1)[at] = value

    return change


def say(name, value):
    def change(parsed):
        parsed.header[name] = value

    return change


HASHERS = [
    ("fly", put("weights", -3e38), r"array weights: expected numbers up to 1e\+15, found -3e\+38"),
    ("itq", put("mean", 1e16), r"array mean: expected numbers up to 1e\+15, found 1e\+16"),
    ("itq", put("thresholds", np.nan), "array thresholds holds NaN"),
    ("pq", put("centroids", 3e38), "array centroids: expected numbers up to"),
    ("fly", say("active", 1000), "`active` to be an int from 0 to 80, found 1000"),
    ("fly", say("active", True), "`active` to be an int from 0 to 80, found True"),
    ("fly", say("active", 1.7), "`active` to be an int"),
    ("pq", say("bits", -8), "`bits` to be an int from 8"),
    ("itq", say("method", "itq\nx"), "`method` to be a str"),
]
BIOWORD = [
    (put("weights", -3e38), "array weights: expected numbers up to"),
    (put("counts", 2**63 - 1), "expected counts of 1 and more"),
    (put("words", 0), "none of them empty or with a NUL"),
    (say("lines", -1), "`lines` to be an int from 0"),
]
MOMENTS = [
    (put("mean", 1e308), "array mean: expected numbers up to"),
    (put("scatter", 1e308), "array scatter: expected numbers up to"),
    (put("scatter", 0), "a scatter that is none"),
    (say("rows", 0), "do not fit together"),
    (say("weight", 0), "do not fit together"),
    (say("rows", 10**30), "`rows` to be an int from 0"),
]
TRANSFORMS = [
    (put("mean", -1e308), "array mean: expected numbers up to"),
    (put("matrix", 1e308), "array matrix: expected numbers up to"),
    (put("eigenvalues", 1e-300), "expected falling eigenvalues"),
    (put("eigenvalues", -1, -1), "expected falling eigenvalues"),
    (say("rank", True), "`rank` to be an int from 0"),
]


def changed(name, change, path):
    parsed = Parsed.of((OWN / name).read_bytes())
    change(parsed)
    path.write_bytes(parsed.data())
    return str(path)


@pytest.mark.parametrize(("name", "change", "message"), HASHERS)
def test_hashers(name, change, message, tmp_path):
    with pytest.raises(BadFile, match=message):
        load_hasher(changed(f"{name}.hasher", change, tmp_path / "x"))


@pytest.mark.parametrize(("change", "message"), BIOWORD)
def test_bioword_hashers(change, message, tmp_path):
    with pytest.raises(BadFile, match=message):
        load_bioword(changed("bioword.hasher", change, tmp_path / "x"))


def test_bioword_words_differ(tmp_path):
    def twice(parsed):
        words, lengths = array(parsed, "words"), array(parsed, "lengths")
        same = int(np.flatnonzero(lengths[:-1] == lengths[1:])[0])
        at, size = int(lengths[:same].sum()), int(lengths[same])
        words[at + size : at + 2 * size] = words[at : at + size]

    with pytest.raises(BadFile, match="expected words that differ"):
        load_bioword(changed("bioword.hasher", twice, tmp_path / "x"))


@pytest.mark.parametrize(("change", "message"), MOMENTS)
def test_moments(change, message, tmp_path):
    with pytest.raises(BadFile, match=message):
        Moments.load(changed("vectors.moments", change, tmp_path / "x"))


@pytest.mark.parametrize(("change", "message"), TRANSFORMS)
def test_transforms(change, message, tmp_path):
    with pytest.raises(BadFile, match=message):
        Transform.load(changed("zca.transform", change, tmp_path / "x"))


def test_a_line_end_inside_a_line_of_csv(tmp_path):
    """It was an error of the csv module."""
    (tmp_path / "x.csv").write_bytes(b"a man,a plane,1.5\na\rb,c,2\na dog,a cat,3.0\n")
    found = read_sentence_pairs(str(tmp_path / "x.csv"))
    assert len(found.texts) == 2 and found.malformed.count == 1


def test_hash_refuses_in_one_line(wv, tmp_path):
    changed("fly.hasher", put("weights", -3e38), tmp_path / "x")
    done = wv("hash", OWN / "vectors.vec", "--hasher", "x", "-o", "out.codes")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "found -3e+38" in done.stderr
    assert not (tmp_path / "out.codes").exists()
