"""Web pages in other encodings than UTF-8, which they name."""

import sys
import types

import pytest

from wv_cli.__main__ import run
from wv_cli.text.web_pages import recode_page

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


@pytest.mark.parametrize("name", ["utf-8", "utf-16", "none-such", "hex", "idna", "undefined", ""])
def test_a_page_that_names_no_other_encoding_stays(name):
    page = META.format(name, "\u00e9").encode("latin-1")
    assert recode_page(page) == page


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


def test_words_of_pages(pages, capfd):
    assert run(["tokenize", "in", "--words", "blanks", "-o", "out.txt"]) == 0
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
