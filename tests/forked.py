"""The program in a process that a prepared one forks: what a shell starts, without half a second of imports.

The standard library's fork server (multiprocessing) has all of wv_cli imported, and forks. Whatever a process has of
its own is a new one's: arguments, folder, environment, standard streams, signals, exit code. `run` is for tests,
`write_program` makes a `wv` for shells.

`spent` is the processor time of those that ended by themselves, which os.times() does not know: they are the server's.
"""

import atexit
import fcntl
import io
import marshal
import multiprocessing
import os
import pkgutil
import resource
import shlex
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from multiprocessing import connection, forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from threading import Lock, Thread
from types import ModuleType

import wv_cli
from tests.processes import PATIENCE

spent = 0.0
PATH = sys.path[:]  # without the checkout: conftest.py imports this where it imports the package
_TEXT = "utf-8", "surrogateescape"
_SERVER = multiprocessing.get_context("forkserver")
_NO_MAIN = ModuleType("__main__")
_STARTS = Lock()
_HIGH = 200  # descriptors from here on are none of a shell's
# What modules read as they are imported. A program that a shell gives other ones is started, not forked.
_READ = ("WV_", "PYTHON", "OMP_", "OPENBLAS_", "MKL_", "LANG", "LC_")
_CLIENT = """#!{python} -IS
import array, _socket, marshal, os, sys
if {{k: v for k, v in os.environ.items() if k.startswith({read})}} != {same}:
    os.execv({python!r}, [{python!r}, "-P", "-m", "wv_cli", *sys.argv[1:]])
numbers = []
for number in map(int, os.listdir("/proc/self/fd")):
    try:
        numbers += [number] if os.get_inheritable(number) else []
    except OSError:
        pass
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
server.connect({address!r})
rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", numbers))]
server.sendmsg([marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ), numbers))], rights)
os._exit(server.recv(1)[0])
"""


@cache
def _prepare() -> None:
    """Not where this module is imported, as each of the processes does."""
    ours = [module.name for module in pkgutil.walk_packages(wv_cli.__path__, "wv_cli.")]
    _SERVER.set_forkserver_preload([*ours, "locale"])  # which click's messages import
    path = sys.path[:]
    sys.path[:] = PATH  # the servers of newer Pythons import by the path of who starts them
    try:
        forkserver.ensure_running()
    finally:
        sys.path[:] = path


def _start(
    words: list[str], cwd: Path, environment: dict[str, str], streams: Mapping[int, Connection]
) -> tuple[ForkServerProcess, Connection]:
    """The process, whose descriptors are `streams`, and what tells its processor time. It is started without the main
    module, pytest, which it would import again."""
    time, tell = _SERVER.Pipe(duplex=False)
    process = _SERVER.Process(target=_program, args=(words, cwd, environment, PATH, dict(streams), tell))
    with _STARTS:
        _prepare()
        main, sys.modules["__main__"] = sys.modules["__main__"], _NO_MAIN
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main
    for end in (*streams.values(), tell):
        end.close()
    return process, time


def _wait(process: ForkServerProcess, timeout: float | None = None) -> int | None:
    """The exit code, None for a process that goes on."""
    if not connection.wait([process.sentinel], timeout):
        return None
    with _STARTS:  # a start asks all others for their codes, and the second of two that read one finds 255
        process.join()
        return process.exitcode


def _count(time: Connection) -> None:
    global spent
    with time, suppress(EOFError):  # it was killed
        spent += time.recv()


def run(
    words: list[str], input: str = "", cwd: Path | None = None, timeout: float = PATIENCE
) -> "subprocess.CompletedProcess[str]":
    """As subprocess.run() of the program with these words. Raises subprocess.TimeoutExpired."""
    done = run_bytes(words, input.encode(*_TEXT), cwd, timeout)
    out, err = (each.decode(*_TEXT).replace("\r\n", "\n").replace("\r", "\n") for each in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(words, done.returncode, out, err)


def run_bytes(
    words: list[str], input: bytes = b"", cwd: Path | None = None, timeout: float = PATIENCE
) -> "subprocess.CompletedProcess[bytes]":
    """The same, with the bytes of the streams."""
    (stdin, feed), (out, stdout), (err, stderr) = (_SERVER.Pipe(duplex=False) for _ in range(3))
    process, time = _start(words, cwd or Path.cwd(), dict(os.environ), {0: stdin, 1: stdout, 2: stderr})
    with ThreadPoolExecutor(3) as pool:
        fed, *read = pool.submit(_feed, feed, input), pool.submit(_drain, out), pool.submit(_drain, err)
        code = _wait(process, timeout)
        if code is None:
            process.kill()
            _wait(process)
        fed.result()
        _count(time)
        found = [each.result() for each in read]
    if code is None:
        raise subprocess.TimeoutExpired(words, timeout, *found)
    return subprocess.CompletedProcess(words, code, *found)


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
    streams: Mapping[int, Connection],
    tell: Connection,
) -> None:
    """What the forked process does."""
    sys.path[:] = path
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    tell = Connection(fcntl.fcntl(tell.fileno(), fcntl.F_DUPFD_CLOEXEC, _HIGH))
    high = {number: fcntl.fcntl(stream.fileno(), fcntl.F_DUPFD_CLOEXEC, _HIGH) for number, stream in streams.items()}
    for stream in streams.values():
        stream.close()
    for number, descriptor in high.items():  # now that none of them has the number of another one
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = (
        _text(number, old) for number, old in enumerate((sys.__stdin__, sys.__stdout__, sys.__stderr__))
    )
    sys.argv = ["wv", *words]
    from wv_cli import __main__

    try:
        __main__.main()
    finally:
        atexit.unregister(__main__._leave)  # the time is told first
        atexit._run_exitfuncs()
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        tell.send(sum(each.ru_utime + each.ru_stime for each in used))  # os.times() counts ticks of 10 ms


def _text(number: int, old: io.TextIOWrapper) -> io.TextIOWrapper:
    return open(number, "w" if number else "r", encoding=old.encoding, errors=old.errors, closefd=False)


def write_program(path: Path) -> None:
    """Makes an executable for shells that is `python -P -m wv_cli`, forked where the system can."""
    python = sys.executable
    text = f'#!/bin/sh\nexec {shlex.quote(python)} -P -m wv_cli "$@"\n'
    if sys.platform == "linux":
        same = {name: value for name, value in os.environ.items() if name.startswith(_READ)}
        text = _CLIENT.format(python=python, read=_READ, same=same, address=_address())
    path.write_text(text)
    path.chmod(0o755)


@cache
def _address() -> bytes:
    """Where the executables ask for a process."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind("")  # a name that nobody else on the machine has
    listener.listen()
    Thread(target=_serve, args=(listener,), daemon=True).start()
    return listener.getsockname()


def _serve(listener: socket.socket) -> None:
    while True:
        Thread(target=_answer, args=(listener.accept()[0],), daemon=True).start()


def _answer(client: socket.socket) -> None:
    with client:
        asked, descriptors, _, _ = socket.recv_fds(client, 1 << 20, _HIGH)
        words, cwd, environment, numbers = marshal.loads(asked)
        streams = dict(zip(numbers, map(Connection, descriptors), strict=True))
        process, time = _start(words, Path(cwd), environment, streams)
        code = _wait(process) or 0
        _count(time)
        client.send(bytes([code if code >= 0 else 128 - code]))
