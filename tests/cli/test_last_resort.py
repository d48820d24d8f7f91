"""What the system refuses and no reader or writer has worded: memory, names, a folder that has gone, a locked file."""

import errno
import io
import os
import shutil
import subprocess
import sys
import weakref
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from tests.conftest import GOLDEN, ROOT
from tests.walk import for_each
from wv_cli import __main__ as entry
from wv_cli.cli import program as entry_program
from wv_cli.errors import NOT_BUILT, WvError
from wv_cli.filtering import rule_set
from wv_cli.io import host, memory, threads
from wv_cli.io.output import commit_together, write_each
from wv_cli.models.glove import model as glove
from wv_cli.text import cuts, raw_files
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import static_folder

LONG = "n" * 251


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are Linux's")
@pytest.mark.parametrize("limit", [30_000, 100_000])
def test_too_little_memory_to_begin(limit):
    code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit << 10},) * 2)\n"
    code += "from wv_cli.__main__ import main; main()"
    asked = [sys.executable, "-c", code, "nn", str(GOLDEN / "gensim.vec"), "the"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    expected = f"the limit on memory (ulimit -v) is {limit} KB, too low to begin; raise it to 320000 or more"
    assert (done.returncode, done.stderr) == (1, f"wv nn: {expected}\n")


def test_the_reason_is_the_limit_on_memory(monkeypatch):
    monkeypatch.setattr(host, "address_space", lambda: 1000)
    assert threads.no_thread_message().endswith("raise the limit on memory (ulimit -v)")
    assert entry._out_of_memory("", {"--dim"}) == "out of memory; lower --dim, or raise the limit on memory (ulimit -v)"
    with pytest.raises(WvError, match=r"x needs 5\.0 KB of memory, but 1\.0 KB are available; y"):
        memory.require(5000, "x", "y")
    monkeypatch.setattr(memory.mmap, "mmap", fails)
    with pytest.raises(WvError, match=r"cannot allocate 0\.02 MB for a matrix of 377 x 16; raise"):
        memory.zeros(377, 16)
    with pytest.raises(WvError, match=r"cannot allocate 4\.00 GB for a matrix of 1,000,000 x 1000; lower --dim"):
        memory.zeros(1_000_000, 1000)


def fails(*_, **__):
    raise OSError(12, "Cannot allocate memory")


def test_code_that_does_not_fit_into_memory(monkeypatch, capsys):
    """A library, a module that Python compiles, a folder that it lists; no other SystemError is out of memory."""

    def check(error):
        monkeypatch.setattr("wv_cli.vectors.formats.checking.check", Mock(side_effect=error))
        return entry.run(["check", str(GOLDEN / "gensim.vec")])

    null = "<built-in function {}> returned NULL without setting an exception"
    library = "libgfortran.so.5: failed to map segment from shared object"
    folder = OSError(errno.ENOMEM, "Cannot allocate memory", "site-packages/numpy")
    for error in (ImportError(library), SystemError(null.format("compile")), folder):
        assert check(error) == 1
        assert capsys.readouterr().err.startswith("wv check: out of memory")
    with pytest.raises(SystemError):
        check(SystemError(null.format("len")))


def test_out_of_memory_without_memory_for_a_message(monkeypatch, capfd):
    """What the work held is given back before; where that is too little, the message is made already."""
    held = []

    def work(*_, **__):
        large = Mock()
        held.append(weakref.ref(large))
        raise MemoryError

    def flags(_):
        assert held[0]() is None
        raise MemoryError

    monkeypatch.setattr("wv_cli.vectors.formats.checking.check", work)
    monkeypatch.setattr(entry_program.wv, "flags", flags)
    assert entry.run(["check", str(GOLDEN / "gensim.vec")]) == 1
    assert capfd.readouterr().err == "wv: out of memory\n"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(24, "Too many open files", "numpy/ma.py"), "too many open files; raise the limit on open files (ul"),
        (OSError(5, "Input/output error"), "standard input or an open file cannot be read: input/output error; look f"),
    ],
)
def test_files_that_are_not_the_users(monkeypatch, capsys, error, told):
    """Where a module is imported, or where standard input was a terminal that has gone."""
    monkeypatch.setattr("wv_cli.vectors.formats.checking.check", Mock(side_effect=error))
    assert entry.run(["check", str(GOLDEN / "gensim.vec")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"wv check: {told}") and said.count("\n") == 1


class Broken(io.RawIOBase):
    """What a disk gives that has lost it."""

    def readable(self):
        return True

    def readinto(self, view):
        raise OSError(5, "Input/output error")


@for_each("read", [cuts.is_packed, rule_set.file_digest, lambda path: glove._read_doubles(Broken(), path, 1)])
def test_a_broken_disk_is_said_of_the_file(read, tmp_path):
    """Wherever a file is read: `python -m tests.fuzz.allocations --reads` tries every read of every command."""
    path = tmp_path / "lost"
    path.touch()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(WvError, match="lost: cannot read: input/output error"):
        patch.setattr(raw_files, "open_bytes", lambda *_, **__: Broken())
        patch.setattr(Path, "open", lambda *_, **__: Broken())
        read(str(path))


def test_a_file_of_numbers_is_cut_short(tmp_path):
    with pytest.raises(WvError, match="numbers: was cut short"):
        glove._read_doubles(io.BytesIO(bytes(12)), "numbers", 2)


AMONG_SOURCES = [
    ("-m", "wv_cli", "nn", "v.bin", "the"),
    ("-c", "import wv_cli; wv_cli.nn('v.bin', ['the'])"),
    ("-c", "import wv_cli.fasttext"),
    ("-c", "from wv_cli.gensim.models import Word2Vec"),
]


@for_each("call", AMONG_SOURCES)
def test_started_among_the_sources(call, tmp_path):
    """A checkout without compiled modules comes first on Python's path. -S: no import hook of an editable install."""
    ours = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "wv_cli", tmp_path / "wv_cli", ignore=ours, dirs_exist_ok=True)
    env = os.environ | {"PYTHONSAFEPATH": "", "PYTHONPATH": str(Path(np.__file__).parents[1])}
    asked = [sys.executable, "-S", *call]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert done.stderr.endswith(f"{NOT_BUILT}\n")
    assert call[0] == "-c" or done.stderr == f"wv nn: {NOT_BUILT}\n"


