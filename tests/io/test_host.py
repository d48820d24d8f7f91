"""The one module that knows systems: both of its ways do the same, and no other module asks."""

import ast
import json
import mmap
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_wv
from wv_cli.io import host, memory
from wv_cli.io.memory import zeros

WAYS = pytest.mark.parametrize("linux", sorted({host.LINUX, False}), ids=lambda linux: "linux" if linux else "portable")
# What only some systems have, and questions after which they are.
ASKED = re.compile(
    r"/proc/|/sys/|\b(sched_\w+|posix_f\w+|madvise|MADV_\w+|preadv|pwritev|O_TMPFILE|O_PATH|memfd_create|renameat2|sendfile|"
    r"copy_file_range|splice|getrusage|RLIMIT_\w+|sysconf|F_FULLFSYNC|fsync|uname|platform\.system)\b|sys\.platform"
)


@pytest.fixture
def way(linux, monkeypatch):
    monkeypatch.setattr(host, "LINUX", linux)


def text_outside_docstrings(path):
    """Names and strings of a module that are not its docstrings."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
    return ast.unparse(tree)


def test_no_other_module_asks_which_system_this_is():
    asking = {
        str(path.relative_to(ROOT)): found[0]
        for path in (ROOT / "wv_cli").rglob("*.py")
        if (found := ASKED.search(text_outside_docstrings(path)))
    }
    assert list(asking) == ["wv_cli/io/host.py"], asking


@WAYS
def test_how_much_there_is(way):
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < host.free_memory() <= total
    assert 0 < host.resident() <= host.peak_memory() * 1.5 < total
    before = host.peak_memory()
    block = b"\1" * (before + (64 << 20))
    assert host.peak_memory() > len(block) and host.resident() > len(block)
    assert 1 <= host.processors() <= os.cpu_count()


def test_the_processors_are_those_that_the_process_may_use():
    all_of_them = host.usable()
    if len(all_of_them) < 2:
        pytest.skip("needs two processors")
    one = {min(all_of_them)}
    try:
        os.sched_setaffinity(0, one)
        assert host.usable() == one
    finally:
        os.sched_setaffinity(0, all_of_them)


def test_where_the_system_does_not_say_all_processors_are_ours(monkeypatch):
    monkeypatch.setattr(host, "LINUX", False)
    assert host.usable() == set()


@WAYS
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="the system has no such limit")
def test_a_limit_of_the_process_counts(way, monkeypatch):
    limit = 1 << 50
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limit, limit))
    assert 0 < host.address_space() < limit
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1, limit))
    assert host.address_space() == 0 == memory.available()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, limit))
    assert host.address_space() is None


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are Linux's")
def test_what_the_starting_process_took_does_not_count():
    """A shell or a test runner of a gigabyte starts a command that has half of one."""
    code = "import resource; from wv_cli.io import host; resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))"
    block = b"\1" * (1 << 29)
    command = [sys.executable, "-c", f"{code}; assert host.address_space() > 1 << 28, host.address_space()"]
    done = subprocess.run(command, env={**os.environ, "WV_PORTABLE": "1"}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and len(block)


def test_without_proc_the_machine_s_memory_counts(monkeypatch):
    def missing(self, *arguments, **options):
        raise FileNotFoundError(2, "No such file or directory", str(self))

    monkeypatch.setattr(Path, "read_text", missing)
    assert memory.available() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert host.resident() == host.peak_memory()
    monkeypatch.setattr(os, "sysconf", lambda name: -1)  # "not known"
    assert memory.available() is None


@WAYS
@pytest.mark.parametrize("length", [1, mmap.PAGESIZE, 3_000_001])
def test_reserved_is_zeros_on_the_disk(way, length):
    with tempfile.TemporaryFile() as file:
        host.reserve(file.fileno(), length)
        status = os.fstat(file.fileno())
        assert status.st_size == length and status.st_blocks * 512 >= length
        assert not any(file.read())


@WAYS
def test_a_full_disk_is_an_error_before_anything_is_mapped(way):
    """A file may be no longer than so: the error of a full disk comes in the same place."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with tempfile.TemporaryFile() as file, pytest.raises(OSError, match="File too large"):
            host.reserve(file.fileno(), 3_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@WAYS
def test_read_at_reads_there_and_ends_with_the_file(way):
    text = bytes(range(256)) * 10_000
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.flush()
        out = bytearray(300)
        assert host.read_at(file.fileno(), memoryview(out), 1000) == 300 and out == text[1000:1300]
        assert host.read_at(file.fileno(), memoryview(out), len(text) - 10) == 10 and out[:10] == text[-10:]
        assert host.read_at(file.fileno(), memoryview(out), len(text)) == 0
        whole = bytearray(len(text))
        assert 0 < host.read_at(file.fileno(), memoryview(whole), 0) <= len(text)


@WAYS
def test_the_disk_is_asked_to_begin(way, linux):
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(bytes(100_000))
        assert host.start_sync(file.fileno()) == linux
    assert not host.start_sync(-1)


@WAYS
def test_what_was_let_go_is_still_in_the_file(way, linux):
    with tempfile.TemporaryFile() as file:
        length = 8 * mmap.PAGESIZE
        host.reserve(file.fileno(), length)
        mapped = mmap.mmap(file.fileno(), length)
        mapped[:] = b"x" * length
        for size in (None, 0, 3, 5 * mmap.PAGESIZE + 3):
            assert host.let_go(mapped, size) == linux
        assert mapped[:] == b"x" * length


@WAYS
def test_matrices_are_zero_with_and_without_huge_pages(way):
    assert not zeros(3, 16).any()


def test_the_portable_way_makes_the_same_files(slice_text, tmp_path):
    """Trained with ids in a file, counted with records in files, in one thread: all that host.py does otherwise."""
    common = ["--dim", 8, "--threads", 1, "-q", "--memory"]
    files = {}
    for portable in ("0", "1"):
        folder = tmp_path / portable
        folder.mkdir()
        for command in (
            ["train", slice_text, "-o", "a.bin", "--epochs", 1, *common, 100_000],
            ["glove", slice_text, "-o", "b.vec", "--iterations", 1, *common, "64M"],
        ):
            run = run_wv(*command, env={"WV_PORTABLE": portable}, cwd=folder)
            assert run.returncode == 0, run.stderr
        assert json.loads((folder / "a.bin.meta.json").read_text())["peak_memory_bytes"] > 1 << 20
        files[portable] = [(folder / name).read_bytes() for name in ("a.bin", "b.vec")]
    assert files["0"] == files["1"]
