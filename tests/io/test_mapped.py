"""A mapped file that is cut short or changed while it is in use: one line, exit code 1, and nobody else's signals."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.processes import PATIENCE, Process
from wv_cli import __main__ as entry
from wv_cli.errors import WvError
from wv_cli.io import host
from wv_cli.io.input import open_input
from wv_cli.io.mapped import map_pages, require_unchanged
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import DenseMatrix, FastTextArgs, FastTextModel
from wv_cli.vectors.formats import save, word2vec_binary
from wv_cli.vectors.formats.fasttext_bin import load_model, save_model
from wv_cli.words import WordList


@pytest.fixture
def model(tmp_path):
    """A fastText model of 6 MB."""
    count, dim = 5000, 300
    args = FastTextArgs(dim=dim, buckets=0, minn=0, maxn=0)
    words = WordList.from_words(f"w{i}" for i in range(count))
    matrix = DenseMatrix(np.ones((count, dim), np.float32))
    path = tmp_path / "big\x1b[31m.bin"
    none = (WordList.from_words([]), np.empty(0, np.int64))
    save_model(path, FastTextModel(args, words, np.arange(count, 0, -1), *none, 9, None, matrix, matrix))
    return path


def wv(*arguments):
    call = [sys.executable, "-m", "wv_cli", *map(str, arguments)]
    return Process(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answer(process, word):
    process.stdin.write(word + b"\n")
    process.stdin.flush()
    return process.stdout.readline()


def test_cut_short_while_it_is_asked(model):
    with wv("vectors", model) as process:
        assert answer(process, b"w0").startswith(b"w0 1")
        os.truncate(model, 200_000)
        process.stdin.write(b"w4999\n")
        process.stdin.close()
        assert (process.stdout.read(), process.wait(PATIENCE)) == (b"", 1)
        told = process.stderr.read().decode()
    assert told.count("\n") == 1 and told.startswith("wv: ") and "big\\x1b[31m.bin: was cut short" in told


def test_other_bus_errors_are_nobody_elses_business(model):
    """A signal that is sent, and a fault in another mapping, end the process as ever."""
    for code in ["os.kill(os.getpid(), signal.SIGBUS)", "m = mmap.mmap(f.fileno(), 9000); f.truncate(0); m[8999]"]:
        program = (
            "import os, signal, mmap, sys, tempfile\n"
            "from wv_cli.vectors.formats.fasttext_bin import load_model\n"
            "model = load_model(sys.argv[1]); f = tempfile.TemporaryFile(); f.write(bytes(9000)); f.flush()\n" + code
        )
        done = subprocess.run([sys.executable, "-c", program, model], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (-signal.SIGBUS, b"")


def test_changed_without_a_missing_page(model):
    """The end of the last page reads as zeros, a file written anew in its place as what is there: found at the end."""
    with wv("vectors", model) as process:
        assert answer(process, b"w0").startswith(b"w0 1")
        size = model.stat().st_size
        with model.open("r+b") as file:
            file.seek(size // 2)
            file.write(bytes(4096))
        process.stdin.close()
        assert process.wait(PATIENCE) == 1
        told = process.stderr.read().decode()
    assert told.count("\n") == 1 and "was changed by another process while it was read" in told


def test_changed_between_two_looks(tmp_path, monkeypatch, capfd):
    """A row is not finite, and is when the message about it reads it once more."""
    path, explain = tmp_path / "v.bin", word2vec_binary.explain
    path.write_bytes(b"1 1\na \x00\x00\xc0\x7f\n")

    def explain_later(run, header):
        path.write_bytes(b"1 1\na \x00\x00\xc0\x3f\n")
        os.utime(path, (1, 1))
        return explain(replace(run, data=path.read_bytes()[4:-1]), header)

    monkeypatch.setattr(word2vec_binary, "explain", explain_later)
    assert entry.run(["similarity", str(path), "a", "a"]) == 1
    assert "v.bin: was changed by another process while it was read" in capfd.readouterr().err


def test_a_file_renamed_over_it_changes_nothing(model):
    with wv("vectors", model) as process:
        assert answer(process, b"w0").startswith(b"w0 1")
        (model.parent / "new").write_bytes(b"new")
        (model.parent / "new").rename(model)
        assert answer(process, b"w4999").startswith(b"w4999 1")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_guards_end_with_their_mappings(model):
    """More models than there is room for, one after the other and at once; nothing is left open."""

    def opened():
        return len(os.listdir("/proc/self/fd"))

    gc.collect()  # what other tests have left, who may write over a file that is mapped
    with contextlib.suppress(WvError):
        require_unchanged()
    before = opened()
    for _ in range(200):
        load_model(model)
    assert opened() <= before
    held = [load_model(model) for _ in range(70)]
    assert all(float(one.input.take([4999])[0, 0]) == 1 for one in held)
    del held
    assert opened() <= before
    require_unchanged()
    load_model(model)
    held = load_model(model)
    time.sleep(0.02)
    os.utime(model)
    del held
    with pytest.raises(WvError, match="was changed by another process"):
        require_unchanged()
    require_unchanged()


def test_vectors_are_not_mapped(tmp_path):
    """Other formats are read through a buffer: a short file is an error of its own."""
    for name in ("v.bin", "v.npy"):
        save(tmp_path / name, Embeddings(WordList.from_words(["a"]), np.ones((1, 3), np.float32)))
    code = "import sys, mmap\nfrom wv_cli import load\nmmap.mmap = None\n[load(path) for path in sys.argv[1:]]"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "v.bin", tmp_path / "v.npy"], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("places, mapped", [(15, False), (16, True)])
def test_all_pages_are_mapped_for_many_places_only(tmp_path, monkeypatch, places, mapped):
    """A few questions to a large model must not read all of it."""
    path, seen = tmp_path / "file", []
    path.write_bytes(b"x" * (1 << 20))
    want = host.want_all_pages
    monkeypatch.setattr(host, "want_all_pages", lambda block: (seen.append(len(block)), want(block)))
    with open_input(path) as source:
        contents = source.contents()
        assert map_pages(contents, places) == mapped
    assert seen == [1 << 20] * mapped
    assert bytes(contents) == b"x" * (1 << 20)


def test_what_is_not_mapped_needs_no_pages():
    assert not map_pages(memoryview(b"x"), 100)
