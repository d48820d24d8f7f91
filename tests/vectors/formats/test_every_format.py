"""What every file format owes its user, run over the table of formats: files of the original programs read, everything
that can be written comes back, nothing is changed in silence, no damaged file is taken for a whole one."""

import bz2
import gzip
import json
import lzma
import os
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import zstd
from tests.conftest import GOLDEN
from tests.reference import codes as code_twin
from tests.reference import fasttext
from tests.reference import vectors as reference
from tests.walk import require_rows
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import FORMATS, FormatWarning, load, save, sniff
from wv_cli.vectors.formats.checking import check
from wv_cli.vectors.formats.streams import save_blocks
from wv_cli.words import WordList

# Files made by the programs the formats come from, and how the reference reads them.
GOLDEN_FILES = {
    "word2vec-text": [
        ("w2v-sg-ns.txt.xz", 4331, lambda data: reference.read_text(data, header=True)),
        ("fasttext.vec", 400, lambda data: reference.read_text(data, header=True)),
        ("glove-header.txt", 401, lambda data: reference.read_text(data, header=True)),
        ("gensim.vec", 200, lambda data: reference.read_text(data, header=True)),
    ],
    "word2vec-binary": [("w2v-sg-ns.bin", 4331, reference.read_binary), ("gensim.bin", 200, reference.read_binary)],
    "glove-text": [("glove.txt", 401, lambda data: reference.read_text(data, header=False))],
    "codes": [("sign.codes", 200, code_twin.read_binary)],
    "codes-text": [("sign.codes.txt", 200, code_twin.read_text)],
    "fasttext-bin": [("ft-words.bin", 225, lambda data: fasttext_vectors(data))],
    "npy": [("gensim.npy", 200, reference.read_npy)],
    "text-model": [
        ("texts.d2v", 112, lambda data: text_model_vectors(data, "input")),
    ],
    "safetensors": [("encoders/static-model2vec/model.safetensors", 400, lambda data: static_vectors(data))],
}


def fasttext_vectors(data):
    """Composed of the words' n-grams, which is more than copying numbers: close is equal."""
    model = fasttext.read(data)
    return model.words, np.array([model.vector(word) for word in model.words])


def text_model_vectors(data, array):
    """The first rows of a matrix that has others behind the words'."""
    arrays = code_twin.container(data, "text-model")[1]
    starts, letters = arrays["starts"].tolist(), arrays["letters"].tobytes()
    words = [letters[a:b] for a, b in pairwise(starts)]
    return words, arrays[array][: len(words)]


def static_vectors(data):
    """The rows behind the one of unknown words, called as the tokenizer beside the file says."""
    facts = json.loads((GOLDEN / "encoders" / "static-model2vec" / "tokenizer.json").read_text())
    words = sorted(facts["model"]["vocab"], key=facts["model"]["vocab"].get)[1:]
    matrix = np.frombuffer(data[8 + int.from_bytes(data[:8], "little") :], "<f4").reshape(401, 50)[1:]
    return [word.encode() for word in words], matrix


every_golden = pytest.mark.parametrize(
    ("format", "name", "rows", "read"), [(format, *row) for format, rows in GOLDEN_FILES.items() for row in rows]
)
WITHOUT_WORDS = {"floret"}  # see test_floret.py
every_format = pytest.mark.parametrize("format", FORMATS)
written_formats = pytest.mark.parametrize("format", [name for name, row in FORMATS.items() if row.write])
KEPT = [name for name, row in FORMATS.items() if row.write and row.read]
kept_formats = pytest.mark.parametrize("format", KEPT)

# Words of any bytes but those that part fields, and numbers of all kinds.
plain_words = st.binary(min_size=1, max_size=12).filter(lambda word: not set(word) & set(b" \t\n\0"))
any_words = st.binary(max_size=12)
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def embeddings(draw, words):
    dim = draw(st.integers(1, 5))
    rows = draw(st.lists(st.tuples(words, st.lists(floats, min_size=dim, max_size=dim)), min_size=1, max_size=6))
    matrix = np.array([row for _, row in rows], np.float32)
    return Embeddings(WordList.from_words(word for word, _ in rows), matrix)


