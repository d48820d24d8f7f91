"""What CMakeLists.txt builds, and what it refuses to build for."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wv_cli import _cpu

CSRC = Path(__file__).resolve().parents[2] / "csrc"
pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("cmake") is None, reason="no cmake"),
    pytest.mark.skipif(not all(map(shutil.which, ("cc", "make"))), reason="no C compiler or no make"),
]


def configured(build: Path, *definitions: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cmake", "-G", "Unix Makefiles", "-S", CSRC, "-B", build]
    programs = (f"Python_EXECUTABLE={sys.executable}", f"CMAKE_MAKE_PROGRAM={shutil.which('make')}")
    command += [f"-D{definition}" for definition in (*programs, *definitions)]
    environment = {**os.environ, "PYTHONPATH": "", **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_python_without_the_gil_is_refused(tmp_path: Path) -> None:
    """Its extension modules are others; told before a compiler is."""
    (tmp_path / "sitecustomize.py").write_text("import sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\n")
    done = configured(tmp_path / "build", PYTHONPATH=str(tmp_path), PATH="")
    assert done.returncode != 0
    assert "wv needs a Python with the GIL" in done.stderr and "compiler" not in done.stderr


def test_a_machine_without_a_compiler_is_told_what_to_do(tmp_path: Path) -> None:
    """In one line, and nothing of CMake's own besides."""
    done = configured(tmp_path, PATH="", CC="")
    assert done.returncode != 0
    (said,) = [line for line in done.stderr.splitlines() if "compiler" in line]
    assert said.strip().startswith("wv needs a C compiler, and none was found: install one (apt install gcc, ")


def test_a_build_without_the_sample_data(tmp_path: Path) -> None:
    for setting, installed in (("ON", True), ("OFF", False)):
        done = configured(tmp_path / setting, f"WV_SAMPLE_DATA={setting}", "WV_ISAS=baseline")
        assert done.returncode == 0, done.stderr
        assert ("wv_cli/data" in (tmp_path / setting / "cmake_install.cmake").read_text()) is installed


def test_an_unknown_instruction_set_is_refused(tmp_path: Path) -> None:
    done = configured(tmp_path, "WV_ISAS=baseline;vax")
    assert done.returncode != 0
    assert "WV_ISAS: unknown instruction set vax (expected native or some of baseline" in " ".join(done.stderr.split())


def test_native_is_the_baseline_and_the_best_set_of_this_machine(tmp_path: Path) -> None:
    done = configured(tmp_path, "WV_ISAS=native")
    assert done.returncode == 0, done.stderr
    built = {folder.name for folder in tmp_path.glob("CMakeFiles/wv_kernels_*.dir")}
    wanted = {"baseline", _cpu.usable()[-1]}
    if "avx512icl" in wanted:
        wanted.add("avx512")  # which has its other kernels
    assert built == {f"wv_kernels_{name}.dir" for name in wanted}
