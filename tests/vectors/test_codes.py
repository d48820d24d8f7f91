"""Codes and their files: what is written comes back, no damaged file is taken for a whole one."""

import json
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wv_cli.errors import BadFile, WvError
from wv_cli.io import memory
from wv_cli.vectors.codes import Codes, CodeVectors
from wv_cli.vectors.formats import FormatWarning, load, sniff
from wv_cli.vectors.formats.checking import check
from wv_cli.vectors.formats.codes import save
from wv_cli.vectors.neighbors.codes import pack_bits, unpack_bits
from wv_cli.vectors.quantizer import ProductQuantizer
from wv_cli.words import WordList

quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
any_words = st.binary(max_size=8)
text_words = any_words.filter(lambda word: not set(word) & set(b"\t\n\r"))
KINDS = ["codes", "codes-text"]


@st.composite
def codes(draw, words):
    bits = draw(st.integers(1, 140))
    names = draw(st.lists(words, max_size=5))
    active = draw(st.integers(0, min(bits, 9)))
    if draw(st.integers(0, 3)) == 0:
        return product(names, draw(st.integers(1, 5)), draw(st.integers(0, 2**32)))
    if active:
        one = st.lists(st.integers(0, bits - 1), min_size=active, max_size=active, unique=True).map(sorted)
        data = np.array([draw(one) for _ in names], np.int32).reshape(len(names), active)
    else:
        rows = [draw(st.lists(st.booleans(), min_size=bits, max_size=bits)) for _ in names]
        data = pack_bits(np.array(rows, np.bool_).reshape(len(names), bits))
    return Codes(WordList.from_words(names), "some method", bits, active, data, {"seed": 1, "text": "é"})


def product(names, nsub, seed=1):
    """Product codes for 2 coordinates a byte."""
    random = np.random.default_rng(seed)
    quantizer = ProductQuantizer(2 * nsub, 2, random.standard_normal(256 * 2 * nsub).astype(np.float32))
    data = random.integers(0, 256, (len(names), nsub)).astype(np.uint8)
    return Codes(WordList.from_words(names), "pq", 8 * nsub, 0, data, {"seed": 1}, quantizer)


def same(a, b):
    facts = [(c.words.blob, c.method, c.bits, c.active, c.data.tolist(), c.parameters) for c in (a, b)]
    books = [c.quantizer and (c.quantizer.dim, c.quantizer.dsub, c.quantizer.centroids.tobytes()) for c in (a, b)]
    return facts[0] == facts[1] and books[0] == books[1] and a.words == b.words and a.data.dtype == b.data.dtype


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data())
def test_what_is_written_comes_back(kind, data, tmp_path):
    made = data.draw(codes(any_words if kind == "codes" else text_words))
    path = tmp_path / ("x.codes" if kind == "codes" else "x.txt")
    save(path, made)
    assert sniff(path).name == kind
    read = load(path, keep_repeated=True)
    assert isinstance(read, CodeVectors) and same(read.codes, made)
    assert len(read) == len(made) and read.matrix.shape == (len(made), read.dim)
    assert read.dim == (made.quantizer.dim if made.quantizer else made.bits)
    if len(made) > 1:
        assert same(load(path, limit=1).codes, made.take(slice(1)))
    report = check(path)
    assert report.rows == len(made) and report.dim == read.dim
    assert set(report.counts) <= {"duplicate word", "bad UTF-8"}


def some(sparse=False, pq=False):
    if pq:
        return product(["the", "of", "new york", "caf\xe9"], 3)
    random = np.random.default_rng(1)
    words = WordList.from_words(["the", "of", "new york", "caf\xe9"])
    if sparse:
        rows = np.array([np.sort(random.permutation(100_000)[:5]) for _ in words], np.int32)
        return Codes(words, "fly", 100_000, 5, rows)
    return Codes(words, "lsh", 70, 0, pack_bits(random.random((4, 70)) < 0.5))


