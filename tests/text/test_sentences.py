"""Sentences of a Python caller: any iterable, read once, becomes the text that a file of them would be."""

from pathlib import Path

import numpy as np
import pytest

import wv_cli
from tests.walk import for_each
from wv_cli.errors import UsageError, WvError
from wv_cli.text.sentences import blocks_of, spool_sentences

TOKENS = [["the", "cat"], [], ("a", "dog"), ["ünï"]]
TEXT = "the cat\n\na dog\nünï\n".encode()


def chunks(sentences):
    return b"".join(blocks_of(sentences))


@for_each(
    "sentences",
    [
        TOKENS,
        (each for each in TOKENS),
        (iter(each) for each in TOKENS),
        [np.array(each, str) for each in TOKENS],
        [" ".join(each) for each in TOKENS],
        np.array([" ".join(each) for each in TOKENS]),
        np.array([" ".join(each) for each in TOKENS], object),
        ["the\ncat", [], "a dog", ["ünï"]],
    ],
)
def test_every_iterable_makes_the_same_text(sentences):
    assert chunks(sentences) == TEXT


@for_each(
    "sentences, found",
    [
        ([[], []], "2 sentences, all empty"),
        ([[]], "1 sentence, empty"),
        ([], "none"),
        (iter([" ", []]), "2 sentences, all empty"),
    ],
)
def test_sentences_without_words_are_named(sentences, found):
    with pytest.raises(WvError, match=f"^sentences: no words; expected lists of words, found {found}$"):
        wv_cli.train(sentences=sentences, output="/dev/null")
    with pytest.raises(WvError, match=r"^sentences: no words"):
        wv_cli.glove(sentences=[[]], output="/dev/null")
    with pytest.raises(WvError, match=r"^no word occurs 5 times \(min_count 5\); .*: lower min_count or"):
        wv_cli.train([["a", "b"]], "/dev/null", min_count=5)


def test_a_series_makes_the_same_text():
    pandas = pytest.importorskip("pandas")
    assert chunks(pandas.Series([" ".join(each) for each in TOKENS])) == chunks(pandas.Series(TOKENS)) == TEXT


@for_each(
    "sentences, error, message",
    [
        ("the cat", TypeError, "expected several sentences, .*found str"),
        (7, TypeError, "found int"),
        ([["a"], 7], TypeError, "expected a list of tokens as str, or a line as str, found 7 as number 1"),
        ([["a"], float("nan")], TypeError, "found nan as number 1"),
        ([b"a line"], TypeError, "decode it"),
        ([["a", 7]], TypeError, "expected tokens as str, found int 7 in number 0"),
        ([["a"], ["new york"]], ValueError, "without white space, found 'new york' in number 1; join its words with _"),
        ([["a", ""]], ValueError, "found '' in number 0"),
        ([["", "a"]], ValueError, "found ''"),
        ([["a"], ["", "b"]], ValueError, "found ''"),
        (["a  line", ["a\nb"]], ValueError, r"found 'a\\nb' in number 1"),
    ],
)
def test_others_are_refused_with_their_number(sentences, error, message):
    with pytest.raises(error, match=message):
        chunks(sentences)


def test_what_is_read_goes_by_blocks(tmp_path):
    """No list of all sentences, and no file when the block ends."""
    held = most = 0

    class Sentence(list):
        def __init__(self):
            nonlocal held, most
            super().__init__(["a", "b"])
            held += 1
            most = max(most, held)

        def __del__(self):
            nonlocal held
            held -= 1

    with spool_sentences((Sentence() for _ in range(50_000)), str(tmp_path / "out.bin")) as path:
        assert Path(path).read_bytes() == b"a b\n" * 50_000 and most < 10_000
        assert Path(path).parent.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_iterable_leaves_nothing(tmp_path):
    def sentences():
        yield ["a"]
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), spool_sentences(sentences(), str(tmp_path / "out.bin")):
        pass
    assert list(tmp_path.iterdir()) == []
    with (
        pytest.raises(WvError, match="cannot keep the sentences in a file here"),
        spool_sentences([], "/nowhere/out.bin"),
    ):
        pass


LINES = ["the cat sat on the mat", "a dog sat on a log", "the dog and the cat"] * 20
OPTIONS = {"dim": 8, "epochs": 2, "min_count": 1, "meta": False}


def test_training_on_sentences_is_training_on_their_file(tmp_path):
    text, out = tmp_path / "text.txt", tmp_path / "v.vec"
    text.write_text("\n".join(LINES) + "\n")
    wv_cli.train(text, out, **OPTIONS)
    expected = out.read_bytes()
    for given in [
        {"inputs": (line.split() for line in LINES)},
        {"sentences": iter(LINES)},
        {"sentences": [line.split() for line in LINES]},
        {"sentences": np.array(LINES)},
        {"sentences": LINES, "learn_phrases": 1, "phrase_threshold": 1e9},  # reads them twice
    ]:
        out.unlink()
        wv_cli.train(**given, output=out, **OPTIONS)
        assert out.read_bytes() == expected
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "v.vec"}


def test_an_interrupted_training_on_sentences_is_resumed(tmp_path):
    out = tmp_path / "v.vec"
    wv_cli.train(sentences=LINES, output=out, **OPTIONS)
    expected = out.read_bytes()
    out.unlink()
    with pytest.raises(WvError, match="resume=True"):
        wv_cli.train(sentences=LINES, output=out, max_time=1e-9, **OPTIONS)
    wv_cli.train(sentences=LINES, output=out, resume=True, **OPTIONS)
    assert out.read_bytes() == expected


def test_sentences_of_a_classifier(tmp_path):
    lines = ["__label__a the cat", "__label__b a dog"] * 20
    wv_cli.train(sentences=lines, output=tmp_path / "c.bin", model="supervised", dim=4)
    assert wv_cli.load_classifier(tmp_path / "c.bin").predict(["a dog"])[0][0][0] == "__label__b"


@pytest.mark.parametrize("text", ["__label__good the king", "the king " * 100])
def test_texts_in_the_place_of_paths_are_told(text, tmp_path):
    with pytest.raises(UsageError, match=r"inputs: expected paths, found the text .*; give texts as sentences="):
        wv_cli.train([text], tmp_path / "x.bin", model="supervised")
    path = tmp_path / "a file.txt"
    path.write_text("__label__a the king\n__label__b the queen\n" * 9)
    wv_cli.train([path, str(path)], tmp_path / "x.bin", model="supervised", dim=4, epochs=1, threads=1)


def test_calls_that_cannot_be_are_refused_before_sentences_are_read(tmp_path):
    unread = (pytest.fail("read") for _ in range(1))
    out = tmp_path / "v.vec"
    with pytest.raises(TypeError, match="expected inputs or sentences, found neither"):
        wv_cli.train(output=out)
    with pytest.raises(TypeError, match="found both"):
        wv_cli.train("text.txt", out, sentences=unread)
    with pytest.raises(UsageError, match="field has no effect on sentences"):
        wv_cli.train(sentences=unread, output=out, field="text")
    with pytest.raises(UsageError, match="no such option dims; did you mean dim"):
        wv_cli.train(sentences=unread, output=out, dims=3)
