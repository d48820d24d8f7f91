"""Every command that reads running text refuses what is none, and leaves it out of folders."""

import importlib
import shutil

import pytest

from tests.conftest import GOLDEN
from wv_cli.commands import COMMANDS

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
    commands = {name: importlib.import_module(row.module).command for name, row in COMMANDS.items()}
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
    assert "dir: 5 files that are no text are left out, such as dir/out.npy: an output of this run\n" in second.stderr


def test_a_checkpoint_in_the_folder(wv, tmp_path, slice_text):
    (tmp_path / "dir").mkdir()
    shutil.copy(slice_text, tmp_path / "dir" / "text")
    assert wv("train", "dir", "-o", "dir/v.bin", "--epochs", 500, "--max-time", 0.2).returncode == 124
    done = wv("build-vocab", "dir", "-o", "vocab")
    assert "dir: 1 file that is no text is left out, dir/v.bin.checkpoint: a checkpoint file of wv\n" in done.stderr