@pytest.mark.parametrize("made", [some(), some(sparse=True), some(pq=True)], ids=["dense", "sparse", "pq"])
@pytest.mark.parametrize("name", ["x.codes", "x.txt"])
def test_cut_anywhere(made, name, tmp_path):
    path = tmp_path / name
    save(path, made)
    whole = path.read_bytes()
    for size in range(0, len(whole), 1 if made.quantizer is None else 41):
        size = len(whole) - 1 - size
        path.write_bytes(whole[:size])
        try:
            read = load(path)
        except BadFile as error:
            assert size == 0 or error.line is not None or error.byte is not None
            continue
        assert name == "x.txt" and size == len(whole) - 1 and same(read.codes, made), size


@pytest.mark.parametrize("made", [some(), some(sparse=True), some(pq=True)], ids=["dense", "sparse", "pq"])
@pytest.mark.parametrize("name", ["x.codes", "x.txt"])
@quick
@given(place=st.integers(0, 10**9), junk=st.binary(min_size=1, max_size=8))
def test_bytes_overwritten_anywhere(made, name, place, junk, tmp_path):
    """Never a crash or another exception; of the binary file never another answer."""
    path = tmp_path / name
    save(path, made)
    whole = path.read_bytes()
    place %= len(whole)
    path.write_bytes(whole[:place] + junk + whole[place + len(junk) :])
    for reader in (load, check):
        try:
            result = reader(path)
        except BadFile:
            continue
        if reader is load and name == "x.codes":
            assert same(result.codes, made)


def forged(path, change):
    """The binary file with its header changed and a check sum that fits."""
    magic, line, rest = path.read_bytes().split(b"\n", 2)
    facts = json.loads(line)
    change(facts)
    body = magic + b"\n" + json.dumps(facts).encode() + b"\n" + rest[:-8]
    path.write_bytes(body + zlib.crc32(body).to_bytes(4, "little") + b"DONE")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda facts: facts.update(bits=71), "1 active|do not fit|no bits beyond|describe"),
        (lambda facts: facts.update(bits=66), "no bits beyond the first 66|do not fit"),
        (lambda facts: facts.update(bits=-1), "does not describe codes"),
        (lambda facts: facts.update(bits=10**12), "does not describe codes"),
        (lambda facts: facts.update(rows=3), "do not fit 3 words"),
        (lambda facts: facts.update(active=1.5), "does not describe codes"),
        (lambda facts: facts.update(active=2), "do not fit"),
        (lambda facts: facts.pop("method"), "does not describe codes"),
        (lambda facts: facts.update(arrays=5), "damaged"),
        (lambda facts: facts["arrays"].append(["more", "<f8", [10**15, 10**15]]), "promises a file of"),
        (lambda facts: facts["arrays"].append(["more", "object", [0]]), "damaged"),
    ],
)
def test_lying_headers(change, what, tmp_path):
    path = tmp_path / "x.codes"
    save(path, some())
    forged(path, change)
    if "71" in what or "1 active" in what:
        assert load(path).codes.bits == 71  # one more bit that happens to be 0: nothing can tell
        return
    with pytest.raises(BadFile, match=what):
        load(path)


def test_another_version(tmp_path):
    path = tmp_path / "x.codes"
    path.write_bytes(b"wv codes 2\n{}\n" + bytes(20))
    with pytest.raises(BadFile, match=r"version 1\), found version '2'"):
        load(path)


@pytest.mark.parametrize(
    ("line", "what"),
    [(b"the 0101", "a word, a tab and"), (b"the\t010", "70 digits"), (b"the\t" + b"2" * 70, "70 digits")],
)
def test_bad_lines_of_text(line, what, tmp_path):
    path = tmp_path / "x.txt"
    save(path, some())
    first, _, *rest = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([first, line, *rest]))
    with pytest.raises(BadFile, match=rf"x\.txt:2: expected .*{what}"):
        load(path)
    assert check(path).is_damaged


@pytest.mark.parametrize(
    "positions", ["5 4 30 40 50", "1 2 3 4", "1 2 3 4 100000", "1 2 3 4 x", "1 2 3 4  5", "1 2 3 3 4"]
)
def test_bad_positions(positions, tmp_path):
    path = tmp_path / "x.txt"
    save(path, some(sparse=True))
    first, _, *rest = path.read_text("utf-8").split("\n")
    path.write_text("\n".join([first, f"the\t{positions}", *rest]), "utf-8")
    with pytest.raises(BadFile, match=r"x\.txt:2: expected .*5 ascending positions below 100000"):
        load(path)


