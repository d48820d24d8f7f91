"""Names of temporary files and locks that somebody may have planted, and what a killed process leaves."""

import fcntl
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from wv_cli.errors import WvError
from wv_cli.io import host
from wv_cli.io.lock import hold_lock, lock_path
from wv_cli.io.output import open_output, remove_output
from wv_cli.io.temporary import Temporary

KILLED = """
import os, signal, sys
from wv_cli.io.output import open_output
with open_output(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def write(path: Path, data: bytes = b"new") -> None:
    with open_output(path) as stream:
        stream.write(data)


def temporaries(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".wv-tmp")]


def test_a_large_file_goes_to_the_disk_while_it_grows(tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr(host, "start_sync", lambda descriptor: sizes.append(os.fstat(descriptor).st_size))
    data = random.Random(1).randbytes(1_000_003)
    with open_output(tmp_path / "a") as stream:
        for first in range(0, 20):
            stream.write(data[: 999_983 + first])
            stream.write(b"between")
    assert len(sizes) == 2 and 8_000_000 < sizes[0] < 10_000_000 and 16_000_000 < sizes[1] < 20_000_000
    expected = b"".join(data[: 999_983 + first] + b"between" for first in range(20))
    assert (tmp_path / "a").read_bytes() == expected


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_planted_link_is_not_written_through(link, tmp_path):
    """Names that begin and end like a temporary's: what they lead to stays, and so do they."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    for name in (".a.wv-tmp", ".a.0.wv-tmp", f".a.{0:016x}00000000.wv-tmp"):
        link(victim, tmp_path / name)
    write(tmp_path / "a")
    remove_output(tmp_path / "a")
    assert victim.read_bytes() == b"precious" and len(temporaries(tmp_path)) == 3


def test_a_name_that_is_taken_already_is_never_opened(tmp_path, monkeypatch):
    """Even if it could be foreseen."""
    for name in ("time.time_ns", "secrets.token_hex"):
        monkeypatch.setattr(name, lambda *_: 0)
    (tmp_path / f".a.{0:016x}0.wv-tmp").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WvError, match="cannot write"):
        write(tmp_path / "a")
    assert not (tmp_path / "elsewhere").exists()


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a"], check=False)
        assert done.returncode == -9 and len(temporaries(tmp_path)) == 1
    write(tmp_path / "other")
    assert len(temporaries(tmp_path)) == 1
    write(tmp_path / "a")
    assert temporaries(tmp_path) == [] and (tmp_path / "a").read_bytes() == b"new"


def test_of_two_that_write_one_file_the_second_is_refused(tmp_path):
    first = Temporary("a", tmp_path / "a")
    first.create()
    with pytest.raises(WvError, match="another process is writing"):
        write(tmp_path / "a")
    first.finish()
    first.rename()
    first.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_another_file_whose_name_begins_alike_is_no_obstacle(tmp_path):
    others = [Temporary(name, tmp_path / name) for name in ("a.1", f"a.{0:024x}")]
    for other in others:
        other.create()
    write(tmp_path / "a")
    assert len(temporaries(tmp_path)) == len(others), "they are in use"
    for other in others:
        other.close()


def test_one_taken_for_a_stray_before_it_is_locked_begins_again(tmp_path, monkeypatch):
    lock, removed = fcntl.flock, []

    def flock(descriptor, how):
        if not removed:
            removed.extend(tmp_path.glob(".a.*.wv-tmp"))
            removed[0].unlink()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    write(tmp_path / "a")
    assert removed and (tmp_path / "a").read_bytes() == b"new" and temporaries(tmp_path) == []


@pytest.mark.parametrize("name", ["x" * 255, "\u00fc" * 127, "x" * 181])
def test_the_longest_names_can_be_written(name, tmp_path):
    write(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_mode_and_for_root_owner_stay(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    if os.geteuid() == 0:
        os.chown(tmp_path / "a", 12345, 23456)
    before = (tmp_path / "a").stat()
    write(tmp_path / "a")
    found = (tmp_path / "a").stat()
    assert (found.st_mode, found.st_uid, found.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_a_planted_lock_is_refused(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    name = lock_path(tmp_path / "run")
    for plant in (name.symlink_to, name.hardlink_to):
        plant(victim)
        with pytest.raises(WvError, match=r"lock .* remove it"), hold_lock(tmp_path / "run", "used"):
            raise AssertionError
        name.unlink()
    os.mkfifo(name)
    with pytest.raises(WvError, match=r"lock .* no plain file"), hold_lock(tmp_path / "run", "used"):
        raise AssertionError
