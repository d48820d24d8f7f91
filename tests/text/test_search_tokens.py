"""Tokens of search: words of every script, in one normal form, and the words of a chunk."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wv_cli.text.search_tokens import TokenReader, count_words, cut_words

READER = TokenReader("none", "keep")
STEMMER = TokenReader("english", "drop")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("STRASSE", "straße"), ("GROẞE", "große"), ("ΑΘΗΝΑ", "Αθήνα"), ("ΟΔΟΣ", "οδός"), ("МОСКВА", "Москва"),
        ("İSTANBUL", "istanbul"),
        ("ISPARTA", "ısparta"), ("İZMİR", "Izmir"), ("ＡＢＣ　１２", "abc 12"), ("ﬁle", "file"),
        ("ｶﾞｰﾄﾞ", "ガード"), ("می‌خواهم", "میخواهم"), ("क्‍ष", "क्ष"), ("ශ්‍රී", "ශ්රී"), ("exam\u00adple", "example"),
        ("l’eau", "l'eau"), ("м’ята", "мʼята"), ("❤️", "❤"), ("\ufeffword", "word"), ("a\u2060b", "ab"),
        ("한국어", unicodedata.normalize("NFD", "한국어")), ("naïve", unicodedata.normalize("NFD", "naïve")),
        ("が", unicodedata.normalize("NFD", "が")), ("नํา".replace("न", "น"), "นำ"), ("Ǆ", "ǆ"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("reader", [READER, STEMMER])
def test_one_normal_form(one, other, reader):
    assert reader.tokens(one) == reader.tokens(other) != []
    assert reader.query_tokens(one) == reader.query_tokens(other)


@given(st.text())
def test_normal_forms_meet_in_any_text(text):
    found = READER.tokens(unicodedata.normalize("NFC", text))
    assert READER.tokens(unicodedata.normalize("NFD", text)) == found
    assert "" not in found
    assert set(READER.query_tokens(text)) <= set(READER.tokens(text))
    for begin, end in READER.spans(text):
        assert 0 <= begin < end <= len(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("बच्चे किताब", "बच्चे किताब"),  # each word whole: its marks are no borders
        ("শিশুরা বই পড়ে", "শিশুরা বই পড়ে"),
        ("יְלָדִים ספר", "יְלָדִים ספר"),
        ("나 책 을 읽다", "나 책 을 읽다"),
        ("བོད་ཡིག", "བོད ཡིག"),
        ("vitamin C, R and 3", "vitamin c r and 3"),
        ("don't l'eau 3.14 U.S. std::map", "don't don l'eau eau 3.14 14 u.s std map"),
        ("word¹ Foo™ #tag 100%", "word 1 foo tm tag 100"),
        ("___ -- ?!", ""),
        ("caf\udce9 x", "caf x"),  # a byte that is no UTF-8
        ("iPhone手机", "iphone 手 机 手机"),
        ("人々 水", "人 々 人々 水"),
        ("서울에서 책", "서울에서 서울 울에 에서 책"),
    ],
)
def test_words(text, tokens):
    assert READER.tokens(text) == unicodedata.normalize("NFKC", tokens).split()


def test_runs_without_blanks():
    assert READER.query_tokens("東京タワー") == ["東京", "京タ", "タワ", "ワー"]
    assert READER.query_tokens("水 หนังสือ") == ["水", "หนั", "นัง", "งสื", "สือ"]
    for text in ("មនុស្ស", "ພາສາ", "ကမ္ဘာ"):
        assert len(READER.query_tokens(text)) >= 2
        assert {*READER.query_tokens(text)} < {*READER.tokens(f"{text}{text}")}


def test_stems_are_those_of_english_words():
    assert STEMMER.tokens("John's cats and the cat") == ["john", "cat", "cat"]
    assert STEMMER.tokens("Дома книги पढ़ते הספרים") == READER.tokens("Дома книги पढ़ते הספרים")
    assert TokenReader("english", "drop", "split").tokens("self.getUsers") == [
        "self.getus", "self", "getus", "get", "user",
    ]  # fmt: skip
    assert TokenReader("none", "keep", "split").tokens("größe_Straße") == ["grösse_strasse", "grösse", "strasse"]


def test_words_of_a_chunk():
    assert count_words("我们在北京学习，很好。".encode()) == 5  # two letters are a word
    assert count_words(b"one two") == count_words("één twee".encode()) == 2
    text = "我们在北京学习中文。" * 40
    pieces = cut_words(text.encode(), 10)
    assert b"".join(pieces).decode() == text
    assert {count_words(piece) for piece in pieces} == {10} and all(piece.decode().endswith("。") for piece in pieces)
    thai = ("ที่" * 100).encode()
    assert b"".join(cut_words(thai, 7)) == thai
    assert all(piece.decode().startswith("ที่") and count_words(piece) <= 7 for piece in cut_words(thai, 7))
