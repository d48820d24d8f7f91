"""Records as texts: the hostile files of golden/records.tar.xz by a table, what is written again byte for byte, and the
scanners against Python's json and csv."""

import csv
import io
import json
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from wv_cli import _records
from wv_cli.errors import BadFile
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.kinds import RECORDS, record_kind
from wv_cli.text.records.reading import Column, Rules
from wv_cli.text.records.writing import ByteSink, add_fields
from wv_cli.text.source import Source
from wv_cli.vectors.recognize import input_texts

ADDED = ("label", "score")
# What is no UTF-8, has no end or no header is no record, whatever Python's csv makes of it.
CSV = {
    "rfc4180.csv": ['comma, and "quotes"', "two\r\nlines", "", "", " leading space"],
    "lf.csv": ["x", "y"],
    "cr.csv": ["x", "y"],
    "bom.csv": ["x"],
    "semicolon.csv": ["x,y"],
    "ragged.csv": ["z"],
    "header-twice.csv": ["y"],
    "quote-inside.csv": ['5" pipe'],  # a field that goes on after its closing quote is damage
    "backslash.csv": ["back\\slash\\n"],
    "nul.csv": ["x\0y", "z"],
    "latin1.csv": ["z"],
    "empty.csv": [],
    "header-only.csv": [],
    "plain.tsv": ["x y", '"quoted"', '"un'],
    "escaped.tsv": ["x\\ty\\nz\\\\"],
    "long-field.csv": ["x" * 200_000],
}
OTHER = b'"n\xc3\xa9w"\n,\t;\\'
# What stays of files with bad records.
KEPT = {
    "ragged.csv": b"id,text,n\n\nc,z,3\n",
    "latin1.csv": b"id,text\nb,z\n",
    "quote-inside.csv": b'id,text\na,5" pipe\n',
    "backslash.csv": b"id,text\nb,back\\slash\\n\n",
}
REFUSED = {
    "array.json": "found an array; write lines: jq -c '.[]' FILE > FILE.jsonl",
    "concatenated.json": "none of its 1 records can be read; byte 24",
    "pretty.jsonl": "found JSON that goes on in the next line; write lines: jq -c . FILE",
    "text.jsonl": "none of its 2 records can be read; byte 0: expected a JSON object",
    "utf16le.jsonl": "found UTF-16",
    "utf16be-nobom.jsonl": "found UTF-16",
    "open-quote.csv": "none of its 1 records can be read; byte 8: a quote that is never closed",
    "no-text.csv": "expected the field text, found id, body; name one with --field",
    "no-header.csv": "expected the field text, found a, x",
    "spaces.csv": "expected the field text, found id,  text",
    "badcrc.jsonl.gz": "damaged gzip data",
    "badsize.jsonl.gz": "damaged gzip data",
    "cut.jsonl.gz": "incomplete",
    "tail.jsonl.gz": "damaged gzip data",
    "badsum.jsonl.zst": "damaged zstd data",
    "cut.jsonl.zst": "incomplete",
    "tail.jsonl.zst": "damaged zstd data",
    "corrupt.parquet": "expected the rows of row group 0",
    "cut.parquet": "expected a Parquet file",
    "not.parquet": "expected a Parquet file",
    "int-text.parquet": "expected strings in the field text, found int32",
    "no-text.parquet": "expected the field text, found id, n",
    "nested.parquet": "expected the field text, found id, data, texts",
}
GOOD = ["good.jsonl", "good.jsonl.bz2", "good.jsonl.xz", "gz-named.jsonl", "plain-named.jsonl.gz", "window27.jsonl.zst"]
GOOD += ["zeros.jsonl.gz"]
EMPTY = ["empty.jsonl", "newline.jsonl", "empty.jsonl.gz", "gzip-of-nothing.jsonl.gz"]


