"""Tasks on several threads: each once, errors carried to the caller."""

import os
import threading
import time

import pytest

from tests.processes import PATIENCE
from wv_cli.io import host
from wv_cli.io import threads as threads_module
from wv_cli.io.host import processors
from wv_cli.io.threads import Backlog, in_order, read_ahead, run_all


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


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_order_and_before_the_error_of_a_later_argument(threads):
    def arguments():
        yield from range(20)
        raise RuntimeError("behind the last")

    def task(number):
        time.sleep(0.001 * (number % 3))
        return number

    found = []
    with pytest.raises(RuntimeError, match="behind the last"):
        for number in in_order(task, arguments(), threads):
            found.append(number)
    assert found == list(range(20))


def test_an_error_of_a_task_comes_at_its_place():
    def task(number):
        if number == 3:
            raise RuntimeError("task 3")
        return number

    found = []
    with pytest.raises(RuntimeError, match="task 3"):
        for number in in_order(task, range(20), 2):
            found.append(number)
    assert found == [0, 1, 2]


def test_what_is_read_ahead_is_bounded_and_stops(monkeypatch):
    monkeypatch.setattr(threads_module, "_PATIENCE", PATIENCE)
    made = []

    def items():
        for number in range(1000):
            made.append(number)
            yield number
        raise AssertionError

    ahead = read_ahead(items(), "test")
    assert [next(ahead) for _ in range(5)] == [0, 1, 2, 3, 4]
    ahead.close()
    assert 5 <= len(made) <= 9 and not any(thread.name == "test" for thread in threading.enumerate())

    def broken():
        yield 1
        raise RuntimeError("item 2")

    ahead = read_ahead(broken(), "test")
    assert next(ahead) == 1
    with pytest.raises(RuntimeError, match="item 2"):
        next(ahead)


def test_what_is_read_ahead_may_be_closed_by_its_own_thread():
    """As the garbage collector does that runs there."""
    taken, closed, found = threading.Event(), threading.Event(), []

    def items():
        yield 1
        taken.wait(PATIENCE)
        try:
            ahead.close()
        except RuntimeError as error:
            found.append(error)
        closed.set()

    ahead = read_ahead(items(), "test")
    assert next(ahead) == 1
    taken.set()
    assert closed.wait(PATIENCE) and not found


@pytest.mark.parametrize("threads", [1, 2])
def test_a_backlog_calls_in_order_and_tells_of_an_error(threads):
    done: list[int] = []
    backlog = Backlog(threads)
    for number in range(20):
        backlog.call(lambda number=number: done.append(number))
    backlog.wait()
    assert done == list(range(20))

    def fail():
        raise RuntimeError("a call")

    with pytest.raises(RuntimeError, match="a call"):
        backlog.call(fail)
        backlog.wait()
    backlog.close()
