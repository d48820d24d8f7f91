"""Raw text where words are read: what is told of it, and --tokenize."""

import gzip
import json
import lzma
import subprocess
import sys
import textwrap
from importlib.resources import files

import pytest

from tests.conftest import GOLDEN
from wv_cli.__main__ import run
from wv_cli.text.raw_text import note_wrapped

RAW = '"The King spoke," said the Queen. The king, the queen and a King: "Speak, Queen!"\n'


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A raw text in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw.txt").write_text(RAW * 10)
    return tmp_path / "raw.txt"


@pytest.mark.parametrize(
    ("words", "recipe"),
    [
        (["raw.txt", "--tokenize", "-o", "v.vec"], "unicode,lowercase"),
        (["raw.txt", "-o", "v.vec", "--tokenize"], "unicode,lowercase"),
        (["--tokenize", "raw.txt", "-o", "v.vec"], "unicode,lowercase"),
        (["--tokenize", ".", "-o", "v.vec"], "unicode,lowercase"),
        (["--tokenize", "unicode", "raw.txt", "-o", "v.vec"], "unicode"),
        (["-o", "v.vec", "--tokenize", "--", "raw.txt"], "unicode,lowercase"),
    ],
)
def test_tokenize_without_a_value(raw, words, recipe):
    (raw.parent / "unicode").touch()  # a file does not hide what cuts words
    assert run(["train", "--epochs", "1", "--dim", "4", "--min-count", "1", "-q", *words]) == 0
    assert json.loads((raw.parent / "v.vec.meta.json").read_text())["tokenize"] == recipe
    assert ("King" in (raw.parent / "v.vec").read_text().split()) is ("lowercase" not in recipe)


def test_questions_take_the_words_of_the_model(raw, wv):
    """Where a model is asked, --tokenize alone is --tokenize model."""
    train = ["train", "raw.txt", "-o", "v.vec", "--epochs", "1", "--dim", "4", "--min-count", "1", "-q", "--tokenize"]
    assert wv(*train).returncode == 0
    asked = [wv("vectors", "v.vec", "--sentences", *more, input="KING!\n") for more in (["--tokenize"], [])]
    words = wv("vectors", "v.vec", "--sentences", input="king !\n")
    assert [each.stdout == words.stdout for each in asked] == [True, False]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "raw.txt", "-o", "v.vec", "--tokenizer", "unicode"], "; did you mean --tokenize?"),
        (["glove", "raw.txt", "-o", "v.vec", "--tokenizer", "unicode"], "; did you mean --tokenize?"),
        (["train", "raw.txt", "-o", "v.vec", "--words", "jieba"], "; did you mean --tokenize?"),
        (["tokenize", "raw.txt", "--tokenize", "jieba"], "; did you mean --words unicode?"),
        (["train", "raw.txt", "-o", "v.vec", "--tokenize", "spacy"], "words must be one of unicode, blanks, jieba"),
    ],
)
def test_other_names_of_tokenize(raw, words, said, capsys):
    assert run(words) == 2
    assert said in capsys.readouterr().err


def test_a_package_that_is_missing(raw, capsys, monkeypatch):
    """The message names no option that the command does not have."""
    monkeypatch.setitem(sys.modules, "jieba", None)
    assert run(["train", "raw.txt", "-o", "v.vec", "--tokenize", "jieba"]) == 1
    expected = "wv train: cutting words by jieba needs the package jieba; pip install jieba\n"
    assert capsys.readouterr().err == expected


def test_the_short_help_of_train_has_it(capsys):
    assert run(["train", "-h"]) == 0
    assert "--tokenize [SETTINGS]" in capsys.readouterr().out


