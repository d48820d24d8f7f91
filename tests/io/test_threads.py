"""Tasks on several threads: each once, errors carried to the caller."""

import os
import threading

import pytest

from wv_cli.io import host
from wv_cli.io.host import processors
from wv_cli.io.threads import run_all


def test_processors_are_those_this_process_may_use(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert 1 <= processors() <= (os.cpu_count() or 1)
    if host.LINUX:
        mine = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(mine)})
        try:
            assert processors() == 1
        finally:
            os.sched_setaffinity(0, mine)


@pytest.mark.parametrize(("named", "count"), [("3", 3), (" 2,1", 2), ("99", 8), ("0", 8), ("-1", 8), ("all", 8)])
def test_omp_num_threads_is_a_limit(named, count, monkeypatch):
    monkeypatch.setattr(host, "usable", lambda: set(range(8)))
    monkeypatch.setattr(host, "_share_of_time", lambda: None)
    monkeypatch.setenv("OMP_NUM_THREADS", named)
    assert processors() == count


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"cpu.max": "250000 100000"}, 2),
        ({"cpu.max": "50000 100000"}, 1),
        ({"cpu.max": "max 100000"}, 8),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ({}, 8),
    ],
)
def test_the_share_of_a_control_group_is_a_limit(files, count, tmp_path, monkeypatch):
    monkeypatch.setattr(host, "LINUX", True)
    monkeypatch.setattr(host, "usable", lambda: set(range(8)))
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr(host, "CONTROL_GROUP", tmp_path)
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n")
    assert processors() == count


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_every_task_runs_once(threads):
    lock, done = threading.Lock(), []

    def task(number):
        with lock:
            done.append(number)

    run_all(task, range(50), threads)
    assert sorted(done) == list(range(50)) and (threads == 3 or done == list(range(50)))


def test_an_error_reaches_the_caller():
    def task(number):
        if number == 5:
            raise RuntimeError("task 5")

    with pytest.raises(RuntimeError, match="task 5"):
        run_all(task, range(50), 2)
