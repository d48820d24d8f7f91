"""Web pages: their encodings, which they name or not, parts of pages, and pages without text."""

import sys
import types

import pytest

from wv_cli.__main__ import run
from wv_cli.text.web_pages import extract_page, recode_page

META = '<html><meta charset="{}"><p>{}</p></html>'
LETTERS = {
    "ISO-8859-1": "sch\u00f6ne H\u00e4user",
    "us-ascii": "caf\u00e9 \u201ebr\u00fbl\u00e9\u201c",  # read as windows-1252, as browsers do
    "windows-1251": "\u043a\u043e\u0442 \u0438 \u0441\u043e\u0431\u0430\u043a\u0430",
    "shift_jis": "\u732b\u3068\u72ac",
    "gb2312": "\u9555\u732b",  # the first is in GBK alone
    "euc-kr": "\uace0\uc591\uc774",
    "big5": "\u8c93\u548c\u72d7",
}
CODECS = {"us-ascii": "cp1252", "gb2312": "gbk"}


def encode_page(name: str) -> bytes:
    return META.format(name, LETTERS[name]).encode(CODECS.get(name, name))


@pytest.mark.parametrize("name", LETTERS)
def test_a_page_in_the_encoding_that_it_names(name):
    assert recode_page(encode_page(name)).decode() == META.format(name, LETTERS[name])


@pytest.mark.parametrize(
    "head",
    [
        "<meta http-equiv='Content-Type' content='text/html; charset=windows-1251'>",
        "<META CHARSET = windows-1251 >",
        "<?xml version='1.0' encoding='windows-1251'?>",
    ],
)
def test_the_ways_to_name_an_encoding(head):
    page = f"{head}<p>\u043a\u043e\u0442</p>"
    assert recode_page(page.encode("cp1251")).decode() == page


def test_a_page_in_utf16_has_a_mark():
    page = META.format("utf-16", "\u043a\u043e\u0442")
    assert recode_page(page.encode("utf-16")).decode() == page


@pytest.mark.parametrize("name", ["utf-8", "utf-16", "hex", "idna", "undefined"])
def test_a_page_that_names_no_other_encoding_stays(name):
    page = META.format(name, "\u00e9").encode("latin-1")
    assert recode_page(page) == page


@pytest.mark.parametrize("name", ["none-such", ""])
def test_a_page_that_names_no_encoding_is_in_windows_1252(name):
    """Unless letters of UTF-8 tell that it has damage, or many bytes that it is in another encoding."""
    page = META.format(name, "caf\u00e9 \u201eici\u201c").encode("cp1252")
    assert recode_page(page).decode() == META.format(name, "caf\u00e9 \u201eici\u201c")
    for other in (page + "\u00e9".encode(), page + "\u043a\u043e\u0442".encode("cp1251") * 9):
        assert recode_page(other) == other


def test_utf8_stays_whatever_the_page_says():
    """A page that a program has converted."""
    page = META.format("ISO-8859-1", "\u00e9").encode()
    assert recode_page(page) == page


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """A folder of pages in all encodings, and as much of trafilatura as is asked."""
    package = types.ModuleType("trafilatura")
    package.extract = lambda page: page.partition("<p>")[2].partition("</p>")[0]
    monkeypatch.setitem(sys.modules, "trafilatura", package)
    monkeypatch.chdir(tmp_path)
    (made := tmp_path / "in").mkdir()
    for name in LETTERS:
        (made / f"{name}.html").write_bytes(encode_page(name))
    return made


@pytest.mark.parametrize("markup", [[], ["--markup", "html"]])
def test_words_of_pages(markup, pages, capfd):
    assert run(["tokenize", "in", "--words", "blanks", "-o", "out.txt", *markup]) == 0
    assert sorted((pages.parent / "out.txt").read_text().split("\n")[:-1]) == sorted(LETTERS.values())
    assert "UTF-8" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["ISO-8859-1", "windows-1251", "shift_jis"])
def test_pages_are_found(name, pages, capfd):
    assert run(["search", "in", LETTERS[name]]) == 0
    assert capfd.readouterr().out.startswith(f"in/{name}.html:1: {LETTERS[name]}\n")


@pytest.mark.parametrize("call", [["search", "in/a.html", "\u043a\u043e\u0442"], ["tokenize", "in/a.html"]])
def test_a_page_that_names_no_encoding_is_refused(call, pages, capfd):
    (pages / "a.html").write_bytes(f"<html><p>{LETTERS['windows-1251']}</p></html>".encode("cp1251"))
    assert run(call) == 1
    assert "in/a.html: expected UTF-8 text, found text that is no UTF-8" in capfd.readouterr().err


CALLS = {
    "tokenize": ["tokenize", "in"],
    "markup": ["tokenize", "in", "--markup", "html"],
    "search": ["search", "in", "x"],
}


@pytest.mark.parametrize("call", CALLS)
def test_damage_is_told(call, pages, capfd):
    """Of a page that says it is UTF-8."""
    (pages / "a.html").write_bytes(META.format("utf-8", "x \u00e9").encode("latin-1"))
    run(CALLS[call])
    told = capfd.readouterr().err
    assert "in/a.html: byte 33: 0xe9 is no UTF-8; it is read as U+FFFD" in told
    (pages / "a.html").write_bytes(META.format("utf-8", "x \u00e9\u00e9").encode("latin-1"))
    run(CALLS[call])
    told = capfd.readouterr().err
    assert "is the first of 2 bytes that are no UTF-8, which are read as U+FFFD" in told
    (pages / "b.html").write_bytes(META.format("utf-8", "x \u00e9").encode("latin-1"))
    run(CALLS[call])
    told = capfd.readouterr().err
    assert "is the first of 3 bytes" in told and told.count("U+FFFD") == 1


def test_a_part_of_a_page_is_wrapped(monkeypatch):
    """trafilatura takes a single element, and a text without any, for no page."""
    package = types.ModuleType("trafilatura")
    package.extract = lambda page: page
    monkeypatch.setitem(sys.modules, "trafilatura", package)
    for part in ("<p>Hello.</p>", "AT&amp;T", "", "<article>x</article>"):
        assert extract_page(part) == f"<html><body>{part}</body></html>"
    for page in ("<html><p>x</html>", "\n<!DOCTYPE html><p>x", "<!-- c --><BODY id='1'>x", "<head></head>x"):
        assert extract_page(page) == page


def test_pages_without_text_are_told(pages, capfd):
    for name in ("a", "b"):
        (pages / f"{name}.html").write_text("<html><title>x</title></html>")
    (pages.parent / "r.jsonl").write_text('{"text": "<i>x</i>"}\n{"text": ""}\n{"text": "<p>y</p>"}\n')
    for call, told in (
        ("tokenize in", "2 documents have no text, such as in/a.html: a web page without text"),
        ("tokenize in --markup html", "2 documents have no text, such as in/a.html: a document without text"),
        ("tokenize r.jsonl --markup html", "r.jsonl: a record without text"),
        ("search in x", "2 files that are no text are left out, such as in/a.html: a web page without text"),
    ):
        run(call.split())
        assert told in capfd.readouterr().err.splitlines(), call
    assert run(["search", "in/a.html", "x"]) == 1
    assert "in/a.html: expected text, found a web page without text" in capfd.readouterr().err
