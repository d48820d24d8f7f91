"""CSV and TSV beyond RFC 4180: what stands before the header, other delimiters, quotes that are letters or damage."""

import io

import numpy as np
import pytest

from wv_cli import _records
from wv_cli.errors import BadFile, UsageError
from wv_cli.text.pairs import PairFiles
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.kinds import RECORDS, record_kind
from wv_cli.text.records.reading import Column, Rules
from wv_cli.text.records.writing import ByteSink
from wv_cli.text.source import Source
from wv_cli.vectors.recognize import input_texts

SPARK = (
    b'id,text\n1,"she said \\"hi\\" to me"\n2,"a \\"b, c\\" d"\n3,"line one \\"x\n4,still \\"three"\n5,green pears\n'
)
# The bytes of a file, how it is read, and its texts.
FILES = {
    "blank-first.csv": (b"\n\nid,text\n\na,x\n", {}, ["x"]),
    "blanks-first.csv": (b"\xef\xbb\xbf  \r\n\r\nid,text\r\na,x\r\n", {}, ["x"]),
    "blank-first.tsv": (b"\n\r\nid\ttext\na\tx\n", {}, ["x"]),
    "blank-bare.csv": (b"\n\na,x\nb,y\n", {"no_header": True, "field": "2"}, ["x", "y"]),
    "sep.csv": (b"sep=;\r\nid;text\r\n1;red, apples\r\n2;pears\r\n", {}, ["red, apples", "pears"]),
    "sep-mark.csv": (b"\xef\xbb\xbfsep=;\nid;text\n1;a\n", {}, ["a"]),
    "sep-quoted.csv": (b'"sep=|"\nid|text\n1|a, b; c\n', {}, ["a, b; c"]),
    "sep-tab.csv": (b"SEP=\t\nid\ttext\n1\ta,b\n", {}, ["a,b"]),
    "sep-caret.csv": (b"sep=^\nid^text\n1^a,b\n", {}, ["a,b"]),
    "sep-bare.csv": (b"sep=;\n1;red\n2;green\n", {"no_header": True, "field": "2"}, ["red", "green"]),
    "sep-column.tsv": (b"sep=;\tother\nx\ty\n", {"field": "other"}, ["y"]),
    "bar.csv": (b"id|text\n1|red apples\n2|pears\n", {}, ["red apples", "pears"]),
    "tab.csv": (b'id\ttext\n1\t"a ""b"""\n', {}, ['a "b"']),
    "title.csv": (b"id;title, short;text\n1;a;red apples\n2;b;pears\n", {}, ["red apples", "pears"]),
    "numbered.csv": (b"id;title, short;text\n1;a;red apples\n2;b;pears\n", {"field": "3"}, ["red apples", "pears"]),
    "decimal.csv": (b"1;2,5;red\n2;3,5;green\n", {"no_header": True, "field": "2"}, ["2,5", "3,5"]),
    "listed.csv": (b"1;red, green, blue\n2;x\n", {"no_header": True, "field": "2"}, ["red, green, blue", "x"]),
    "lines.csv": (b'id;"text"\n1;"two\nlines"\n', {}, ["two\nlines"]),
    "header-lines.csv": (b'id;"a\nb";text\n1;2;x\n', {}, ["x"]),
    "quotes.tsv": (b'1\t"quoted start\n2\tplain b\n3\tends here"\n', {"no_header": True, "field": "2"},
                   ['"quoted start', "plain b", 'ends here"']),
    "letters.tsv": (b'"id"\t"text"\n1\t"a ""b"""\n', {"field": '"text"'}, ['"a ""b"""']),
    "quoting.tsv": (b'"id"\t"text"\n1\t"a ""b""\tc\nd"\n', {"tsv_quotes": True}, ['a "b"\tc\nd']),
    "spark.csv": (SPARK, {}, ["green pears"]),
    "after-quote.csv": (b'id,text\n1,"a" b\n2,good\n3,"x"\n', {}, ["good", "x"]),
    "ends-in-backslash.csv": (b'id,text\n1,"C:\\dir\\"\n2,"x"\n', {}, ["C:\\dir\\", "x"]),
    "never-closed-again.csv": (b'id,text\n1,"a\\" b\n2,good\n', {}, ["good"]),
}  # fmt: skip
# Of which something is told.
TOLD = {"spark.csv", "after-quote.csv", "never-closed-again.csv", "letters.tsv"}


