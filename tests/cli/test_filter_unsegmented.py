"""Rules on words of scripts without blanks: near-duplicates by letters, and all of them by the words of a package."""

import json
import random
from pathlib import Path

import pytest

from wv_cli.__main__ import run
from wv_cli.filtering.near_duplicates import Banding, simplify

WORDS = [
    "我们", "今天", "在", "北京", "学习", "中国", "历史", "老师", "学生", "图书馆", "河流", "山",
    "城市", "农村", "经济", "发展", "工业", "政府", "会议", "代表", "人民", "报纸", "新闻", "记者",
    "飞机", "火车", "天气", "春天", "下雨", "茶叶", "米饭", "市场", "价格", "公司", "工人", "计划",
    "研究", "科学", "技术", "大学", "教育", "医院", "医生", "病人", "健康", "运动", "比赛", "音乐",
    "电影", "故事", "孩子", "父母", "朋友", "邻居", "房子", "花园", "树木", "动物", "鸟", "鱼",
    "水", "火", "土地", "粮食", "丰收", "节日", "传统", "文化", "艺术", "绘画", "语言", "文字",
    "词典", "翻译", "问题", "办法", "决定", "时间", "年代", "世界",
]  # fmt: skip
THAI = [
    "ประเทศไทย", "ภาษา", "ดนตรี", "โรงเรียน", "นักเรียน", "หนังสือ", "แม่น้ำ", "ภูเขา", "ตลาด",
    "อาหาร", "ข้าว", "รถไฟ", "ฝน", "เมือง", "ประชาชน",
]  # fmt: skip


def texts_of(words, sign, number=10, length=150):
    """Texts without blanks, then each again with a word or two changed."""
    chance = random.Random(3)
    texts = [chance.choices(words, k=length) for _ in range(number)]
    edited = [[*text] for text in texts]
    for text in edited:
        for place in chance.sample(range(length), 2):
            text[place] = chance.choice(words)
    return ["".join([*text[:40], sign, *text[40:]]) for text in [*texts, *edited]]


@pytest.fixture
def shard(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(texts):
        lines = [json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts)]
        (tmp_path / "in.jsonl").write_text("".join(lines))

    return write


def records():
    return [json.loads(line) for line in Path("out/in.jsonl").read_text().splitlines()]


def kept(capsys, *options):
    assert run(["filter", "in.jsonl", "-o", "out", "--overwrite", "-q", *options]) == 0, capsys.readouterr().err
    return [record["id"] for record in records()]


@pytest.mark.parametrize("verify", ["--verify", "--no-verify"])
@pytest.mark.parametrize(("words", "sign"), [(WORDS, "。"), (THAI, " ")])
def test_copies_with_small_edits_are_found_by_their_letters(words, sign, verify, shard, capsys):
    shard(texts_of(words, sign))
    assert kept(capsys, "--near-duplicates", "0.72", verify) == [*range(10)]


@pytest.mark.parametrize(
    ("words", "sign", "package", "recipe"), [(WORDS, "。", "jieba", "jieba"), (THAI, " ", "pythainlp", "pythainlp")]
)
def test_copies_are_found_by_the_words_of_a_package(words, sign, package, recipe, shard, capsys):
    pytest.importorskip(package)
    shard(texts_of(words, sign))
    assert kept(capsys, "--near-duplicates", "0.72", "--tokenize", recipe) == [*range(10)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我们abc在 北。京3", "我 们 abc 在 北 京 0"),
        ("ガラス", "カ ラ ス"),
        ("カー", "カ ー"),
        ("ภาษาไทย", "ภ า ษ า ไ ท ย"),
        ("𠀀𠀁", "𠀀 𠀁"),
        ("한국어 漢字", "한국어 漢 字"),
        ("plain text", "plain text"),
    ],
)
def test_letters_without_blanks_are_words(text, words):
    separated = simplify(text, separate=True)
    assert separated == Banding().signer().words(text.encode()).decode()
    assert separated.replace(" ", "") == simplify(text).replace(" ", "")
    if "한" not in text:  # its letters come apart
        assert separated == words


@pytest.mark.parametrize("verify", ["--verify", "--no-verify"])
def test_an_index_knows_its_words(verify, shard, capsys):
    shard(texts_of(WORDS, "。"))
    cut = ("--near-duplicates", "0.72", verify, "--tokenize", "unicode")
    kept(capsys, *cut, "--save-index", "known.index")
    assert kept(capsys, *cut, "--against", "known.index") == []
    for options in (("--tokenize", "unicode,lowercase"), ()):
        call = [
            "filter",
            "in.jsonl",
            "-o",
            "new",
            "--near-duplicates",
            "0.72",
            verify,
            "--against",
            "known.index",
            *options,
        ]
        assert run(call) == 1
        message = "known.index: expected an index made with the same --tokenize, found one made with --tokenize unicode"
        assert message in capsys.readouterr().err


def test_statistics_are_those_of_the_words(shard, capsys):
    shard(["我们在北京学习中国历史", "don't (stop) it, please"])
    for recipe, counts in (((), [1, 5]), (("--tokenize", "unicode"), [11, 4]), (("--tokenize", "blanks"), [1, 4])):
        call = ("--words", "1..", "--add-scores", *recipe)
        kept(capsys, *call)
        assert [record["words"] for record in records()] == counts
    pytest.importorskip("jieba")
    assert kept(capsys, "--words", "..6", "--tokenize", "jieba") == [0, 1]


def test_a_note_names_the_option_that_cuts(shard, capsys):
    shard(texts_of(WORDS, "。"))
    for options, note in (
        (["--words", "1.."], "give --tokenize jieba (pip install jieba)"),
        (["--words", "1..", "--tokenize", "unicode"], "for words give --tokenize jieba"),
        (["--near-duplicates", "0.72"], ""),
    ):
        assert run(["filter", "in.jsonl", "--dry-run", *options]) == 0
        err = capsys.readouterr().err
        assert note in err and ("--tokenize" in err) == bool(note)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--heuristic", "lines=1..", "--tokenize", "unicode"), "--tokenize needs a rule about words, or --language"),
        (("--where", "id>1", "--tokenize", "unicode"), "--tokenize needs a rule about words"),
        (("--words", "1..", "--tokenize"), "--tokenize model needs --language"),
        (("--words", "1..", "--tokenize", "unicode,sentences"), "sentences has no effect"),
    ],
)
def test_settings_without_effect_are_refused(options, problem, shard, capsys):
    shard(["a"])
    assert run(["filter", "in.jsonl", "--dry-run", *options]) == 2
    assert problem in capsys.readouterr().err