def same(a, b):
    return a.words == b.words and a.matrix.shape == b.matrix.shape and a.matrix.tobytes() == b.matrix.tobytes()


def plain(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def test_every_format_has_a_golden_file():
    read = {name for name, row in FORMATS.items() if row.read} - WITHOUT_WORDS
    require_rows("GOLDEN_FILES of tests/vectors/formats/test_every_format.py", GOLDEN_FILES, read)


@every_format
def test_row_of_the_table(format):
    row = FORMATS[format]
    assert row.name == format and row.loses and row.summary
    assert all(suffix.startswith(".") for suffix in row.suffixes)


@pytest.mark.quick
@pytest.mark.filterwarnings("ignore::wv_cli.vectors.formats.FormatWarning")
@every_golden
def test_golden_files_read_as_the_twin_reads_them(format, name, rows, read):
    path = GOLDEN / name
    assert sniff(path).name == format
    words, matrix = read(plain(path))
    result = load(path)
    assert [result.words.bytes_at(i) for i in range(len(result))] == words
    assert len(words) == rows and result.dim == 50
    assert result.matrix.dtype == np.float32
    np.testing.assert_allclose(result.matrix, matrix, atol=1e-6 if format == "fasttext-bin" else 0, rtol=0)
    assert same(load(path, threads=1), result) and same(load(path, threads=5), result)


@every_golden
def test_limit_takes_the_first_rows(format, name, rows, read):
    whole = load(GOLDEN / name, limit=rows - 1)  # all but GloVe's uncounted <unk>
    part = load(GOLDEN / name, limit=7)
    assert len(part) == 7 and same(part, Embeddings(whole.words[:7], whole.matrix[:7]))


def test_limit_beyond_the_end_and_none_at_all():
    assert len(load(GOLDEN / "gensim.vec", limit=10**9)) == 200
    with pytest.raises(UsageError, match="at least 1"):
        load(GOLDEN / "gensim.vec", limit=0)


@every_golden
def test_check_of_golden_files(format, name, rows, read):
    report = check(GOLDEN / name)
    assert (report.rows, report.dim, report.format) == (rows, 50, format)
    assert dict(report.counts) == ({"row count": 1} if name == "glove-header.txt" else {})


@kept_formats
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(vectors=embeddings(plain_words))
def test_what_is_written_comes_back(format, vectors, tmp_path):
    path = tmp_path / "x"
    if format == "glove-text":  # its first word must not look like a compressed file
        vectors = Embeddings(WordList.from_words(["the", *vectors.words[1:]]), vectors.matrix)
    save(path, vectors, format=format, precision="exact")
    assert same(load(path, format=format, keep_repeated=True), vectors)


@kept_formats
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(vectors=embeddings(any_words))
def test_escaped_words_come_back(format, vectors, tmp_path):
    path = tmp_path / "x"
    if format == "glove-text":  # as above
        vectors = Embeddings(
            WordList.from_words([b"the", *map(vectors.words.bytes_at, range(1, len(vectors)))]), vectors.matrix
        )
    save(path, vectors, format=format, precision="exact", escape=True)
    assert same(load(path, format=format, unescape=True, keep_repeated=True), vectors)
    assert not check(path, format=format).notes["unusual word"]


@written_formats
@pytest.mark.parametrize(
    ("word", "what"),
    [(b"new york", "a space"), (b"a\tb", "a tab"), (b"a\nb", "a newline"), (b"a\0b", "a NUL"), (b"", "no ch")],
)
def test_words_that_do_not_fit_are_refused(format, word, what, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"before")
    vectors = Embeddings(WordList.from_words([b"a", word]), np.ones((2, 3), np.float32))
    with pytest.raises(WvError, match=rf"x: row 2: the word .* holds {what}.*{format}.*--escape"):
        save(path, vectors, format=format)
    assert [p.name for p in tmp_path.iterdir()] == ["x"] and path.read_bytes() == b"before"


@written_formats
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_not_finite_is_refused(format, number, tmp_path):
    matrix = np.ones((3, 4), np.float32)
    matrix[1, 2] = number
    with pytest.raises(WvError, match=rf"row 2: expected finite numbers, found {number} as number 3 of the word 'b'"):
        save(tmp_path / "x", Embeddings(WordList.from_words("abc"), matrix), format=format)
    assert list(tmp_path.iterdir()) == []


@kept_formats
def test_padded_and_turned_matrices(format, tmp_path):
    """Rows of a padded matrix are views; a transposed one has no row in one piece."""
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (values[:, :3], values[::2], values.T, values[:, ::2], values[::-1]):
        vectors = Embeddings(WordList.from_words("abcdef"[: len(view)]), view)
        save(tmp_path / "x", vectors, format=format)
        assert np.array_equal(load(tmp_path / "x", format=format).matrix, view)
    frozen = values[:2]
    frozen.flags.writeable = False
    save(tmp_path / "x", Embeddings(WordList.from_words("ab"), frozen), format=format)


@pytest.mark.parametrize("format", ["word2vec-text", "word2vec-binary"])
def test_no_rows_at_all(format, tmp_path):
    path = tmp_path / "x.bin"
    save(path, Embeddings(WordList.from_words([]), np.zeros((0, 7), np.float32)), format=format)
    assert load(path, format=format).matrix.shape == (0, 7)
    assert not check(path, format=format).is_damaged


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.pack])
def test_compressed_files(pack, tmp_path):
    for name in ("gensim.vec", "gensim.bin", "glove.txt"):
        packed = pack((GOLDEN / name).read_bytes())
        path = tmp_path / f"{name}.packed"
        path.write_bytes(packed)
        assert same(load(path), load(GOLDEN / name))
        assert len(load(path, limit=3)) == 3
        path.write_bytes(packed[: len(packed) // 2])
        for format in (None, sniff(GOLDEN / name).name):
            with pytest.raises(BadFile, match=r"packed: byte \d+: .*get the file again"):
                load(path, format=format)
        assert check(path, format=format).counts["unreadable"] == 1


def first_rows(name, rows):
    """A golden file's first rows as a file of its own."""
    lines = (GOLDEN / name).read_bytes().split(b"\n")
    return b"\n".join([b"%d 50" % rows, *lines[1 : rows + 1], b""])


# A whole small file of each format, in each program's manner.
def whole_files():
    vectors = load(GOLDEN / "w2v-sg-ns.bin", limit=4)
    words = [vectors.words.bytes_at(i) for i in range(4)]
    rows = [b"%s " % word + row.astype("<f4").tobytes() for word, row in zip(words, vectors.matrix, strict=True)]
    return {
        "word2vec-text": reference.write_word2vec_text(words, vectors.matrix),
        "word2vec-binary": b"4 50\n" + b"".join(row + b"\n" for row in rows),
        "word2vec-binary of gensim": b"4 50\n" + b"".join(rows),
        "word2vec-text of fastText": first_rows("fasttext.vec", 4),
        "word2vec-text of gensim": first_rows("gensim.vec", 4),
        "glove-text": first_rows("glove.txt", 4).partition(b"\n")[2],
    }


@pytest.mark.parametrize("kind", whole_files())
def test_cut_anywhere(kind, tmp_path):
    """Cut after any byte, a file is refused with a place, or read with a warning, or nothing of it was lost. Only where
    the format itself cannot tell, between two rows of GloVe's, is it read for what it is."""
    whole = whole_files()[kind]
    path, format = tmp_path / "cut", kind.split(" ")[0]
    path.write_bytes(whole)
    expected = load(path)
    for size in reversed(range(len(whole))):
        os.truncate(path, size)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = load(path, format=format)
            except BadFile as error:
                assert error.line is not None or error.byte is not None or size == 0
                assert size == 0 or size % 5 or check(path, format=format).is_damaged
                continue
        if caught:
            assert caught[0].category is FormatWarning and "line end" in str(caught[0].message)
            assert check(path, format=format).notes["no line end"] == 1
        elif format == "glove-text" and whole[size - 1 : size] == b"\n":
            assert same(result, Embeddings(expected.words[: len(result)], expected.matrix[: len(result)]))
        else:
            assert size == len(whole) - 1 and same(result, expected)


@pytest.mark.parametrize("kind", whole_files())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**9), junk=st.binary(min_size=1, max_size=8))
def test_bytes_overwritten_anywhere(kind, place, junk, tmp_path):
    """Never a crash, another exception or a number that is not finite."""
    whole = whole_files()[kind]
    place %= len(whole)
    path = tmp_path / "x"
    path.write_bytes(whole[:place] + junk + whole[place + len(junk) :])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        for reader in (load, check):
            try:
                result = reader(path)
            except BadFile:
                continue
            assert reader is check or np.isfinite(result.matrix).all()


