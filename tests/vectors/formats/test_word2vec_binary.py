"""word2vec's binary format: byte for byte as word2vec writes it; gensim's, without newlines between rows, read too."""

import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import SNIFF_BYTES, load, save, sniff
from wv_cli.vectors.formats.checking import check
from wv_cli.vectors.mapped_rows import MappedRows
from wv_cli.words import WordList

BROKEN = GOLDEN / "broken"


def record(word, *values):
    return word + b" " + np.array(values, "<f4").tobytes()


def written(tmp_path, data):
    path = tmp_path / "x.bin"
    path.write_bytes(data)
    return path


def words(vectors):
    return [vectors.words.bytes_at(i) for i in range(len(vectors))]


def test_written_as_word2vec_writes(tmp_path):
    save(tmp_path / "x.bin", load(GOLDEN / "w2v-sg-ns.bin"))
    assert (tmp_path / "x.bin").read_bytes() == (GOLDEN / "w2v-sg-ns.bin").read_bytes()


def test_gensim_writes_no_newlines():
    gensim, word2vec = load(GOLDEN / "gensim.bin"), load(GOLDEN / "w2v-sg-ns.bin", limit=200)
    assert gensim.words == word2vec.words and np.array_equal(gensim.matrix, word2vec.matrix)


def test_aligned_and_writable():
    matrix = load(GOLDEN / "w2v-sg-ns.bin").matrix
    assert matrix.flags.c_contiguous and matrix.flags.writeable and matrix.ctypes.data % 16 == 0


@pytest.mark.parametrize("dim", [1, 3, 1000, 300_000])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_rows_of_any_size(dim, end, tmp_path):
    """Also rows longer than a block."""
    matrix = np.random.default_rng(dim).standard_normal((5, dim)).astype(np.float32)
    rows = [b"w%d" % i * 7 + b" " + row.astype("<f4").tobytes() + end for i, row in enumerate(matrix)]
    data = b"5 %d\n" % dim + b"".join(rows)
    for packed in (data, gzip.compress(data, 0)):
        vectors = load(written(tmp_path, packed), format="word2vec-binary")
        assert np.array_equal(vectors.matrix, matrix) and words(vectors)[4] == b"w4w4w4w4w4w4w4"
        assert len(load(tmp_path / "x.bin", format="word2vec-binary", limit=4)) == 4


def test_bytes_of_words_are_kept(tmp_path):
    odd = [b"caf\xe9", b"\xff\xfe", b"a\xc2\xa0b", b"\r", b"x" * 200_000, b"%"]
    save(tmp_path / "x.bin", Embeddings(WordList.from_words(odd), np.ones((6, 2), np.float32)))
    assert words(load(tmp_path / "x.bin")) == odd


def test_numbers_that_look_like_separators(tmp_path):
    """Spaces and newlines inside the floats."""
    matrix = np.full((3, 4), 0x200A0A20, np.uint32).view(np.float32)
    for end in (b"", b"\n"):
        path = written(tmp_path, b"3 4\n" + b"".join(record(word, *matrix[0]) + end for word in (b"a", b"b", b"c")))
        vectors = load(path, format="word2vec-binary")
        assert words(vectors) == [b"a", b"b", b"c"] and np.array_equal(vectors.matrix, matrix)


