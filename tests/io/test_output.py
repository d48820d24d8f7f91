"""Files that appear whole or not at all, alone and together: disks that fill, signals, other writers."""

import errno
import fcntl
import io
import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from wv_cli.errors import BadFile, MissingFile, WvError
from wv_cli.io import output, temporary
from wv_cli.io.interrupts import defer_signals
from wv_cli.io.output import commit_separately, commit_together, open_output, write_together
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load, save
from wv_cli.words import WordList


def vectors(words: str) -> Embeddings:
    return Embeddings(WordList.from_words(words), np.full((len(words), 3), ord(words[0]), np.float32))


class Disk:
    """The system calls of an output; the `fails`-th of them meets a full disk. `calls` are their names."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails: int, error: type[BaseException] | int = errno.ENOSPC):
        self.calls: list[str] = []
        self.fails, self.error = fails, error
        disk = self

        class File(temporary.File):
            def write(self, data):
                disk.call("write")
                return super().write(data)

        monkeypatch.setattr(temporary, "File", File)
        for owner, name in [(os, "fsync"), (os, "fchmod"), (Path, "replace")]:
            monkeypatch.setattr(owner, name, self.wrapped(name, getattr(owner, name)))

    def wrapped(self, name, function):
        def call(*arguments):
            self.call(name)
            return function(*arguments)

        return call

    def call(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self.fails:
            if isinstance(self.error, int):
                raise OSError(self.error, os.strerror(self.error))
            raise self.error


class Killing(Disk):
    """The same, and the call ends the process."""

    def call(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self.fails:
            os.kill(os.getpid(), signal.SIGKILL)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["v.npy", "v.tsv"])
@pytest.mark.parametrize("error", [errno.ENOSPC, MemoryError, KeyboardInterrupt])
def test_a_pair_is_old_or_new_whatever_call_fails(name, error, tmp_path, monkeypatch):
    path = tmp_path / name
    save(path, vectors("abc"))
    old = contents(tmp_path)
    save(path, vectors("xyz"))
    new = contents(tmp_path)
    save(path, vectors("abc"))
    last = 0
    for number in range(1, 40):
        with monkeypatch.context() as patch:
            disk = Disk(patch, number, error)
            try:
                save(path, vectors("xyz"))
            except (WvError, MemoryError, KeyboardInterrupt) as caught:
                told = str(caught)
            else:
                break
        found, last = contents(tmp_path), number
        # In the middle of the renames alone the pair may differ; then the message says it, and the reader of .npy.
        if disk.calls[number - 1] == "replace" and disk.calls[:number].count("replace") == 2:
            assert "do not belong together" in told or error != errno.ENOSPC
            if name == "v.npy":
                with pytest.raises(BadFile, match=r"v\.words\.txt: the words are not those .*v\.npy was written with"):
                    load(path)
        elif found != new:
            assert found == old, f"call {number}: {disk.calls}"
            assert "nothing that was there has been changed" in told or error != errno.ENOSPC
        save(path, vectors("abc"))
    assert last >= 8 and contents(tmp_path) == new


def test_nothing_appears_before_all_is_on_the_disk(tmp_path, monkeypatch):
    disk = Disk(monkeypatch, 0)
    with commit_together():
        for name in "abc":
            with open_output(tmp_path / name) as stream:
                stream.write(name.encode())
        assert {path.name[:3] for path in tmp_path.iterdir()} == {".a.", ".b.", ".c."}
    assert contents(tmp_path) == {"a": b"a", "b": b"b", "c": b"c"}
    calls = [call for call in disk.calls if call in ("fsync", "replace")]
    assert calls == ["fsync"] * 3 + ["replace"] * 3 + ["fsync"], "files, renames, and their folder once"


@pytest.mark.parametrize("at_once", [True, False])
def test_a_folder_that_is_removed_meanwhile(tmp_path, at_once):
    """The way out was to check the spelling of a path that was right hours ago."""
    folder = tmp_path / "out"
    folder.mkdir()
    wanted = rf"out/a: cannot write: the folder {folder} does not exist; create it first"
    with pytest.raises(WvError, match=wanted):
        if at_once:
            shutil.rmtree(folder)
        with open_output(folder / "a"):
            shutil.rmtree(folder)


def test_one_that_fails_takes_all_with_it(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(RuntimeError), commit_together():
        with open_output(tmp_path / "a") as stream:
            stream.write(b"new")
        raise RuntimeError
    assert contents(tmp_path) == {"a": b"old"}


def test_locked_until_all_are_renamed(tmp_path):
    """What is complete and waits must not be written by another process."""
    with commit_together():
        with open_output(tmp_path / "a") as stream:
            stream.write(b"a")
        with next(tmp_path.glob(".a.*.wv-tmp")).open("rb") as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_another_writer_is_refused(tmp_path):
    with (
        open_output(tmp_path / "a") as stream,
        pytest.raises(WvError, match="another process is writing"),
        open_output(tmp_path / "a"),
    ):
        raise AssertionError
    stream.close()
    with commit_together():
        with open_output(tmp_path / "b"):
            pass
        with pytest.raises(WvError, match="named twice"), open_output(tmp_path / "b"):
            raise AssertionError


def test_a_file_system_without_locks_can_be_written(tmp_path, monkeypatch):
    def flock(descriptor, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with open_output(tmp_path / "a") as stream:
        stream.write(b"x")
    assert contents(tmp_path) == {"a": b"x"}


def test_a_checkpoint_does_not_wait(tmp_path):
    with commit_together():
        with open_output(tmp_path / "a"):
            pass
        with commit_separately(), open_output(tmp_path / "checkpoint"):
            pass
        assert {path.name[:3] for path in tmp_path.iterdir()} == {".a.", "che"}


def test_streams_come_last_and_a_closed_pipe_keeps_the_files(tmp_path, monkeypatch):
    order = []

    def write(path):
        order.append(path)
        with open_output(path) as stream:
            stream.write(b"x")
            if path == "-":
                raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    paths = ["-", str(tmp_path / "a"), "/dev/null", str(tmp_path / "b")]
    with pytest.raises(BrokenPipeError):
        write_together((path, write) for path in paths)
    assert order == [str(tmp_path / "a"), str(tmp_path / "b"), "-"]
    assert contents(tmp_path) == {"a": b"x", "b": b"x"}


def lines_of_opening(action) -> int:
    """How many lines of output.py `action` runs."""
    return raising_at(0, action)


def raising_at(number: int, action) -> int:
    """Runs `action`; a KeyboardInterrupt comes before the `number`-th line of output.py. Returns the lines run."""
    count = 0

    def line(frame, event, argument):
        nonlocal count
        if event == "line":
            count += 1
            if count == number:
                sys.settrace(None)
                raise KeyboardInterrupt
        return line

    def call(frame, event, argument):
        code = frame.f_code
        places = (output.__file__, "open_output"), (temporary.__file__, "create")
        return line if (code.co_filename, code.co_name) in places else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        action()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return count


def test_no_stray_whatever_line_is_interrupted(tmp_path):
    def action():
        with open_output(tmp_path / "a") as stream:
            stream.write(b"new")

    total = lines_of_opening(action)
    assert total > 15
    for number in range(1, total + 1):
        (tmp_path / "a").write_bytes(b"old")
        raising_at(number, action)
        assert set(contents(tmp_path)) == {"a"}, f"line {number} leaves a temporary"


@pytest.mark.parametrize("what", ["File", "io.BufferedWriter"])
def test_no_stray_when_memory_fails(what, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(f"wv_cli.io.temporary.{what}", fail)
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    with pytest.raises(MemoryError), open_output(tmp_path / "a"):
        raise AssertionError
    assert contents(tmp_path) == {}
    assert sys.platform != "linux" or len(os.listdir("/proc/self/fd")) <= before


def test_signals_wait_and_then_come():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append("handled"))
    try:
        with defer_signals():
            signal.raise_signal(signal.SIGTERM)
            with defer_signals():
                signal.raise_signal(signal.SIGTERM)
            assert seen == []
        assert seen == ["handled"] * 2
        with pytest.raises(KeyboardInterrupt), defer_signals():
            signal.raise_signal(signal.SIGINT)
            seen.append("after")
        assert seen[-1] == "after"
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_signal_between_the_renames_waits(tmp_path, monkeypatch):
    replace = Path.replace

    def interrupted(path, target):
        result = replace(path, target)
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path / "v.npy", vectors("abc"))
    assert list(load(tmp_path / "v.npy").words) == ["a", "b", "c"]


def test_killed_at_any_call_the_pair_is_whole_or_refused(tmp_path, monkeypatch):
    path = tmp_path / "v.npy"
    kinds = set()
    for number in range(1, 40):
        save(path, vectors("abc"))
        child = os.fork()
        if child == 0:
            try:
                Killing(monkeypatch, number)
                save(path, vectors("xyz"))
                os._exit(0)
            finally:  # else the child goes on with the tests
                os._exit(99)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert ended in (0, -signal.SIGKILL)
        try:
            found = load(path)
            kinds.add((bytes(found.words[0], "ascii"), float(found.matrix[0, 0])))
        except BadFile as error:
            assert "the words are not those" in str(error)
            kinds.add("refused")
        if ended == 0:
            break
    assert ended == 0 and kinds == {(b"a", 97.0), (b"x", 120.0), "refused"}


def test_an_input_that_is_missing_is_no_fault_of_the_output(tmp_path):
    """MissingFile is an OSError, too, as gensim's users expect it."""
    with pytest.raises(MissingFile, match="in: cannot read"), open_output(tmp_path / "out"):
        raise MissingFile("in: cannot read")
    assert not [*tmp_path.iterdir()]
