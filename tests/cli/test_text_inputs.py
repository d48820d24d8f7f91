"""Every command that reads running text refuses what is none, and leaves it out of folders."""

import shutil

import click
import pytest

from tests.conftest import GOLDEN
from wv_cli.cli import COMMANDS
from wv_cli.cli.program import wv as group

MODEL = GOLDEN / "ft-labels.bin"
# Command lines by name; INPUT is where the text goes. `eval labels` stands for the tasks that read running text.
READERS = {
    "train": ["train", "INPUT", "-o", "out.vec", "--dim", 4, "--epochs", 1, "--min-count", 1],
    "build-vocab": ["build-vocab", "INPUT", "-o", "out.vocab", "--min-count", 1],
    "bioword": ["bioword", "INPUT", "-o", "out.codes", "--cells", 64, "--epochs", 1, "--min-count", 1],
    "glove": ["glove", "INPUT", "-o", "out.vec", "--dim", 4, "--iterations", 1, "--min-count", 1],
    "phrases": ["phrases", "INPUT", "-o", "out.txt", "--min-count", 1],
    "tokenize": ["tokenize", "INPUT", "-o", "out.txt"],
    "predict": ["predict", MODEL, "INPUT"],
    "eval": ["eval", "labels", MODEL, "-d", "INPUT"],
    "quantize": ["quantize", MODEL, "-o", "out.ftz", "--retrain", "--cutoff", 10, "--input", "INPUT"],
}
readers = pytest.mark.parametrize("command", READERS)


def line(command, text):
    return [text if part == "INPUT" else part for part in READERS[command]]


def test_the_table_has_every_command_that_reads_text():
    commands = {name: group.get_command(click.Context(group), name) for name in COMMANDS}
    taking = {name for name, each in commands.items() if any("--force-text" in option.opts for option in each.params)}
    assert taking | {"eval"} == set(READERS)