# Command lines that learn words; INPUT is where the text goes.
LEARNERS = {
    "train": ["train", "INPUT", "-o", "out.vec", "--dim", "4", "--epochs", "1", "--min-count", "1"],
    "neural": ["train", "INPUT", "-o", "out.lm", "--model", "nplm", "--dim", "4", "--epochs", "1", "--min-count", "1"],
    "doc2vec": ["train", "INPUT", "-o", "out.d2v", "--model", "doc2vec", "--dim", "4", "--epochs", "1"],
    "glove": ["glove", "INPUT", "-o", "out.vec", "--dim", "4", "--iterations", "1", "--min-count", "1"],
    "build-vocab": ["build-vocab", "INPUT", "-o", "out.vocab", "--min-count", "1"],
    "phrases": ["phrases", "INPUT", "-o", "out.txt", "--min-count", "1"],
}
NEWS = """"The council said on Monday (in a letter) that the Oven tax would rise; bakers, who bake bread, were angry."
The bakers' guild said: "Bread is bread, and an oven is an oven." The mayor, Ms. Baker, did not answer.
"""
CUT = NEWS.translate({ord(mark): f" {mark} " for mark in '",;:()'}).replace(". ", " . ").replace(".\n", " .\n")
ADVICE = "give --tokenize unicode,lowercase to make them one"


def words_of(command, path):
    return [path if word == "INPUT" else word for word in LEARNERS[command]]


def notes(text):
    return [each for each in text.splitlines() if "are 3 words" in each or "are 2 words" in each or "blanks" in each]