CALLS = [
    ["train", GOLDEN / "gensim.vec", "-o", f"{LONG}.vec", "--force-text"],
    ["convert", GOLDEN / "gensim.vec", f"{LONG}.vec"],
    ["nn", f"{LONG}xxxxx.vec", "the"],
    ["build-vocab", f"{LONG}xxxxx", "-o", "v"],
    ["convert", GOLDEN / "gensim.vec", f"{LONG}xxxxx.vec"],
]


@for_each("call", CALLS)
def test_a_name_that_is_too_long(call, wv):
    done = wv(*call)
    assert done.returncode == 1 and "choose a shorter" in done.stderr, done.stderr
    assert "Errno" not in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_folder_that_has_gone(tmp_path, monkeypatch, capsys):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert entry.run(["convert", str(GOLDEN / "gensim.vec"), "x.bin"]) == 1
    assert capsys.readouterr().err == "wv convert: the current folder has been removed; change to another one\n"


def test_a_read_only_output(wv, tmp_path):
    (tmp_path / "old.vec").write_text("1 1\na 1\n")
    (tmp_path / "text").write_text("a b c d\n" * 50)
    (tmp_path / "old.vec").chmod(0o444)
    done = wv("convert", GOLDEN / "gensim.vec", "old.vec")
    assert done.returncode == 1 and done.stderr == (
        "wv convert: old.vec: cannot write: the file is read-only (mode 444); "
        "make it writable (chmod u+w) or write to another file\n"
    )
    train = ["train", "text", "-o", "old.vec", "--dim", "2", "--epochs", "1", "--min-count", "1", "-q"]
    done = wv(*train)
    assert done.returncode == 1 and done.stderr.endswith("(mode 444); give --overwrite to replace it\n")
    assert (tmp_path / "old.vec").read_text() == "1 1\na 1\n"
    assert wv(*train, "--overwrite").returncode == 0 and (tmp_path / "old.vec").read_text() != "1 1\na 1\n"


def test_a_failed_static_embedding_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(static_folder.safetensors, "write", fails)
    vectors = Embeddings(["a", "b"], np.eye(2))
    with pytest.raises(WvError, match="cannot write"):
        static_folder.save_folder(tmp_path / "new", vectors)
    assert os.listdir(tmp_path) == []
    (tmp_path / "old").mkdir()
    with pytest.raises(WvError, match="cannot write"):
        static_folder.save_folder(tmp_path / "old", vectors)
    assert os.listdir(tmp_path) == ["old"]


def test_nor_does_one_of_several_outputs(tmp_path, monkeypatch):
    """Its small files are complete, and wait for the other outputs, when its matrix cannot be written."""
    monkeypatch.setattr(static_folder.safetensors, "write", fails)
    vectors = Embeddings(["a", "b"], np.eye(2))
    with pytest.raises(WvError, match="cannot write"), commit_together():
        write_each([(str(tmp_path / "new"), lambda path: static_folder.save_folder(Path(path), vectors))])
    assert os.listdir(tmp_path) == []


def test_a_link_that_leads_to_itself_is_no_output(wv, tmp_path):
    """It is refused before the training, which would leave a checkpoint."""
    (tmp_path / "text").write_text("a b\n" * 9)
    (tmp_path / "loop.vec").symlink_to("loop.vec")
    done = wv("train", "text", "-o", "loop.vec", "--dim", "2", "--epochs", "1", "--min-count", "1", "-q")
    assert (done.returncode, sorted(os.listdir(tmp_path))) == (1, ["loop.vec", "text"])
    assert "a symbolic link that leads to itself; remove it" in done.stderr


def test_the_process_ends_without_freeing_its_objects(monkeypatch):
    left = Mock()
    monkeypatch.setattr(os, "_exit", left)
    monkeypatch.setattr(entry, "_ended", [])
    entry._leave()  # an error that nobody has worded: Python shows it
    entry._ended.append(3)
    entry._leave()
    left.assert_called_once_with(3)
