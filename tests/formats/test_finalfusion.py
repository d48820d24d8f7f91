"""finalfusion's files: what the package itself answers with them, every way a file can lie, what is written here."""

import json
import struct
import warnings

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile, WvError
from wv_cli.formats import FormatWarning, check, load, save, sniff
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

ANSWERS = json.loads((GOLDEN / "finalfusion-answers.json").read_text())
BUCKETS = GOLDEN / "finalfusion-buckets.fifu"


def chunk(kind, content):
    return struct.pack("<IQ", kind, len(content)) + content


def table(*words):
    return b"".join(struct.pack("<I", len(word)) + word for word in words)


def whole(vocabulary, matrix, rows=2, dim=3):
    """A file of two chunks; `matrix` is the content behind the header of chunk 2, padded for where it lies."""
    start = b"FiFu" + struct.pack("<4I", 0, 2, 1, 2) + vocabulary
    padding = bytes(4 - len(start + bytes(12 + 16)) % 4)
    return start + chunk(2, struct.pack("<QII", rows, dim, 10) + padding + matrix)


WORDS = chunk(1, struct.pack("<Q", 2) + table(b"the", b"of"))
NUMBERS = np.arange(6, dtype="<f4").tobytes()


def refused(tmp_path, content, match):
    (tmp_path / "x.fifu").write_bytes(content)
    with pytest.raises(BadFile, match=match) as caught:
        load(tmp_path / "x.fifu")
    assert caught.value.byte is not None
    assert check(tmp_path / "x.fifu").counts["unreadable"] == 1


@pytest.mark.filterwarnings("ignore::wv_cli.formats.FormatWarning")
@pytest.mark.parametrize("name", ANSWERS)
def test_vectors_are_what_finalfusion_gives(name):
    """Words that are listed and words composed of n-grams."""
    vectors = load(GOLDEN / name)
    assert sniff(GOLDEN / name).name == "finalfusion" and vectors.dim == 50
    for word, numbers in ANSWERS[name].items():
        np.testing.assert_allclose(vectors[word], numbers, atol=1e-6, rtol=0)
    assert check(GOLDEN / name).rows == len(vectors) and not check(GOLDEN / name).damaged


def test_some_answers_are_of_words_that_are_not_listed():
    words = set(load(BUCKETS).words)
    assert sum(word not in words for word in ANSWERS[BUCKETS.name]) >= 3


def test_a_word_without_n_grams_that_are_known():
    explicit = load(GOLDEN / "finalfusion-explicit.fifu")
    assert "qqq" not in explicit and "theory" in explicit
    assert explicit.subwords.oov_vector("the") is None


def test_lengths_kept_apart_are_named():
    with pytest.warns(FormatWarning, match="of unit length; the lengths that it keeps apart are left out"):
        vectors = load(GOLDEN / "finalfusion.fifu")
    np.testing.assert_allclose(np.linalg.norm(vectors.matrix, axis=1), 1, atol=1e-6)


def test_neighbours_of_a_word_that_is_not_listed(wv):
    done = wv("nn", BUCKETS, "theory", "-k", 3)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 3
    done = wv("vectors", BUCKETS, "unheardof", "--precision", "9")
    numbers = [float(number) for number in done.stdout.split()[1:]]
    np.testing.assert_allclose(numbers, ANSWERS[BUCKETS.name]["unheardof"], atol=1e-6)


def test_a_limit_keeps_the_n_grams():
    part = load(BUCKETS, limit=5)
    assert len(part) == 5
    np.testing.assert_allclose(part["unheardof"], ANSWERS[BUCKETS.name]["unheardof"], atol=1e-6)


def test_what_is_written_is_the_specification(tmp_path):
    """Byte by byte, whatever the padding."""
    for word in (b"of", b"off", b"offs", b"offsp"):
        words = chunk(1, struct.pack("<Q", 2) + table(b"the", word))
        save(tmp_path / "x.fifu", Embeddings(WordList.of([b"the", word]), np.arange(6, dtype=np.float32).reshape(2, 3)))
        assert (tmp_path / "x.fifu").read_bytes() == whole(words, NUMBERS)


def test_what_is_written_comes_back(tmp_path):
    vectors = load(GOLDEN / "gensim.bin")
    save(tmp_path / "x.fifu.gz", vectors)
    found = load(tmp_path / "x.fifu.gz")
    assert found.words == vectors.words and found.matrix.tobytes() == vectors.matrix.tobytes()