@pytest.fixture(scope="session")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    with tarfile.open(GOLDEN / "records.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def expected(nasty):
    return json.loads((nasty / "expected.json").read_text())


def opened(path, log=None, **reading):
    texts = input_texts(
        [str(path)], log=([] if log is None else log).append, reading=ReadingConfig(**reading), one_line=False
    )
    return Source(texts)


def texts_of(path, log=None, **reading):
    source = opened(path, log, **reading)
    return [text for block in source.blocks(source.paths[0], ()) for text in block.each]


def needs(path):
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
    if path.suffix == ".zst":
        pytest.importorskip("zstandard")


def test_the_table_has_every_file(nasty, expected):
    """One with a line of 10 MB is made where it is needed."""
    known = {*CSV, *REFUSED, *GOOD, *EMPTY, *expected["jsonl"], *expected["parquet"], "expected.json"}
    assert known == {path.name for path in nasty.iterdir()} | {"utf16be-nobom.jsonl"}


def is_text(value):
    """A record whose text is null, a number, or missing is none; a lone surrogate becomes U+FFFD."""
    text = value.get("text") if value.get("object") else None
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode() if isinstance(text, str) else None


def test_json_is_what_python_says(nasty, expected):
    """But for a mark before the first record, which is no part of it, and the depth of Python's stack."""
    for name, lines in expected["jsonl"].items():
        wanted = [is_text(line["python"]) for line in lines]
        if name == "bom.jsonl":
            wanted[0] = b"good"
        if name == "shapes.jsonl":
            wanted[32] = b"deep"
        wanted = [text for text in wanted if text is not None]
        if wanted:
            assert texts_of(nasty / name) == wanted, name


@pytest.mark.parametrize("name", CSV)
def test_csv_by_the_table(nasty, name):
    assert [text.decode() for text in texts_of(nasty / name)] == CSV[name]


def test_csv_is_what_python_says(nasty, expected):
    """Where Python's csv has a column `text` in the header, and rows of the same length."""
    for name, facts in expected["csv"].items():
        rows = facts["python_csv"]
        others = ("bom.csv", "semicolon.csv", "plain.tsv", "long-field.csv", "latin1.csv", "quote-inside.csv")
        if name in REFUSED or name in (*others, "backslash.csv") or not rows:
            continue
        column = len(rows[0]) - 1 - rows[0][::-1].index("text")
        assert CSV[name] == [row[column] for row in rows[1:] if len(row) == len(rows[0])], name


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(nasty, name):
    needs(nasty / name)
    with pytest.raises(BadFile) as error:
        texts_of(nasty / name)
    assert REFUSED[name] in str(error.value) and "\n" not in str(error.value)


def test_compressed_files_are_whole(nasty):
    lines = [json.loads(line)["text"].encode() for line in (nasty / "good.jsonl").read_text().splitlines()]
    for name in GOOD:
        if not name.endswith(".zst"):
            assert texts_of(nasty / name) == lines
    for name in EMPTY:
        assert texts_of(nasty / name) == []


def test_parquet_is_what_arrow_says(nasty, expected):
    pytest.importorskip("pyarrow")
    for name, facts in expected["parquet"].items():
        if name in REFUSED:
            continue
        wanted = [text for text in facts["text"] if text is not None]
        if name == "binary.parquet":  # of which one is no UTF-8
            wanted = ["ok", ""]
        assert [text.decode() for text in texts_of(nasty / name)] == wanted, name
    assert texts_of(nasty / "nested.parquet", field="data.text")[0]
    for field in ("data", "texts", "data.x"):
        with pytest.raises(BadFile, match="expected strings in the field"):
            texts_of(nasty / "nested.parquet", field=field)


def test_a_row_is_named_by_its_number_in_the_file(nasty):
    pytest.importorskip("pyarrow")
    log = []
    texts_of(nasty / "groups.parquet", log)
    assert log == [f"{nasty / 'groups.parquet'}: row 2: the field text is null; skipped"]


def test_a_field_of_an_object_that_is_null_is_null(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    inner = arrow.array(["hidden", "seen"])
    column = arrow.StructArray.from_arrays([inner], ["text"], mask=arrow.array([True, False]))
    parquet.write_table(arrow.table({"data": column}), tmp_path / "x.parquet")
    assert texts_of(tmp_path / "x.parquet", field="data.text") == [b"seen"]


def test_a_bad_record_is_told_with_line_and_byte(nasty):
    log = []
    texts_of(nasty / "utf8.jsonl", log)
    whole = (nasty / "utf8.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    with pytest.raises(UnicodeDecodeError) as error:
        whole.split(b"\n")[1].decode()
    place = f"{nasty / 'utf8.jsonl'}"
    assert log[0] == f"{place}:2: byte {first + error.value.start}: expected UTF-8, found another byte; skipped"
    assert [line.split(":")[1] for line in log[:3]] == ["2", "3", "4"]
    advice = "; if the file is in another encoding, convert it: iconv -f ENCODING -t UTF-8 FILE"
    assert log[3] == f"{place}: 12 records cannot be read and were skipped{advice}" and len(log) == 4


@pytest.mark.parametrize(("good", "advised"), [(0, True), (3, True), (30, False)])
def test_records_in_another_encoding_are_told_how_to_be_read(good, advised, tmp_path):
    text = "text\n" + "gut\n" * good + "K\u00f6nig\n" * 9
    (tmp_path / "r.csv").write_bytes(text.encode("latin-1"))
    log = []
    if good:
        texts_of(tmp_path / "r.csv", log)
    else:
        with pytest.raises(BadFile) as raised:
            texts_of(tmp_path / "r.csv", log)
        log.append(str(raised.value))
    advice = "; if the file is in another encoding, convert it: iconv -f ENCODING -t UTF-8 FILE"
    assert log[-1].endswith(advice) is advised


def test_a_bad_record_may_be_an_error(nasty):
    with pytest.raises(BadFile, match=r"ragged\.csv:2: byte 10: .*; --bad-records skip reads on"):
        texts_of(nasty / "ragged.csv", bad_records="error")
    with pytest.raises(BadFile, match=r"truncated\.jsonl:3: byte 94"):
        texts_of(nasty / "truncated.jsonl", bad_records="error")


def test_fields_are_keys_paths_and_numbers(nasty, tmp_path):
    """The key as it stands before the path; of a path objects only, never arrays."""
    shapes = nasty / "shapes.jsonl"
    assert texts_of(shapes, field="data.text") == [b"nested text", b"dotted key", b"dotted"]
    assert texts_of(shapes, field="meta.text") == [b"not me"]
    assert texts_of(nasty / "lf.csv", field="1") == [b"a", b"b"]
    assert texts_of(nasty / "lf.csv", field="2", no_header=True) == [b"text", b"x", b"y"]
    assert texts_of(nasty / "bom.csv", field="1", no_header=True) == [b"id", b"a"]
    (tmp_path / "x").write_bytes(b'{"a":{"b":{"c":"one"}}}\n{"a":{"b":{"c":"x"}},"a":{"b":{}}}\n{"a":"x"}\n')
    assert texts_of(tmp_path / "x", field="a.b.c") == [b"one"]
    for field in ("0", "3", "nosuch"):
        with pytest.raises(BadFile, match="expected the field"):
            texts_of(nasty / "lf.csv", field=field)


def test_a_file_without_the_field_shows_its_fields(nasty, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": 1, "body": "x"}\n')
    with pytest.raises(BadFile, match="expected the field text, found id, body; name one with --field"):
        texts_of(tmp_path / "x.jsonl")
    (tmp_path / "x.csv").write_text('"two\nlines",id\n')
    with pytest.raises(BadFile, match=r"found 'two\\nlines', id; name one"):
        texts_of(tmp_path / "x.csv")


def test_a_line_of_ten_megabytes(tmp_path):
    text = "word " * 2_000_000
    (tmp_path / "x.jsonl").write_text(json.dumps({"text": text}) + '\n{"text":"b"}\n')
    assert texts_of(tmp_path / "x.jsonl") == [text.encode(), b"b"]


def columns(block):
    return {
        "label": Column("text", [f'é"{number}' for number in range(block.count)]),
        "score": Column("number", np.linspace(0, 1, block.count, dtype=np.float32)),
    }


def added_to(path, threads=1):
    out = io.BytesIO()
    source = opened(path)
    kind = source._texts.records(source.paths[0])
    add_fields(source, kind, ADDED, columns, out, threads)
    return out.getvalue()


def test_another_text_takes_the_place_of_the_value(nasty, expected, tmp_path):
    """Of JSON and CSV: what is written with its own texts, or with others, is read again as these."""
    names = [*expected["jsonl"], "good.jsonl", *(name for name in CSV if name != "empty.csv")]
    for name in [name for name in names if name not in REFUSED]:
        source, texts, own, others = opened(nasty / name), [], b"", b""
        for block in source.blocks(source.paths[0], ()):
            texts += block.each
            for number, new in enumerate(({}, dict.fromkeys(range(block.count), OTHER))):
                written = block.to_write({}, None, dict(enumerate(block.each)) | new)
                own, others = (
                    (own, others + written.header + written.records)
                    if number
                    else (own + written.header + written.records, others)
                )
        other = re.sub(rb"[\t\n]", b" ", OTHER) if name.endswith(".tsv") else OTHER
        for data, wanted in ((own, texts), (others, [other] * len(texts))):
            (tmp_path / name).write_bytes(data)
            assert not texts or texts_of(tmp_path / name) == wanted, name


@pytest.mark.parametrize("threads", [1, 3])
def test_json_is_written_byte_for_byte(nasty, expected, threads):
    """The records that are good, and blank lines; what is added stands before the last brace."""
    fragment = re.compile(rb',"label":"\xc3\xa9\\"\d+","score":[\d.e+-]+(?=})')
    for name in [*expected["jsonl"], "good.jsonl"]:
        if name in REFUSED:
            continue
        written = added_to(nasty / name, threads)
        before = (nasty / name).read_bytes()
        rest = fragment.sub(b"", written)
        assert len(fragment.findall(written)) == len(texts_of(nasty / name)), name
        lines = [line["python"] for line in expected["jsonl"].get(name, [])]
        good = [line.get("error") == "RecursionError" or is_text(line) is not None for line in lines]
        if name in ("cr.jsonl", "bom.jsonl") or all(good):
            assert rest == before, name
        else:
            pairs = zip(_at_newlines(before), good, strict=True)
            wanted = [line for line, stays in pairs if stays or not line.strip()]
            assert rest == b"".join(wanted), name


def _at_newlines(data):
    """The lines, whatever Python calls a line end."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


@pytest.mark.parametrize("name", [name for name in CSV if name != "empty.csv"])
def test_csv_is_written_byte_for_byte(nasty, name):
    written, before = added_to(nasty / name), (nasty / name).read_bytes()
    mark = {".tsv": b"\t"}.get(Path(name).suffix, b";" if name == "semicolon.csv" else b",")
    label = rb'\xc3\xa9"\d+' if name.endswith(".tsv") else rb'"\xc3\xa9""\d+"'
    rest = re.sub(mark + label + mark + rb"[\d.e+-]+(?=[\r\n]|$)", b"", written)
    assert rest.count(mark + b"label" + mark + b"score") == 1
    assert rest.replace(mark + b"label" + mark + b"score", b"") == KEPT.get(name, before)


@pytest.mark.parametrize(
    "name", ["groups", "codec-zstd", "codec-none", "codec-brotli", "no-rows", "large-string", "dictionary"]
)
def test_parquet_keeps_schema_codecs_and_row_groups(nasty, name):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import compute, parquet

    before = parquet.ParquetFile(nasty / f"{name}.parquet")
    after = parquet.ParquetFile(io.BytesIO(added_to(nasty / f"{name}.parquet")))
    assert after.schema_arrow.names == [*before.schema_arrow.names, *ADDED]
    table = after.read().drop_columns([*ADDED])
    assert table.schema.equals(before.schema_arrow, check_metadata=True)
    whole = before.read()
    assert table.equals(whole.filter(compute.is_valid(whole["text"])))
    groups = (before.read_row_group(number)["text"] for number in range(before.num_row_groups))
    assert after.num_row_groups == sum(len(texts) > texts.null_count for texts in groups)
    if before.metadata.num_rows:
        codecs = [{parts.column(i).compression for i in range(3)} for parts in _groups(before)][: after.num_row_groups]
        assert [{parts.column(i).compression for i in range(5)} for parts in _groups(after)] == codecs
    assert arrow.types.is_float64(after.schema_arrow.field("score").type)


def _groups(file):
    return [file.metadata.row_group(number) for number in range(file.num_row_groups)]


def test_a_field_that_is_there_is_never_added_twice(nasty, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text":"a"}\n{"text":"b","l\\u0061bel":1}\n')
    with pytest.raises(BadFile, match=r"x\.jsonl:2: there is already a field .*choose another name"):
        added_to(tmp_path / "x.jsonl")
    (tmp_path / "x.csv").write_text("text,score\na,1\n")
    with pytest.raises(BadFile, match="there is already a column score"):
        added_to(tmp_path / "x.csv")


def test_files_without_a_last_line_end_are_not_joined(nasty):
    out = io.BytesIO()
    sink = ByteSink(out)
    for _ in range(2):
        for block in opened(nasty / "no-final-newline.jsonl").blocks(str(nasty / "no-final-newline.jsonl"), ()):
            sink.write(block.to_write({}))
    whole = (nasty / "no-final-newline.jsonl").read_bytes()
    assert out.getvalue() == whole + b"\n" + whole


def pieces(data, size):
    return (data[at : at + size] for at in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 100])
def test_blocks_may_be_cut_anywhere(nasty, expected, size):
    """Texts, what is written and what is told."""
    for name in [*expected["jsonl"], *CSV]:
        if name == "long-field.csv" or name in REFUSED:
            continue
        data = (nasty / name).read_bytes()
        reader = RECORDS[record_kind(name)].load()
        found = []
        for chunks in (iter([data] if data else []), pieces(data, size)):
            log, texts, out = [], [], io.BytesIO()
            sink = ByteSink(out)
            for block in reader(name, name, chunks, Rules(ReadingConfig(), False, log.append, added=ADDED)):
                texts += block.each
                sink.write(block.to_write({"label": Column("text", ["x"] * block.count)}))
            found.append((log, texts, out.getvalue()))
        assert found[0] == found[1], name


def test_a_part_of_a_file_is_read_once(nasty, tmp_path):
    """JSON lines are divided, other records are not."""
    from wv_cli.text.parts import shards

    for name in ("good.jsonl", "long-field.csv"):
        texts = input_texts([str(nasty / name)], log=print, one_line=True)
        parts = shards([str(nasty / name)], 1000, whole_lines=True)
        assert (len(parts) > 3) == (name == "good.jsonl")
        whole = b"".join(Source(texts))
        assert b"".join(b"".join(Source(texts.of_shard(part))) for part in parts) == whole


def json_texts(data, field="text"):
    texts, rows, used = _records.JsonScanner(field.encode(), field.encode().split(b"."), [], _records.KEEP).scan(data)
    assert used == len(data) or not data
    ends = [0, *rows[:, 1].tolist()]
    assert rows[:, 0].tolist() == ends[:-1]
    return [(row[5], texts[row[3] : row[4] - 1]) for row in rows.tolist()]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "a", "b"]), inner, max_size=3),
    max_leaves=8,
)
_RECORDS = st.dictionaries(st.sampled_from(["text", "id", "a"]), _VALUES, max_size=3)
_ODD = st.sampled_from(
    ['"', "\\", "{", "}", "[", "]", ",", ":", " ", "\t", "0", "-", ".", "e", "\\u00", "é", "\ud800", "\0"]
)


@given(_RECORDS, st.booleans(), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 2), _ODD), max_size=3))
def test_the_scanner_is_pythons_json(record, ascii_only, changes):
    text = json.dumps(record, ensure_ascii=ascii_only)
    for at, dropped, odd in changes:
        at %= len(text)
        text = text[:at] + odd + text[at + dropped :]
    line = text.encode("utf-8", "surrogatepass")
    try:
        value = json.loads(line.decode())
        wanted = is_text({"object": isinstance(value, dict), **(value if isinstance(value, dict) else {})})
    except ValueError:
        wanted = None
    ((status, found),) = json_texts(line) or [(_records.BLANK, b"")]
    assert (found if status == _records.GOOD else None) == wanted, line


@given(
    st.lists(st.lists(st.text('ab",\n\r é', max_size=6), min_size=2, max_size=2), max_size=5),
)
def test_the_scanner_is_pythons_csv(rows):
    """What its writer writes; and the reader's word for a quote in the middle."""
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    data = out.getvalue().encode()
    for column in range(2):
        scanner = _records.CsvScanner(b",", column, 2, _records.KEEP)
        texts, found, used = scanner.scan(data, 0, True)
        assert used == len(data)
        assert [texts[row[3] : row[4] - 1].decode() for row in found.tolist()] == [row[column] for row in rows]


@given(st.text('ab",\n', max_size=30))
def test_fields_of_any_csv_are_pythons(text):
    """Where each row has its line end and two fields, and nothing behind a closing quote."""
    rows = list(csv.reader(io.StringIO(text + "\n", newline="")))
    data = text.encode() + b"\n"
    texts, found, _ = _records.CsvScanner(b",", 1, 2, _records.KEEP).scan(data, 0, True)
    assert len(found) == len(rows)
    for row, wanted in zip(found.tolist(), rows, strict=True):
        if row[5] == _records.GOOD:
            assert [texts[row[3] : row[4] - 1].decode()] == wanted[1:]
        else:
            assert len(wanted) != 2 or row[5] in (_records.OPEN_QUOTE, _records.AFTER_QUOTE)


def test_line_ends_inside_a_text():
    line = b'{"text":"a\\nb\\u000ac\\rd"}\n'
    for newline, text in zip(
        (_records.KEEP, _records.SPACE, _records.DROP), (b"a\nb\nc\rd", b"a b c\rd", b"abc\rd"), strict=True
    ):
        texts, _, _ = _records.JsonScanner(b"text", [b"text"], [], newline).scan(line)
        assert texts == text + b"\n"


def test_records_that_look_like_text_are_refused(tmp_path):
    (tmp_path / "x.txt").write_text('{"text": "the"}\n{"text": "cat"}\n')
    with pytest.raises(BadFile, match="--field"):
        texts_of(tmp_path / "x.txt")
    assert texts_of(tmp_path / "x.txt", field="text") == [b"the", b"cat"]
