"""Words and sentences of raw text by Unicode's rules, and what becomes of digits, marks and markup."""

import random
import sys
import types
import unicodedata

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli import _segments
from wv_cli.errors import WvError
from wv_cli.filtering.flattening import UNITS
from wv_cli.text import tokenizing
from wv_cli.text.reading_config import TokenizeConfig
from wv_cli.text.tokenizing import MARKUPS, SEGMENTERS, Tokenizer

JOINED = "\u0645\u06cc\u200c\u062e \u200c\ufeffa\u200db"  # by characters of no width


def words(text, **options):
    return b"".join(Tokenizer(TokenizeConfig(**options)).lines([text.encode("utf-8", "surrogateescape")])).decode(
        "utf-8", "surrogateescape"
    )


def test_boundaries_are_those_of_another_program():
    for row in (GOLDEN / "segments.txt").read_text().splitlines():
        marks = [mark[0] for mark in row.split()]
        text = "".join(chr(int(mark[1:], 16)) for mark in row.split())
        assert ["-wsb"[cut] for cut in _segments.boundaries(text.encode()).tolist()] == marks, row


def test_kinds_are_those_of_pythons_database():
    """Of digits, of letters and numbers, of separators; of characters that both have: ours are those of Unicode 14, and
    newer Pythons know more of them."""
    kinds = _segments.kinds()
    same = unicodedata.unidata_version.startswith("14.")
    for code in range(0x20000):
        category = unicodedata.category(chr(code))
        if category in ("Cn", "Cs", "Co"):
            continue
        kind = int(kinds[code])
        found = kind & 4096, kind & 2048, kind & 1024 and category[0] in "LN"
        wanted = category == "Nd", category[0] == "Z" or category in ("Cc", "Cf"), category[0] in "LN"
        for ours, theirs in zip(map(bool, found), wanted, strict=True):
            assert ours == theirs if same else ours <= theirs, hex(code)
    assert (kinds[0x1F600] & 512, kinds[ord("a")] & 31, kinds[ord(" ")] & 31) == (512, 10, 18)


EMOJI = (
    "\u00a9 \u203c\ufe0f \U0001f600 \U0001f44d\U0001f3fd "
    "\U0001f1e9\U0001f1ea #\ufe0f\u20e3 *\u20e3 7\ufe0f\u20e3 "  # the flag of a country, keycaps
    "\u2764\ufe0f\u200d\U0001f525 \U0001f468\u200d\U0001f469\u200d\U0001f467 "  # joined
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"  # the flag of Scotland
)


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("Can't stop, 3.14!\n", {}, "Can't stop , 3.14 !\n"),
        ("a\n\n b \r\n", {}, "a\n\nb\n"),
        ("e\u0301 \ufb01\n", {}, "\u00e9 \ufb01\n"),
        ("e\u0301 \ufb01\n", {"form": "nfkc"}, "\u00e9 fi\n"),
        ("e\u0301 \ufb01\n", {"form": "none"}, "e\u0301 \ufb01\n"),
        ("\u00c9T\u00c9 OK\n", {"lowercase": True}, "\u00e9t\u00e9 ok\n"),
        ("a1 12.5 \u0661\u0662 x\n", {"digits": "zero"}, "a0 00.0 00 x\n"),
        ("a1 12.5 \u0661\u0662 x\n", {"digits": "drop"}, "a1 x\n"),
        ("Hi, (you) + \U0001f600 \u2014 \u20ac5!\n", {"punctuation": "drop"}, "Hi you \U0001f600 5\n"),
        ("He came. She (too) left! 3.5 x.\n", {"sentences": True}, "He came .\nShe ( too ) left !\n3.5 x .\n"),
        (f"to {EMOJI}, now # *\n", {"punctuation": "drop"}, f"to {EMOJI} now\n"),
        (f"to {EMOJI}, now # *\n", {"punctuation": "drop", "words": "blanks"}, f"to {EMOJI}, now\n"),
        ("1 7\ufe0f\u20e3 #\ufe0f\u20e3\n", {"digits": "drop"}, "#\ufe0f\u20e3\n"),
        ("He came. She left.\n", {"sentences": True, "punctuation": "drop"}, "He came\nShe left\n"),
        ("\u4e2d\u6587\u30c6\u30b9\u30c8 \u0e20\u0e32\n", {}, "\u4e2d \u6587 \u30c6\u30b9\u30c8 \u0e20 \u0e32\n"),
        ("x,y  'q' \u00a0z\n", {"words": "blanks"}, "x,y 'q' z\n"),
        (
            "\u0645\u06cc\u200c\u062e \u200c\ufeffa\u200db\n",
            {"words": "blanks"},
            "\u0645\u06cc\u200c\u062e \u200c\ufeffa\u200db\n",
        ),
        ("10\u202f000 \u202fa b\u202f \u202f\n", {}, "10\u202f000 a b\n"),
        ("10\u202f000 \u202fa b\u202f \u202f\n", {"words": "blanks"}, "10 000 a b\n"),
        ("\ufeff\u200b \u0308\x00\x01a\n", {}, "a\n"),
        ("caf\udce9 \udcff\udc80\n", {}, "caf \udce9 \udcff \udc80\n"),
        (
            "__label__En-1 It (__label__e\u0301.C\n__weight__0.5 x__label__A-1 OK __label__-\n",
            {"lowercase": True, "digits": "zero", "punctuation": "drop"},
            "__label__En-1 it __label__\u00e9.c\n__weight__0.5 x__label__a 0 ok __label__-\n",
        ),
        ("", {}, ""),
    ],
)
def test_words(text, options, found):
    assert words(text, **options) == found


