"""Runs command lines of wv one after the other, each in a process of its own that need not import anything again.

Reads JSON lines {"argv", "cwd", "stdin", "stdout", "stderr"} and answers each with the exit code. A fork of this
process, which has one thread and has run nothing, is what a start of `wv` is once it has loaded.
"""

import json
import os
import sys
from typing import Literal, TextIO

import numpy  # noqa: F401

import wv_cli.commands.shared.program
import wv_cli.formats
import wv_cli.jobs.train  # noqa: F401
from wv_cli.__main__ import main

SECONDS = 60


def _stream(number: int, mode: Literal["r", "w"]) -> TextIO:
    return open(number, mode, encoding="utf-8", errors="surrogateescape", closefd=False)


def child(job: dict[str, object]) -> None:
    import signal

    signal.alarm(SECONDS)
    os.chdir(str(job["cwd"]))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(str(job[name]), flags), number)
    sys.stdin, sys.stdout, sys.stderr = (_stream(number, mode) for number, mode in enumerate("rww"))
    sys.argv = ["wv", *job["argv"]]  # type: ignore[misc]
    main()


def serve() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        process = os.fork()
        if process == 0:
            try:
                child(job)
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1
            except BaseException:
                import traceback

                traceback.print_exc()
                code = 70
            sys.stderr.flush()
            os._exit(code)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


if __name__ == "__main__":
    serve()
