"""Raw text where words are read: --tokenize."""

import json
import sys

import pytest

from wv_cli.__main__ import run

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