MESSAGES = {
    "header-too-large.bin": r":1: the header promises 21 rows of 50 numbers, at least \d+ bytes; found 4100 bytes",
    "header-too-small.bin": r": byte 3895: expected the end of the file after the 19 rows .*, found 205 more bytes",
    "header-dim.bin": r":1: the header promises 20 rows of 51 numbers, at least 4126 bytes; found 4100 bytes",
    "header-huge.bin": r":1: the header promises 999999999999 rows of 300 numbers, at least \d+ bytes; found 4111",
    "not-finite.bin": r": byte 1233: row 7 of 20: expected finite numbers, found nan as number 3 of the word 'a'",
    "missing-bytes.bin": r": byte 1233: row 7 of 20: expected finite numbers, found nan as number 48 of the word 'a'",
    "truncated.bin": r": byte 3895: expected row 20 of 20, found the end of the file 168 bytes further on: it was cut",
    "trailing.bin": r": byte 4099: expected the end of the file after the 20 rows .*, found 14 more bytes",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_broken_files_are_refused_with_a_place(name):
    with pytest.raises(BadFile, match=name.replace(".", r"\.") + MESSAGES[name]):
        load(BROKEN / name)


@pytest.mark.parametrize(
    ("name", "counts", "places"),
    [
        ("header-too-large.bin", {"truncated": 1}, [4099]),
        ("header-too-small.bin", {"trailing data": 1}, [3895]),
        ("not-finite.bin", {"not finite": 2}, [1233, 1847]),
        ("truncated.bin", {"truncated": 1}, [3895]),
        ("trailing.bin", {"trailing data": 1}, [4099]),
        ("duplicate.bin", {"duplicate word": 1, "bad UTF-8": 1}, [1234, 1438]),
    ],
)
def test_check_of_broken_files(name, counts, places):
    report = check(BROKEN / name)
    assert dict(report.counts) == counts
    assert [problem.byte for problem in report.problems] == places
    assert all((BROKEN / name).read_bytes()[place - 1] == 10 for place in places if "duplicate" in name)


@pytest.mark.parametrize("name", ["header-dim.bin", "header-huge.bin", "missing-bytes.bin"])
def test_check_of_files_that_lose_their_place(name):
    assert check(BROKEN / name).counts["truncated"] == 1


def test_every_broken_file_is_used():
    others = {"duplicate.bin", "floret.bin"}  # the second is fastText's concern
    assert {path.name for path in BROKEN.glob("*.bin")} == {*MESSAGES, *others}


@pytest.mark.parametrize("end", [b"\n", b""])
def test_places_of_words(end, tmp_path):
    rows = [record(b"a", 1, 2), record(b"b", 0, 0), record(b"a", 1, 2), record(b"\xff", 1, 2), record(b"c c"[:1], 1, 2)]
    data = b"5 2\n" + b"".join(row + end for row in rows)
    report = check(written(tmp_path, data), format="word2vec-binary")
    start, step = 4, 10 + len(end)
    assert [(problem.kind, problem.byte) for problem in report.problems] == [
        ("duplicate word", start + 2 * step), ("bad UTF-8", start + 3 * step), ("zero vector", start + step)
    ]  # fmt: skip


def test_no_space_for_a_megabyte(tmp_path):
    path = written(tmp_path, b"2 700000\n" + record(b"a", *[1.0] * 700_000) + b"x" * 3_000_000)
    with pytest.raises(
        BadFile, match=r"byte 2800011: row 2 of 2: expected a word and a space, found no space in 1048576"
    ):
        load(path, format="word2vec-binary")
    assert check(path, format="word2vec-binary").counts["lost place"] == 1


@pytest.mark.parametrize("header", [b"999999999999 300", b"1000000 1000000", b"17 9999999"])
def test_a_lying_header_allocates_little(header, tmp_path):
    rows = record(b"w", *[1.0] * 300) * 10
    for data in (header + b"\n" + rows, gzip.compress(header + b"\n" + rows)):
        path = written(tmp_path, data)
        tracemalloc.start()
        try:
            with pytest.raises(BadFile, match=r"x\.bin(:1| byte|: byte)"):
                load(path, format="word2vec-binary")
            assert check(path, format="word2vec-binary").is_damaged
            assert tracemalloc.get_traced_memory()[1] < 150_000_000
        finally:
            tracemalloc.stop()


def one_row(dim, values, word=b"a", end=b"\n"):
    return b"1 %d\n" % dim + word + b" " + values + end


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.floats(-3, 3, width=32), min_size=1, max_size=12),
    word=st.sampled_from(["a", "wört", "7", "日本"]),
    end=st.sampled_from([b"", b"\n"]),
)
def test_one_row_is_not_taken_for_text(values, word, end, tmp_path):
    """Few floats may hold no control character."""
    matrix = np.array([values], np.float32)
    (tmp_path / "x").write_bytes(one_row(len(values), matrix.tobytes(), word.encode(), end))
    assert sniff(tmp_path / "x").name == "word2vec-binary"
    assert np.array_equal(load(tmp_path / "x").matrix, matrix) and list(load(tmp_path / "x").words) == [word]