def changed(config, piece):
    """What Python makes of a text before its words are cut."""
    text = piece.decode("utf-8", "surrogateescape")
    if config.form != "none":
        text = unicodedata.normalize(config.form.upper(), text)
    return (text.lower() if config.lowercase else text).encode("utf-8", "surrogateescape")


FORMS = [TokenizeConfig(form=form, lowercase=small) for form in ("nfc", "nfkc", "none") for small in (True, False)]


@pytest.mark.full
@pytest.mark.parametrize("config", FORMS[:5])
def test_every_character_becomes_what_python_makes_of_it(config):
    tokenizer = Tokenizer(config)
    for first in range(0, 0x20000, 0x1000):
        codes = [code for code in range(first, first + 0x1000) if not 0xD800 <= code < 0xE000]
        text = "".join(f"x{chr(code)}\u03a3{chr(code)}Y\n" for code in codes).encode()
        assert tokenizer._cut_beside_labels(text) == changed(config, text), hex(first)


def test_characters_that_join_are_known():
    """Each of them, wherever it stands: a later Unicode may have others."""
    parts = [unicodedata.decomposition(chr(code)).split() for code in range(0x20000)]
    assert {chr(int(each[1], 16)) for each in parts if len(each) == 2 and each[0][0] != "<"} <= tokenizing._seconds()


def test_neighbors_of_characters_are_seen():
    """Marks in order among each other, letters that become one, the sigma at a word's end, bytes that are no UTF-8."""
    chance = random.Random(1)
    parts = [*"aA\u03a3\u03a3\u03c3 \n.'Ii\u0301\u0307\u0327\u0345\u1100\u1161\u11a8\uac00\u0130\ufb01\u2026\u212b"]
    parts += [*"\u0e38\u0e48\u02b0\u00ad\u09c7\u09be\u3099\uff9e\u0958\u093c\U0001d15e\U000110a5\U000110ba"]
    parts += [*"\udce9\udcff\u4e2d"]
    texts = ["".join(chance.choices(parts, k=30)) for _ in range(300)]
    octets = [65, 0xCE, 0xA3, 0xE2, 0x80, 0xCC, 0x81, 10, 32, 0xED, 0xA0]
    raw = [text.encode("utf-8", "surrogateescape") for text in texts]
    raw += [bytes(chance.choices(octets, k=40)) for _ in range(100)]
    for config in FORMS:
        tokenizer = Tokenizer(config)
        for each in raw:
            assert tokenizer._cut_beside_labels(each) == changed(config, each), (config, each)


def test_chunks_and_pieces_change_nothing(monkeypatch):
    """However the chunks of a text are cut; a long line is cut at blanks, which part words anyway."""
    chance = random.Random(1)
    parts = [
        "word",
        "\u00e9t\u00e9",
        "3.5",
        ",",
        "\u4e2d\u6587",
        "e\u0301",
        "O'K",
        " ",
        "  ",
        "\n",
        "\U0001f468\u200d\U0001f469",
    ]
    text = "".join(chance.choice(parts) + chance.choice(["", " "]) for _ in range(4000)) + "\n"
    raw = text.encode()
    plain = {"form": "none"}, {"lowercase": True, "digits": "zero"}
    whole = [words(text, **options) for options in plain]
    for piece in (1 << 20, 97):
        monkeypatch.setattr(tokenizing, "PIECE", piece)
        for size in (1, 7, 100, 5000):
            chunks = [raw[at : at + size] for at in range(0, len(raw), size)]
            for options, expected in zip(plain, whole, strict=True):
                found = b"".join(Tokenizer(TokenizeConfig(**options)).lines(chunks)).decode()
                assert [line.split() for line in found.splitlines()] == [line.split() for line in expected.splitlines()]
    assert [line.split() for line in whole[0].splitlines()] != [line.split() for line in text.splitlines()]


