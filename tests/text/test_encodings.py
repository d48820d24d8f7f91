"""Texts in another encoding than UTF-8 are refused; a few damaged bytes are counted and named."""

import gzip

import pytest

from wv_cli import _text
from wv_cli.errors import BadFile
from wv_cli.text.binary import InvalidBytes, describe_foreign, is_foreign
from wv_cli.text.inputs import Texts
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.source import Source

SENTENCES = {
    "ISO-8859-1": "Der König fährt über die Brücke nach Köln und grüßt die Bürger.",
    "WINDOWS-1252": "L’été dernier, “nous” avons mangé à la plage près du café où l’on dansait.",
    "WINDOWS-1251": "Король идёт через мост в город и видит реку.",
    "KOI8-R": "Король идёт через мост в город и видит реку.",
    "ISO-8859-2": "Příliš žluťoučký kůň úpěl ďábelské ódy že město.",
    "WINDOWS-1253": "Ο βασιλιάς πηγαίνει στην πόλη και βλέπει το ποτάμι.",
    "WINDOWS-1254": "Kral köprüden geçip şehre gidiyor ve ırmağı görüyor.",
    "GB18030": "我们在这个国家的时候会说中文，他们来到了上海",
    "BIG5": "我們在這個國家的時候會說中文，他們來到了台北",
    "SHIFT_JIS": "私は東京で日本語の本を読んでいます。それはとても面白い",
    "EUC-JP": "私は東京で日本語の本を読んでいます。それはとても面白い",
    "CP949": "나는 서울에서 한국어 책을 읽고 있다. 그것은 아주 재미있는 이야기이다",
}
PLAIN = b"the quick brown fox jumps over the lazy dog\n"


def read(path, **options):
    """The notes of reading a text."""
    notes = []
    for _ in Source(Texts([str(path)], lambda head: None, lambda name: False, notes.append, **options)):
        pass
    return notes


@pytest.mark.parametrize("encoding", SENTENCES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_another_encoding_is_named_and_refused(tmp_path, encoding, pack):
    text = f"{SENTENCES[encoding]}\n".encode(encoding) * 20
    (tmp_path / "x").write_bytes(pack(text))
    with pytest.raises(BadFile) as caught:
        read(tmp_path / "x")
    first = _text.check_utf8(text)[1]
    assert str(caught.value) == (
        f"{tmp_path}/x: expected UTF-8 text, found text that is no UTF-8, likely {encoding} (0x{text[first]:02x} in "
        f"line 1); convert it: iconv -f {encoding} -t UTF-8 FILE, or --force-text to read it as it is"
    )
    assert read(tmp_path / "x", reading=ReadingConfig(force_text=True)) == []


@pytest.mark.parametrize("encoding", SENTENCES)
def test_every_sentence_in_utf8_is_text(tmp_path, encoding):
    text = f"{SENTENCES[encoding]}\n".encode() * 20
    assert not is_foreign(text)
    assert not is_foreign(text[:-2])  # the end of the sample may cut a letter


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        (b"caf\xe9 na\xefve\n", False),  # a few
        (PLAIN * 1000 + b"caf\xe9 " * 50, False),  # of 9,050 words
        (PLAIN * 1000 + b"caf\xe9 " * 200, True),
        ("我们在这个国家的时候会说".encode()[:-1] * 500, False),  # cut at a number of bytes
        ("café ".encode() * 300 + b"caf\xe9 " * 60, False),
        ("café ".encode() * 300 + b"caf\xe9 " * 90, True),  # of two encodings
        (b"\xf0\x9f" * 20, True),
    ],
)
def test_damage_is_told_from_another_encoding(text, foreign):
    assert is_foreign(text) is foreign


