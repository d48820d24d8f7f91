"""Breaks the program on purpose, one guard at a time, and runs the tests that must notice.

    python -m tests.guarantees [--only WORD] [--record FILE]

Each fault of the table is put into a copy of the installed package (Python) or into a package built from a copy of
this checkout (C and Cython), and the tests of its guarantee are run on that copy. A fault that they do not notice has
survived: exit code 1. Takes some minutes. Faults in C need a compiler, and scikit-build-core, cython, cmake and ninja
in the environment.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import ROOT
from tests.fuzz.__main__ import about, append
from tests.guarantees.guarantee import Fault, SourceFault
from tests.guarantees.table import GUARANTEES

# What a build takes.
SOURCES = ("csrc", "wv_cli", "data", "pyproject.toml", "README.md")


def installed() -> Path:
    """The folder of the package that the tests would test."""
    import wv_cli  # conftest has seen to it that this is not the checkout

    return Path(wv_cli.__file__).parent


def break_file(path: Path, fault: Fault | SourceFault) -> None:
    broken = fault.applied(path.read_text(encoding="utf-8"))
    path.unlink()  # a link to the sound one
    path.write_text(broken, encoding="utf-8")


def broken_python(fault: Fault | SourceFault, folder: Path) -> Path:
    """A copy of the package, by links, with the fault; returns what to put on the path."""
    package = installed()
    if not any(package.glob("*.so")):
        raise SystemExit("this environment has an editable install: install the package itself (pip install .)")
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, folder / "wv_cli", copy_function=os.symlink, ignore=skip)
    break_file(folder / fault.file, fault)
    return folder


class Builder:
    """Packages built from one copy of this checkout, a fault at a time; what a fault does not touch is built once."""

    def __init__(self, folder: Path) -> None:
        self._source, self._build = folder / "source", folder / "build"
        for name in SOURCES:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (self._source).mkdir(exist_ok=True)
            copy(ROOT / name, self._source / name)

    def broken(self, fault: Fault | SourceFault, target: Path) -> Path:
        path = self._source / fault.file
        sound = path.read_text(encoding="utf-8")
        break_file(path, fault)
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps"]
        try:
            subprocess.run([*argv, f"-Cbuild-dir={self._build}", "--target", target, self._source], check=True)
        finally:
            path.write_text(sound, encoding="utf-8")  # newer than what was built from the broken one
        return target


def noticed(package: Path, fault: Fault | SourceFault, tests: tuple[str, ...]) -> bool:
    """Whether a test fails on the package in the folder `package`."""
    argv = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tier", "full", *tests]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{fault.name}: the tests could not be run\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.returncode == 1


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="faults whose name holds this")
    parser.add_argument("--record", metavar="FILE", help="append the result, a line of JSON")
    options = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as name:
        builder = None
        chosen = [(each, fault) for each in GUARANTEES for fault in each.faults if options.only in fault.name]
        for guarantee, fault in chosen:
            folder = Path(name) / f"{len(runs)}"
            folder.mkdir()
            if fault.file.startswith("csrc/"):
                builder = builder or Builder(Path(name))
                package = builder.broken(fault, folder)
            else:
                package = broken_python(fault, folder)
            found = noticed(package, fault, guarantee.tests)
            shutil.rmtree(folder)
            runs.append({"fault": fault.name, "promise": guarantee.words, "noticed": found})
            say(f"{'noticed ' if found else 'SURVIVED'}  {fault.name}")
    survived = sum(not run["noticed"] for run in runs)
    say(f"{len(runs)} faults, {survived} survived")
    if options.record:
        facts = {**about("guards of the program, broken one by one", "guarantees"), "runs": runs}
        append(options.record, facts)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
