"""WET files of Common Crawl: read as records by every command, written as JSON lines."""

import gzip
import json
import sys

import pytest

import wv_cli
from wv_cli.__main__ import run
from wv_cli.errors import BadFile, WvError
from wv_cli.text import record_files
from wv_cli.text.source import Source
from wv_cli.vectors.recognize import input_texts

pytest.importorskip("warcio", reason="needs the extra warc")


def record(number, text, kind="conversion", more=""):
    """As Common Crawl writes it."""
    data = text.encode("utf-8", "surrogateescape")
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: https://example.com/{number}?a=b",
        "WARC-Date: 2024-04-12T01:02:03Z",
        f"WARC-Record-ID: <urn:uuid:{number}>",
        *([more] if more else []),
        "Content-Type: text/plain",
        f"Content-Length: {len(data)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + data + b"\r\n\r\n"


TEXTS = ["The oven is hot.\nBake the bread.", "Das Brot ist gut é日本.", "", 'a "quote" \\ and\ttab', "bad \udcff byte"]
LANGUAGE = "WARC-Identified-Content-Language: deu,eng"
WET = [
    record(0, "software: x\r\n", "warcinfo"),
    *(record(i, text, more=LANGUAGE if i == 2 else "") for i, text in enumerate(TEXTS, 1)),
]


def members(records=WET):
    return b"".join(gzip.compress(each, mtime=0) for each in records)


@pytest.fixture
def wet(tmp_path):
    path = tmp_path / "CC-MAIN-1.warc.wet.gz"
    path.write_bytes(members())
    return path


def read(path):
    return b"".join(Source(input_texts([str(path)], log=print)))


def read_json(path):
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_the_texts_are_read(wet, tmp_path):
    wanted = "".join(text.replace("\udcff", "\ufffd") + "\n" for text in TEXTS).encode()
    plain = tmp_path / "plain.warc"
    plain.write_bytes(b"".join(WET))
    assert read(wet) == read(plain) == wanted


def test_records_are_written_as_json_lines(wet, tmp_path):
    """With the headers as fields, by which rules may ask."""
    assert run(["filter", str(wet), "-o", str(tmp_path / "kept"), "--heuristic", "characters=..", "--add-scores"]) == 0
    found = read_json(tmp_path / "kept" / "CC-MAIN-1.warc.wet.jsonl.gz")
    assert [each["text"] for each in found] == [text.replace("\udcff", "\ufffd") for text in TEXTS]
    assert found[1] == {
        "text": TEXTS[1],
        "id": "<urn:uuid:2>",
        "url": "https://example.com/2?a=b",
        "date": "2024-04-12T01:02:03Z",
        "language": "deu,eng",
        "characters": len(TEXTS[1]),
    }
    (tmp_path / "hosts").write_text("example.com\n")
    call = ["filter", str(wet), "--dry-run", "--json", "-q"]
    assert wv_cli.filter([wet], dry_run=True, blocked_hosts=str(tmp_path / "hosts"))["kept"] == 0
    assert wv_cli.filter([wet], dry_run=True, where="language='deu,eng'")["kept"] == 1
    assert run([*call, "--field", "url", "--words", "1..1"]) == 0


def test_a_folder_keeps_its_tree_and_splits(wet, tmp_path):
    (tmp_path / "in" / "crawl").mkdir(parents=True)
    wet.rename(tmp_path / "in" / "crawl" / wet.name)
    out = tmp_path / "out"
    call = ["filter", str(tmp_path / "in"), "-o", str(out), "--words", "1..", "--split", "language", "-q"]
    assert run(call) == run(call) == 0, "finished"
    names = {str(path.relative_to(out)) for path in out.rglob("*.gz")}
    assert names == {f"{label}/crawl/CC-MAIN-1.warc.wet.jsonl.gz" for label in ("deu,eng", "null")}


