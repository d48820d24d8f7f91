"""The lock of a run: one holder, gone with its process, no trace in the folder."""

import errno
import fcntl
import os
import subprocess
import sys
import threading

import pytest

from tests.processes import Process
from wv_cli.errors import WvError
from wv_cli.io.lock import hold_lock, lock_path

HOLD = """
import sys
from wv_cli.io.lock import hold_lock
with hold_lock(sys.argv[1], "used"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_second_is_refused_until_the_first_has_gone(tmp_path):
    name = tmp_path / "run.checkpoint"
    with hold_lock(name, "another run uses it") as locked:
        assert locked and lock_path(name).name == ".run.checkpoint.wv-lock"
        with (
            pytest.raises(WvError, match=r"run\.checkpoint: another run uses it"),
            hold_lock(name, "another run uses it"),
        ):
            pass
        assert lock_path(name).exists(), "the refused one leaves the holder's file alone"
    with hold_lock(name, "another run uses it"):
        pass
    assert os.listdir(tmp_path) == []


def test_other_spellings_are_the_same_name(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "run")
    with (
        hold_lock(tmp_path / "run", "used"),
        pytest.raises(WvError, match="used"),
        hold_lock(tmp_path / "link", "used"),
    ):
        pass


def test_a_killed_process_holds_nothing(tmp_path):
    name = tmp_path / "run"
    process = Process([sys.executable, "-c", HOLD, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.read(4) == b"held"
    with pytest.raises(WvError, match="used"), hold_lock(name, "used"):
        pass
    process.kill()
    process.communicate()
    assert lock_path(name).exists()
    with hold_lock(name, "used"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_child_does_not_inherit_it(tmp_path):
    with hold_lock(tmp_path / "run", "used"):
        child = Process([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    with hold_lock(tmp_path / "run", "used"):
        pass
    child.communicate(b"\n")


def test_a_file_removed_between_opening_and_locking(tmp_path, monkeypatch):
    """The holder removes the name after we opened the file: a lock on that file is worth nothing."""
    name, real, raced = tmp_path / "run", fcntl.flock, []

    def flock(descriptor, operation):
        if not raced:
            raced.append(descriptor)
            lock_path(name).unlink()
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with hold_lock(name, "used"):
        assert raced and lock_path(name).exists()
        with pytest.raises(WvError, match="used"), hold_lock(name, "used"):
            pass


def test_many_at_once_hold_it_one_at_a_time(tmp_path):
    inside, most, done = [], [], []

    def work():
        while len(done) < 40:
            try:
                with hold_lock(tmp_path / "run", "used"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
                    done.append(1)
            except WvError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1 and os.listdir(tmp_path) == []


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def flock(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with hold_lock(tmp_path / "run", "used") as locked:
        assert not locked


def test_a_place_that_cannot_be_written(tmp_path):
    name = tmp_path / "nowhere" / "run"
    with pytest.raises(WvError, match=r"nowhere/run: cannot make its lock .*no such file"), hold_lock(name, "used"):
        pass
