"""Calls of wv_cli's functions that are wrong: each is refused before the work, in the words of Python."""

import re
from pathlib import Path

import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN
from wv_cli.config.wording import name_arguments
from wv_cli.errors import BadFile, UsageError

LABELS = GOLDEN / "ft-labels.bin"
NAMES = {"o": "output", "output": "output", "to": "to_format", "k": "k", "no-meta": "meta=False", "WORD": "words"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "t.txt").write_text("the cat sat on the mat\n" * 50)
    (tmp_path / "v.vec").write_text("3 2\na 1 2\nb 1 3\nc 2 1\n")
    (tmp_path / "r.jsonl").write_text('{"text": "a b c"}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


WRONG = {
    "an output that is missing": [
        (lambda: wv_cli.train("t.txt"), TypeError, "train(): missing a required argument: 'output'"),
        (lambda: wv_cli.train("t.txt", None), TypeError, "output: expected a value, found None"),
        (lambda: wv_cli.train("t.txt", []), UsageError, "output: the list is empty; name a file"),
        (
            lambda: wv_cli.glove("t.txt"),
            UsageError,
            "output=FILE is missing (or counts_only save_counts=FILE)",
        ),
        (lambda: wv_cli.bioword("t.txt"), UsageError, "output=FILE is missing (or save_hasher=FILE)"),
        (lambda: wv_cli.lm_train("t.txt"), TypeError, "lm_train(): missing a required argument: 'output'"),
        (lambda: wv_cli.predict(LABELS, "t.txt"), TypeError, "predict(): missing a required argument: 'output'"),
        (lambda: wv_cli.convert("v.vec"), TypeError, "convert(): missing a required argument: 'output'"),
    ],
    "words that are not one list": [
        (
            lambda: wv_cli.similarity("v.vec", "a", "b"),
            TypeError,
            "similarity(): too many positional arguments; give the words as one list",
        ),
        (
            lambda: wv_cli.analogy("v.vec", "a", "b", "c"),
            TypeError,
            "analogy(): too many positional arguments; give the words as one list",
        ),
        (lambda: wv_cli.check("a", "b"), TypeError, "check(): too many positional arguments"),
    ],
    "a text of another type": [
        (
            lambda: wv_cli.filter("r.jsonl", "out", words=20),
            TypeError,
            'words: expected a rule such as "20..1000" as str, or several, found int 20',
        ),
        (lambda: wv_cli.nn("v.vec", [1]), TypeError, "words: expected each word as str, found int 1"),
        (
            lambda: wv_cli.nn("v.vec", sentence=1),
            TypeError,
            "sentence: expected a text as str, or several, found int 1",
        ),
        (
            lambda: wv_cli.nn("v.vec", "a", beside=1),
            TypeError,
            "beside: expected a path as str, or several, found int 1",
        ),
        (lambda: wv_cli.train("t.txt", "o.vec", meta=1), TypeError, "meta: expected True or False, found int 1"),
    ],
    "an empty name": [
        (lambda: wv_cli.train("", "o.vec"), UsageError, "inputs: the name is empty; name a file"),
        (lambda: wv_cli.convert("v.vec", ""), UsageError, "output: the name is empty; name a file"),
        (lambda: wv_cli.convert("", "a.vec"), UsageError, "source: the name is empty; name a file"),
        (lambda: wv_cli.load(""), UsageError, "path: the name is empty; name a file"),
    ],
    "options, by the names of arguments": [
        (
            lambda: wv_cli.whiten("v.vec"),
            UsageError,
            "nothing would be written; give output, save_transform or save_moments",
        ),
        (lambda: wv_cli.plot("v.vec", "p.html"), UsageError, "give words, or top=N"),
        (
            lambda: wv_cli.filter("r.jsonl", words="1.."),
            UsageError,
            "give output=FOLDER, or dry_run or explain=N",
        ),
        (
            lambda: wv_cli.filter("r.jsonl", "kept", words="1..", dry_run=True),
            UsageError,
            "dry_run and explain write no records; leave output out",
        ),
        (
            lambda: wv_cli.hash("v.vec"),
            UsageError,
            "method is missing, the hasher to fit on vectors (or hasher=FILE, a ",
        ),
        (lambda: wv_cli.convert("v.vec", "x.foo"), UsageError, "; choose one by to_format or the ending: "),
        (
            lambda: wv_cli.predict(LABELS, "how do i bake", "o"),
            UsageError,
            "'how do i bake' is no file; texts are read from files, or with - from standard input",
        ),
        (lambda: wv_cli.predict(LABELS, "5", "o"), UsageError, "5: no such file; the number of labels is k 5"),
    ],
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_refused(kind, folder):
    before = sorted(folder.iterdir())
    for call, error, message in WRONG[kind]:
        with pytest.raises(error, match=re.escape(message)):
            call()
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("--dim must be at least 1; give -o FILE", "dim must be at least 1; give output=FILE"),
        ("choose it by --to or `wv convert --to x`", "choose it by to_format or `wv convert --to x`"),
        ("give --no-meta or WORDs: wv build-vocab --min-count", "give meta=False or words: wv build-vocab --min-count"),
        ("a/--x.vec and '--x' and WORD.vec and 'WORD'", "a/--x.vec and '--x' and WORD.vec and 'WORD'"),
        ("one-o -x with --stop-words drop", "one-o -x with stop_words drop"),
    ],
)  # fmt: skip
def test_messages_in_the_words_of_python(message, said):
    assert name_arguments(message, NAMES) == said


def test_bad_files_are_still_bad_files():
    Path("bad.jsonl").write_text('{"text": 5}\n{"text": "a b c"}\n')
    with pytest.raises(BadFile, match="; bad_records skip reads on without it") as error:
        wv_cli.build_vocab("bad.jsonl", "o", bad_records="error")
    assert error.value.line == 1 and error.value.problem.endswith("; bad_records skip reads on without it")


@pytest.mark.parametrize("others", ["", "{}\n", '{"id": 1}\n{"body": "x"}\n'])
def test_a_field_that_is_no_string_has_one_message(others):
    Path("x.jsonl").write_text('{"text": 5}\n' + others)
    with pytest.raises(BadFile, match="can be read; byte 0: the field text is no string"):
        wv_cli.build_vocab("x.jsonl", "o")


def test_booleans_of_numpy():
    found = wv_cli.train("t.txt", "o.vec", dim=2, epochs=1, min_count=1, lowercase=np.bool_(True), meta=np.bool_(False))
    assert found["outputs"] == ["o.vec"] and not Path("o.vec.meta.json").exists()


def test_an_option_that_stands_alone_is_true():
    Path("raw.txt").write_text("The cat, the Cat.\n" * 9)
    wv_cli.build_vocab("raw.txt", "v.vocab", tokenize=True)
    assert "the 18\n" in Path("v.vocab").read_text() and "The" not in Path("v.vocab").read_text()


def test_what_the_package_shows():
    """What docstrings name can be imported, and dir() shows nothing else of the package's own."""
    assert {"BadFile", "GateMissed", "Interrupted", "TimedOut"} <= {*wv_cli.__all__}
    assert issubclass(wv_cli.TimedOut, wv_cli.WvError) and wv_cli.BadFile is BadFile
    assert {name for name in dir(wv_cli) if not name.startswith("__")} == {*wv_cli.__all__}