def read(name, data, chunks=None, log=None, added=(), **reading):
    """The blocks of a file with these bytes."""
    rules = Rules(ReadingConfig(**reading), False, ([] if log is None else log).append, added=added)
    return RECORDS[record_kind(name)].load()(name, name, iter([data] if chunks is None else chunks), rules)


@pytest.mark.parametrize("name", FILES)
def test_texts_by_the_table(name):
    data, reading, texts = FILES[name]
    log = []
    found = [text.decode() for block in read(name, data, log=log, **reading) for text in block.each]
    assert found == texts and (log != []) == (name in TOLD)


@pytest.mark.parametrize("name", FILES)
def test_blocks_may_be_cut_anywhere(name):
    data, reading, _ = FILES[name]
    found = []
    for size in (1, 2, 3, 7, 16, len(data)):
        log, texts, out = [], [], io.BytesIO()
        sink = ByteSink(out)
        chunks = (data[at : at + size] for at in range(0, len(data), size))
        for block in read(name, data, chunks, log, ("new",), **reading):
            texts += block.each
            sink.write(block.to_write({"new": Column("text", ["x"] * block.count)}))
        found.append((log, texts, out.getvalue()))
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("name", [name for name in FILES if name not in ("spark.csv", "after-quote.csv")])
def test_what_is_written_is_read_again(name):
    """Every byte stays, and what is added stands behind the last field of its record."""
    data, reading, texts = FILES[name]
    if name == "never-closed-again.csv":
        data = b"id,text\n2,good\n"
    whole, more = io.BytesIO(), io.BytesIO()
    for block in read(name, data, added=("new",), **reading):
        ByteSink(whole).write(block.to_write({}))
        ByteSink(more).write(block.to_write({"new": Column("text", [f'n "{i}"' for i in range(block.count)])}))
    assert whole.getvalue() == data
    again = dict(reading)
    again["field"] = "new" if "no_header" not in reading else "4" if name == "decimal.csv" else "3"
    found = [text.decode() for block in read(name, more.getvalue(), **again) for text in block.each]
    assert found == [f'n "{i}"' for i in range(len(texts))]
    assert [text for block in read(name, more.getvalue(), **reading) for text in block.each] == [
        t.encode() for t in texts
    ]


def test_fields_of_tsv_hold_neither_tabs_nor_line_ends():
    out = io.BytesIO()
    for block in read("a.tsv", b"text\nx\n", added=("n\tew",)):
        ByteSink(out).write(block.to_write({"n\tew": Column("text", ['a\tb\r\nc "d"'])}))
    assert out.getvalue() == b'text\tn ew\nx\ta b  c "d"\n'


def test_what_follows_a_closing_quote_is_told():
    log = []
    list(read("s.csv", SPARK, log=log))
    assert [line.split(":")[:3] for line in log] == [["s.csv", f"{line}", f" byte {at}"] for line, at in
                                                     ((2, 22), (3, 41), (4, 65))]  # fmt: skip
    assert all('not as \\" (Spark: .option("escape"' in line for line in log)