@pytest.mark.parametrize(
    ("words", "problem"), [([b"a", b"a"], "stands in an earlier row"), ([b"a", b"\xff"], "is not UTF-8")]
)
def test_words_that_finalfusion_refuses(words, problem, tmp_path):
    with pytest.raises(WvError, match=f"x.fifu: row 2: the word .* {problem}"):
        save(tmp_path / "x.fifu", Embeddings(WordList.of(words), np.ones((2, 2), np.float32)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"FiFu", "expected 4 bytes of the version, found 0"),
        (b"FiFu" + struct.pack("<II", 1, 2), "byte 4: expected version 0, found 1"),
        (b"FiFu" + struct.pack("<II", 0, 1 << 31), "expected 1 to 16 chunks, found 2147483648"),
        (b"FiFu" + struct.pack("<II", 0, 1), "identifiers of chunks"),
        (whole(WORDS, b"", 2), "expected 24 bytes of the matrix, found 0: the file is cut short"),
        (whole(WORDS, NUMBERS + b"more"), "expected a chunk of 4[0-9] bytes, found 4[0-9]"),
        (whole(WORDS, NUMBERS, 1 << 63, 3), "bytes of the matrix, found 24"),
        (whole(WORDS, NUMBERS, 6, 0), "in 1 to 10000000 columns, found type 10, 0"),
        (whole(WORDS, NUMBERS[:12], 1), "expected 2 rows for 2 words and 0 of n-grams, found 1"),
        (whole(WORDS, NUMBERS[:8] + struct.pack("<4f", 1, np.nan, 2, 3)), "in the matrix, found nan"),
        (whole(WORDS + WORDS, NUMBERS), "expected words and a matrix, once each, found a chunk of kind 1"),
        (whole(WORDS + chunk(9, b""), NUMBERS), "found a chunk of kind 9"),
        (whole(b"", NUMBERS), "expected words and a matrix of their vectors, found the end of the file"),
        (whole(chunk(1, struct.pack("<Q", 1 << 60)), NUMBERS), "expected 1,152,921,504,606,846,976 words, found"),
        (whole(chunk(1, struct.pack("<Q", 2) + table(b"the") + b"\xff\xff\xff\x7f"), NUMBERS), "bytes of words, found"),
        (whole(chunk(3, struct.pack("<QIII", 0, 3, 2, 5)), NUMBERS), "1 or more characters, found 3 to 2"),
        (whole(chunk(3, struct.pack("<QIII", 0, 3, 6, 64)), NUMBERS), "number of buckets from 1 to 40, found 64"),
        (whole(chunk(7, struct.pack("<QIII", 0, 3, 6, 0)), NUMBERS), "buckets from 1 to 4,294,967,295, found 0"),
        (
            whole(chunk(8, struct.pack("<QQII", 0, 1, 3, 6) + table(b"<th") + struct.pack("<Q", 9)), NUMBERS),
            "expected rows from 0 to 0, found an n-gram with 9",
        ),
        (
            b"FiFu" + struct.pack("<4I", 0, 2, 1, 4) + WORDS
            + chunk(4, struct.pack("<5IQII", 0, 0, 2, 3, 4, 2, 1, 10) + bytes(99)),
            "codes of a byte .type 1. for blocks of float32 .type 10., found 2 blocks of 3 columns",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(content, match, tmp_path):
    refused(tmp_path, content, match)


def quantised(*, centroid=1.0, projection=1.0, norm=1.0):
    """Two words, one block of two columns, one centroid."""
    head = struct.pack("<5IQII", 1, 1, 1, 2, 1, 2, 1, 10)
    numbers = struct.pack("<8f", *[projection] * 4, centroid, 1, norm, 1)
    begin = len(b"FiFu" + struct.pack("<4I", 0, 2, 1, 4) + WORDS) + 12 + len(head)
    body = head + bytes(4 - begin % 4) + numbers + bytes(2)
    return b"FiFu" + struct.pack("<4I", 0, 2, 1, 4) + WORDS + chunk(4, body)


def test_numbers_whose_product_overflows(tmp_path):
    path = tmp_path / "v.fifu"
    path.write_bytes(quantised(norm=1e38))
    assert load(path).matrix[0].tolist() == [np.float32(2e38), np.float32(2e38)]
    for large in ({"norm": 3e38}, {"centroid": 3e38, "norm": 2}, {"projection": 1e20, "norm": 1e20}):
        refused(tmp_path, quantised(**large), "whose product is a float32, found up to")


def test_a_code_beyond_the_centroids(tmp_path):
    content = bytearray((GOLDEN / "finalfusion-quantized.fifu").read_bytes())
    content[-1] = 32
    refused(tmp_path, bytes(content), f"byte {len(content) - 1}: expected codes below 32, found 32")


@pytest.mark.parametrize("name", ANSWERS)
def test_a_file_cut_anywhere(name, tmp_path):
    """Behind the last word each cut is seen, too: lengths and sizes have to agree."""
    content = (GOLDEN / name).read_bytes()
    sizes = [*range(1, 200), *range(200, len(content), 4801), len(content) - 1]
    for size in sizes:
        (tmp_path / "x").write_bytes(content[:size])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FormatWarning)
            with pytest.raises(BadFile):
                load(tmp_path / "x")
