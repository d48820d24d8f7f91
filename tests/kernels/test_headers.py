"""The C sources as such: headers that stand alone, and intrinsics only where csrc/README.md says so."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
HEADERS = sorted(str(path.relative_to(CSRC)) for room in ("core", "kernels") for path in (CSRC / room).glob("*.h"))


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("header", HEADERS)
def test_header_compiles_alone(header):
    command = [COMPILER, "-std=gnu11", "-Wall", "-Werror", "-Wno-psabi", "-Wno-unused-function", "-DWV_ISA=baseline"]
    command += ["-I", str(CSRC), "-fsyntax-only", "-x", "c", "-"]
    run = subprocess.run(command, input=f'#include "{header}"\n', text=True, capture_output=True)
    assert run.returncode == 0, run.stderr


def test_the_readme_lists_the_files_with_intrinsics():
    sources = [
        path for path in CSRC.rglob("*.[ch]") if re.search(r"\b_mm\d*_|immintrin\.h|arm_neon\.h", path.read_text())
    ]
    listed = re.findall(r"^\| `((?:core|kernels)/\w+\.[ch])` \| `_mm", (CSRC / "README.md").read_text(), re.MULTILINE)
    assert sorted(str(path.relative_to(CSRC)) for path in sources) == sorted(listed)