def test_a_line_without_blanks_is_cut_between_characters(monkeypatch):
    monkeypatch.setattr(tokenizing, "PIECE", 10)
    for text in ("x" * 25, "\u00e9" * 13, "\u4e2d" * 9, "\U0001f600" * 7, "\udce9" * 30):
        raw = text.encode("utf-8", "surrogateescape")
        pieces = list(tokenizing._pieces([raw[:3], raw[3:]]))
        assert b"".join(pieces) == raw and all(7 <= len(piece) <= 10 for piece in pieces[:-1])
        assert "".join(piece.decode("utf-8", "surrogateescape") for piece in pieces) == text


def test_random_bytes_are_cut_and_stay():
    """Nothing is lost but what is between words, whatever the bytes."""
    random_bytes = np.random.default_rng(1).integers(0, 256, 20_000, np.uint8).tobytes()
    for text in (random_bytes, random_bytes.replace(b"\n", b"\xe4\xb8"), bytes(range(256)) * 20):
        writer = _segments.WordWriter(blanks=False, drop_punctuation=False, digits=0, sentences=True)
        found = writer.write(text)
        assert len(found) <= 2 * len(text) + 1
        kept = found.replace(b" ", b"").replace(b"\n", b"")
        at = iter(text)
        assert all(byte in at for byte in kept), "a subsequence of the text"
        assert sum(32 < byte < 127 for byte in kept) == sum(32 < byte < 127 for byte in text)


def test_words_of_packages_and_missing_ones(monkeypatch):
    class Jieba(types.ModuleType):
        setLogLevel = staticmethod(lambda level: None)
        cut = staticmethod(lambda line: (line[at : at + 2] for at in range(0, len(line), 2)))

    monkeypatch.setitem(sys.modules, "jieba", Jieba("jieba"))
    assert words("\u4e2d\u6587\u5b57\u3002\n\n12\n", words="jieba", digits="drop") == "\u4e2d\u6587 \u5b57\u3002\n\n\n"
    for table, option, what in ((SEGMENTERS, "words", "cutting words by"), (MARKUPS, "markup", "--markup")):
        for name in table:
            for package in ("jieba", "fugashi", "pythainlp", "trafilatura", "mwparserfromhell"):
                monkeypatch.setitem(sys.modules, package, None)
            with pytest.raises(WvError, match=f"{what} {name} needs the package .*; pip install"):
                Tokenizer(TokenizeConfig(**{option: name}))


def test_markup_goes_document_by_document(monkeypatch, tmp_path):
    from wv_cli.__main__ import run

    trafilatura = types.ModuleType("trafilatura")
    trafilatura.extract = lambda page: page.partition("<p>")[2].partition("</p>")[0] or None
    monkeypatch.setitem(sys.modules, "trafilatura", trafilatura)
    (tmp_path / "a.html").write_text("<p>one\ntwo.</p>\n")
    (tmp_path / "b.jsonl").write_text('{"text": "<p>three\\nfour</p>"}\n{"text": "none"}\n')
    inputs = [str(tmp_path / name) for name in ("a.html", "b.jsonl")]
    assert run(["tokenize", *inputs, "--markup", "html", "-o", str(tmp_path / "out"), "-q"]) == 0
    assert (tmp_path / "out").read_text() == "one\ntwo .\nthree\nfour\n\n"
    assert '"markup": "html"' in (tmp_path / "out.meta.json").read_text()


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("It ended.<ref>Smith 1990</ref> She<ref name=a /> left.", "It ended. She left."),
        ("in 1852<br/>in London<br>now", "in 1852 in London now"),
        ("<p>one</p><p>two<ref>a note</ref></p><div>three</div>four", "one two three four"),
        ("the [[file:a.png|thumb|A caption]] [[Datei:b.png|mini|hochkant|[[a]]]] end [[Category:Women]]", "the end"),
        ("a [[king|great king]] of ''[[Crete]]'' &amp; [[:Category:Kings|more]]", "a great king of Crete & more"),
        ("a<sup>2</sup> {{cite|x}}<!-- no --><nowiki>[[b|c|d]]</nowiki>", "a2 [[b|c|d]]"),
    ],
)
def test_words_of_wiki_pages(page, text):
    """No two words become one, and nothing that is no text of the page is among them."""
    pytest.importorskip("mwparserfromhell")
    assert MARKUPS["mediawiki"]()(page).split() == text.split()


def test_sentences_are_units_of_a_document():
    text = "He came. \u00c9t\u00e9!\nMr. x left"
    assert UNITS["sentence"](text.encode()) == [b"He came. ", "\u00c9t\u00e9!\n".encode(), b"Mr. x left"]
    assert UNITS["sentence"](b"") == [b""]


def test_boundaries_of_nothing():
    assert _segments.boundaries(b"").tolist() == []