def test_every_command_takes_it(wet, tmp_path, capsys, monkeypatch):
    assert run(["build-vocab", str(wet), "--min-count", "1", "-o", str(tmp_path / "v"), "-q"]) == 0
    assert "bread." in (tmp_path / "v").read_text()
    assert run(["filter", str(wet), "-o", "-", "--words", "3..", "-q"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    (tmp_path / "other.jsonl").write_text('{"text": "one two three"}\n')
    assert run(["filter", str(wet), str(tmp_path / "other.jsonl"), "-o", "-", "--words", "3..", "-q"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    monkeypatch.setitem(sys.modules, "warcio", None)
    with pytest.raises(WvError, match=r"^reading WARC needs the package warcio; pip install warcio"):
        read(wet)


def test_a_run_goes_on_within_an_archive(tmp_path, monkeypatch):
    from tests.cli.test_filter import contents, cut_off
    from wv_cli.filtering import shard_files
    from wv_cli.io import compression

    path = tmp_path / "a.wet.gz"
    path.write_bytes(members([record(i, f"{TEXTS[0]} {i}") for i in range(300)]))
    for module in (record_files, compression):
        monkeypatch.setattr(module, "CHUNK", 1500)
    monkeypatch.setattr(shard_files, "SAVE_BYTES", 4000)
    assert run(["filter", str(path), "-o", str(tmp_path / "whole" / "kept"), "--words", "3.."]) == 0
    monkeypatch.setattr("tests.cli.test_filter.arguments", lambda inputs, out: call)
    call = ["filter", str(path), "-o", str(tmp_path / "out" / "kept"), "--words", "3.."]
    cut_off([], tmp_path, monkeypatch, number=3)
    assert '"byte": 0' not in (tmp_path / "out" / "kept" / ".wv-filter.json").read_text()
    assert run(call) == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (members()[:-20], "expected more gzip data, found the end of the file: it is incomplete"),
        (b"".join(WET)[:-6], "record 6: expected 10 bytes, found "),
        (b"".join(WET)[:-60], "record 6: expected a Content-Length, found 0 bytes"),
        (WET[0] + b"garbage\n" * 3 + WET[1], "expected WARC records, found: Invalid WARC record"),
        (WET[1].replace(b"Content-Length: 32", b"Content-Length: 99"), "record 1: expected 99 bytes, found "),
        (WET[1].replace(b"Content-Length: 32", b"Content-Length: -1"), "expected WARC records, found: "),
        (record(1, "<html>", "response"), "record 1: expected text (WET), found a response (WARC); extract the texts"),
        (b'{"text": "x"}\n', "expected WARC, found "),
        (b"some text\n", "expected WARC, found "),
    ],
)
def test_what_is_refused(data, problem, tmp_path, capfd):
    path = tmp_path / "a.wet"
    path.write_bytes(data)
    with pytest.raises(BadFile) as raised:
        read(path)
    assert str(raised.value).startswith(f"{path}: ") and problem in str(raised.value)
    assert capfd.readouterr().err == ""


def test_a_repaired_address_is_not_told(tmp_path, capfd):
    (tmp_path / "a.wet").write_bytes(WET[1].replace(b"?a=b", b"?a b"))
    assert read(tmp_path / "a.wet") == f"{TEXTS[0]}\n".encode() and capfd.readouterr().err == ""


def test_an_empty_archive_has_no_records(tmp_path):
    (tmp_path / "a.wet").write_bytes(b"")
    assert read(tmp_path / "a.wet") == b""


def test_a_web_archive_by_another_name_is_told(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"".join(WET))
    with pytest.raises(BadFile, match=r"found a web archive \(WARC\); end its name in .warc or .wet"):
        read(tmp_path / "a.txt")


def test_outputs_of_one_name_are_refused(tmp_path, capsys):
    (tmp_path / "a.wet").write_bytes(b"".join(WET))
    (tmp_path / "a.wet.jsonl").write_text('{"text": "one two three"}\n')
    out = tmp_path / "out"
    assert run(["filter", *map(str, sorted(tmp_path.glob("a.*"))), "-o", str(out), "--words", "1.."]) == 2
    assert "a.wet.jsonl would both be written to a.wet.jsonl; filter them into" in capsys.readouterr().err
