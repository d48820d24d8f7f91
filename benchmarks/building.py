"""Suite `building`: the compiler's seconds and the bytes of code that each instruction set adds.

    python benchmarks/run.py --suite building --name building
    CMAKE_TOOLCHAIN_FILE=aarch64.cmake python benchmarks/run.py --suite building --name building-aarch64

Every C file of the core and of the kernels is compiled with CMake's own command, one at a time and without a compiler
cache. The suite needs cmake and ninja.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import record
from measure import HERE
from record import Run

_PART = re.compile(r"CMakeFiles/wv_(core|kernels_\w+)\.dir/")
_DEFINES = ["CMAKE_BUILD_TYPE=Release", "CMAKE_EXPORT_COMPILE_COMMANDS=ON", "SKBUILD_DATA_DIR=share"]


def _commands(folder: Path) -> dict[str, list[list[str]]]:
    """The compiler's command lines of each part; where they write exists."""
    defines = [f"-D{define}" for define in [*_DEFINES, f"Python_EXECUTABLE={sys.executable}"]]
    configure = ["cmake", "-G", "Ninja", "-S", str(HERE.parent / "csrc"), "-B", str(folder), *defines]
    environment = {name: value for name, value in os.environ.items() if name != "CMAKE_C_COMPILER_LAUNCHER"}
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL, env=environment)
    parts: dict[str, list[list[str]]] = defaultdict(list)
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        argv = shlex.split(entry["command"])
        at = argv.index("-o") + 1
        if part := _PART.search(argv[at]):
            target = folder / argv[at]
            target.parent.mkdir(parents=True, exist_ok=True)
            argv[at] = str(target)
            parts[part[1].removeprefix("kernels_")].append(argv)
    return parts


def _said(argv: list[str]) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def _code(objects: list[str], compiler: str) -> int:
    """Bytes of instructions and constants."""
    size = subprocess.run(
        [compiler, "-print-prog-name=size"], check=True, capture_output=True, text=True
    ).stdout.strip()
    lines = subprocess.run([size, "-t", *objects], check=True, capture_output=True, text=True).stdout.splitlines()
    return int(lines[-1].split()[0])


def building(options: Any, result: Run, say: Any) -> bool:
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        parts = _commands(Path(name))
        compiler = next(iter(parts.values()))[0][0]
        result["data"] = _said([compiler, "--version"]).splitlines()[0]
        for number, _ in record.rounds(options):
            for part, commands in parts.items():
                seconds = sum(record.used(command)[0]["cpu_seconds"] for command in commands)
                code = _code([command[command.index("-o") + 1] for command in commands], compiler)
                run = {"task": part, "program": Path(compiler).name, "round": number, "cpu_seconds": round(seconds, 2)}
                runs.append({**run, "files": len(commands), "code_kb": round(code / 1000, 1)})
                say(f"{part}: {seconds:.1f} s, {code:,} bytes")
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True
