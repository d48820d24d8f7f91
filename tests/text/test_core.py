"""csrc/core as C: headers that stand alone, no warnings, what is refused."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from wv_cli import _cpu, _floattext

CSRC = Path(__file__).parents[2] / "csrc"
CORE = CSRC / "core"
HEADERS = sorted(CORE.glob("*.h"))
SOURCES = sorted(CORE.glob("*.c"))
WARNINGS = "-Wall -Wextra -Wmissing-prototypes -Wconversion -Wsign-conversion -Wshadow -Wno-psabi -Werror"
STRICT = f"-std=c11 -D_POSIX_C_SOURCE=200809L -O1 {WARNINGS}"


def compiled(*arguments: str, text: str = "") -> str:
    """What the compiler complains of; the text is a C file of its own when no other is named."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    command = [compiler, "-I", str(CSRC), *arguments, *(["-x", "c", "-"] if text else [])]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_headers_stand_alone(header):
    assert compiled(*STRICT.split(), "-fsyntax-only", text=f'#include "core/{header.name}"\n') == ""


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_warnings(source):
    """Nor a call that POSIX lacks, so that other systems than Linux can build it."""
    rows = " ".join(f"ROW({name})" for name in _cpu.built())
    made = [f"-DWV_ISA_ROWS={rows}", '-DWV_FLAGS=""']
    assert compiled(*STRICT.split(), *made, "-c", "-o", os.devnull, str(source)) == ""


@pytest.mark.parametrize(
    "name", ["wordmap", "tokenizer", "floattext_read", "floattext_write", "fasttexttable", "subwords", "idstream"]
)
def test_big_endian_machines_are_refused(name):
    other = ["-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__"]
    assert "wv needs a little-endian machine" in compiled(*other, "-fsyntax-only", str(CORE / f"{name}.c"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs LD_PRELOAD")
def test_no_locale_is_an_error_and_no_crash(tmp_path):
    """newlocale may fail; then nothing can be parsed exactly, which must not be found out in the middle of a file."""
    library = tmp_path / "broken.so"
    text = """\
        #include <errno.h>
        #include <stddef.h>
        void *newlocale(int mask, const char *name, void *base) {
            (void)mask, (void)name, (void)base;
            errno = ENOMEM;
            return NULL;
        }
        """
    assert compiled("-shared", "-fPIC", "-o", str(library), text=textwrap.dedent(text)) == ""
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    command = [sys.executable, "-c", f"import importlib; importlib.import_module({_floattext.__name__!r})"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "OSError: [Errno 12] no C locale to read numbers in: Cannot allocate memory" in done.stderr