@pytest.mark.parametrize(
    "values",
    [
        b"abcd",
        b"~~~?",
        b"\xc3\xa9\xcd?",
        b"d=\xcc\xbd\xff\xff\xff>",
        b"\n\n\n?",
        b"4\x0b8?",
        b"4 8?",
        b"\x0c7\x0c?",
        b"4\n;@",
    ],
)
def test_one_row_of_printable_bytes(values, tmp_path):
    (tmp_path / "x").write_bytes(one_row(len(values) // 4, values))
    assert sniff(tmp_path / "x").name == "word2vec-binary" and len(load(tmp_path / "x")) == 1


@pytest.mark.parametrize(
    "text",
    [
        b"1 1\na 1,25\n",
        b"1 2\na 1.0 abc\n",
        b"1 2\na 1.0\n",
        "1 2\nNeu Zürich 1,5 2.5\n".encode(),
        b"0 5\n",
        b"2 2\nfoo\n",
    ],
)
def test_damaged_text_is_text(text, tmp_path):
    (tmp_path / "x").write_bytes(text)
    assert sniff(tmp_path / "x").name == "word2vec-text"


def outcome(path, **options):
    try:
        vectors = load(path, format="word2vec-binary", keep_repeated=True, **options)
        return vectors.words, vectors.matrix.tolist()
    except BadFile as error:
        return str(error)


def test_left_in_the_mapped_file_the_rows_are_the_same(tmp_path):
    vectors = load(GOLDEN / "w2v-sg-ns.bin")
    for path in (GOLDEN / "w2v-sg-ns.bin", GOLDEN / "gensim.bin", written(tmp_path, b"0 3\n")):
        for limit in (None, 1, 7):
            assert outcome(path, mapped=True, limit=limit) == outcome(path, limit=limit)
    mapped = load(GOLDEN / "w2v-sg-ns.bin", mapped=True)
    assert isinstance(mapped, MappedRows) and mapped.dim == vectors.dim
    np.testing.assert_array_equal(mapped.row(5), vectors.row(5))
    assert mapped.neighbors("the", k=5) == vectors.neighbors("the", k=5)
    assert "matrix" not in vars(mapped)


def test_what_is_wrong_with_a_mapped_file_is_said_as_of_any_other(tmp_path):
    for path in sorted(BROKEN.glob("*.bin")):
        assert outcome(path, mapped=True) == outcome(path), path
    whole = b"4 2\n" + b"".join(record(b"w%d" % i, i, 1) + b"\n" for i in range(4))
    nan = whole.replace(record(b"w2", 2, 1), record(b"w2", 2, np.nan))
    long = b"2 2\n" + b"x" * (1 << 21) + b"\n"
    cut = [whole[:size] for size in (len(whole) - 2, len(whole) - 9, 30, 5)]
    for data in (whole, nan, long, b"4 2\n" + b"x" * 50 + whole[4:-40], whole + b"\n\n", whole + b"more", *cut):
        path = written(tmp_path, data)
        assert outcome(path, mapped=True) == outcome(path), data[:80]


def test_a_mapped_row_is_checked_when_it_is_asked_for(tmp_path):
    data = b"3 2\n" + record(b"a", 1, 2) + record(b"b", 1, np.inf) + record(b"c", 3, 4)
    mapped = load(written(tmp_path, data), format="word2vec-binary", mapped=True)
    assert mapped["a"].tolist() == [1, 2] and mapped.similarity("a", "c") > 0
    for use in (lambda: mapped["b"], lambda: mapped.neighbors("a"), lambda: mapped.matrix):
        with pytest.raises(BadFile, match="row 2 of 3: expected finite numbers, found inf as number 2 of the word 'b'"):
            use()


@pytest.mark.parametrize("length", [1 << 16, 300_000, SNIFF_BYTES - 10])
@pytest.mark.parametrize("matrix", [np.eye(2, 3, dtype=np.float32), np.full((2, 3), 0.123, np.float32)])
def test_a_first_word_longer_than_what_is_looked_at(length, matrix, tmp_path):
    for name in ("x.bin", "x.vec"):
        save(tmp_path / name, Embeddings(WordList.from_words(["w" * length, "b"]), matrix), precision="exact")
        again = load(tmp_path / name)
        assert len(again.words[0]) == length and np.array_equal(again.matrix, matrix)