@pytest.mark.parametrize("command", LEARNERS)
def test_raw_text_is_told_once(command, tmp_path, monkeypatch, capsys):
    """And changes nothing: the results of a quiet run have the same bytes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.txt").write_text(NEWS * 20)
    assert run([*words_of(command, "news.txt"), "--json"]) == 0
    (note,) = notes(capsys.readouterr().err)
    assert json.loads(note)["event"] == "message"
    said = json.loads(note)["message"]
    assert said.startswith("news.txt: 38% of its words have marks attached and 20% begin with a capital (The / ")
    assert said.endswith(f"words); {ADVICE}")
    for more in (["-q"], ["--tokenize"], ["--tokenize", "blanks"], ["--force-text"]):
        assert run([*words_of(command, "news.txt"), *more]) == 0
        assert not notes(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        (NEWS, [], ADVICE),
        (NEWS, ["--lowercase"], "give --tokenize unicode to make them one"),
        (NEWS.lower(), [], "give --tokenize unicode to make them one"),
        (CUT, [], "of its words begin with a capital (The / the are 2 words); give --lowercase to make them one"),
        (CUT, ["--lowercase"], None),
        (CUT.lower(), [], None),
        ("New York , Mr. Baker and the U.S. bread .\n", [], None),
        ("一九九八年新年讲话中共中央总书记国家主席\n" * 9, [], "jieba (pip install jieba); `wv help chinese` has"),
        ("ภาษาไทยเป็นภาษาที่ใช้กันในประเทศไทย\n" * 9, [], "give --tokenize pythainlp (pip install pythainlp)"),
        ("ភាសាខ្មែរជាភាសាផ្លូវការរបស់ប្រទេសកម្ពុជា\n" * 9, [], "give --tokenize unicode, which cuts it into syllables"),
        ("一九九八年 新年 讲话 （ 附 图片 １ 张 ）\n" * 9, [], None),
    ],
)
def test_what_is_told(text, more, told, tmp_path, capsys):
    path = tmp_path / "text"
    path.write_text(text * 20, encoding="utf-8")
    assert run(["build-vocab", str(path), "-o", str(tmp_path / "v"), *more]) == 0
    said = notes(capsys.readouterr().err)
    assert len(said) == (told is not None) and (told or "") in "".join(said)
    assert all(each.startswith(f"{path}: ") for each in said)


@pytest.mark.parametrize(
    ("text", "recipe", "told"),
    [
        (
            "一九九八年新年讲话中共中央总书记国家主席\n",
            "unicode",
            "Chinese into characters; for words give --tokenize jieba (",
        ),
        ("一九九八年新年讲话中共中央总书记国家主席\n", "unicode,digits=zero", "give --tokenize jieba,digits=zero (pip"),
        (
            "これはひらがなとカタカナのれいです\n",
            "unicode",
            "give --tokenize fugashi (pip install fugashi unidic-lite)",
        ),
        ("ภาษาไทยเป็นภาษาที่ใช้กันในประเทศไทย\n", "unicode", "give --tokenize pythainlp (pip install pythainlp)"),
        ("ພາສາລາວເປັນພາສາທາງການຂອງປະເທດລາວ\n", "unicode", "Lao into characters; for words segment it first,"),
        (
            "ភាសាខ្មែរជាភាសាផ្លូវការរបស់ប្រទេសកម្ពុជា\n",
            "unicode",
            "into syllables; for words segment it first, and",
        ),
        ("မြန်မာဘာသာစကားသည်မြန်မာနိုင်ငံ\n", "unicode,lowercase", "Burmese into syllables; for words segment it"),
        ("မြန်မာဘာသာစကားသည်မြန်မာနိုင်ငံ\n", "unicode,lowercase", "and give --tokenize blanks,lowercase"),
        ("一九九八年新年讲话中共中央总书记国家主席\n", "blanks", None),
        ("一九九八年 新年 讲话 （ 附 图片 １ 张 ）\n", "unicode", None),
        (NEWS, "unicode", None),
    ],
)
def test_pieces_of_words_are_told(text, recipe, told, tmp_path, capsys):
    path = tmp_path / "text"
    path.write_text(text * 200, encoding="utf-8")
    assert run(["build-vocab", str(path), "-o", str(tmp_path / "v"), "--tokenize", recipe]) == 0
    said = [each for each in capsys.readouterr().err.splitlines() if "for words" in each]
    assert len(said) == (told is not None) and (told or "") in "".join(said)
    assert all(each.startswith(f"{path}: unicode cuts its ") for each in said)


def test_tokenize_tells_of_characters_by_its_own_option(tmp_path, capsys):
    path = tmp_path / "text"
    path.write_text("一九九八年新年讲话中共中央总书记国家主席\n" * 200, encoding="utf-8")
    assert run(["tokenize", str(path), "-o", str(tmp_path / "words")]) == 0
    assert "Chinese into characters; for words give --words jieba (pip" in capsys.readouterr().err
    assert run(["tokenize", str(path), "-o", str(tmp_path / "words"), "--words", "blanks"]) == 0
    assert "for words" not in capsys.readouterr().err


@pytest.mark.parametrize("command", LEARNERS)
def test_pieces_of_words_are_told_once(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thai.txt").write_text("ภาษาไทยเป็นภาษาที่ใช้กันในประเทศไทย\n" * 3000)
    for more, times in (([], 1), (["-q"], 0)):
        assert run([*words_of(command, "thai.txt"), "--tokenize", "unicode", *more]) == 0
        assert capsys.readouterr().err.count("give --tokenize pythainlp") == times


def test_questions_are_told_nothing_of_pieces(tmp_path, capsys):
    (tmp_path / "thai.txt").write_text("ภาษาไทยเป็นภาษาที่ใช้กันในประเทศไทย\n" * 300)
    ask = ["predict", str(GOLDEN / "ft-labels.bin"), str(tmp_path / "thai.txt"), "--tokenize", "unicode"]
    assert run(ask) == 0
    assert "for words" not in capsys.readouterr().err


def test_words_that_are_cut_are_not_told(slice_text, tmp_path, capsys):
    """Wikipedia in the form of text8, and the same with phrases."""
    phrases = tmp_path / "phrases.txt"
    assert run(["phrases", str(slice_text), "-o", str(phrases), "-q"]) == 0
    for path in (slice_text, phrases):
        assert run(["build-vocab", str(path), "-o", str(tmp_path / "v")]) == 0
        assert not notes(capsys.readouterr().err)


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.txt.gz", "in.txt.xz", "folder"])
def test_records_packed_files_and_folders(name, tmp_path, capsys):
    """The text of records is judged, not the marks between fields."""
    for text, told in ((NEWS, 1), (CUT.lower(), 0)):
        lines = text.strip().splitlines() * 9
        rows = "".join('"' + each.replace('"', '""') + '",x\n' for each in lines)
        content = {
            ".jsonl": "".join(json.dumps({"id": "A, b", "text": each}) + "\n" for each in lines),
            ".csv": f"text,kind\n{rows}",
        }.get(name[2:], "\n".join(lines))
        path = tmp_path / name
        pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
        if name == "folder":
            path.mkdir(exist_ok=True)
            path = path / "one.txt"
        path.write_bytes(pack(content.encode()))
        assert run(["build-vocab", str(tmp_path / name), "-o", str(tmp_path / "v")]) == 0
        assert len(notes(capsys.readouterr().err)) == told


LICENSE = (files("wv_cli") / "licenses" / "Apache-2.0.txt").read_text()
POEM = """Shall I compare thee to a summer's day in the long light of the evening
Thou art more lovely and more temperate than all the hills of the country
Rough winds do shake the darling buds of May and all of the other months
And summer's lease hath all too short a date for those who wait in the rain
"""
LISTED = (
    "salt\nbread\ntwo large onions\nolive oil from the first pressing of the year\npepper\nthyme and a leaf of bay\n"
)


def lines_of(words, size):
    return "".join(" ".join(words[i : i + size]) + "\n" for i in range(0, len(words), size))


@pytest.mark.parametrize("text", [LICENSE, LICENSE.replace("\n", "\r\n"), textwrap.fill(LICENSE, 90) + "\n"])
@pytest.mark.parametrize("more", [[], ["--tokenize"], ["--lowercase"]])
def test_lines_of_one_width_are_told(text, more, tmp_path, capsys):
    """The command that is told makes lines of which nothing is told."""
    path, joined = tmp_path / "FILE", tmp_path / "joined.txt"
    path.write_text(text, newline="")
    for file, told in ((path, 1), (joined, 0)):
        assert run(["build-vocab", str(file), "-o", str(tmp_path / "v"), *more]) == 0
        said = [each for each in capsys.readouterr().err.splitlines() if "its lines end at" in each]
        assert len(said) == told
        if told:
            assert "of them within a sentence, and words of two lines are no neighbors" in said[0]
            subprocess.run(["sh", "-c", said[0].partition("raw-text`): ")[2]], cwd=tmp_path, check=True)
    assert joined.read_text().split() == text.split()


def test_lines_with_ends_of_their_own_are_not_told(slice_text):
    words = slice_text.read_text().split()[:5000]
    several = [f"{line} {number}\n" for number in range(9) for line in POEM.splitlines()]
    assert note_wrapped(textwrap.fill(" ".join(words), 72).encode()) is not None
    for text in (
        slice_text.read_text()[:60_000],
        lines_of(words, 1),
        lines_of(words, 10),
        lines_of(words, 12),
        lines_of(words, 1000),
        "".join(several),
        "".join(line + letter + "\n" for letter in "abcdefghij" for line in LISTED.splitlines()),
        NEWS * 20,
        CUT * 20,
        "the quick brown fox jumps over the lazy dogs of the town\n" * 100,
    ):
        assert note_wrapped(text.encode()) is None


def test_labels_are_no_words(tmp_path, capsys):
    for text, told in ((NEWS, 1), (CUT.lower(), 0)):
        lines = text.strip().splitlines() * 9
        path = tmp_path / "labeled.txt"
        path.write_text("".join(f"__label__Kind,{n % 2} {each}\n" for n, each in enumerate(lines)))
        model = str(tmp_path / "m.bin")
        train = ["train", str(path), "-o", model, "--model", "supervised", "--dim", "4", "--epochs", "1"]
        assert run(train) == 0
        assert len(notes(capsys.readouterr().err)) == told


def test_places_behind_the_beginning_are_looked_at(tmp_path, capsys):
    """A long preface that is cut does not hide that a large text is raw."""
    path = tmp_path / "text"
    path.write_text(CUT.lower() * 400 + NEWS * 4000)
    assert run(["build-vocab", str(path), "-o", str(tmp_path / "v")]) == 0
    assert len(notes(capsys.readouterr().err)) == 1


def test_a_pipe_is_judged_by_its_beginning(wv):
    done = wv("train", "-", "-o", "v.vec", "--dim", "4", "--epochs", "1", input=NEWS * 3000)
    assert done.returncode == 0
    assert [each.partition(":")[0] for each in notes(done.stderr)] == ["standard input"]


def test_a_run_that_goes_on_is_told_nothing(tmp_path, monkeypatch, capsys):
    """Its words must be those of the state."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.txt").write_text(NEWS * 20)
    (tmp_path / "more.txt").write_text(NEWS * 21)
    train = ["--dim", "4", "--epochs", "1", "--min-count", "1"]
    assert run(["train", "news.txt", "-o", "a.vec", *train, "--save-state", "a.state"]) == 0
    assert len(notes(capsys.readouterr().err)) == 1
    assert run(["train", "more.txt", "-o", "b.vec", "--epochs", "1", "--continue", "a.state"]) == 0
    assert not notes(capsys.readouterr().err)