@pytest.mark.parametrize(
    ("head", "what"),
    [(b"\x80\x04\x95", "pickle"), (b"\0\1\2\xff", "found"),
     (b"PK\x03\x04" + bytes(40), "zip"), (b"the quick brown fox\n", "found 'the quick"), (b"the 123\nof 99\n", "found"),
     (b"0.5 0.25\n0.5 0.25\n0.5 -1.0\n", "found")],
)  # fmt: skip
def test_what_is_no_vector_file(head, what, tmp_path):
    (tmp_path / "x").write_bytes(head)
    for reader in (sniff, load, check):
        with pytest.raises(BadFile, match=what):
            reader(tmp_path / "x")


def test_unreadable_files(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(BadFile, match="empty: the file is empty"):
        load(tmp_path / "empty")
    with pytest.raises(WvError, match="missing: cannot read: no such file"):
        load(tmp_path / "missing")
    with pytest.raises(WvError, match="is a directory"):
        check(tmp_path)
    with pytest.raises(WvError, match="embedded null"):
        load("a\0b")


def test_choice_of_the_output_format(tmp_path):
    vectors = load(GOLDEN / "gensim.bin", limit=2)
    for name, format in [("a.vec", "word2vec-text"), ("a.txt", "word2vec-text"), ("a.bin", "word2vec-binary")]:
        save(tmp_path / name, vectors)
        assert sniff(tmp_path / name).name == format
    with pytest.raises(UsageError, match=r"'\.vex' names no format.*word2vec-text \(\.vec, \.txt\), word2vec-binary"):
        save(tmp_path / "a.vex", vectors)
    with pytest.raises(UsageError, match=r"'\.vex' names no format"):
        save(tmp_path / "a.vex.gz", vectors)
    with pytest.raises(UsageError, match="did you mean 'glove-text'"):
        save(tmp_path / "a.vec", vectors, format="glove-txt")
    with pytest.raises(UsageError, match="1 to 9 decimals or exact"):
        save(tmp_path / "a.vec", vectors, precision=0)


@pytest.mark.parametrize("format", [name for name, row in FORMATS.items() if row.text and row.write_rows])
def test_rows_that_become_zeros_in_the_decimals_are_told(tmp_path, format):
    matrix = np.array([[4e-7, -4e-7], [0, 0], [6e-7, 0], [-1e-30, 0]], np.float32)
    vectors = Embeddings(WordList.from_words("abcd"), matrix)
    told = r"x\.txt: the numbers of 2 rows are too small"
    with pytest.warns(FormatWarning, match=told):
        save(tmp_path / "x.txt", vectors, format=format)
    with pytest.warns(FormatWarning, match=told):
        save_blocks(tmp_path / "x.txt", 4, 2, [vectors.keep_rows(np.array([at])) for at in range(4)], format=format)
    save(tmp_path / "x.txt", vectors, format=format, precision="exact")
