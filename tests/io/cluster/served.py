"""A real Dask cluster for tests, and what they say to it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from wv_cli import __main__

# Says where the scheduler is, and ends with its standard input.
SERVE = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
# What a cluster does while it waits costs .13 s of processor time a second; with these .02.
_QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}


@contextlib.contextmanager
def served(folder: Path, workers: int, **environment: str) -> Iterator[str]:
    """The address of a scheduler that has so many workers."""
    command = [sys.executable, "-c", SERVE, str(workers)]
    pipe = subprocess.PIPE
    env = {**os.environ, **_QUIET, **environment}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=folder, env=env) as process:
        assert process.stdin and process.stdout
        yield process.stdout.readline().decode().strip()
        process.stdin.close()


def silent(message: str, **facts: object) -> None: ...


def nothing(shard: object) -> None: ...


def run(*arguments: object) -> int:
    return __main__.run([*map(str, arguments)])


def said(talk: str) -> str:
    """The only line besides that of the cluster."""
    (line,) = [line for line in talk.splitlines() if not line.startswith("Dask: ")]
    return line
