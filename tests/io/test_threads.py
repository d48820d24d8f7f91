"""Tasks on several threads: each once, errors carried to the caller."""

import os
import threading

import pytest

from wv_cli.io import host
from wv_cli.io.host import processors
from wv_cli.io.threads import run_all


def test_processors_are_those_this_process_may_use():
    assert 1 <= processors() <= (os.cpu_count() or 1)
    if host.LINUX:
        mine = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(mine)})
        try:
            assert processors() == 1
        finally:
            os.sched_setaffinity(0, mine)


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