@pytest.mark.parametrize("text", ["1 2", "1 2 3 4", "1 2 256", "1 2 -3", "1 2  3", "1 2 x"])
def test_bad_bytes_of_product_codes(text, tmp_path):
    path = tmp_path / "x.txt"
    save(path, some(pq=True))
    first, _, *rest = path.read_text("utf-8").split("\n")
    path.write_text("\n".join([first, f"the\t{text}", *rest]), "utf-8")
    with pytest.raises(BadFile, match=r"x\.txt:2: expected .*3 numbers below 256"):
        load(path)


def test_centroids_that_do_not_fit(tmp_path):
    path = tmp_path / "x.txt"
    save(path, some(pq=True))
    text = path.read_text("utf-8")
    for changed in (text.replace('"bits": 24', '"bits": 25'), text.replace('"centroids": "', '"centroids": "AAAA')):
        path.write_text(changed, "utf-8")
        with pytest.raises(BadFile, match=r"x\.txt:1: the centroids in the first line"):
            load(path)
    path = tmp_path / "x.codes"
    save(path, some(pq=True))
    forged(path, lambda facts: facts.update(bits=16))
    with pytest.raises(BadFile, match="do not fit"):
        load(path)
    for data, bits, active in [(np.zeros((1, 3), np.uint8), 25, 0), (np.zeros((1, 3), np.uint8), 24, 3)]:
        with pytest.raises(ValueError, match="no codes of 3 bytes"):
            Codes(WordList.from_words("a"), "pq", bits, active, data, {}, some(pq=True).quantizer)
    with pytest.raises(ValueError, match="not by bits"):
        some(pq=True).pack_codes()


def test_words_that_text_cannot_hold(tmp_path):
    made = Codes(WordList.from_words(["a", "b\tc"]), "x", 1, 0, np.zeros((2, 1), np.uint64))
    with pytest.raises(WvError, match=r"row 2: the word .* holds a tab"):
        save(tmp_path / "x.txt", made)
    assert list(tmp_path.iterdir()) == []
    save(tmp_path / "x.codes", made)
    assert load(tmp_path / "x.codes").words == made.words


def test_shapes_that_do_not_fit():
    words = WordList.from_words("ab")
    for bits, active, data in [
        (70, 0, np.zeros((2, 1), np.uint64)),
        (70, 0, np.zeros((2, 2), np.int64)),
        (70, 3, np.zeros((2, 2), np.int32)),
        (3, 4, np.zeros((2, 4), np.int32)),
        (0, 0, np.zeros((2, 0), np.uint64)),
    ]:
        with pytest.raises(ValueError, match="bits"):
            Codes(words, "x", bits, active, data)


def test_cosines_are_what_codes_measure():
    dense, sparse = some(), some(sparse=True)
    x = CodeVectors(dense).matrix.astype(np.float64)
    hamming = (unpack_bits(dense.data, 70)[0] != unpack_bits(dense.data, 70)[1]).sum()
    assert x[0] @ x[1] / 70 == pytest.approx(1 - 2 * hamming / 70)
    assert dense.bits_per_word == 70 and sparse.bits_per_word == 5 * 17
    assert (unpack_bits(sparse.pack_codes(), 100_000).sum(axis=1) == 5).all()


def test_more_numbers_than_memory_holds_are_refused(monkeypatch):
    codes = Codes(WordList.from_words("abc"), "lsh", 64, 0, np.zeros((3, 1), np.uint64))
    monkeypatch.setattr(memory, "available", lambda: 4 * 3 * 64 - 1)
    with pytest.raises(WvError, match="64 bits of each word as numbers needs"):
        _ = CodeVectors(codes).matrix


@pytest.mark.parametrize("made", [some(), some(sparse=True), some(pq=True)])
def test_of_codes_with_one_word_the_first_counts(made, tmp_path):
    save(tmp_path / "x.codes", replace(made, words=WordList.from_words(["a", "b", "a", "c"])))
    with pytest.warns(FormatWarning, match="1 row has the word of an earlier row"):
        read = load(tmp_path / "x.codes")
    assert list(read.words) == ["a", "b", "c"] and np.array_equal(read.codes.data, made.data[[0, 1, 3]])
