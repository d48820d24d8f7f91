"""word2vec's text format: byte for byte as word2vec writes it, and what other programs write in its name."""

import gzip
import lzma
import tracemalloc

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.reference.vectors import write_word2vec_text
from wv_cli.errors import BadFile
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import FormatWarning, load, save
from wv_cli.vectors.formats.checking import check
from wv_cli.words import WordList

BROKEN = GOLDEN / "broken"


def written(tmp_path, data):
    path = tmp_path / "x.vec"
    path.write_bytes(data)
    return path


def words(vectors):
    return [vectors.words.bytes_at(i) for i in range(len(vectors))]


def test_written_as_word2vec_writes(tmp_path):
    """The same floats, from the binary file of the same run, give the same bytes."""
    vectors = load(GOLDEN / "w2v-sg-ns.bin")
    save(tmp_path / "x.vec", vectors)
    assert (tmp_path / "x.vec").read_bytes() == lzma.decompress((GOLDEN / "w2v-sg-ns.txt.xz").read_bytes())
    assert write_word2vec_text(words(vectors), vectors.matrix) == (tmp_path / "x.vec").read_bytes()


def test_first_row_of_word2vec_is_a_row(tmp_path):
    assert words(load(GOLDEN / "w2v-sg-ns.bin", limit=2)) == [b"</s>", b"the"]


@pytest.mark.filterwarnings("ignore:.*the numbers of 1 row:wv_cli.errors.FormatWarning")  # </s> in 1 decimal
@pytest.mark.parametrize("decimals", [1, 4, 9])
def test_precision(decimals, tmp_path):
    vectors = load(GOLDEN / "w2v-sg-ns.bin", limit=100)
    save(tmp_path / "x.vec", vectors, precision=decimals)
    again = load(tmp_path / "x.vec")
    assert np.abs(again.matrix - vectors.matrix).max() <= 0.5 * 10**-decimals + 1e-7
    row = (tmp_path / "x.vec").read_bytes().split(b"\n")[1]
    assert row == b"</s> " + b"".join(b"%.*f " % (decimals, value) for value in vectors.matrix[0])


def test_many_rows_in_many_blocks(tmp_path):
    """Larger than a few blocks, so that rows are cut by their ends and several threads take part."""
    vectors = load(GOLDEN / "w2v-sg-ns.bin")
    many = Embeddings(WordList.from_words(words(vectors) * 4), np.tile(vectors.matrix, (4, 1)))
    for threads in (1, 3):
        save(tmp_path / "x.vec", many, precision="exact", threads=threads)
        again = load(tmp_path / "x.vec", threads=threads, keep_repeated=True)
        assert again.words == many.words and np.array_equal(again.matrix, many.matrix)
    assert len(load(tmp_path / "x.vec", limit=10_000, threads=3, keep_repeated=True)) == 10_000
    report = check(tmp_path / "x.vec")
    assert (report.rows, dict(report.counts)) == (17324, {"duplicate word": 3 * 4331})
    lines = (tmp_path / "x.vec").read_bytes().split(b"\n")
    lines[15_000] = b"bad"
    problem = r"x\.vec:15001: expected 50 numbers after the word 'bad', found 0"
    with pytest.raises(BadFile, match=problem + "; .wv convert --bad-rows skip. leaves such rows out$"):
        load(written(tmp_path, b"\n".join(lines)), threads=3)


def test_gensim_words_with_spaces():
    vectors = load(GOLDEN / "gensim-spaces.vec")
    assert words(vectors) == [b"the", b"new york", b"new york city", b"a\xc2\xa0b", b"caf\xc3\xa9", b" ."]
    assert np.array_equal(vectors.matrix, load(GOLDEN / "w2v-sg-ns.bin", limit=6).matrix)
    assert dict(check(GOLDEN / "gensim-spaces.vec").notes) == {"unusual word": 3}


