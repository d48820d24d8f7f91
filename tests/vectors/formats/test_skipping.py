"""Rows that cannot be read: left out, counted and named; rows behind a limit are not looked at."""

import json
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import GOLDEN, Run
from wv_cli.errors import BadFile, UsageError
from wv_cli.vectors import formats
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import FormatWarning, checking
from wv_cli.vectors.formats.safetensors import write
from wv_cli.vectors.formats.streams import RowSource

GOOD = {"the": [0.1, 0.2, 0.3], "and": [0.2, 0.1, 0.4]}
NAN = float("nan")


def binary(rows: list[tuple[bytes, list[float]]], promised: int | None = None) -> bytes:
    body = b"".join(word + b" " + struct.pack("<3f", *row) + b"\n" for word, row in rows)
    return b"%d 3\n" % (len(rows) if promised is None else promised) + body


def text(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


THE, AND = "the 0.1 0.2 0.3", "and 0.2 0.1 0.4"
WITH_NAN = binary([(b"the", GOOD["the"]), (b"of", [NAN, 1, 2]), (b"and", GOOD["and"])])
FILES = {
    "glued.vec": (text("3 3", THE, "of0.3 0.4 0.1", AND), "line 3: expected 3 numbers after the word 'of0.3', found 2"),
    "nan.vec": (text("3 3", THE, "of 1 nan 2", AND), "line 3: expected finite numbers, found 'nan'"),
    "letters.vec": (text("3 3", THE, "of 1 x 2", AND), "line 3: expected 3 numbers, found 'x' as number 2"),
    "blank.vec": (
        text("2 3", "the 0.1000000 0.2 0.3", "", "and 0.20000000 0.1 0.4"),
        "line 3: expected a word and 3 numbers, found a blank line",
    ),
    "last.vec": (text("3 3", THE, AND, "of 1 2")[:-1], "line 4: expected 3 numbers after the word 'of', found 2"),
    "cut.vec": (text("3 3", THE + " ", AND + " ", "of 1 2 0.12")[:-1], "line 4: expected a space and a line end"),
    "few.vec": (text("9 3", THE, AND), "the header promises 9 rows, found 2: the others are missing"),
    "more.vec": (text("1 3", THE, AND), "the header promises 1 rows, found 2: all were read"),
    "glued.glove": (text("of0.3 0.4 0.1", THE, AND), "line 1: expected 3 numbers after the word 'of0.3', found 2"),
    "nan.bin": (WITH_NAN, "row 2 of 3: expected finite numbers, found nan as number 1 of the word 'of'"),
    "cut.bin": (binary([(b"the", GOOD["the"]), (b"and", GOOD["and"]), (b"of", [1, 2, 3])])[:-6], "1 rows were skipped"),
    "more.bin": (binary([(b"the", GOOD["the"]), (b"and", GOOD["and"])]) + b"rest", "more bytes; they were skipped"),
}


@pytest.fixture(params=FILES)
def damaged(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    data, note = FILES[request.param]
    (tmp_path / request.param).write_bytes(data)
    return tmp_path / request.param, note


def assert_good(found: Embeddings) -> None:
    assert list(found.words) == list(GOOD)
    np.testing.assert_array_equal(found.matrix, np.array(list(GOOD.values()), np.float32))


def test_rows_that_cannot_be_read_are_left_out_and_named(damaged: tuple[Path, str]) -> None:
    path, note = damaged
    with pytest.warns(FormatWarning) as caught:
        assert_good(formats.load(path, bad_rows="skip"))
    assert [str(path) in str(each.message) and note in str(each.message) for each in caught] == [True]


def test_they_are_left_out_of_blocks(damaged: tuple[Path, str]) -> None:
    path, _ = damaged
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        source = RowSource(path, bad_rows="skip")
        assert source.rows == 2
        assert [word for block in source.blocks() for word in block.words] == list(GOOD)


def test_without_the_option_they_are_errors(damaged: tuple[Path, str]) -> None:
    with pytest.raises(BadFile):
        formats.load(damaged[0])


def test_rows_behind_the_limit_are_not_looked_at(damaged: tuple[Path, str]) -> None:
    path, _ = damaged
    if path.name != "glued.glove":
        assert list(formats.load(path, limit=1).words) == ["the"]
        assert [list(block.words) for block in RowSource(path, limit=1).blocks()] == [["the"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        assert list(formats.load(path, limit=2, bad_rows="skip").words) == list(GOOD)


def test_a_limit_takes_the_rows_that_a_binary_header_promises(tmp_path: Path) -> None:
    (tmp_path / "v.bin").write_bytes(FILES["more.bin"][0])
    assert_good(formats.load(tmp_path / "v.bin", limit=2))
    assert_good(formats.load(tmp_path / "v.bin", limit=2, mapped=True))


def test_many_are_counted_and_three_named(tmp_path: Path) -> None:
    (tmp_path / "v.vec").write_bytes(text("52 3", THE, *["of 1 2"] * 50, AND))
    with pytest.warns(FormatWarning) as caught:
        assert_good(formats.load(tmp_path / "v.vec", bad_rows="skip"))
    assert len(caught) == 4
    assert str(caught[3].message).endswith("50 rows cannot be read and were skipped")


def test_a_file_of_bad_rows_only_is_refused(tmp_path: Path) -> None:
    (tmp_path / "v.vec").write_bytes(text("2 3", "of 1 2", "in 1 2"))
    with pytest.warns(FormatWarning), pytest.raises(BadFile, match="none of its 2 rows can be read; line 2: expected"):
        formats.load(tmp_path / "v.vec", bad_rows="skip", format="word2vec-text")


def test_rows_of_arrays_go_with_their_words(tmp_path: Path) -> None:
    rows = np.array([GOOD["the"], [1, NAN, 2], GOOD["and"]], np.float32)
    np.save(tmp_path / "v.npy", rows)
    (tmp_path / "v.words.txt").write_text("the\nof\nand\n")
    assert list(formats.load(tmp_path / "v.npy", limit=1).words) == ["the"]
    with pytest.warns(FormatWarning, match="row 2: expected finite numbers, found nan as number 2; skipped"):
        assert_good(formats.load(tmp_path / "v.npy", bad_rows="skip"))
    with pytest.warns(FormatWarning):
        assert RowSource(tmp_path / "v.npy", bad_rows="skip").rows == 2
    data = (tmp_path / "v.npy").read_bytes()
    (tmp_path / "v.npy").write_bytes(data[:-4])
    assert list(formats.load(tmp_path / "v.npy", limit=1).words) == ["the"]
    with pytest.warns(FormatWarning) as caught:
        assert list(formats.load(tmp_path / "v.npy", bad_rows="skip").words) == ["the"]
    assert "expected 3 rows, found 2: the file was cut short" in str(caught[0].message)


def test_rows_of_a_static_embedding(tmp_path: Path) -> None:
    rows = np.array([GOOD["the"], [1, NAN, 2], GOOD["and"]], np.float32)
    tokens = {"the": 0, "of": 1, "and": 2}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordLevel", "vocab": tokens}}))
    with (tmp_path / "model.safetensors").open("wb") as stream:
        write(stream, {"embeddings": rows}, {})
    assert list(formats.load(tmp_path, limit=1).words) == ["the"]
    with pytest.raises(BadFile, match="expected finite numbers"):
        formats.load(tmp_path)
    with pytest.warns(FormatWarning, match="row 2: expected finite numbers, found nan as number 2; skipped"):
        assert_good(formats.load(tmp_path, bad_rows="skip"))


def test_words_that_the_output_cannot_keep_are_bad_rows(wv: Run, tmp_path: Path) -> None:
    source = tmp_path / "v.bin"
    source.write_bytes(binary([(b"the", GOOD["the"]), (b"caf\xc3", [1, 2, 3]), (b"and", GOOD["and"])]))
    arguments = ["convert", str(source), str(tmp_path / "folder"), "--to", "static"]
    assert wv(*arguments).returncode == 1
    done = wv(*arguments, "--bad-rows", "skip")
    assert done.returncode == 0
    assert "row 2: the word 'caf\\xc3' is not UTF-8; skipped" in done.stderr
    assert_good(formats.load(tmp_path / "folder"))


def test_formats_of_whole_files_refuse_the_option() -> None:
    for read in (formats.load, formats.open_vectors):
        with pytest.raises(UsageError, match="--bad-rows skip has no effect on fasttext-bin, only on word2vec-text"):
            read(GOLDEN / "ft-words.bin", bad_rows="skip")


def test_a_repeated_word_is_left_out_and_noted(tmp_path: Path) -> None:
    (tmp_path / "v.vec").write_bytes(text("4 3", THE, "the 1 1 1", AND, "and 2 2 2"))
    for mapped in (False, True):
        with pytest.warns(FormatWarning, match="2 rows have the words of earlier rows and are left out; the first row"):
            vectors = formats.load(tmp_path / "v.vec", mapped=mapped)
        assert list(vectors.words) == ["the", "and"] and len(vectors.matrix) == 2
        formats.save(tmp_path / "o.bin", vectors)
        assert not checking.check(tmp_path / "o.bin").problems
    with warnings.catch_warnings():
        warnings.simplefilter("error", FormatWarning)
        assert len(formats.load(tmp_path / "v.vec", keep_repeated=True)) == 4


def test_check_names_repeated_words_beside_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.ones((3, 2), np.float32))
    (tmp_path / "v.words.txt").write_text("the\nand\nthe\n")
    problems = checking.check(tmp_path / "v.npy").problems
    assert [(each.kind, each.line) for each in problems] == [("duplicate word", 3)]


def test_rows_behind_the_last_token_are_left_out(tmp_path: Path) -> None:
    rows = np.array([*GOOD.values(), [0, 0, 0]], np.float32)
    tokens = {word: row for row, word in enumerate(GOOD)}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordLevel", "vocab": tokens}}))
    with (tmp_path / "model.safetensors").open("wb") as stream:
        write(stream, {"embeddings": rows}, {})
    with pytest.warns(FormatWarning, match="1 of 3 vectors stand behind the last token's; they are left out"):
        assert_good(formats.load(tmp_path))


# Files that a command reads beside its main one, each as {damaged}.
BESIDE = (
    "train text.txt -o out.vec --dim 3 --min-count 1 --epochs 1 --init {damaged}",
    "train labels.txt -o out.bin --model supervised --dim 3 --epochs 1 --pretrained {damaged}",
    "train pairs.tsv -o out.vec --model pairs --dim 3 --min-count 1 --init {damaged}",
    "nn codes.wvcodes the --rerank {damaged}",
    "eval translation good.vec --target {damaged} --data words.txt",
    "eval retrieval good.vec --data {damaged} --neighbors 1",
)


@pytest.mark.full
def test_the_option_holds_for_files_beside_the_main_one(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "good.vec").write_bytes(text("2 3", THE, AND))
    (tmp_path / "bad.vec").write_bytes(text("3 3", THE, "of 1 nan 2", AND))
    (tmp_path / "text.txt").write_text("the and the and\n" * 9)
    (tmp_path / "labels.txt").write_text("__label__a the and\n__label__b and\n" * 9)
    (tmp_path / "pairs.tsv").write_text("anchor\tpositive\n" + "the\tand\nand\tthe\n" * 9)
    (tmp_path / "words.txt").write_text("the the\nand and\n")
    assert wv("hash", "good.vec", "-o", "codes.wvcodes", "--method", "sign", cwd=tmp_path).returncode == 0
    for call in BESIDE:
        arguments = call.format(damaged="bad.vec").split()
        refused = wv(*arguments, cwd=tmp_path)
        assert refused.returncode == 1, (call, refused.stderr)
        assert "bad.vec:3: expected finite numbers, found 'nan'" in refused.stderr
        done = wv(*arguments, "--bad-rows", "skip", cwd=tmp_path)
        assert done.returncode == 0, (call, done.stderr)
        assert (
            "bad.vec: line 3: expected finite numbers, found 'nan' as number 2 of the word 'of'; skipped" in done.stderr
        )


def test_the_option_is_refused_without_such_a_file(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the and\n")
    for model in ("skipgram", "supervised", "pairs", "nplm"):
        done = wv("train", "text.txt", "-o", "out.bin", "--model", model, "--bad-rows", "skip", cwd=tmp_path)
        assert done.returncode == 2, (model, done.stderr)
        assert "--bad-rows" in done.stderr