CHINESE = [
    "新华社北京十二月三十一日电，中共中央总书记、国家主席江泽民发表新年讲话，同胞们、朋友们、女士们、先生们，新年来临之际",
    "红楼梦第一回，甄士隐梦幻识通灵，贾雨村风尘怀闺秀。作者自云因曾历过一番梦幻之后，故将真事隐去，而借通灵说此石头记",
    "语料库 语言学 研究 方法 包括 词频 统计 、 搭配 分析 、 关键词 提取 等 ； 计算机 技术 推动 学科 发展 。",
]
TRADITIONAL = "我們在這個國家的時候會說中文，他們來到了台北，紅樓夢第一回的作者自云因曾歷過一番夢幻之後"
RUSSIAN = [
    "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.",
    "Всё смешалось в доме Облонских. Жена узнала, что муж был в связи с бывшею в их доме француженкою-гувернанткой",
    "ОН сказал: я не могу жить с нею в одном доме, и МЫ ушли из него.",
]
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。ひらがなだけのぶんもある。"
KOREAN = "대한민국의 수도는 서울이며 인구는 약 오천만 명이다. 한국어는 교착어이다. 봄이 오면 꽃이 핀다."


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        *(("GB18030", each) for each in CHINESE),
        *((encoding, each) for each in RUSSIAN for encoding in ("KOI8-R", "WINDOWS-1251")),
        ("BIG5", TRADITIONAL),
        *((encoding, JAPANESE) for encoding in ("SHIFT_JIS", "EUC-JP")),
        ("CP949", KOREAN),
    ],
)
@pytest.mark.parametrize("lines", [1, 50])
def test_letters_of_two_bytes_are_told_from_those_of_one(encoding, text, lines):
    """In KOI8-R, nearly half of the bytes of Chinese news are frequent letters."""
    sample = f"{text}\n".encode(encoding) * lines
    assert f"likely {encoding} (" in describe_foreign(sample)


def test_an_encoding_that_is_not_known_has_no_name():
    assert "; convert it: iconv -f ENCODING -t UTF-8 FILE" in describe_foreign(b"\x81\x8d\x8f \x9d\x81 " * 40)


def test_a_few_bytes_are_counted_over_all_files_and_the_first_is_named(tmp_path):
    (tmp_path / "a").write_bytes(PLAIN * 2 + b"caf\xe9 r\xe9sum\xe9\n" + PLAIN)
    (tmp_path / "b").write_bytes(PLAIN + b"\xe4\xb8")
    assert read(tmp_path) == [
        f"{tmp_path}/a: byte 91: 0xe9 is the first of 5 bytes that are no UTF-8, which are read as they are"
    ]
    assert read(tmp_path / "b") == [
        f"{tmp_path}/b: byte 44: 0xe4 is the first of 2 bytes that are no UTF-8, which are read as they are"
    ]
    (tmp_path / "b").write_bytes(PLAIN + b"na\xefve\n")
    assert read(tmp_path / "b") == [f"{tmp_path}/b: byte 46: 0xef is no UTF-8; the word is read as it is"]
    (tmp_path / "b").write_text("naïve\n")
    assert read(tmp_path / "b") == []


def test_another_encoding_behind_the_sample_is_named_at_the_end(tmp_path):
    (tmp_path / "x").write_bytes(PLAIN * 30_000 + (SENTENCES["ISO-8859-1"] + "\n").encode("latin-1") * 50)
    (note,) = read(tmp_path / "x")
    assert note.endswith("if they are ISO-8859-1, convert them: iconv -f ISO-8859-1 -t UTF-8 FILE")
    assert note.startswith(f"{tmp_path}/x: byte 1320005: 0xf6 is the first of 400 bytes")


def reference(text):
    """(wrong bytes, where the first is) of a whole text, by Python's decoder."""
    wrong, place, first = 0, 0, -1
    while True:
        try:
            text[place:].decode()
        except UnicodeDecodeError as error:
            if not wrong:
                first = place + error.start
            wrong, place = wrong + 1, place + error.start + 1
        else:
            return wrong, first


DAMAGED = [
    b"",
    b"abc",
    "äöü€😀".encode(),
    b"\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xf5 \xff",
    "a€".encode()[:-1] + b" b",
    "😀".encode()[:3] + b"\xc3",
    b"x" * 17 + b"\x80" + "é".encode() * 9 + b"\xe2\x82",
    bytes(range(256)) * 2,
]


@pytest.mark.parametrize("text", DAMAGED)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_bytes_are_counted_wherever_chunks_are_cut(text, size):
    found = InvalidBytes()
    for begin in range(0, len(text), size):
        found.add(text[begin : begin + size], "x")
    found.end("x")
    wrong, first = reference(text)
    assert found.count == wrong
    if wrong:
        assert found.note.startswith(f"x: byte {first}: 0x{text[first]:02x} is ")
