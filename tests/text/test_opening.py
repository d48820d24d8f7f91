"""What is refused as records by its first bytes: JSON arrays, other encodings, other kinds of files."""

import gzip
import json

import pytest

from wv_cli.errors import BadFile
from wv_cli.retrieval.config import TextConfig
from wv_cli.retrieval.files import FileText
from wv_cli.text.binary import InvalidBytes
from wv_cli.text.pairs import PairFiles
from wv_cli.text.parts import shards
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.opening import require_records
from wv_cli.text.source import Source
from wv_cli.vectors.recognize import input_texts

MARK = b"\xef\xbb\xbf"
RECORDS = [{"id": "1", "text": "a b c"}, {"id": "2", "text": "d e f"}]
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123456789abcdef\nsize 18234567\n"
ARRAYS = {
    "a line each": b'[\n{"id":"1","text":"a b c"},\n{"id":"2","text":"d e f"}\n]\n',
    "one line": json.dumps(RECORDS).encode(),
    "pretty": json.dumps(RECORDS, indent=2).encode(),
    "blanks": b" \r\n\t " + json.dumps(RECORDS).encode(),
    "mark": MARK + json.dumps(RECORDS, indent=1).encode(),
    "empty": b"[]",
    "numbers": b"[1, 2]\n",
}
OVER_LINES = {
    "pretty object": json.dumps(RECORDS[0], indent=2).encode(),
    "CRLF": json.dumps(RECORDS[0], indent=2).replace("\n", "\r\n").encode(),
    "rows": b'{"rows": [\n{"text":"a"},\n{"text":"b"}\n]}\n',
    "key": b'{"row":\n{"text":"a"}\n}\n',
    "commas": b'{"text":"a"},\n{"text":"b"}\n',
}


def read_everywhere(path):
    """The first error of each way to read records."""
    ways = [
        lambda: list(Source(input_texts([path], log=print, reading=ReadingConfig(field="text")))),
        lambda: list(FileText(path, TextConfig(field="text"), print, InvalidBytes())),
        lambda: list(PairFiles([path], ["id", "text"]).batches()),
    ]
    for way in ways:
        with pytest.raises(BadFile) as raised:
            way()
        yield str(raised.value)


@pytest.mark.parametrize("name", [*ARRAYS, *OVER_LINES])
@pytest.mark.parametrize("ending", [".json", ".jsonl.gz"])
def test_json_over_lines_is_refused(name, ending, tmp_path):
    data, path = (ARRAYS | OVER_LINES)[name], tmp_path / f"a{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
    what, step = ("an array", "'.[]'") if name in ARRAYS else ("JSON that goes on in the next line", ".")
    unpack = "unpack it and " if ending.endswith(".gz") else ""
    wanted = f"expected an object in each line, found {what}; {unpack}write lines: jq -c {step} FILE > FILE.jsonl"
    assert {*read_everywhere(str(path))} == {f"{path}: {wanted}"}


def test_an_array_is_refused_whoever_reads_its_parts(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(RECORDS * 500, indent=1))
    texts = input_texts([str(tmp_path / "a.json")], log=print)
    first, *others = shards([str(tmp_path / "a.json")], 20_000, whole_lines=True)
    assert others
    with pytest.raises(BadFile, match="found an array"):
        list(Source(texts.of_shard(first)))


@pytest.mark.parametrize(
    "data",
    [
        b'{"text":"a"}\n[1, 2]\n{"text":"[b"}\n',
        b'{"text":"a [",\t"n": [1, {"x": "{"}]}\n{"text":"[b"}\n',
        MARK + b'\n\n{"text":"a ["}\r\n{"text":"[b"}',
        b'{"text":"a ["}\n{"text":"[b"}\n' + bytes(3000),
    ],
)
def test_lines_are_read(data, tmp_path):
    """Another record than an object, blank lines, a mark, and NULs behind the last one are no reason to refuse."""
    (tmp_path / "a.jsonl").write_bytes(data)
    lines = b"".join(Source(input_texts([str(tmp_path / "a.jsonl")], log=print))).splitlines()
    assert lines[-1] == b"[b" and len(lines) == 2


def test_a_file_ends_with_bad_records(tmp_path):
    """A block of these alone has no text, not even an empty line."""
    (tmp_path / "a.jsonl").write_bytes(b'{"text":"a"}\nx')
    assert b"".join(Source(input_texts([str(tmp_path / "a.jsonl")], log=print))) == b"a\n"


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "parquet"])
@pytest.mark.parametrize(
    ("head", "found"),
    [
        (LFS, "a pointer of Git LFS, not the file itself (18.2 MB); fetch it: git lfs pull"),
        (b"ARROW1\0\0" + bytes(50), "an Arrow IPC file"),
        (b"SQLite format 3\0" + bytes(50), "an SQLite database"),
        ("id,text\n1,x\n".encode("utf-32"), "UTF-32; convert it: iconv -f UTF-32 -t UTF-8 FILE"),
        ("id,text\n1,x\n".encode("utf-32-be"), "UTF-32BE; convert it: iconv -f UTF-32BE -t UTF-8 FILE"),
        ('{"text": "日本語"}\n'.encode("utf-16-be"), "UTF-16BE; convert it"),
        (bytes(99), "binary data (NUL bytes)"),
    ],
)
def test_other_files_are_named(kind, head, found):
    names = {"jsonl": "JSON lines", "csv": "CSV", "tsv": "TSV", "parquet": "Parquet"}
    with pytest.raises(BadFile) as raised:
        require_records(kind, "x", head)
    assert str(raised.value).startswith(f"x: expected {names[kind]}, found {found}")


def test_parquet_by_another_name_is_named():
    require_records("parquet", "x", b"PAR1" + bytes(99))
    with pytest.raises(BadFile, match="expected CSV, found a Parquet file"):
        require_records("csv", "x", b"PAR1" + bytes(99))


@pytest.mark.parametrize(
    ("value", "found"),
    [(b"9" * 5000, "found a"), (b"[" * 1000 + b"]" * 1000, "found (a;|fields that are too deep)")],
)
def test_a_record_that_only_our_scanner_reads_is_refused_in_one_line(value, found, tmp_path):
    """Without the field, and with what Python's reader of JSON refuses: depth until Python 3.13."""
    (tmp_path / "r.jsonl").write_bytes(b'{"a": ' + value + b"}\n")
    with pytest.raises(BadFile, match=f"r.jsonl: expected the field text, {found}"):
        list(Source(input_texts([str(tmp_path / "r.jsonl")], log=print, reading=ReadingConfig(field="text"))))