def test_a_model_of_lower_case_is_asked_in_lower_case(tmp_path, monkeypatch, capsys):
    """Where it is not, a note says so; `--tokenize model` makes the same words as training did."""
    monkeypatch.chdir(tmp_path)

    def answer(*words):
        assert run([*words]) == 0
        return capsys.readouterr()

    lines = [f"__label__{'ab'[n % 2]} {'The Cat' if n % 2 else 'A Dog'} Sat, É {n % 5}\n" for n in range(40)]
    for name, text in (("raw", "".join(lines)), ("low", "".join(lines).lower())):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "raw.jsonl").write_text('{"text": "The Cat Sat,"}\n{"text": "A Dog Sat,"}\n')
    small = ["--dim", "4", "--threads", "1", "-q"]
    answer("train", "raw.txt", "-o", "a.bin", "--model", "supervised", "--lowercase", "--epochs", "25", *small)
    answer("train", "raw.txt", "-o", "a.vec", "--min-count", "1", "--lowercase", *small)
    answer("lm", "train", "raw.txt", "-o", "a.lm", "--lowercase", "--smoothing", "witten-bell", "-q")
    for question, more in (
        (("predict", "a.bin"), ("--prob",)),
        (("eval", "labels", "a.bin", "-d"), ("--tsv",)),
        (("lm", "score", "a.lm"), ()),
        (("vectors", "a.vec", "--sentences"), ()),
    ):
        low = answer(*question, "low.txt", *more, "-q").out
        asked = answer(*question, "raw.txt", *more, "--tokenize", "model", "-q")
        assert asked.out.replace("raw.txt", "low.txt") == low and not asked.err
        told = answer(*question, "raw.txt", *more)
        assert "trained with --tokenize blanks,form=none,lowercase; give --tokenize model" in told.err + told.out
    kept = [
        answer("filter", "raw.jsonl", "-o", "-", "--classifier", "a.bin:b>=0.9", "-q", *each).out
        for each in (("--tokenize", "model"), ())
    ]
    assert kept[0] == '{"text": "The Cat Sat,"}\n' and not kept[1]
    answer("quantize", "a.bin", "-o", "a.ftz", "-q")
    assert answer("predict", "a.ftz", "raw.txt", "--tokenize", "model", "-q").out.splitlines() == [
        line.split()[0] for line in lines
    ]


def test_questions_are_told_nothing_of_marks(tmp_path, capsys):
    """A model is asked in the words that it was trained on."""
    (tmp_path / "news.txt").write_text(NEWS * 20)
    assert run(["predict", str(GOLDEN / "ft-labels.bin"), str(tmp_path / "news.txt")]) == 0
    assert not notes(capsys.readouterr().err)
