"""The program, which gets a signal at one of its steps, syncs and renames: every run at the same place."""

import subprocess
import sys
from pathlib import Path

from tests.processes import PATIENCE

CODE = """
import os, signal, sys
from pathlib import Path
from wv_cli.__main__ import main
from wv_cli.models.training import threads
number, left = int(sys.argv.pop(1)), int(sys.argv.pop(1))
def counted(real):
    def call(*arguments):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), number)
        return real(*arguments)
    return call
os.fsync, Path.replace, threads.require_finite = map(counted, (os.fsync, Path.replace, threads.require_finite))
main()
"""


def run_killed(number: int, at: int, arguments: list[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Runs `wv ARGUMENTS`, with the signal `number` before the `at`-th of these calls; it may end before that."""
    program = [sys.executable, "-P", "-c", CODE, str(number), str(at), *arguments]
    return subprocess.run(program, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)