def test_glove_header_counts_one_too_few():
    with pytest.warns(FormatWarning, match="promises 400 rows and 401 are there, the last one <unk>"):
        vectors = load(GOLDEN / "glove-header.txt")
    assert len(vectors) == 401 and words(vectors)[-1] == b"<unk>"
    assert len(load(GOLDEN / "glove-header.txt", limit=400)) == 400
    with pytest.warns(FormatWarning):
        assert len(load(GOLDEN / "glove-header.txt", limit=401)) == 401
    [problem] = check(GOLDEN / "glove-header.txt").problems
    assert problem.line == 1 and "GloVe does not count <unk>" in problem.text


@pytest.mark.parametrize(
    "data",
    [b"2 2\na 1 2 \nb 3 4 \n", b"2 2\na 1 2\nb 3 4\n", b"2 2\r\na 1 2\r\nb 3 4\r\n", b"2\t2\na\t1\t2\nb\t3\t4\n",
     b"  2 2 \na 1 2\nb 3 4\n\n\n \n", b"2 2\na 1.0 +2\nb 3e0 .4E1", b"2 2\na 1 2 \nb 3 4 "],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::wv_cli.vectors.formats.FormatWarning")
def test_manners_of_other_programs(data, tmp_path):
    vectors = load(written(tmp_path, data))
    assert words(vectors) == [b"a", b"b"] and vectors.matrix.tolist() == [[1, 2], [3, 4]]
    assert not check(tmp_path / "x.vec").is_damaged


def test_bytes_of_words_are_kept(tmp_path):
    odd = [
        b"caf\xe9",
        b"\xff\xfe",
        b"a\xc2\xa0b",
        b"\xe3\x80\x80",
        b"\r",
        b"\x0b",
        b"100%",
        b"%20",
        "\u2028".encode(),
        b"7",
        b"nan",
    ]
    save(tmp_path / "x.vec", Embeddings(WordList.from_words(odd), np.zeros((11, 2), np.float32)))
    assert words(load(tmp_path / "x.vec")) == odd


def test_words_as_long_as_they_like(tmp_path):
    long = b"x" * 5_000_000
    vectors = Embeddings(WordList.from_words([b"a", long, b"b"]), np.ones((3, 2), np.float32))
    save(tmp_path / "x.vec", vectors)
    assert load(tmp_path / "x.vec").words == vectors.words


def test_unescape_refuses_what_escape_did_not_write(tmp_path):
    with pytest.raises(BadFile, match="row 2: the word '100%' holds a % that --escape did not write"):
        load(written(tmp_path, b"2 1\na%20b 1\n100% 2\n"), unescape=True)


def test_last_row_without_an_end(tmp_path):
    path = written(tmp_path, b"2 2\na 0.25 0.5\nb 0.25 0.5")
    with pytest.warns(FormatWarning, match=r"x\.vec:3: the last row has no line end; if the file was cut"):
        load(path)
    assert check(path).notes["no line end"] == 1 and not check(path).is_damaged


MESSAGES = {
    "header-too-large.vec": r":21: the header promises 21 rows, found 20: the file was cut short or the header",
    "header-too-small.vec": r":21: the header promises 19 rows, but another row follows; correct the first line",
    "header-dim.vec": r":2: expected 49 numbers after the word 'the', found 50",
    "header-huge.vec": r":1: the header promises 999999999999 rows of 300 numbers, at least \d+ bytes; found 8916",
    "header-dim-zero.vec": r":1: expected a dimension of 1 to \d+, found 0",
    "short-row.vec": r":8: expected 50 numbers after the word 'one', found 48",
    "long-row.vec": r":8: expected 50 numbers after the word 'one', found 51",
    "decimal-commas.vec": r":8: expected 50 numbers, found '-0,45886' as number 1; decimals need a point, not a comma",
    "not-finite.vec": r":8: expected finite numbers, found 'nan' as number 3 of the word 'one'",
    "blank-line.vec": r":7: expected a word and 50 numbers, found a blank line",
    "truncated.vec": r":21: expected 50 numbers after the word 'on', found 39; the file ends in the middle of this row",
    "cut-number.vec": r":21: expected a space and a line end after the last number, found the end of the file",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_broken_files_are_refused_with_a_place(name):
    with pytest.raises(BadFile, match=name.replace(".", r"\.") + MESSAGES[name]):
        load(BROKEN / name)


@pytest.mark.parametrize(
    ("name", "counts", "lines"),
    [
        ("header-too-large.vec", {"row count": 1}, [21]),
        ("header-too-small.vec", {"row count": 1}, [1]),
        ("header-dim.vec", {"ragged row": 20}, [*range(2, 22)]),
        ("header-huge.vec", {"ragged row": 20, "row count": 1}, [*range(2, 22), 21]),
        ("header-dim-zero.vec", {"unreadable": 1}, [1]),
        ("short-row.vec", {"ragged row": 1}, [8]),
        ("long-row.vec", {"ragged row": 1}, [8]),
        ("decimal-commas.vec", {"not a number": 1}, [8]),
        ("not-finite.vec", {"not finite": 3}, [8, 11, 13]),
        ("blank-line.vec", {"blank line": 1}, [7]),
        ("duplicate.vec", {"duplicate word": 1}, [8]),
        ("latin-1.vec", {"bad UTF-8": 1}, [8]),
        ("truncated.vec", {"ragged row": 1}, [21]),
        ("cut-number.vec", {"truncated": 1}, [21]),
    ],
)
def test_check_of_broken_files(name, counts, lines):
    report = check(BROKEN / name)
    assert dict(report.counts) == counts
    assert [problem.line for problem in report.problems] == lines


def test_every_broken_file_is_used():
    assert {path.name for path in BROKEN.glob("*.vec")} == {*MESSAGES, "duplicate.vec", "latin-1.vec"}


def test_damaged_words_only_are_read():
    """Duplicates and invalid UTF-8 are the file's content; all rows can be kept."""
    assert len(load(BROKEN / "duplicate.vec", keep_repeated=True)) == len(load(BROKEN / "latin-1.vec")) == 20
    assert load(BROKEN / "latin-1.vec").words.bytes_at(6) == b"caf\xe9"


def test_check_goes_on_and_counts_all(tmp_path):
    path = written(tmp_path, b"6 2\na 1 2\nb 1\n\nc x 2\nd 0 0\na 1 2\n 1 2\ne inf 2\n")
    report = check(path, max_problems=3)
    assert dict(report.counts) == {
        "ragged row": 1, "blank line": 1, "not a number": 1, "duplicate word": 1, "no word": 1, "not finite": 1,
        "row count": 1,
    }  # fmt: skip
    assert dict(report.notes) == {"zero vector": 1} and report.rows == 7
    assert [(problem.kind, problem.line) for problem in report.problems] == [
        ("ragged row", 3), ("blank line", 4), ("not a number", 5)
    ]  # fmt: skip


@pytest.mark.parametrize("header", [b"999999999999 300", b"1000000 1000000", b"17 9999999"])
def test_a_lying_header_allocates_little(header, tmp_path):
    """From a file and, where the size is not known beforehand, from a compressed one."""
    rows = b"".join(b"w%d 1 2 3\n" % i for i in range(1000))
    for data in (header + b"\n" + rows, gzip.compress(header + b"\n" + rows)):
        path = written(tmp_path, data)
        tracemalloc.start()
        try:
            with pytest.raises(BadFile, match=r"x\.vec:[12]: "):
                load(path)
            assert check(path).is_damaged
            assert tracemalloc.get_traced_memory()[1] < 100_000_000
        finally:
            tracemalloc.stop()


def test_a_header_tells_where_words_end(tmp_path):
    path = written(tmp_path, b"3 2\nthe 0.1 0.2\n2018 World Cup 0.3 0.4\nWindows 10 0.5 0.6\n")
    assert words(load(path)) == [b"the", b"2018 World Cup", b"Windows 10"]
    assert load(path).matrix[2].tolist() == [np.float32(0.5), np.float32(0.6)]
    assert not check(path).is_damaged


def test_a_header_that_all_rows_contradict_tells_nothing(tmp_path):
    path = written(tmp_path, b"2 2\na 1 2 3\nb 4 5 6\n")
    with pytest.raises(BadFile, match=r"x\.vec:2: expected 2 numbers after the word 'a', found 3"):
        load(path)
    assert check(path).counts["ragged row"] == 2
