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


def configured(build: Path, *definitions: str, path: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cmake", "-G", "Unix Makefiles", "-S", CSRC, "-B", build]
    command += [f"-D{definition}" for definition in (f"Python_EXECUTABLE={sys.executable}", *definitions)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_python_without_the_gil_is_refused(tmp_path: Path) -> None:
    """Its extension modules are others; told before a compiler is."""
    (tmp_path / "sitecustomize.py").write_text("import sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\n")
    done = configured(tmp_path / "build", path=str(tmp_path))
    assert done.returncode != 0
    assert "wv needs a Python with the GIL" in " ".join(done.stderr.split())


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