def test_a_far_quote_is_not_waited_for():
    """A record behind which no quote fits ends with its line."""
    data = b'id,text\n1,"a\\" b\n' + b"2,good\n" * 200_000
    assert sum(block.count for block in read("x.csv", data)) == 200_000
    rows = _records.CsvScanner(b",", 1, 2, _records.KEEP).scan(data, 8)[1]
    assert rows[0, 5] == _records.AFTER_QUOTE and (rows[1:, 5] == _records.GOOD).all()


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("x.csv", b"id^text\n1^a\n", "found id^text; name one with --field; commas or semicolons or tabs or | part"),
        ("x.csv", b"body\na\n", "found body; name one with --field$"),
        ("x.csv", b"I like it,yes\nNo,no\n", "--field; if line 1 is a record, give --no-header --field 1$"),
        ("x.tsv", b"id,text\n1,a\n", "found id,text; name one with --field; tabs part columns"),
        (
            "x.tsv",
            b'"id"\t"text"\n"1"\t"a"\n',
            'found "id", "text"; .*; a quote is a letter unless --tsv-quotes is given',
        ),
        ("x.csv", b'"' + b"x" * 200_000 + b'",a\n', "expected the field text, found xxx"),
        ("x.csv", b"caf\xe9,text\n", "x.csv:1: expected UTF-8"),
    ],
)
def test_a_header_without_the_field_is_told(name, data, problem):
    with pytest.raises(BadFile, match=problem.replace("|", r"\|").replace("^", r"\^")):
        list(read(name, data))


@pytest.mark.parametrize("data", [b"I like it,yes\nNo,no\n", b"1,I like it\n2,No\n"])
def test_a_number_is_no_header_where_line_1_is_a_record(data):
    """The first record would be lost as the names of columns."""
    field = "1" if data.startswith(b"I") else "2"
    message = (
        f"x.csv:1: expected the name of column {field} in the header, found 'I like it'; give --no-header if line 1"
    )
    with pytest.raises(BadFile, match=message):
        list(read("x.csv", data, field=field))
    assert sum(block.count for block in read("x.csv", data, field=field, no_header=True)) == 2
    named = data.replace(b"I like it", b"comment")
    assert sum(block.count for block in read("x.csv", named, field=field)) == 1


@pytest.mark.parametrize(
    ("data", "told"),
    [(b'text\n"a"\n"b"\n', True), (b'text\n"a"\n"b\n', False), (b'text\n"a"\n"b" c\nd\n', False), (b"text\n", False)],
)
def test_texts_in_quotes_are_told(data, told):
    log = []
    list(read("x.tsv", data, log=log))
    list(read("x.tsv", data, log=log, tsv_quotes=True)) if told else None
    assert log == ["x.tsv: most texts stand in quotes; a quote is a letter unless --tsv-quotes is given"] * told


def test_quotes_of_tsv_are_for_tsv(tmp_path):
    (tmp_path / "x.csv").write_text("text\na\n")
    for open_files in (
        lambda path: Source(input_texts([path], log=print, reading=ReadingConfig(tsv_quotes=True))),
        lambda path: list(PairFiles([path], tsv_quotes=True).batches()),
    ):
        with pytest.raises(UsageError, match="--tsv-quotes has no effect"):
            open_files(str(tmp_path / "x.csv"))


def test_pairs_have_the_rules_of_records(tmp_path):
    (tmp_path / "p.tsv").write_text('\nanchor\tpositive\n"a\t"b ""c"""\n')
    (tmp_path / "q.tsv").write_text('anchor\tpositive\n"a"\t"b ""c"""\n')
    (tmp_path / "p.csv").write_text("sep=;\nanchor;positive\na, b;c\n")
    for name, quotes, pair in (
        ("p.tsv", False, (b'"a', b'"b ""c"""')),
        ("q.tsv", True, (b"a", b'b "c"')),
        ("p.csv", False, (b"a, b", b"c")),
    ):
        assert list(PairFiles([str(tmp_path / name)], tsv_quotes=quotes).batches()) == [[pair]]


def test_numbers_are_added_as_they_are():
    out = io.BytesIO()
    for block in read("a.tsv", b"text\nx\ny\n", added=("n",)):
        ByteSink(out).write(block.to_write({"n": Column("number", np.array([0.5, 2], np.float32))}))
    assert out.getvalue() == b"text\tn\nx\t0.5\ny\t2.0\n"
