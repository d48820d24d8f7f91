"""What is taken for running text: judged by first bytes, wherever a text is read."""

import gzip
import os
import re
import threading

import pytest

from tests.processes import PATIENCE
from wv_cli.errors import BadFile, WvError
from wv_cli.io.kinds import HEAD_BYTES
from wv_cli.text.binary import binary
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.source import Source

NULS = bytes(range(256)) * 40
REFUSED = "x: expected text, found binary data (NUL bytes); give a text, or --force-text to read it as text"


def texts(*inputs, **options):
    """Texts that know one format, files that begin with MODEL, and sidecars called *.side."""
    notes = []
    known = Texts(
        [str(path) for path in inputs],
        recognize=lambda head: "a model" if head.startswith(b"MODEL") else None,
        is_sidecar=lambda path: path.endswith(".side"),
        log=notes.append,
        **options,
    )
    return known, notes


def error(asked):
    with pytest.raises(BadFile) as caught:
        b"".join(Source(asked))
    return str(caught.value)


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"", None),
        (b"plain text\n", None),
        ("日本語 のテキスト\n".encode(), None),
        (b"caf\xe9 na\xefve\n", None),
        (b"a\0b c\0d\n", None),  # stray NULs separate words
        (b"\0" * 8, None),
        (b"word " * 2000 + b"\0" * 10, None),
        (b"word " * 200 + b"\0" * 10, "binary data"),
        (NULS, "binary data"),
        ("text".encode("utf-16"), "UTF-16"),
        ("a longer text\n".encode("utf-16-le"), "UTF-16"),
        ("a longer text\n".encode("utf-16-be"), "UTF-16"),
    ],
)
def test_bytes_that_are_no_text(head, found):
    what = binary(head)
    assert (what is None) if found is None else (what is not None and found in what)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_named_file_that_is_no_text_is_refused_before_anything_is_read(tmp_path, monkeypatch, pack):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good").write_bytes(b"text\n")
    (tmp_path / "x").write_bytes(pack(NULS))
    (tmp_path / "m").write_bytes(pack(b"MODEL of something\n"))
    with pytest.raises(BadFile, match="expected text, found"):
        Source(texts("good", "x")[0])
    assert error(texts("x")[0]) == REFUSED
    assert error(texts("m")[0]) == "m: expected text, found a model; give a text, or --force-text to read it as text"
    assert (
        b"".join(Source(texts("x", "m", reading=ReadingConfig(force_text=True))[0])) == NULS + b"\nMODEL of something\n"
    )
    assert b"".join(Source(["x"])) == NULS + b"\n"  # no running text: whoever reads it knows its form


@pytest.mark.parametrize("size", [1, 100, HEAD_BYTES])
def test_a_pipe_is_judged_by_its_first_bytes_however_they_come(tmp_path, monkeypatch, size):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("x")

    def write():
        try:
            with (tmp_path / "x").open("wb", buffering=0) as pipe:
                for start in range(0, len(NULS), size):
                    pipe.write(NULS[start : start + size])
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    assert error(texts("x")[0]) == REFUSED
    writer.join()


def test_a_pipe_gives_its_text_as_it_comes(tmp_path):
    """A program that waits for the answer to its line must not wait for 64 KB of lines."""
    os.mkfifo(tmp_path / "pipe")
    answered = threading.Event()

    def write():
        with (tmp_path / "pipe").open("wb", buffering=0) as pipe:
            pipe.write(b"a first line, and no more\n")
            assert answered.wait(PATIENCE)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    chunks = iter(Source(texts(tmp_path / "pipe")[0]))
    assert next(chunks) == b"a first line, and no more\n"
    answered.set()
    assert list(chunks) == []
    writer.join()


def test_a_folder_leaves_out_what_is_no_text(tmp_path):
    files = {"a": b"text\n", "b.side": b"{}", "m": b"MODEL", "out": b"looks like text\n", "x": NULS, ".hidden": b"no"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "same").hardlink_to(tmp_path / "out")
    asked, notes = texts(tmp_path, written=[str(tmp_path / "out"), str(tmp_path / "none")])
    assert expand_inputs(asked) == [f"{tmp_path}/a"]
    assert notes == [
        f"{tmp_path}: 5 files that are no text are left out, such as {tmp_path}/b.side: written beside another file, "
        f"{tmp_path}/m: a model, {tmp_path}/out: an output of this run"
    ]
    asked, notes = texts(tmp_path, reading=ReadingConfig(force_text=True), written=[str(tmp_path / "out")])
    assert expand_inputs(asked) == [f"{tmp_path}/{name}" for name in "amx"]
    (tmp_path / "a").unlink()
    with pytest.raises(WvError, match="no text in this folder: 5 files that are no text are left out, such as"):
        expand_inputs(texts(tmp_path, written=[str(tmp_path / "out")])[0])


def test_a_folder_of_texts_gives_no_note(tmp_path):
    (tmp_path / "a").write_bytes(b"text\n")
    asked, notes = texts(tmp_path, written=["-", "none"])
    assert (expand_inputs(asked), notes) == ([f"{tmp_path}/a"], [])


def test_text_without_blanks_is_noted(tmp_path):
    """A reader that has no --tokenize is told of wv tokenize."""
    notes = {}
    chinese = "我们都是来自五湖四海为了一个共同的目标走到一起来了\n" * 20
    for name, text in {
        "whole": chinese,
        "segmented": re.sub("(是|为了|来|的)", r" \1 ", chinese),
        "thai": "ประเทศไทยเป็นประเทศในเอเชียตะวันออกเฉียงใต้\n" * 20,
        "japanese": "私は東京で日本語の本を読んでいますそれはとても面白い\n" * 20,
        "khmer": "ភាសាខ្មែរជាភាសាផ្លូវការរបស់ប្រទេសកម្ពុជា\n" * 20,
        "burmese": "မြန်မာဘာသာစကားသည်မြန်မာနိုင်ငံ၏ရုံးသုံးဘာသာစကား\n" * 20,
        "lao": "ພາສາລາວເປັນພາສາທາງການຂອງປະເທດລາວ\n" * 20,
        "english": "some English text with one word, 我们\n" * 20,
    }.items():
        (tmp_path / name).write_text(text)
        said = []
        list(Source(Texts([str(tmp_path / name)], lambda head: None, lambda path: False, said.append)))
        notes[name] = said
    assert [name for name, said in notes.items() if said] == ["whole", "thai", "japanese", "khmer", "burmese", "lao"]
    assert "segment it first, by wv tokenize --words jieba" in notes["whole"][0]
    assert notes["thai"] == [
        f"{tmp_path}/thai: few blanks part its Thai, so that whole sentences are words; segment it first, by wv "
        "tokenize --words pythainlp"
    ]
    assert "its Japanese" in notes["japanese"][0] and notes["japanese"][0].endswith("--words fugashi")
    for name in ("khmer", "burmese", "lao"):
        assert f"few blanks part its {name.capitalize()}" in notes[name][0] and "--words" not in notes[name][0]
