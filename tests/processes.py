"""Processes that tests start. None outlives its test, however that ends: it would train on beside the tests that
follow, write into their folders, and warn in one of them that has nothing to do with it.

    process = Process([WV, "train", ...], stderr=PIPE)          # ended by conftest.py
    with Process([...], stdin=PIPE) as process: ...             # not waited for where the block raises

`PATIENCE` is for whatever waits for a process: no result of a test depends on it, so that it may be long.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PATIENCE = 300.0  # seconds

_started: "list[Process]" = []


class Process(subprocess.Popen[Any]):
    """A Popen that ends with its test, and with it all processes of a session that it was given."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._leads = bool(options.get("start_new_session"))
        super().__init__(*arguments, **options)
        _started.append(self)

    def __exit__(self, kind: Any, *error: Any) -> None:
        if kind is not None:
            self.end()
        super().__exit__(kind, *error)

    def end(self) -> None:
        """Kills what there is left, and closes the pipes."""
        if self._leads:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        if self.poll() is None:
            self.kill()
        with contextlib.suppress(OSError):  # what it was still to read
            super().__exit__(None, None, None)


def end_processes() -> None:
    while _started:
        _started.pop().end()


def has_used(process: Process, seconds: float) -> bool:
    """Waits until a process has used so many seconds of a processor, which do not depend on what else the machine has
    to do; False where it has ended before. Where the system does not tell, they are the clock's."""
    begin = time.monotonic()
    while process.poll() is None:
        try:
            ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            used = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        except FileNotFoundError:
            used = time.monotonic() - begin
        if used >= seconds:
            return True
        time.sleep(0.005)
    return False


def run_measured(command: Sequence[str]) -> float:
    """The processor time of a command that ends with 0."""
    before = os.times()
    subprocess.run(command, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