@readers
def test_vectors_are_refused_as_text(wv, tmp_path, command):
    shutil.copy(GOLDEN / "w2v-sg-ns.bin", tmp_path / "v.bin")
    done = wv(*line(command, "v.bin"))
    assert done.returncode == 1
    assert done.stderr == (
        f"wv {'eval labels' if command == 'eval' else command}: v.bin: expected text, found word2vec-binary vectors; "
        "give a text, or --force-text to read it as text\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["v.bin"]


@readers
def test_forced(wv, tmp_path, command):
    shutil.copy(GOLDEN / "w2v-sg-ns.bin", tmp_path / "v.bin")
    done = wv(*line(command, "v.bin"), "--force-text")
    assert "expected text" not in done.stderr


def test_training_twice_into_the_folder_of_the_texts(wv, tmp_path, slice_text):
    (tmp_path / "dir").mkdir()
    shutil.copy(slice_text, tmp_path / "dir" / "text")
    command = ["train", "dir", "--dim", 4, "--epochs", 1, "-o", "dir/v.bin", "--save-output-vectors", "dir/out.npy"]
    first = wv(*command)
    written = {path: path.read_bytes() for path in (tmp_path / "dir").glob("*.bin")}
    second = wv(*command)
    assert first.returncode == second.returncode == 0
    assert {path: path.read_bytes() for path in written} == written
    assert "no text" not in first.stderr
    assert "dir: 5 files that are no text are left out, such as dir/out.npy: an output of this run, " in second.stderr


def test_a_checkpoint_in_the_folder(wv, tmp_path, slice_text):
    (tmp_path / "dir").mkdir()
    shutil.copy(slice_text, tmp_path / "dir" / "text")
    assert wv("train", "dir", "-o", "dir/v.bin", "--epochs", 500, "--max-time", 0.2).returncode == 124
    done = wv("build-vocab", "dir", "-o", "vocab")
    assert "dir: 1 file that is no text is left out, dir/v.bin.checkpoint: a checkpoint file of wv\n" in done.stderr


LATIN1 = "Der König fährt über die Brücke nach Köln und grüßt die Bürger.\n".encode("latin-1") * 20
PIPED = LATIN1.decode("utf-8", "surrogateescape")


@readers
@pytest.mark.parametrize("source", ["de.txt", "-"])
def test_another_encoding_is_refused(wv, tmp_path, command, source):
    if source == "-" and command == "eval":
        pytest.skip("data are files")
    (tmp_path / "de.txt").write_bytes(LATIN1)
    done = wv(*line(command, source), input=PIPED)
    assert (done.returncode, done.stdout) == (1, "")
    name = "standard input" if source == "-" else source
    assert done.stderr.splitlines()[-1] == (
        f"wv {'eval labels' if command == 'eval' else command}: {name}: expected UTF-8 text, found text that is no "
        "UTF-8, likely ISO-8859-1 (0xf6 in line 1); convert it: iconv -f ISO-8859-1 -t UTF-8 FILE, or --force-text to "
        "read it as it is"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["de.txt"]


def test_vectors_of_a_forced_text_are_not_damaged(wv, tmp_path):
    (tmp_path / "de.txt").write_bytes(LATIN1)
    for name in ("v.bin", "v.vec"):
        done = wv(*line("train", "de.txt"), "--force-text", "-q", "-o", name)
        assert (done.returncode, done.stderr) == (0, "")
        done = wv("check", name)
        assert done.returncode == 0
        assert done.stdout.splitlines()[-1].endswith("11 rows of 4 numbers: no damage found; notes: 7 x bad UTF-8")
    (tmp_path / "v.bin.meta.json").unlink()  # whoever wrote it may have lost a part of a letter
    assert wv("check", "v.bin").returncode == 1


def test_search_refuses_another_encoding(wv, tmp_path):
    (tmp_path / "de.txt").write_bytes(LATIN1)
    done = wv("search", "de.txt", "König")
    assert done.returncode == 1 and "de.txt: expected UTF-8 text, found text that is no UTF-8" in done.stderr


def test_lines_of_standard_input_that_are_no_utf8_are_counted(wv, tmp_path):
    (tmp_path / "v.vec").write_text("1 2\nK\u00f6nig 1 2\n")
    done = wv("vectors", "v.vec", "--sentences", input=PIPED)
    assert "standard input: byte 5: 0xf6 is the first of 160 bytes that are no UTF-8" in done.stderr


def test_the_originals_read_every_encoding(wv, tmp_path):
    (tmp_path / "de.txt").write_bytes(LATIN1)
    small = ["-min-count", 1, "-debug", 0]
    done = wv("word2vec", "-train", "de.txt", "-output", "w.vec", "-size", 2, "-iter", 1, *small)
    assert done.returncode == 0 and b"\nK\xf6nig " in (tmp_path / "w.vec").read_bytes()
    done = wv("word2phrase", "-train", "de.txt", "-output", "p.txt", *small)
    assert done.returncode == 0 and b"K\xf6nig" in (tmp_path / "p.txt").read_bytes()
    done = wv("glove-tools", "vocab_count", "-min-count", 1, "-verbose", 0, input=PIPED)
    assert done.returncode == 0 and "K\udcf6nig 20\n" in done.stdout


@readers
def test_chinese_lines_with_one_comma_are_text(wv, tmp_path, command):
    """They look like CSV: as many commas in every line, and no blanks behind them."""
    text = "__label__1 大学学习老师,王后不阅读国王。\n__label__0 小猫在河边,喝水睡觉。\n" * 5
    text = text if command in ("eval", "quantize") else text.replace("__label__1 ", "").replace("__label__0 ", "")
    (tmp_path / "zh").mkdir()
    (tmp_path / "zh" / "yi.txt").write_text(text, encoding="utf-8")
    for place in ("zh", "zh/yi.txt"):
        done = wv(*line(command, place))
        assert "comma" not in done.stderr, done.stderr
