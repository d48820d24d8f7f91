"""The C sources as such: folders that include downwards only, headers that stand alone, and intrinsics only where
csrc/README.md says so."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
# From bottom to top. A file includes its own folder and those below it.
FOLDERS = ("base", "core", "kernels")
SOURCES = sorted(path for folder in FOLDERS for path in (CSRC / folder).rglob("*.*"))
# Those of core are compiled with more warnings, and with POSIX alone, in tests/text/test_core.py.
HEADERS = [
    name for path in SOURCES if not (name := str(path.relative_to(CSRC))).startswith("core/") and path.suffix == ".h"
]


def upwards(path: Path) -> list[str]:
    """What the file includes that stands in no folder, or in one above its own. System headers stand in <>."""
    own = FOLDERS.index(path.relative_to(CSRC).parts[0])
    included = re.findall(r'^ *# *include *"(.+)"', path.read_text(), re.MULTILINE)
    return [name for name in included if name.split("/")[0] not in FOLDERS[: own + 1]]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CSRC)))
def test_includes_point_down(path):
    assert upwards(path) == []


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("core/sampler.h", '#include <stdint.h>\n#include "kernels/wv_kernels.h"\n'),
        ("core/cpu.c", '#if 1\n# include "kernels/tables.h"\n#endif\n'),
        ("core/cpu.c", '#include "cpu.h"\n'),
        ("base/rng.h", '#include "core/wordmap.h"\n'),
        ("base/rng.h", '#include "kernels/tile.h"\n'),
        ("kernels/word2vec/tile.h", '#include "wv_cli/_cpu.h"\n'),
    ],
)
def test_the_direction_is_enforced(tmp_path, monkeypatch, place, text):
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(text)
    monkeypatch.setitem(globals(), "CSRC", tmp_path)
    assert len(upwards(path)) == 1


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("header", HEADERS)
def test_header_compiles_alone(header):
    command = [COMPILER, "-std=gnu11", "-Wall", "-Werror", "-Wno-psabi", "-Wno-unused-function", "-DWV_ISA=baseline"]
    command += ["-DWV_ISA_ROWS=ROW(baseline)", "-Wno-unused-variable"]
    command += ["-I", str(CSRC), "-fsyntax-only", "-x", "c", "-"]
    run = subprocess.run(command, input=f'#include "{header}"\n', text=True, capture_output=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_a_big_endian_machine_is_refused():
    command = [COMPILER, "-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__", "-I", str(CSRC), "-fsyntax-only"]
    source = '#include "base/little_endian.h"\n'
    run = subprocess.run([*command, "-x", "c", "-"], input=source, text=True, capture_output=True)
    assert run.returncode != 0 and "wv needs a little-endian machine (x86-64, AArch64)" in run.stderr


def test_the_readme_lists_the_files_with_intrinsics():
    sources = [
        path
        for path in CSRC.rglob("*.[ch]")
        if re.search(r"\b_mm\d*_|immintrin\.h|arm_(neon|sve)\.h", path.read_text())
    ]
    listed = re.findall(r"^\| `((?:core|kernels)/\w+\.[ch])` \| `_mm", (CSRC / "README.md").read_text(), re.MULTILINE)
    assert sorted(str(path.relative_to(CSRC)) for path in sources) == sorted(listed)


def test_the_readme_names_files_that_exist():
    """By their path below csrc/, or by their name alone."""
    named = set(re.findall(r"`((?:[\w/]+/)?\w+\.(?:[ch]|def|pyx))`", (CSRC / "README.md").read_text()))
    there = {f"/{path.relative_to(CSRC)}" for path in CSRC.rglob("*.*")}
    placeholders = {"wv_cli/X.pyx", "wv_X.h"}
    assert [name for name in named - placeholders if not any(path.endswith(f"/{name}") for path in there)] == []
    assert len(named) > 20
