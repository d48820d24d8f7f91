"""The program in a process that a prepared one forks: what a shell starts, without half a second of imports.

The standard library's fork server (multiprocessing) has all of wv_cli imported, and forks. Whatever a process has of
its own is a new one's: arguments, folder, environment, standard streams, which are pipes, signals, exit code.

`spent` is the processor time of those that ended by themselves, which os.times() does not know: they are the server's.
"""

import atexit
import io
import multiprocessing
import os
import pkgutil
import resource
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType

import wv_cli

spent = 0.0
PATH = sys.path[:]  # without the checkout: conftest.py imports this where it imports the package
_TEXT = "utf-8", "surrogateescape"
_SERVER = multiprocessing.get_context("forkserver")
_NO_MAIN = ModuleType("__main__")


@cache
def _prepare() -> None:
    """Not where this module is imported, as each of the processes does."""
    ours = [module.name for module in pkgutil.walk_packages(wv_cli.__path__, "wv_cli.")]
    _SERVER.set_forkserver_preload([*ours, "locale"])  # which click's messages import


def _start(process: ForkServerProcess) -> None:
    """Without the main module, pytest, which the process would import again."""
    _prepare()
    main, sys.modules["__main__"] = sys.modules["__main__"], _NO_MAIN
    try:
        process.start()
    finally:
        sys.modules["__main__"] = main


def run(
    words: list[str], input: str = "", cwd: Path | None = None, timeout: float = 120
) -> "subprocess.CompletedProcess[str]":
    """As subprocess.run() of the program with these words. Raises subprocess.TimeoutExpired."""
    done = run_bytes(words, input.encode(*_TEXT), cwd, timeout)
    out, err = (each.decode(*_TEXT).replace("\r\n", "\n").replace("\r", "\n") for each in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(words, done.returncode, out, err)


def run_bytes(
    words: list[str], input: bytes = b"", cwd: Path | None = None, timeout: float = 120
) -> "subprocess.CompletedProcess[bytes]":
    """The same, with the bytes of the streams."""
    (stdin, feed), (out, stdout), (err, stderr) = (_SERVER.Pipe(duplex=False) for _ in range(3))
    (time, tell), streams = _SERVER.Pipe(duplex=False), (stdin, stdout, stderr)
    process = _SERVER.Process(target=_program, args=(words, cwd or Path.cwd(), dict(os.environ), PATH, streams, tell))
    _start(process)
    for end in (*streams, tell):
        end.close()
    with time, ThreadPoolExecutor(3) as pool:
        fed, *read = pool.submit(_feed, feed, input), pool.submit(_drain, out), pool.submit(_drain, err)
        process.join(timeout)
        late = process.exitcode is None
        if late:
            process.kill()
            process.join()
        fed.result()
        global spent
        with suppress(EOFError):  # it was killed
            spent += time.recv()
        found = [each.result() for each in read]
    if late:
        raise subprocess.TimeoutExpired(words, timeout, *found)
    assert process.exitcode is not None
    return subprocess.CompletedProcess(words, process.exitcode, *found)


def _feed(pipe: Connection, data: bytes) -> None:
    with suppress(BrokenPipeError), open(pipe.fileno(), "wb", buffering=0, closefd=False) as stream:
        left = memoryview(data)
        while left:
            left = left[stream.write(left) :]
    pipe.close()


def _drain(pipe: Connection) -> bytes:
    with pipe, open(pipe.fileno(), "rb", buffering=0, closefd=False) as stream:
        return stream.readall()


def _program(
    words: list[str],
    cwd: Path,
    environment: dict[str, str],
    path: list[str],
    streams: Sequence[Connection],
    tell: Connection,
) -> None:
    """What the forked process does."""
    sys.path[:] = path
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.stdin, sys.stdout, sys.stderr = (
        _text(number, old) for number, old in enumerate((sys.__stdin__, sys.__stdout__, sys.__stderr__))
    )
    sys.argv = ["wv", *words]
    try:
        from wv_cli.__main__ import main

        main()
    finally:
        atexit._run_exitfuncs()
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        tell.send(sum(each.ru_utime + each.ru_stime for each in used))  # os.times() counts ticks of 10 ms


def _text(number: int, old: io.TextIOWrapper) -> io.TextIOWrapper:
    return open(number, "w" if number else "r", encoding=old.encoding, errors=old.errors, closefd=False)
